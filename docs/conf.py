"""How Sphinx builds the documentation: ``make docs``."""

import os
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx_gallery.sorting import ExplicitOrder

import lincfa

project = "lincfa"
author = copyright = "The lincfa developers"
version = release = lincfa.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["**/*.ipynb"]
templates_path = ["_templates"]
smartquotes = False  # types in docstrings are code
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"sklearn\..*")]

# Pages are Markdown: directives between colons, formulas between dollars, links to any heading.
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

# The reference has a page for each public name, made from its docstring.
autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

GALLERY = (
    "spectra",
    "field",
    "forecast",
    "finance",
    "targets",
    "classes",
    "signs",
    "choosing",
    "stability",
    "sceptic",
    "cluster",
    "paper",
)
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": os.sep,
    "within_subsection_order": ExplicitOrder([f"plot_{name}.py" for name in GALLERY]),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "backreferences_dir": "generated/examples",
    "doc_module": ("lincfa",),
    "reference_url": {"lincfa": None},
    "matplotlib_animations": False,
}

plot_formats = [("png", 150)]
plot_html_show_formats = plot_html_show_source_link = False

html_theme = "pydata_sphinx_theme"
html_title = "lincfa"
html_static_path = ["_static"]
html_css_files = ["lincfa.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_math_renderer = "mathml"
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def formula(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw without scripts or fonts from elsewhere."""
    block = isinstance(node, nodes.math_block)
    mathml = latex2mathml.tex2mathml(node.astext(), as_block=block)
    translator.body.append(f'<div class="formula">{mathml}</div>' if block else mathml)
    raise nodes.SkipNode


def leave_out_inherited(_app: Sphinx, _kind: str, _name: str, member: Any, *_: Any) -> bool | None:
    """Leave out methods of scikit-learn, which its own documentation describes."""
    module = getattr(member, "__module__", None) or ""
    return True if module.startswith("sklearn.") else None


def escape_shapes(*arguments: Any) -> None:
    """Keep the last letter of ``n_groups_`` in "of shape (n_groups_,)": reST would read a link."""
    lines = arguments[-1]
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        shapes = re.findall(r"\([^()`]*\)", line)
        for shape in shapes:
            line = line.replace(shape, re.sub(r"(n_\w+)_(?=[,)])", r"\1\_", shape))
        lines[number] = line


def close_boxes(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Take away the empty line at the end of examples, by which doctest knows the end."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", close_boxes)
    app.connect("autodoc-process-docstring", escape_shapes, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", leave_out_inherited)
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))

"""Figures within an HTML page."""

import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ._figures import default_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDEST = 1.7  # pixels of the page per point
_RESOLUTION = 200  # dots per inch of what is drawn as an image
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_BLACK = re.compile(r"#000000\b|\bblack\b")
_FONT = re.compile(r"([\d.]+px)")
_DECLARATION = re.compile(r"\s*([\w-]+)\s*:\s*([^;]+)")


def svg(figure: "Figure", *, title: str, salt: str) -> str:
    """Return a figure as an SVG element for an HTML page, always the same characters."""
    # Text stays text, black becomes the colour of the page's text, the background is transparent,
    # and the figure fills the width available. Screen readers read out the ``title``; ``salt``, a
    # word different for each figure of a page, begins all ids.
    if not re.fullmatch(r"[A-Za-z][\w-]*", salt, flags=re.ASCII):
        raise ValueError(f"salt must be a word of letters, digits, _ and -, got {salt!r}")
    root = ElementTree.fromstring(_saved(figure, salt))
    _plain_tags(root)
    _remove(root, {"metadata", "style"})
    _unique_ids(root, salt)
    for element in root.iter():
        _attributes_for_styles(element)
        for name in ("fill", "stroke"):
            if name in element.attrib:
                element.set(name, _BLACK.sub("currentColor", element.attrib[name]))
    described = f"{salt}-title"
    box = root.attrib["viewBox"]
    # Letters are to be about as large as those of the page, not larger.
    widest = round(_WIDEST * float(box.split()[2]))
    root.attrib.clear()
    root.attrib |= {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": box,
        "role": "img",
        "aria-labelledby": described,
        # matplotlib writes no colour for what is filled in black.
        "fill": "currentColor",
        "width": f"{widest}",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    heading = ElementTree.Element("title", {"id": described})
    heading.text = title
    root.insert(0, heading)
    return ElementTree.tostring(root, encoding="unicode")


def _saved(figure: "Figure", salt: str) -> bytes:
    import matplotlib

    file = io.BytesIO()
    with default_style(), warnings.catch_warnings():
        # The browser has other fonts for letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        # Nothing fits beside the long labels of coordinates that are no degrees.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
            figure.savefig(
                file, format="svg", transparent=True, dpi=_RESOLUTION, metadata={"Date": None}
            )
    return file.getvalue()


def _plain_tags(root: ElementTree.Element) -> None:
    """Remove the namespaces of tags and attributes; within HTML they have none."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in [name for name in element.attrib if "}" in name]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))


def _remove(parent: ElementTree.Element, tags: set[str]) -> None:
    """Remove elements; a style sheet would apply to the whole page."""
    for child in list(parent):
        if child.tag in tags:
            parent.remove(child)
        else:
            _remove(child, tags)


def _unique_ids(root: ElementTree.Element, salt: str) -> None:
    """Keep only ids that something refers to, and begin them with the salt."""
    used = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "href" and value.startswith("#"):
                used.add(value[1:])
                element.set(name, f"#{salt}-{value[1:]}")
            elif name in ("style", "clip-path", "fill"):
                used |= set(_REFERENCE.findall(value))
                element.set(name, _REFERENCE.sub(rf"url(#{salt}-\1)", value))
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{salt}-{own}")


def _attributes_for_styles(element: ElementTree.Element) -> None:
    """Replace styles by attributes, which a strict content security policy allows."""
    for name, value in _DECLARATION.findall(element.attrib.pop("style", "")):
        if name == "font":  # which is no attribute: "italic 700 10px 'DejaVu Sans'"
            before, size, _ = _FONT.split(value, maxsplit=1)
            element.set("font-size", size)
            element.set("font-family", "sans-serif")
            for word in before.split():
                element.set("font-style" if word in ("italic", "oblique") else "font-weight", word)
        else:
            element.set(name, "sans-serif" if name == "font-family" else value.strip())

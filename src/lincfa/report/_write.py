"""From findings to a file."""

import base64
import hashlib
import os
from importlib import resources
from pathlib import Path
from typing import Any

from .._model._display import decimals, digits
from .._model._files import write_atomically
from ._findings import Findings
from ._page import context, figure, setting, visible
from ._pictures import pictures


def write_report(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write findings as a page of HTML, or as JSON where the file is called ``*.json``.

    The file is written whole or not at all.
    """
    write_atomically(path, report_text(findings, path))


def report_text(findings: Findings, path: str | os.PathLike[str]) -> str:
    """Give the text of the file that a path asks for."""
    as_json = Path(path).suffix.lower() == ".json"
    return _encodable(findings.to_json()) if as_json else render(findings)


def render(findings: Findings) -> str:
    """Give the page: one text with its styles, scripts and pictures, and no address in it."""
    environment = _environment()
    style, start, script = (_asset(f"report.{name}") for name in ("css", "start.js", "js"))
    page = environment.from_string(_asset("report.html")).render(
        context(findings),
        pictures={name: _markup(drawn) for name, drawn in pictures(findings).items()},
        style=_markup(style),
        start=_markup(start),
        script=_markup(script),
        script_hashes=[_digest(start), _digest(script)],
    )
    return _encodable(page)


def _environment() -> Any:
    """Give an environment that escapes whatever it is not told to trust."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError("A report needs jinja2: pip install 'lincfa[report]'.") from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "decimals": decimals,
        "digits": digits,
        "figure": figure,
        "setting": setting,
        "visible": visible,
    }
    return environment


def _markup(trusted: str) -> Any:
    from markupsafe import Markup  # comes with jinja2

    return Markup(trusted)


def _asset(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """Give the hash by which the page's policy knows a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _encodable(text: str) -> str:
    """Spell out halves of characters, which names may hold but no file can."""
    return text.encode("utf-8", "backslashreplace").decode()

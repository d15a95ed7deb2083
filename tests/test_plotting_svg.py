"""Figures within a page: text as text, ink in the page's colour, ids that do not collide."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from lincfa.report._groups import CorrelationMatrix, Pairs, PairTable
from lincfa.report._scores import Coefficients, Curve, ScorePath

pytest.importorskip("matplotlib")

import matplotlib
from matplotlib.colors import to_rgb

from lincfa.plotting import (
    _figures,
    default_style,
    draw_coefficients,
    draw_correlation,
    draw_path,
    draw_thresholds,
    new_figure,
    svg,
)

NAMES = ("<script>alert(1)</script>", "a&b", "$x^2$", "cost_$", r"\alpha", "_hidden", "温度")
NAMES += ("\"quoted'", "$$", r"\$", "$\\frac{$", "]]>", "<!--", "&lt;")
SIZE = len(NAMES)
GROUPS = np.repeat(range(SIZE // 2), 2)
PAIRS = PairTable(NAMES, NAMES, *np.linspace(0.1, 0.9, 3 * SIZE).reshape(3, -1), SIZE)
CURVE = Curve("joint", np.array([1.0, 10.0]), np.array([0.2, 0.4]), np.array([0.1, 0.1]))
PATH = ScorePath((CURVE, CURVE), (1.0, 0.2), "this model", "R²", "")
PICTURES = {
    "correlation": (draw_correlation, CorrelationMatrix(NAMES, GROUPS, np.eye(SIZE), SIZE)),
    "thresholds": (draw_thresholds, Pairs(1.0, PAIRS, PAIRS, "", None)),
    "path": (draw_path, PATH),
    "coefficients": (draw_coefficients, Coefficients(NAMES, GROUPS, np.arange(SIZE) - 3.0, SIZE)),
}


def figure_of(kind, data=None):
    draw, plain = PICTURES[kind]
    figure = new_figure(6, 4)
    draw(data or plain, figure.subplots())
    return figure


def texts(page):
    return [element.text for element in ElementTree.fromstring(page).iter() if element.text]


@pytest.fixture(scope="module")
def pages():
    return {kind: svg(figure_of(kind), title=kind, salt=kind) for kind in PICTURES}


@pytest.mark.parametrize("kind", PICTURES)
def test_an_element_for_a_page(pages, kind):
    page = pages[kind]
    assert page.startswith("<svg ")
    assert page.endswith("</svg>")
    assert not re.search(r"<\?xml|<!DOCTYPE|<metadata|<style|rdf:|xlink:|ns0:|<script", page)
    root = ElementTree.fromstring(page)
    assert root.attrib["role"] == "img"
    title = root[0]
    assert title.tag.endswith("title")
    assert title.text == kind
    assert title.attrib["id"] == root.attrib["aria-labelledby"]
    assert [float(number) for number in root.attrib["viewBox"].split()] == [0, 0, 432, 288]
    assert {"width", "height"}.isdisjoint(root.attrib)
    assert "width: 100%; height: auto" in root.attrib["style"]


@pytest.mark.parametrize("kind", PICTURES)
def test_ink_is_the_colour_of_the_page(pages, kind):
    page = pages[kind]
    assert page.count("stroke: currentColor") > 3
    assert not re.search(r"#000000|#000\b|black|rgb\(0", page)
    root = ElementTree.fromstring(page)
    assert root.attrib["fill"] == "currentColor"  # for what is filled and names no colour
    for element in root.iter():
        if element.tag.endswith("}text"):
            assert "fill" not in element.attrib.get("style", "")
    assert "#ffffff" not in page  # no background


@pytest.mark.parametrize("kind", PICTURES)
def test_fonts_of_the_page(pages, kind):
    assert "sans-serif" in pages[kind]
    assert "DejaVu" not in pages[kind]
    assert re.search(r"font(-size)?: 10px", pages[kind])


@pytest.mark.parametrize("kind", ["correlation", "coefficients"])
def test_names_are_shown_as_they_are(pages, kind):
    found = texts(pages[kind])
    for name in NAMES:
        short = name if len(name) <= 24 else f"{name[:23]}…"
        assert short in found
    assert "<script" not in pages[kind]
    assert "&lt;script&gt;" in pages[kind]
    assert "a&amp;b" in pages[kind]


def test_names_in_legends_are_shown_as_they_are():
    data = Coefficients(tuple(np.repeat(NAMES[:8], 2)), np.repeat(range(8), 2), np.ones(16), 16)
    found = texts(svg(figure_of("coefficients", data), title="", salt="a"))
    for name in NAMES[:8]:
        short = name if len(name) <= 20 else f"{name[:19]}…"
        assert f"group of {short} (2 features)" in found


def test_labels_that_start_with_an_underscore_are_shown():
    """matplotlib 3.9 would leave them out, with a warning."""
    figure = new_figure(3, 3)
    ax = figure.subplots()
    _figures.legend_above(ax, ax.plot([1, 2]), ["_hidden"])
    assert "_hidden" in texts(svg(figure, title="", salt="a"))


def test_titles_are_escaped():
    page = svg(figure_of("path"), title="</title><script>&", salt="a")
    assert '<title id="a-title">&lt;/title&gt;&lt;script&gt;&amp;</title>' in page


def ids(page):
    return re.findall(r'\bid="([^"]*)"', page)


@pytest.mark.parametrize("kind", PICTURES)
def test_ids(pages, kind):
    """Each is there once, begins with the salt, and is what something refers to."""
    page = pages[kind]
    assert len(set(ids(page))) == len(ids(page)) > 1
    assert all(each.startswith(f"{kind}-") for each in ids(page))
    references = set(re.findall(r"url\(#([^)]*)\)", page) + re.findall(r'href="#([^"]*)"', page))
    assert references | {f"{kind}-title"} == set(ids(page))


def test_the_same_picture_twice_on_a_page():
    one, other = (svg(figure_of("path"), title="", salt=salt) for salt in ("a", "b"))
    assert set(ids(one)).isdisjoint(ids(other))


@pytest.mark.parametrize("kind", PICTURES)
def test_the_same_characters_each_time(pages, kind):
    assert svg(figure_of(kind), title=kind, salt=kind) == pages[kind]


@pytest.mark.parametrize("salt", ["", "1a", "a b", 'a"', "a>", "ä"])
def test_wrong_salt(salt):
    with pytest.raises(ValueError, match="salt must be a word"):
        svg(new_figure(1, 1), title="", salt=salt)


def test_many_marks_make_no_large_page():
    size = 20_000
    names = tuple(f"x{i}" for i in range(size))
    values = np.random.default_rng(0).normal(size=size)
    figure = figure_of("coefficients", Coefficients(names, np.arange(size) % 5, values, size))
    page = svg(figure, title="", salt="a")
    assert "data:image/png;base64" in page
    assert len(page) < 500_000  # the marks by themselves would take 2 MB
    assert "features, in column order" in page  # text stays text


def test_the_style_of_the_user_does_not_matter(pages):
    dark = {"text.color": "white", "axes.edgecolor": "white", "font.size": 20, "lines.linewidth": 9}
    dark |= {"xtick.color": "white", "axes.facecolor": "black", "savefig.facecolor": "black"}
    with matplotlib.rc_context(dark):
        with default_style():
            figure = figure_of("path")
        assert svg(figure, title="path", salt="path") == pages["path"]
        assert matplotlib.rcParams["text.color"] == "white"
        (ring,) = [line for line in figure_of("path").axes[0].get_lines() if line.get_ms() > 10]
        assert ring.get_markeredgecolor() == "white"


def test_colours_are_seen_on_white_and_on_dark():
    def luminance(color):
        channels = np.array(to_rgb(color))
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    names = ["BLUE", "VERMILION", "GREEN", "PINK", "SKY", "OCHRE", "PURPLE", "RED", "GREY"]
    colors = [getattr(_figures, name) for name in names]
    assert len(set(colors)) == 9
    for color in colors:
        for page in ("#ffffff", "#14181d"):
            dim, bright = sorted([luminance(color), luminance(page)])
            assert (bright + 0.05) / (dim + 0.05) >= 3, (color, page)

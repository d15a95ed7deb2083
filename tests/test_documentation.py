"""The pages of the documentation: links between them lead somewhere, and the README to all."""

import re
from pathlib import Path

import pytest

from lincfa import LinCFA
from lincfa.datasets import load_financial

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]


def text_of(page):
    """The text without blocks of code, whose brackets are no links and whose comments no titles."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(page):
    """Files that a page links to, and places in them."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            yield (page.parent / name).resolve() if name else page, anchor


def anchors(page):
    """What GitHub calls the titles of a page."""
    titles = re.findall(r"^#+ (.*)$", text_of(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    found = list(links(page))
    assert found
    for target, anchor in found:
        assert target.exists()
        assert not anchor or anchor in anchors(target)


def test_readme_leads_to_every_page():
    assert set(PAGES) - {README} <= {target for target, _ in links(README)}


@pytest.mark.parametrize("name", ["signs", "missing-values", "feature-weights"])
def test_tables_name_their_command(name):
    assert "`python -m benchmarks.real_tables`" in text_of(ROOT / "docs" / f"{name}.md")
    assert f'"docs/{name}.md' in (ROOT / "benchmarks" / "real_tables.py").read_text("utf-8")


def test_signed_groups_of_the_financial_data(load_or_skip):
    X, y = load_or_skip(load_financial)
    plain = LinCFA(min_correlation=0.5).fit(X, y)
    signed = LinCFA(min_correlation=0.5, signed=True).fit(X, y)
    page = text_of(ROOT / "docs" / "signs.md")
    assert f"{signed.n_groups_} groups instead of {plain.n_groups_}" in " ".join(page.split())
    (name,) = re.findall(r"^    (mean\(.*\))$", page, flags=re.MULTILINE)
    first, *flipped = signed.groups_[list(signed.get_feature_names_out()).index(name)]
    assert plain.labels_[first] not in plain.labels_[flipped]

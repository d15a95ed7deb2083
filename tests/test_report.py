"""The page of a report: its figures are those of the findings, and it says what it leaves out."""

import builtins
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV
from lincfa._model._display import decimals, digits
from lincfa.datasets import make_correlated
from lincfa.report import _groups
from lincfa.report._findings import collect_findings
from lincfa.report._page import render, write_report
from lincfa.report._words import compare_scores, list_warnings
from reference import QUICK
from report_pages import NASTY, Page, make_findings, nasty_findings

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def findings():
    return make_findings(title="Runoff", notes=["Two columns were skipped."])


@pytest.fixture
def drawn():
    """For the tests that look at figures."""


@pytest.fixture(autouse=True)
def without_figures(request, monkeypatch):
    """Drawing takes most of the time of a page."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("lincfa.report._page.draw_figures", lambda findings: {})


@pytest.fixture(scope="module")
def page(findings):
    return Page(render(findings))


@pytest.fixture(scope="module")
def bare():
    """Findings of a model alone, without any data."""
    X, y = make_correlated(n_samples=100, n_features=30, random_state=0)
    return collect_findings(LinCFA().fit(X, y))


def text_of(findings):
    return Page(render(findings)).text


def test_says_first_what_came_out(findings, page):
    assert page.text.count(findings.headline) == 2  # also the title of the window
    assert f"{findings.n_groups} instead of {findings.n_features} features" in page.text
    assert "Runoff" in page.text
    assert "Two columns were skipped." in page.text
    assert page.all("time") == [{"datetime": findings.created}]
    assert not page.all("p", **{"class": "cut"})  # nothing is


def test_scores_are_those_of_the_findings(findings, page):
    scores = findings.scores
    table = page.tables[0]
    for row, cells in zip(scores.rows, table[1:3], strict=True):
        r2, rmse = row.r2, row.rmse
        assert cells == [
            row.features,
            str(row.n_features),
            f"{decimals(r2.value)} [{decimals(r2.low)}, {decimals(r2.high)}]",
            "",
            f"{digits(rmse.value)} [{digits(rmse.low)}, {digits(rmse.high)}]",
        ]
    difference = scores.r2_difference
    assert table[3][2].startswith(f"{decimals(difference.value)} [{decimals(difference.low)},")
    assert scores.how in page.text


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.01, 0.2, "predict better"),
        (-0.2, -0.01, "predict worse"),
        (-0.1, 0.1, "The difference is not clear"),
    ],
)
def test_verdict_follows_the_interval(findings, low, high, said):
    difference = replace(findings.scores.r2_difference, low=low, high=high)
    changed = replace(findings, scores=replace(findings.scores, r2_difference=difference))
    assert said in text_of(changed)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.0, 9.0, "below 0. The reduced features are less far off."),
        (-9.0, -1.0, "below 0. All features are less far off."),
        (-9.0, 9.0, "R² is below 0."),
        (float("nan"), float("nan"), "R² is below 0."),
    ],
)
def test_what_predicts_nothing_is_no_success(findings, low, high, said):
    scores = findings.scores
    rows = tuple(
        replace(row, r2=replace(row.r2, value=value))
        for row, value in zip(scores.rows, (-260397.0, -39.0), strict=True)
    )
    difference = replace(scores.r2_difference, low=low, high=high)
    scores = replace(scores, rows=rows, r2_difference=difference)
    told = compare_scores(scores)
    assert told.startswith("Both predict worse than the mean of the target: R² is below 0.")
    assert said in told
    assert "predict better" not in told
    alone = compare_scores(replace(scores, rows=rows[1:], r2_difference=None))
    assert "They predict worse than the mean of the target" in alone
    good = replace(rows[1], r2=replace(rows[1].r2, value=0.1))
    assert "the mean of the target" not in compare_scores(replace(scores, rows=(rows[0], good)))


def test_just_below_zero_is_about_zero(findings):
    row = findings.scores.rows[-1]
    for value, said in ((-0.0004, "R² is about 0 on"), (-0.0006, "R² is −0.001 on")):
        scores = replace(findings.scores, rows=(replace(row, r2=replace(row.r2, value=value)),))
        (warning,) = list_warnings(scores, 0, findings.n_groups, False)
        assert said in warning


def test_groups_and_their_members_are_those_of_the_findings(findings, page):
    rows = page.tables[1][1:]
    assert len(rows) == findings.n_groups
    for group, cells in zip(findings.groups, rows, strict=True):
        assert cells[0].startswith(group.name)
        assert cells[1] == str(group.size)
        if group.size > 1:
            mark = " ?" * (group.mean_correlation < 0.3)
            assert cells[2] == decimals(group.mean_correlation) + mark
            mark = " ?" * (group.min_correlation < -0.3)
            assert cells[3].removeprefix("≤ ") == decimals(group.min_correlation) + mark
            assert cells[3].startswith("≤") != group.min_is_exact
        else:
            assert cells[2:4] == ["–", "–"]
            assert group.members[0].words in cells[0]
        assert cells[4] == decimals(group.target_correlation)
        assert cells[5] == digits(group.weight) + " ±" * (group.opposes is not None)
    groups = tuple(replace(group, min_is_exact=False) for group in findings.groups)
    rows = Page(render(replace(findings, groups=groups))).tables[1][1:]
    assert [cells[3].startswith("≤") for cells in rows] == [group.size > 1 for group in groups]
    tables = page.tables[2:]
    several = [group for group in findings.groups if group.size > 1]
    for group, table in zip(several, tables, strict=False):
        expected = [[m.name, decimals(m.target_correlation), m.words] for m in group.members]
        assert table[1:] == expected


def test_numbers_to_sort_by(findings):
    text = re.search(r'<script id="sort-keys"[^>]*>(.*?)</script>', render(findings), re.DOTALL)[1]
    size, mean, least, target, weight = json.loads(text)
    assert size == [group.size for group in findings.groups]
    np.testing.assert_allclose(weight, [group.weight for group in findings.groups], rtol=1e-6)
    single = [group.size == 1 for group in findings.groups]
    assert [value is None for value in mean] == single == [value is None for value in least]
    assert None not in target


def test_cuts_are_said(monkeypatch):
    monkeypatch.setattr(_groups, "GROUPS_SHOWN", 3)
    monkeypatch.setattr(_groups, "MEMBERS_SHOWN", 2)
    found = make_findings()
    text = text_of(found)
    others = sum(len(group.others) for group in found.groups)
    assert f"the 3 largest of {found.n_groups} groups" in text
    assert f"{others} features of large groups are listed by name only" in text
    assert f"{len(found.groups[0].others)} more, by name only: {found.groups[0].others[0]}" in text
    assert "not listed" not in text


def test_texts_have_a_limit(monkeypatch):
    """First evidence is left out, then names, then groups; every feature is counted."""
    monkeypatch.setattr(_groups, "TEXT_SHOWN", 1000)
    monkeypatch.setattr(_groups, "MEMBERS_SHOWN", 1)
    found = make_findings()
    text = text_of(found)
    unnamed = sum(group.n_unnamed for group in found.groups)
    assert unnamed
    assert len(found.groups) < found.n_groups
    assert f"{unnamed} features of large groups are not listed" in text
    assert f"… and {found.groups[0].n_unnamed} more, not listed" in text
    for group in found.groups:
        assert group.size == len(group.members) + len(group.others) + group.n_unnamed


@pytest.mark.parametrize("letter", ["a", "<", "🌧"])
def test_the_limit_is_that_of_the_page(monkeypatch, rng, letter):
    """Whatever the names are made of: what the groups take on the page stays about the limit."""
    pd = pytest.importorskip("pandas")
    factors = rng.normal(size=(30, 500))
    X = np.repeat(factors, 3, axis=1) + 0.01 * rng.normal(size=(30, 1500))
    names = [f"{letter * 100}{i}" for i in range(1500)]
    frame = pd.DataFrame(X, columns=names)
    model = LinCFA(tolerance=1e6, min_correlation=0.9).fit(frame, factors[:, 0])
    monkeypatch.setattr(_groups, "TEXT_SHOWN", 300_000)
    groups = render(collect_findings(model)).split('id="group-table"')[1].split("</section>")[0]
    assert 200_000 < len(groups.encode()) < 330_000


def test_constant_features_are_listed():
    found = nasty_findings()
    assert found.n_constant == len(NASTY)
    text = text_of(found)
    assert "These belong to no group: <script>alert(1)</script> still , " in text
    cut = replace(found, constant=found.constant[:2])
    assert f"… and {len(NASTY) - 2} more" in text_of(cut)


def test_pairs_that_stay_apart(findings, page):
    near = findings.pairs.near
    table = next(table for table in page.tables if table[0][-1] == "why they did not merge")
    assert len(table) == 11
    assert table[1][:2] == [near.first[0], near.second[0]]
    assert re.fullmatch(r"correlation \S+, required \S+ \(F = \S+\)", table[1][2])
    assert f"F = {digits(near.f[0])}" in table[1][2]
    assert f"Unmerged pairs, closest to merging first (10 of {near.total})" in page.text


def test_figures_have_captions_and_words(findings, page):
    names = ["predictions", "correlations", "thresholds", "path", "coefficients"]
    assert [a["id"] for a in page.all("figure")] == [f"picture-{name}" for name in names]
    assert len(page.all("figcaption")) == 5
    assert findings.path.how in page.text
    assert findings.pairs.note in page.text
    drawings = [a for a in page.all("svg") if a.get("aria-hidden") != "true"]
    assert len(drawings) == 5
    assert all(a["role"] == "img" for a in drawings)
    titles = [a["id"] for a in page.all("title") if "id" in a]
    assert [a["aria-labelledby"] for a in drawings] == titles


def test_what_there_are_no_data_for_is_left_out(bare, drawn):
    page = Page(render(bare))
    assert "model.report(path, X_test=…, y_test=…)" in page.text
    assert "--test" in page.text
    assert [a["id"] for a in page.all("figure")] == ["picture-thresholds"]
    assert "Only merged pairs are shown" in page.text
    assert "why they did not merge" not in page.text
    assert page.tables[0][0][-1] == "r with target"  # and no coefficient


def test_settings_and_recipe(findings, page):
    for entries in (findings.settings, findings.data, findings.versions):
        for key, value in entries.items():
            written = "–" if value is None else f"{value:g}" if isinstance(value, float) else value
            assert f"{key} {written}" in page.text
    assert " ".join(findings.recipe.split()) in page.text
    assert 'model.report("report.json")' in page.text


def test_names_are_text(page):
    """Whatever a column is called, no tag comes of it, and what is not seen is spelled out."""
    text = render(nasty_findings())
    plain, page = page, Page(text)
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags} | {"li", "ul"}
    assert len(page.all("script")) == 3
    assert not [a for _, a in page.tags if any(key.startswith("on") for key in a)]
    assert "\u202e" not in text
    assert "\u2028" not in text
    for name in ("<script>alert(1)</script>", "a&b", "'left\\u202eright'", "🌧️ rain", "{{ 7 * 7 }}"):
        assert name in page.text


def test_halves_of_characters_are_written(tmp_path, findings):
    broken = replace(findings, title="a\udc80", constant=("b\udc80",), n_constant=1)
    broken = replace(broken, settings={"c": "d\udc80"})
    for name in ("page.html", "page.json"):
        write_report(broken, tmp_path / name)
    assert json.loads((tmp_path / "page.json").read_text())["title"] == "a\udc80"
    assert "a\\udc80" in (tmp_path / "page.html").read_text()


def test_asks_for_nothing_from_outside(page, findings, drawn):
    text = render(findings)
    assert "default-src 'none'" in text
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "action", "srcset", "data"):
            assert re.match(r"#|data:image/png;base64,|$", attributes.get(name, "")), tag
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", text)


def test_no_group_merges_and_a_search(drawn):
    X, y = make_correlated(n_samples=60, n_features=12, random_state=1)
    alone = LinCFA(min_correlation=1.0).fit(X, y)
    assert "No features merged" in text_of(collect_findings(alone))
    search = LinCFACV(**QUICK).fit(X, y)
    assert "picture-path" in render(collect_findings(search))


def test_method_writes_page_and_json(tmp_path):
    X, y = make_correlated(n_samples=120, n_features=20, random_state=0)
    for model in (LinCFA().fit(X[:60], y[:60]), LinCFACV(**QUICK).fit(X[:60], y[:60])):
        path = tmp_path / "report.html"
        assert (
            model.report(path, X_test=X[60:], y_test=y[60:], title="Mine", block_length=4) is None
        )
        text = path.read_text(encoding="utf-8")
        assert text.lstrip().startswith("<!DOCTYPE html>")
        assert "Mine" in text
        assert "cross-validated in 5 folds on 60 samples" in text
        assert "blocks of 4 consecutive samples" in text
        model.report(str(tmp_path / "REPORT.JSON"))
        written = json.loads((tmp_path / "REPORT.JSON").read_text(encoding="utf-8"))
        assert written["n_groups"] == model.n_groups_
        assert written["scores"] is None


def test_a_failure_leaves_the_old_file(tmp_path, findings, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        write_report(findings, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_missing_packages_are_named(drawn, findings, monkeypatch, tmp_path, package):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=rf"needs {package}: pip install 'lincfa\[report\]'"):
        write_report(findings, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
    write_report(findings, tmp_path / "report.json")


def test_importing_the_report_is_light():
    code = "import sys, lincfa.report._page; print({'jinja2', 'matplotlib'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"

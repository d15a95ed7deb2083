"""The page of a report: its figures are those of the findings, and it says what it leaves out."""

import builtins
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV
from lincfa._model._display import decimals, digits
from lincfa.datasets import make_correlated
from lincfa.report import _groups
from lincfa.report._findings import collect_findings
from lincfa.report._page import render, write_report
from lincfa.report._words import (
    describe_trust,
    describe_use,
    list_tiles,
    list_warnings,
    state_answer,
    write_effect,
)
from reference import QUICK
from report_pages import NASTY, Page, make_findings, nasty_findings, probability, written

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


def tiles(page):
    """Value, title and note of the numbers that a page begins with."""
    return re.findall(
        r"<li><strong>(.*?)</strong> <span>(.*?)</span> <small>(.*?)</small></li>", page
    )


def test_says_first_what_came_out(findings, page):
    assert page.text.count(findings.headline) == 1  # the title of the window
    assert f"{findings.n_groups} averages of {findings.n_features} features predict" in page.text
    assert "Runoff" in page.text
    assert "Two columns were skipped." in page.text
    assert page.all("time") == [{"datetime": findings.created}]
    assert not page.all("p", **{"class": "cut"})  # nothing is


def test_first_numbers_are_those_of_the_json(findings):
    told = json.loads(findings.to_json())
    *rivals, own = told["scores"]["rows"]
    best = max(rivals, key=lambda row: row["r2"]["value"])
    score, rival, size = tiles(render(findings))
    ends = f"95 % interval: {decimals(own['r2']['low'])} to {decimals(own['r2']['high'])}."
    assert score[0] == decimals(own["r2"]["value"])
    assert score[1] == f"R² on {told['scores']['n_test']} new samples"
    assert score[2].startswith(ends)
    assert rival[0] == decimals(best["r2"]["value"])
    assert rival[1] == f"R² of the best rival, {best['method']}"
    best_row = findings.scores.best_rival
    beside = (findings.scores.rows[-1].r2, best_row.r2)
    assert f"Difference {written(best_row.difference, beside=beside)}:" in rival[2]
    assert size[:2] == (str(told["n_groups"]), f"inputs instead of {told['n_features']}")
    assert told["rival_is_better"] == (best["difference"]["high"] < 0)


def with_gain(findings, low, high, **own):
    """Findings in which the best rival differs by such an interval, and the model scores so."""
    *rivals, reduced = findings.scores.rows
    best = findings.scores.best_rival
    changed = replace(best, difference=replace(best.difference, low=low, high=high))
    reduced = replace(reduced, r2=replace(reduced.r2, **own))
    rows = (*(changed if row is best else row for row in rivals), reduced)
    return replace(findings, scores=replace(findings.scores, rows=rows))


@pytest.mark.parametrize(
    ("low", "high", "said", "told"),
    [
        (0.01, 0.2, "better than the best rival, PLS", "this model is better."),
        (-0.2, -0.01, "less well than the best rival, PLS", "the rival is better."),
        (-0.01, 0.019, "about as well as the best rival, PLS", "about equal."),
        (-0.64, 0.02, "It is not clear whether better or worse than the best", "not clear."),
        (
            float("nan"),
            float("nan"),
            "not clear whether better or worse",
            "too few samples to tell.",
        ),
    ],
)
def test_answer_follows_the_interval(findings, low, high, said, told):
    text = render(with_gain(findings, low, high))
    assert said in Page(text).text
    assert tiles(text)[1][2].endswith(told)
    warned = "PLS on all 40 features predicts clearly better: R² 0.760 instead of 0.715" in text
    assert warned == (high < 0)


def test_what_predicts_nothing_is_no_success(findings):
    found = with_gain(findings, 0.01, 0.2, value=-39.0)
    assert "do not predict new samples: their mean alone would come closer." in text_of(found)
    assert "better than" not in state_answer(found)
    assert "predict worse than the mean of the target: R² is −39.0" in text_of(found)


def test_answers_of_other_kinds(findings, bare):
    alone = replace(findings.scores, rows=findings.scores.rows[-1:])
    told = state_answer(replace(findings, scores=alone))
    assert told == "5 averages of 40 features predict new samples; nothing was compared with them."
    one = state_answer(replace(findings, n_groups=1, target_name="runoff (mm)"))
    assert one.startswith("1 average of 40 features predicts runoff (mm) in new samples less well")
    unmerged = state_answer(replace(findings, n_groups=40))
    assert unmerged.startswith("40 features predict new samples")
    assert state_answer(bare).endswith("How well these predict new samples is not known yet.")
    assert [tile.title for tile in list_tiles(bare)] == ["inputs instead of 30"]


def test_scores_are_those_of_the_findings(findings, page):
    scores = findings.scores
    table = page.tables[0]
    for row, cells in zip(scores.rows[::-1], table[1:-1], strict=True):
        assert cells == [
            row.method if row.difference else "this model",
            str(row.n_features),
            written(row.r2),
            "",
            written(row.difference, beside=(scores.rows[-1].r2, row.r2)),
            written(row.rmse, digits),
        ]
    assert scores.how in page.text


@pytest.mark.parametrize("shift", [0.0, -0.7, -30.0])
def test_dots_are_where_the_axis_says(findings, shift):
    """Positions on the line are those of the scores between the ticks, which have numbers."""
    rows = tuple(
        replace(
            row,
            r2=replace(
                row.r2,
                **{
                    n: getattr(row.r2, n) + (shift if k == 0 else 0)
                    for n in ("value", "low", "high")
                },
            ),
        )
        for k, row in enumerate(findings.scores.rows)
    )
    scores = replace(findings.scores, rows=rows)
    text = render(replace(findings, scores=scores)).split('class="scores"')[1].split("</table>")[0]
    ticks = [
        (float(at), float(number.replace("−", "-")))
        for at, number in re.findall(r'<text x="([\d.]+)%"[^>]*>([^<]+)</text>', text)
    ]
    at, numbers = np.array(ticks).T
    assert 3 <= len(ticks) <= 7
    found = re.findall(r'<circle cx="([\d.]+)%"', text)[::-1]
    drawn = [row.r2.value for row in rows if row.r2.value >= numbers[0]]
    np.testing.assert_allclose(np.interp(np.array(found, float), at, numbers), drawn, atol=2e-3)
    assert len(drawn) == len(rows) - (shift == -30)  # far below the others: an arrow
    assert text.count("<path") == (shift == -30)


def test_just_below_zero_is_about_zero(findings):
    row = findings.scores.rows[-1]
    for value, said in ((-0.0004, "R² is about 0 on"), (-0.0006, "R² is −0.001 on")):
        scores = replace(findings.scores, rows=(replace(row, r2=replace(row.r2, value=value)),))
        (warning,) = list_warnings(scores, 0, findings.n_groups, False)
        assert said in warning


def test_groups_and_their_members_are_those_of_the_findings(findings, page):
    rows = page.tables[1][1:]
    assert len(rows) == findings.n_groups
    effect = partial(write_effect, largest=max(abs(group.weight) for group in findings.groups))
    for rank, (group, cells) in enumerate(zip(findings.groups, rows, strict=True), 1):
        assert cells[0].startswith(f"{rank} {group.title}")
        assert f"number {group.number}, counted from 0" in cells[0]
        check = group.check
        figures = [effect(each) for each in (check.estimate, check.low, check.high)]
        assert cells[1:] == [
            effect(group.weight),
            "{} [{}, {}] {}".format(*figures, check.verdict),
            str(group.size),
            decimals(group.mean_correlation) if group.size > 1 else "–",
            decimals(group.target_correlation),
        ]
        assert f"adjusted p-value {probability(check.adjusted_p_value)}." in cells[0]
        if group.size > 1:
            smallest = f"Smallest correlation of two members: {decimals(group.min_correlation)}."
            assert smallest in cells[0]
    groups = tuple(replace(group, min_is_exact=False) for group in findings.groups)
    bounds = Page(render(replace(findings, groups=groups))).text.count("two members: ≤ ")
    assert bounds == sum(group.size > 1 for group in groups)
    tables = page.tables[2:]
    for group, table in zip(findings.groups, tables, strict=False):
        expected = [[m.name, decimals(m.target_correlation), m.words] for m in group.members]
        assert table[1:] == expected


@pytest.mark.parametrize(
    ("value", "largest", "told"),
    [
        (0.62, 0.62, "0.620"),
        (-0.000297, 0.62, "−0.0003"),
        (0.0000297, 0.62, "≈ 0"),
        (-0.03, 35.2, "−0.03"),
        (35.2, 35.2, "35.2"),
        (1234.5, 1234.5, "1234"),
        (0.0, 1.0, "0"),
        (2e-7, 3e-7, "2e-07"),
        (float("nan"), 1.0, "–"),
    ],
)
def test_effects_have_three_digits_down_to_a_thousandth_of_the_largest(value, largest, told):
    assert write_effect(value, largest) == told


def test_bars_and_intervals_are_where_their_axis_says(findings):
    """Also where an interval goes beyond the axis: there is an arrow, and the caption says so."""
    first, *rest = findings.groups
    wide = replace(first, check=replace(first.check, low=-1e6, high=1e6))
    text = render(replace(findings, groups=(wide, *rest))).split('id="group-table"')[1]
    axis = text.split('class="axis"')[1].split("</tr>")[0]
    ticks = [
        (float(at), float(number.replace("−", "-")))
        for at, number in re.findall(r'<text x="([\d.]+)%"[^>]*>([^<]+)</text>', axis)
    ]
    at, numbers = np.array(ticks).T
    assert f"on an axis from {-numbers[-1]:g}".replace("-", "−") in text
    bars = [part.split("\n")[0] for part in text.split('class="bar"')[2:]]  # after the axis
    for k, (group, bar) in enumerate(zip(findings.groups, bars, strict=True)):
        dot = float(re.search(r'<circle cx="([\d.]+)%"', bar)[1])
        within = 1e-3 * numbers[-1]  # places have two decimals
        assert abs(np.interp(dot, at, numbers) - group.check.estimate) < within
        x, width = map(float, re.search(r'<rect x="([\d.]+)%" width="([\d.]+)%"', bar).groups())
        end = x if group.weight < 0 else x + width
        assert abs(np.interp(end, at, numbers) - group.weight) < within
        beyond = [group.check.low < numbers[0], group.check.high > numbers[-1]] if k else [1, 1]
        assert bar.count("<path") == sum(beyond)


def test_which_effects_can_be_trusted(findings):
    def with_verdicts(*verdicts):
        checks = (replace(findings.groups[0].check, verdict=each) for each in verdicts)
        groups = tuple(replace(findings.groups[0], check=check) for check in checks)
        return replace(findings, groups=groups)

    one = with_verdicts("confirmed", "unclear", "opposite sign")
    told = describe_trust(one)
    assert told.startswith(
        "1 of 3 effects is confirmed by the held-out samples; 1 has the opposite sign there; for"
    )
    assert told.endswith("move together; that does not make the predictions worse.")
    assert describe_trust(with_verdicts(*["confirmed"] * 2)) == (
        "The held-out samples confirm all 2 effects."
    )
    text = text_of(one)
    assert text.index(told) < text.index("Groups, the largest effect")


def test_why_effects_were_not_checked_is_said_above_the_groups(halves_of_few):
    model, given = halves_of_few
    found = collect_findings(model, **given)
    text = text_of(found)
    assert describe_trust(found) == found.inference_note
    assert text.count(found.inference_note) == 1
    assert text.index(found.inference_note) < text.index("Groups, the largest effect")
    assert "rule='one_standard_error'" in found.inference_note
    command = collect_findings(model, **given, recipe="lincfa reduce a.csv --target y")
    assert command.inference_note.endswith(
        "Hold out more rows (--test), or merge into fewer groups (a larger --tolerance, or "
        "--n-groups)."
    )


@pytest.fixture(scope="module")
def halves_of_few():
    """A model of two groups, and fewer samples held out than are needed to check these."""
    X, y = make_correlated(n_samples=55, n_features=30, random_state=0)
    given = {"X": X[:50], "y": y[:50], "X_test": X[50:], "y_test": y[50:]}
    return LinCFACV(**QUICK | {"tolerances": (1e-9,)}).fit(X[:50], y[:50]), given


def test_how_to_use_it(halves_of_few, bare):
    model, given = halves_of_few
    assert describe_use(bare) == ("model.transform(X_new)", "")
    found = collect_findings(model, **given)
    assert describe_use(found) == ("model.predict(X_new)", "")
    assert "How to use it Predict new samples" in text_of(found)
    recipe = "lincfa reduce 'a b.parquet' --target y --model 'my model.json'"
    about = {"recipe": recipe, "data": {"file": "a b.parquet"}}
    line, _ = describe_use(collect_findings(model, **given, **about))
    assert line == "lincfa predict 'my model.json' new.parquet"
    X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    other = LinCFACV(**QUICK).fit(X[:100], y[:100]).calibrate(X[100:], y[100:])
    line, width = describe_use(collect_findings(other))
    assert line == "low, high = model.predict_interval(X_new, level=0.95)"
    assert width.startswith(
        f"The 95 % interval of a prediction is ± {digits(other._half_width(0.95))}:"
    )
    line, _ = describe_use(collect_findings(other, recipe="lincfa reduce a.csv --target y"))
    assert line == "lincfa predict model.json new.csv --interval 0.95"


def test_whole_groups_that_were_held_out_are_said(findings):
    found = replace(findings, n_test_groups=6)
    assert list_tiles(found)[0].title.endswith(" new samples from 6 groups held out whole")
    assert "held out whole" not in list_tiles(findings)[0].title


def test_merges_that_raise_the_error_of_two_are_explained(findings):
    member = replace(findings.groups[0].members[0], words="with b: …; raises the mean …")
    groups = (replace(findings.groups[0], members=(member,) * 2, size=2),)
    pairs = replace(findings.pairs, tolerance=100.0)
    told = text_of(replace(findings, groups=groups, pairs=pairs, searched=True))
    assert "the two alone, without the other features: cross-validation allowed F up to 100" in told
    assert "the two alone" not in text_of(replace(findings, searched=True))


def test_numbers_to_sort_by(findings):
    text = re.search(r'<script id="sort-keys"[^>]*>(.*?)</script>', render(findings), re.DOTALL)[1]
    weight, check, size, mean, target = json.loads(text)
    assert size == [group.size for group in findings.groups]
    sizes = [abs(group.weight) for group in findings.groups]
    np.testing.assert_allclose(weight, sizes, rtol=1e-6)
    estimates = [abs(group.check.estimate) for group in findings.groups]
    np.testing.assert_allclose(check, estimates, rtol=1e-6)
    single = [group.size == 1 for group in findings.groups]
    assert [value is None for value in mean] == single
    assert None not in target


def test_cuts_are_said(monkeypatch):
    monkeypatch.setattr(_groups, "GROUPS_SHOWN", 3)
    monkeypatch.setattr(_groups, "MEMBERS_SHOWN", 2)
    found = make_findings()
    text = text_of(found)
    others = sum(len(group.others) for group in found.groups)
    assert f"the first 3 of {found.n_groups} groups" in text
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
    assert f"… and {max(group.n_unnamed for group in found.groups)} more, not listed" in text
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
    assert "belong to no group: <script>alert(1)</script> still , " in text
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
    names = ["predictions", "path", "coefficients", "correlations", "thresholds"]
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
    assert "model.report(path, X=…, y=…, X_test=…, y_test=…)" in page.text
    assert "--test" in page.text
    assert [a["id"] for a in page.all("figure")] == ["picture-thresholds"]
    assert "Only merged pairs are shown" in page.text
    assert "why they did not merge" not in page.text
    assert page.tables[0][0] == ["group", "features", "likeness", "r with target"]  # and no effect


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
    assert "unsafe" not in text.split("</head>")[0]
    assert not [a for _, a in Page(text).tags if "style" in a]  # which the policy forbids
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

"""Files: strict JSON, Markdown whose grids are grids, and an index that leads everywhere."""

import json
import math
import re

import pytest

from experiments.pages import BY_TEXT, HEADINGS, OURS, index, show, to_json, to_markdown, write
from experiments.simulation import Estimate
from experiments.tables import Claim, Table, judge

ABOUT = {"repetitions": 200, "seed": 0}


@pytest.fixture
def tables():
    reasons = {("Theoretical ρ̄", "σ = 10"): "a slip"}
    rows = [
        judge("Theoretical ρ̄", "σ = 10", "-25.675559", Estimate(-159.320641), reasons=reasons),
        judge("R² full", "σ = 1", "0.487±1.2e-4", Estimate(0.49, 0.012, 0.02), Estimate(0.6)),
        judge("Merges", "σ = 1", "24", Estimate(20, 7, 4.6, 22.5)),
        judge("Empirical", "σ = 1", "0.5", Estimate(math.nan), Estimate(0.25)),
        judge("d PCA", "σ = 1", "13", None),
    ]
    rows += [
        judge(f"{score} ridge", column, None, Estimate(-0.25, 0.031, 0.1))
        for column in ("σ = 1", "σ = 10")
        for score in ("d", "R²", "MSE")
    ]
    points = [
        judge(name, f"n = {n}", None, Estimate(n / 7, 0.2, 1.0), Estimate(-n / 7, 0.2, 1.0))
        for n in (110, 300)
        for name in ("d (empirical)", "MSE full")
    ]
    claims = [Claim("it grows", True, False, "by 3"), Claim("it falls", False, False, "by -4")]
    return [
        Table("first", "Two features", rows, ["A note.", "Another."], missing=["A was not run."]),
        Table("second", "A figure", points, ["A note."], claims),
    ]


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def test_json_is_strict_and_whole(tables):
    document = json.loads(to_json(tables[0], ABOUT), parse_constant=refuse)
    assert document["table"] == "first"
    assert (document["repetitions"], document["seed"]) == (200, 0)
    assert document["notes"] == ["A note.", "Another."]
    assert document["missing"] == ["A was not run."]
    assert len(document["rows"]) == len(tables[0].rows)
    first, second, third, fourth, fifth, sixth, *_ = document["rows"]
    assert (first["quantity"], first["column"]) == ("Theoretical ρ̄", "σ = 10")
    assert (first["paper"], first["paper_value"]) == ("-25.675559", -25.675559)
    assert first["ours"] == {"value": -159.320641, "margin": None, "spread": 0.0}
    assert (first["verdict"], first["reason"]) == ("differs", "a slip")
    assert second["by_text"]["value"] == 0.6
    assert (second["expectation"], third["expectation"]) == (None, 22.5)
    assert fourth["ours"]["value"] is None
    assert (fifth["ours"], sixth["paper"]) == (None, None)
    claims = json.loads(to_json(tables[1], ABOUT))["claims"]
    assert claims[0] == {"statement": "it grows", "ours": True, "by_text": False, "detail": "by 3"}
    # Equal weights have a threshold of −∞.
    table = Table("t", "t", [judge("q", "c", "0.5", Estimate(-math.inf, math.inf))])
    (row,) = json.loads(to_json(table, ABOUT), parse_constant=refuse)["rows"]
    assert row["ours"] == {"value": None, "margin": None, "spread": 0.0}


def grids(text):
    """Lines of each grid of a page, as lists of cells."""
    found, lines = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            assert line.endswith("|")
            lines.append([cell.strip() for cell in line[1:-1].split("|")])
        elif lines:
            found.append(lines)
            lines = []
    return found


def test_lines_of_a_grid_have_as_many_cells_and_true_minus_signs(tables):
    for text in (*map(to_markdown, tables), index(tables, ABOUT, ["old"])):
        assert grids(text)
        for heading, rule, *lines in grids(text):
            assert set(rule) == {"---"}
            assert lines
            assert {len(cells) for cells in (rule, *lines)} == {len(heading)}
            assert not any(re.search(r"-\d", cell) for cells in lines for cell in cells)


def test_page_of_a_table(tables):
    text = to_markdown(tables[0])
    assert text.startswith("# Two features (`first`)\n\n- A note.\n- Another.\n- A was not run.\n")
    assert re.findall("^## (.*)$", text, flags=re.MULTILINE) == ["σ = 10", "σ = 1"]
    ten, ten_beyond, one, one_beyond = grids(text)
    assert tuple(ten[0]) == HEADINGS
    assert ten[2] == ["Theoretical ρ̄", "−25.675559", "−159.320641", "", "–", "differs: a slip"]
    cells = {line[0]: line[1:] for line in one}
    reach = 1.959964 * math.hypot(0.02, 0.012 / 1.959964)
    span = f"{0.49 - reach:.3f} … {0.49 + reach:.3f}"
    assert cells["R² full"] == ["0.487 ± 1.2e−4", "0.490 ± 0.012", span, "0.600", "reproduced"]
    # By the expectation in closed form, and the spread of a single run around it.
    assert cells["Merges"][1] == "20.0 ± 7.0, expected 22.5"
    assert cells["Merges"][2] == f"{22.5 - 1.96 * 4.6:.1f} … {22.5 + 1.96 * 4.6:.1f}"
    assert cells["Empirical"][1] == "–"
    assert cells["d PCA"][-1] == "not run"
    for beyond in (ten_beyond, one_beyond):
        assert beyond[0][:4] == ["beyond the paper", "d", "R²", "MSE"]
        assert beyond[2][:2] == ["ridge", "−0.250 ± 0.031"]


def test_counts_lie_between_none_and_all():
    rows = [judge("Merges", "σ = 1", "2", Estimate(e, 1, 4, e)) for e in (2, 498)]
    _, _, *lines = grids(to_markdown(Table("t", "t", rows)))[0]
    assert [line[3] for line in lines] == ["0.0 … 9.8", "490.2 … 500.0"]


def test_points_of_a_figure_stand_in_two_grids(tables):
    claims, ours, by_text = grids(to_markdown(tables[1]))
    assert claims[2] == ["it grows", "holds", "does not hold", "by 3"]
    assert ours[0] == [OURS, "d (empirical)", "MSE full"]
    assert ours[2] == ["n = 110", "15.71 ± 0.20", "15.71 ± 0.20"]
    assert by_text[0][0] == BY_TEXT
    assert by_text[3] == ["n = 300", "−42.86 ± 0.20", "−42.86 ± 0.20"]


@pytest.mark.parametrize(
    ("estimate", "digits", "text"),
    [
        (None, 3, "–"),
        (Estimate(math.nan, 0.1), 3, "–"),
        (Estimate(0.12345), 3, "0.123"),
        (Estimate(14.0), 1, "14"),
        (Estimate(500.0, 0.0), 1, "500"),
        (Estimate(1.23456, 0.0123, 0.1), 4, "1.235 ± 0.012"),
        (Estimate(-123.456, 12.3, 100.0), 4, "−123 ± 12"),
        (Estimate(-123.456, 12.3), 2, "−123.46 ± 12.30"),  # every run gives the same
        (Estimate(0.5, 1e-9), 4, "0.500000 ± 0.000000"),
    ],
)
def test_numbers_are_shown_to_two_digits_of_their_margin(estimate, digits, text):
    assert show(estimate, digits) == text


def test_index_holds_every_table_and_links_to_files_that_exist(tables, tmp_path):
    (tmp_path / "package.json").write_text("{}")  # nothing of ours, and no page to link to
    write(tmp_path, tables[:1], ABOUT)
    page = write(tmp_path, tables[1:], ABOUT)
    assert "From an earlier run: [first](first.md)." in page.read_text(encoding="utf-8")
    text = write(tmp_path, tables, ABOUT).read_text(encoding="utf-8")
    assert page == tmp_path / "index.md"
    assert "earlier run" not in text
    assert sorted(re.findall(r"\]\(([^)]*)\)", text)) == ["first.md", "second.md"]
    for table in tables:
        assert f"## {table.title} (`{table.name}`)" in text
        assert (tmp_path / f"{table.name}.md").read_text(encoding="utf-8") == to_markdown(table)
        written = (tmp_path / f"{table.name}.json").read_text(encoding="utf-8")
        assert written == to_json(table, ABOUT)
    assert "repetitions: 200, seed: 0." in text
    summary, differing, *_ = grids(text)
    assert summary[2] == ["[`first`](first.md) Two features", "2", "2", "1", "6", ""]
    assert summary[3][-1] == "1 of 2"
    assert differing[2] == ["first", "σ = 10", "Theoretical ρ̄", "a slip"]


def test_few_repetitions_are_said_to_be_few(tables):
    for repetitions, few in ((199, True), (200, False)):
        text = index(tables, {"repetitions": repetitions}, [])
        assert ("a verdict says less" in text) == few

"""Figures of reports on models of every kind, with maps and spectra: which there are, and what the
page and its JSON say of them."""

import json
import re
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

import lincfa
from label_maps import map_of_labels
from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from lincfa.datasets import make_spectra
from report_pages import NASTY, Page

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
xr = pytest.importorskip("xarray")

from lincfa._model._display import square_kilometres
from lincfa.report import _maps
from lincfa.report._findings import collect_findings
from lincfa.report._names import display_names_of_groups
from lincfa.report._page import draw_figures, render
from lincfa.report._spectra import Spectrum, name_bands
from lincfa.report._thumbnails import draw_thumbnails

ALWAYS = ["predictions", "coefficients", "correlations", "thresholds"]
WITH_PATH = ["predictions", "path", "coefficients", "correlations", "thresholds"]


@pytest.fixture
def pictures(tmp_path):
    """Names of the pictures in the report on a model."""

    def of(model, **given):
        model.report(tmp_path / "report.html", **given)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        return re.findall(r'<figure id="picture-(\w+)"', page)

    return of


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ALWAYS),
        ({"min_correlation": np.float64(0.5)}, ALWAYS),
        ({"tolerance": "unbiased", "noise": 3.0}, ALWAYS),
        ({"units": "original", "noise": "full"}, ALWAYS),
        ({"strategy": "centroid"}, ALWAYS),
        ({"strategy": "agglomerative", "n_groups": 1}, WITH_PATH),
        ({"strategy": "agglomerative", "n_groups": 30}, WITH_PATH),
        ({"strategy": "joint"}, ["predictions", "path", "coefficients", "correlations"]),
    ],
)
def test_settings(pictures, halves, parameters, expected):
    model = LinCFA(**parameters).fit(halves["X"], halves["y"])
    assert pictures(model, **halves) == expected


DATA = {
    "one feature": {"X": lambda X: X[:, :1], "X_test": lambda X: X[:, :1]},
    "more features than samples": {"X": lambda X: X[:20], "y": lambda y: y[:20]},
    "single precision": {"X": np.float32, "X_test": np.float32},
    "copies": dict.fromkeys(("X", "X_test"), lambda X: np.repeat(X[:, :3], 4, axis=1)),
}


@pytest.mark.parametrize("kind", DATA)
def test_data(pictures, halves, kind):
    given = halves | {name: change(halves[name]) for name, change in DATA[kind].items()}
    model = LinCFA().fit(given["X"], given["y"])
    expected = [name for name in ALWAYS if name != "thresholds" or kind != "one feature"]
    assert pictures(model, **given, ordered=len(given["y"]) == 20) == expected


def test_a_search(pictures, halves):
    model = LinCFACV(estimator=Ridge(), cv=3, strategies=["centroid"]).fit(halves["X"], halves["y"])
    assert pictures(model, **halves) == WITH_PATH
    assert pictures(model) == ["path", "coefficients", "thresholds"]


def test_a_loaded_model(pictures, halves, tmp_path):
    LinCFA().fit(halves["X"], halves["y"]).save(tmp_path / "model.json")
    model = lincfa.load(tmp_path / "model.json")
    assert pictures(model, **halves) == ALWAYS
    assert pictures(model) == ["thresholds"]


def test_a_model_fitted_in_chunks(pictures, halves):
    model = LinCFA()
    for rows in (slice(50), slice(50, None)):
        model.partial_fit(halves["X"][rows], halves["y"][rows])
    assert pictures(model, **halves) == ALWAYS


def test_an_explained_target(pictures, halves):
    exact = halves | {f"y{k}": halves[f"X{k}"][:, :2].sum(axis=1) for k in ("", "_test")}
    model = LinCFA().fit(exact["X"], exact["y"])
    assert pictures(model, **exact) == ALWAYS


# Maps and spectra

N = 60


def scene(ny=5, nx=6, levels=(), name="t2m"):
    """A field in which the west and the east each share a signal, and the target of both."""
    rng = np.random.default_rng(0)
    halves = rng.normal(size=(N, 2))
    shape = (N, *(1 for _ in levels), ny, nx)
    west = np.arange(nx) < nx // 2
    values = np.where(west, *(half.reshape(N, *[1] * (len(shape) - 1)) for half in halves.T))
    values = values + 0.1 * rng.normal(size=(N, *map(len, levels), ny, nx))
    values[..., 0, 0] = np.nan
    values[..., 1, 1] = 3
    dims = ("time", *(f"level{k}" for k in range(len(levels))), "lat", "lon")
    coords = {"lat": np.linspace(50, 40, ny), "lon": np.arange(nx) * 1.0}
    coords |= {f"level{k}": list(level) for k, level in enumerate(levels)}
    y = halves @ [1.0, -2.0] + rng.normal(size=N)
    return xr.DataArray(values, dims=dims, coords=coords, name=name), y


def fit_field(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant cells
        return LinCFA(sample_dim="time", tolerance=20.0, **options).fit(X, y)


def figures(page):
    return [a["id"].removeprefix("picture-") for a in page.all("figure")]


def test_a_field_has_maps_of_groups_and_of_effects():
    X, y = scene()
    model = fit_field(X, y)
    findings = collect_findings(model, X=X, y=y)
    (map,) = findings.maps
    assert findings.n_maps == 1
    assert findings.spectrum is None
    np.testing.assert_array_equal(
        np.where(map.groups == -2, np.nan, map.groups)[::-1], model.label_map()
    )
    weights = np.array([group.weight for group in sorted(findings.groups, key=lambda g: g.number)])
    expected = np.append(weights, np.nan)[model.label_map().fillna(-1).astype(int)]
    np.testing.assert_allclose(map.values[::-1], expected, rtol=1e-4)  # it has five digits
    page = Page(render(findings))
    assert figures(page) == ["effects-0", "map-0", "correlations", "thresholds"]
    assert "Effects by name" not in page.text  # which the map shows
    assert "t2m: Each colour is a group of cells;" in page.text
    assert "Map of t2m: 2 groups of several cells, 1 constant cell, 1 cell left out." in page.text
    assert f"effects of 2 groups, from {map.values[map.groups >= 0].min():.3g} to" in page.text
    assert "is shown" not in page.text[page.text.index("Where it looks") :][:500]
    assert len(page.all("figcaption")) == len(figures(page))
    page = Page(render(collect_findings(model, X=X, y=y)))
    numbers = [int(cells[0].split()[0]) for cells in page.tables[0][1:]]
    assert numbers == list(range(1, model.n_groups_ + 1))
    sizes = [int(cells[2]) for cells in page.tables[0][1:] if len(cells) == 6]
    assert sizes == [model.groups_[group.number].size for group in findings.groups]
    places = model.summary().places
    for centre in places.centres:
        assert f"Centre: {centre}." in page.text
    written = [square_kilometres(places.area_km2[group.number]) for group in findings.groups]
    assert [cells[3] for cells in page.tables[0][1:]] == written
    place = findings.to_dict()["groups"][0]["place"]
    assert (place["south"], place["north"]) == (40, 50)
    assert "Numbers mark the groups, as in the table" in page.text
    picture = render(collect_findings(model))
    page = Page(picture)  # without coefficients there are no weights
    assert figures(page) == ["map-0", "thresholds"]
    picture = picture[picture.index('id="picture-map-0"') :]
    picture = picture[: picture.index("</figure>")]
    numbers = re.findall(r'fill="#1b2127"[^>]*>(\d+)</text>', picture)
    assert numbers == ["1", "2"]  # the largest first


def test_nine_groups_of_a_map_have_numbers():
    labels = np.repeat(np.arange(12.0), 2).reshape(4, 6)
    map = map_of_labels(xr.DataArray(labels, dims=("y", "x")))
    X, y = scene()
    found = collect_findings(fit_field(X, y), X=X, y=y)
    groups = tuple(replace(found.groups[0], number=number) for number in range(12))
    text = render(replace(found, maps=(map,), groups=groups, n_groups=12))
    assert "Numbers mark the 9 most important ones, as in the table" in text
    numbers = re.findall(r'fill="#1b2127"[^>]*>(\d+)</text>', text)
    assert sorted(numbers) == [str(rank) for rank in range(1, 10)]


def test_a_table_has_no_maps():
    rng = np.random.default_rng(0)
    findings = collect_findings(LinCFA().fit(rng.normal(size=(N, 30)), rng.normal(size=N)))
    assert (findings.maps, findings.n_maps, findings.spectrum) == ((), 0, None)


def test_at_most_four_maps():
    """Variables one after the other, and places along dimensions beyond two."""
    X, y = scene(levels=[(500, 850), "ab"], name="z")
    data = xr.Dataset({"index": X[:, 0, 0, 2, 2], "z": X, "t": X[:, 0, 0]})
    bare = data.drop_vars(["level0", "level1", "lat", "lon"], errors="ignore")
    findings = collect_findings(fit_field(bare, y))
    assert findings.n_maps == 5
    titles = [f"z, level0={a}, level1={b}" for a in (0, 1) for b in (0, 1)]
    assert [map.title for map in findings.maps] == titles
    findings = collect_findings(fit_field(X, y))
    titles = ["z, level0=500, level1=a", "z, level0=500, level1=b"]
    assert [map.title for map in findings.maps][:2] == titles
    page = Page(render(collect_findings(fit_field(data[["z", "t"]], y))))
    assert figures(page)[:4] == [f"map-{k}" for k in range(4)]
    assert page.text.count("1 more map is not shown") == 1


def test_places_are_named_in_titles_and_may_be_alike():
    X, y = scene(levels=[(1, 1)])
    days = pd.date_range("2001-01-01", periods=2, name="day")
    days = xr.concat([X.isel(level0=0)] * 2, dim=days)
    for field, titles in (
        (X, ["t2m, level0=1"] * 2),
        (days, ["t2m, day=2001-01-01", "t2m, day=2001-01-02"]),
        (X.isel(level0=0).rename(None), [""]),
    ):
        assert [map.title for map in collect_findings(fit_field(field, y)).maps] == titles


def test_long_names_and_places_with_numbers():
    X, y = scene()
    long = {"long_name": "2 metre temperature"}
    for name, attrs, title in (
        ("t2m", long, "2 metre temperature (t2m)"),
        (None, long, "2 metre temperature"),
        ("t2m", {"long_name": "t2m"}, "t2m"),
        ("t2m", {"long_name": ""}, "t2m"),
        ("t2m", {"long_name": 3}, "t2m"),
    ):
        (map,) = collect_findings(fit_field(X.rename(name).assign_attrs(attrs), y)).maps
        assert map.title == title
    data = xr.Dataset({"t2m": X.assign_attrs(long), "psl": X})
    text = Page(render(collect_findings(fit_field(data, y)))).text
    assert "2 metre temperature (t2m): Each colour is a group" in text
    assert "psl: Each colour is a group" in text
    stations = X.stack(station=("lat", "lon")).reset_index("station")
    stations = stations.assign_coords(station=100 + 3 * np.arange(30))
    model = fit_field(stations, y)
    findings = collect_findings(model)
    assert len(findings.maps) == 1
    assert findings.spectrum is None
    names = [name.removeprefix("t2m ") for name in model.get_feature_names_out()]
    assert display_names_of_groups(model) == names  # numbers of stations are no wavelengths


def test_large_maps_are_thinned_and_it_is_said(monkeypatch):
    monkeypatch.setattr(_maps, "_CELLS", 20)
    X, y = scene(9, 10)
    findings = collect_findings(fit_field(X, y), X=X, y=y)
    (map,) = findings.maps
    assert map.every == 3  # 90 cells are more than 4 times 20
    assert map.groups.shape == map.values.shape == (3, 4)
    assert map.places.x.tolist() == [0, 3, 6, 9]
    assert "Only one in 3 rows and columns is shown; plot_map draws all." in render(findings)


def test_places_along_a_dimension_are_thinned_too(monkeypatch):
    monkeypatch.setattr(_maps, "_CELLS", 10)
    X, y = scene()
    stations = X.stack(station=("lat", "lon")).reset_index("station")
    model = fit_field(stations, y)
    (map,), total = _maps.report_maps(model, None)
    assert (map.every, total) == (3, 1)
    assert map.groups.shape == map.places.x.shape == map.places.y.shape == (10,)
    assert "Only one in 3 points is shown" in render(collect_findings(model))


def test_cells_in_a_row_have_a_spectrum():
    X, y = make_spectra(n_features=50, random_state=0)
    names = 400 + 2.0 * np.arange(50)
    field = xr.DataArray(X, dims=("time", "nm"), coords={"nm": names})
    table = pd.DataFrame(X, columns=names)
    for model in (LinCFA(sample_dim="time").fit(field, y), LinCFA().fit(table, y)):
        findings = collect_findings(model)
        assert findings.maps == ()
        row = findings.spectrum
        np.testing.assert_array_equal(row.x, names)
        np.testing.assert_array_equal(row.values, model.mean_)
        np.testing.assert_array_equal(row.groups, model.labels_)
        page = Page(render(findings))
        assert figures(page)[0] == "spectrum"
        assert "Which bands it uses" in page.text
        assert "Means of 50 features from 400 to 498, with bands for" in page.text


@pytest.mark.parametrize(
    "names", [range(50), range(1, 51), [f"c{k}" for k in range(50)], [*range(25), *range(25)]]
)
def test_columns_that_are_only_counted_are_no_spectrum(names):
    X, y = make_spectra(n_features=50, random_state=0)
    if len(set(names)) == 50:
        model = LinCFA().fit(pd.DataFrame(X, columns=list(names)), y)
        assert collect_findings(model).spectrum is None
    few = pd.DataFrame(X[:, :19], columns=400 + 2.0 * np.arange(19))
    assert collect_findings(LinCFA().fit(few, y)).spectrum is None


@pytest.mark.parametrize("form", ["{} nm", "nm_{}"])
def test_a_spectrum_has_effects_and_bands_in_its_unit(form):
    X, y = make_spectra(n_samples=80, n_features=50, random_state=0)
    table = pd.DataFrame(X, columns=[form.format(900 + 5 * k) for k in range(50)])
    model = LinCFA(strategy="agglomerative", n_groups=6).fit(table, y)
    findings = collect_findings(model, X=table, y=y)
    assert (findings.spectrum.unit, findings.spectrum.x_label) == ("nm", "wavelength (nm)")
    drawn = draw_figures(findings)
    assert "coefficients" not in drawn  # they are below the spectrum
    assert "effect on the" in drawn["spectrum"]
    assert "Below, in the same colours, how much the prediction changes" in render(findings)
    names = display_names_of_groups(model)
    assert all(re.fullmatch(r"[\d–, nm]+( in \d+ bands)?", name) for name in names)
    whole = LinCFA(strategy="agglomerative", n_groups=1).fit(table, y)
    assert display_names_of_groups(whole) == ["900–1145 nm"]
    assert figures(Page(render(collect_findings(model))))[0] == "spectrum"  # without effects
    several = LinCFA().fit(table, np.column_stack([y] * 7) + X[:, :7])
    text = Page(render(collect_findings(several, X=table, y=np.column_stack([y] * 7) + X[:, :7])))
    assert "how much the prediction of each target changes" in text.text
    assert "Those of 1 more target are not shown." in text.text


def test_many_pieces_of_a_band_are_counted():
    groups = np.array([0, 1, 0, 1, 0, 1, 0, -1, 0, 2])
    spectrum = Spectrum(np.linspace(50, 5, 10), "x", True, groups, np.ones(10), "nm")
    # The constant feature at 15 nm ends no band.
    assert name_bands(spectrum, 3) == ["10–50 nm in 4 bands", "25 nm, 35 nm, 45 nm", "5 nm"]


def test_short_names_of_groups_of_cells_and_columns(halves):
    X, y = scene()
    model = fit_field(X, y)
    names = model.get_feature_names_out()
    assert all(name.startswith("t2m ") for name in names)
    assert display_names_of_groups(model) == [name.removeprefix("t2m ") for name in names]
    both = fit_field(xr.Dataset({"t2m": X, "psl": X + 1}), y)
    assert display_names_of_groups(both) == both.get_feature_names_out().tolist()
    model = LinCFACV(cv=3).fit(pd.DataFrame(halves["X"]).add_prefix("c"), halves["y"])
    for name, group in zip(display_names_of_groups(model), model.groups_, strict=True):
        few = ", ".join(f"c{k}" for k in (group if len(group) <= 3 else group[:2]))
        assert name == few + (f" + {len(group) - 2} more" if len(group) > 3 else "")


# Thumbnails


def rectangles(path):
    """Left, top, width and height of each part of a path."""
    found = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)", path.attrib["d"])
    return [tuple(map(float, each)) for each in found]


def elements(thumbnail):
    root = ElementTree.fromstring(thumbnail)
    assert root.attrib["aria-hidden"] == "true"
    assert root.attrib["fill"] == "currentColor"
    assert float(root.attrib["width"]) <= 120
    assert root.attrib["height"] == "24"
    assert not re.search(r"#[0-9a-f]{3}|rgb|nan|inf", thumbnail)
    assert "id=" not in thumbnail
    return root, list(root)


def test_thumbnails_of_a_map_show_the_cells_of_each_group():
    X, y = scene()
    model = fit_field(X, y)
    findings = collect_findings(model)
    for number, thumbnail in enumerate(draw_thumbnails(findings, range(model.n_groups_))):
        root, (known, own) = elements(thumbnail)
        assert root.attrib["viewBox"] == "0 0 6 5"
        for path, inside in (
            (known, model.label_map().values >= 0),
            (own, model.label_map().values == number),
        ):
            cells = np.zeros((5, 6), dtype=bool)
            for left, top, width, _ in rectangles(path):
                cells[int(top), int(left) : int(left + width)] = True
            np.testing.assert_array_equal(cells, inside)  # 50°N, its first row, is at the top


def test_thumbnails_of_large_maps_and_of_stations_are_small():
    X, y = scene(90, 130)
    model = fit_field(X, y)
    findings = collect_findings(model)
    stations = X.stack(station=("lat", "lon")).reset_index("station")
    stations = collect_findings(fit_field(stations, y))
    for found in (findings, stations):
        numbers = [group.number for group in found.groups[:30]]
        thumbnails = draw_thumbnails(found, numbers)
        assert len(thumbnails) == len(numbers)
        for thumbnail in thumbnails:
            root, (_, own) = elements(thumbnail)
            columns, rows = map(int, root.attrib["viewBox"].split()[2:])
            assert (columns, rows) == (40, 20)
            assert own.attrib["d"]
            assert len(thumbnail) < 4000
    # The west and the east: the two largest groups share few of the coarse cells.
    west, east = (elements(each)[1][1] for each in draw_thumbnails(findings, [0, 1]))
    assert {left for left, *_ in rectangles(west)}.isdisjoint(
        {left for left, *_ in rectangles(east)}
    )
    assert draw_thumbnails(findings, [10**6]) == [""]  # on no map that is shown


@pytest.mark.parametrize("turn", [1, -1])
def test_thumbnails_of_a_spectrum_show_the_bands(turn):
    X, y = make_spectra(n_features=401, random_state=0)
    names = [f"{900 + k} nm" for k in range(401)][::turn]
    model = LinCFA(strategy="agglomerative", n_groups=8).fit(pd.DataFrame(X, columns=names), y)
    findings = collect_findings(model)
    for number, thumbnail in enumerate(draw_thumbnails(findings, range(8))):
        _, (band, line) = elements(thumbnail)
        assert len(thumbnail) < 2000
        assert len(line.attrib["points"].split()) == 60
        x = findings.spectrum.x[model.groups_[number]]
        parts = rectangles(band)
        # 401 wavelengths are 0.3 pixels apart, and a band is at least one pixel wide.
        assert min(left for left, *_ in parts) == pytest.approx(0.3 * (x.min() - 900), abs=0.3)
        ends = max(left + width for left, _, width, _ in parts)
        assert ends == pytest.approx(0.3 * (x.max() - 900), abs=1.1)


def test_a_table_has_no_thumbnails(halves):
    model = LinCFA().fit(halves["X"], halves["y"])
    assert draw_thumbnails(collect_findings(model), range(model.n_groups_)) == []


# Reading on a phone


def findings_of_every_kind(halves):
    yield collect_findings(LinCFACV(cv=3).fit(halves["X"], halves["y"]), **halves)
    X, y = scene()
    yield collect_findings(fit_field(X, y), X=X, y=y)
    X, y = scene(60, 20)  # higher than wide, with its colour bar beside it
    yield collect_findings(fit_field(X, y), X=X, y=y)
    X, y = make_spectra(n_samples=80, n_features=60, random_state=0)
    X = pd.DataFrame(X, columns=[f"{900 + 5 * k} nm" for k in range(60)])
    Y = pd.DataFrame({"protein": y, "fat": X.iloc[:, 7] - y, "water": X.iloc[:, 30]})
    given = {"X": X[:50], "y": Y[:50], "X_test": X[50:], "y_test": Y[50:]}
    yield collect_findings(LinCFA().fit(X[:50], Y[:50]), **given)
    labels = np.array(["low", "middle", "high"])[np.digitize(halves["y"], [-5, 5])]
    model = LinCFAClassifierCV(cv=3).fit(halves["X"], labels)
    held_out = np.array(["low", "middle", "high"])[np.digitize(halves["y_test"], [-5, 5])]
    given = {"X": halves["X"], "y": labels, "X_test": halves["X_test"], "y_test": held_out}
    yield collect_findings(model, **given)


def test_text_can_be_read_on_a_phone(halves):
    """A page 390 pixels wide shows a picture with 360; letters have at least 9 pixels there."""
    names = set()
    for findings in findings_of_every_kind(halves):
        for name, picture in draw_figures(findings).items():
            names.add(name)
            width = float(ElementTree.fromstring(picture).attrib["viewBox"].split()[2])
            sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', picture)]
            assert sizes, name
            across = 960 if name.endswith("-wide") else 360
            assert min(sizes) * across / width >= 9, name
            assert width <= across
    assert names >= {"predictions", "correlations", "thresholds", "path", "coefficients", "roc"}
    assert names >= {"map-0", "effects-0", "spectrum", "confusion"}


def test_predicted_against_measured_of_one_target(halves):
    X = pd.DataFrame(halves["X"])
    y = pd.Series(halves["y"], name="yield")
    model = LinCFA().fit(X, y)
    findings = collect_findings(
        model, X=X, y=y, X_test=pd.DataFrame(halves["X_test"]), y_test=halves["y_test"]
    )
    found = findings.scores.predictions
    assert (found.targets, found.n_targets) == (("yield",), 1)
    np.testing.assert_array_equal(found.measured[:, 0], halves["y_test"])
    assert found.r2.tolist() == [findings.scores.rows[-1].r2.value]
    assert r2_score(found.measured, found.predicted) == pytest.approx(found.r2[0])
    drawn = draw_figures(findings)["predictions"]
    assert f">R² = {found.r2[0]:.3f}<" in drawn
    assert ">observed yield<" in drawn
    assert ">predicted yield<" in drawn
    page = Page(render(findings))
    assert "Predicted against observed, for yield." in page.text
    assert f"{found.r2[0]:.3f}" in page.tables[0][1][2]
    bare = collect_findings(LinCFA().fit(halves["X"], halves["y"]), **halves)
    assert "Predicted against observed." in render(bare)


def test_the_rest_of_many_effects_is_in_the_caption(rng):
    X = rng.normal(size=(200, 40))
    y = X @ rng.normal(size=40) + rng.normal(size=200)
    model = LinCFA(tolerance=1e-12).fit(X, y)
    findings = collect_findings(model, X=X, y=y)
    assert model.n_groups_ == 40
    smaller = np.sort(np.abs(findings.coefficients.values))[::-1][30]
    text = Page(render(findings)).text
    assert f"The 30 largest of 40 effects; the others are at most {smaller:.3g}" in text


def test_json_is_valid_and_small(tmp_path):
    X, y = scene(40, 50)
    model = fit_field(X, y)
    model.report(tmp_path / "report.json", X=X, y=y)
    told = json.loads((tmp_path / "report.json").read_text())
    (map,) = told["maps"]
    assert map["title"] == "t2m"
    assert map["groups"][-1][0] == -2
    assert map["values"][-1][0] is None
    assert np.array(map["groups"]).shape == (40, 50)
    numbers = [value for row in map["values"] for value in row if value is not None]
    assert all(value == float(f"{value:.5g}") for value in numbers)
    assert map["places"]["kind"] == "grid"
    assert len(map["places"]["x"]) == 50
    assert len(json.dumps(told["maps"])) < 15 * 2 * 2000  # some characters for each of two numbers


def test_names_of_the_user_are_text():
    X, y = scene()
    nasty = NASTY[0] + NASTY[6] + "$x$"
    field = X.rename(lat=nasty, lon="x").rename(nasty)
    field["x"].attrs["units"] = "</text><script>"
    text = render(collect_findings(fit_field(field, y), X=field, y=y))
    page = Page(text)
    assert len(page.all("script")) == 3
    assert "\u202e" not in text


def test_without_xarray_a_report_has_no_maps(monkeypatch):
    X, y = scene()
    model = fit_field(X, y)
    monkeypatch.setattr(_maps, "find_spec", lambda name: None)
    assert collect_findings(model).maps == ()


def test_a_map_of_nothing_is_drawn():
    """All cells constant but those left out: no group has a colour."""
    from lincfa.plotting import draw_effects, draw_groups, effects_on, new_figure

    labels = xr.DataArray([[-1.0, np.nan], [-1.0, -1.0]], dims=("y", "x"))
    map = map_of_labels(labels, xr.zeros_like(labels))
    draw_groups(map, new_figure(3, 3).subplots())
    draw_effects(map, new_figure(3, 3).subplots(), effects=effects_on(map), changed="prediction")

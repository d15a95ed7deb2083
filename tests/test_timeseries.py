"""Samples in time: blocks of dates as folds, features at lags and targets at a lead."""

import sys

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV, compare, load
from lincfa._data._connectivity import present_labels, read_structure
from lincfa._data._training import read_training
from lincfa.datasets import make_correlated
from lincfa.report._findings import collect_findings
from lincfa.structure import grid_connectivity
from lincfa.timeseries import BlockKFold, at_lead, lagged

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
xr = pytest.importorskip("xarray")

MONTHS = pd.date_range("2000-01", periods=24, freq="MS")


def assert_same_folds(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


# Folds


@pytest.mark.parametrize(("n", "n_splits"), [(10, 2), (11, 3), (23, 5), (7, 7)])
def test_blocks_of_rows_in_order_are_those_of_scikit_learn(n, n_splits):
    X = np.zeros((n, 2))
    assert_same_folds(BlockKFold(n_splits).split(X), KFold(n_splits).split(X))
    assert BlockKFold(n_splits).get_n_splits() == n_splits


@pytest.mark.parametrize("gap", [0, 1, 4])
def test_blocks_of_dates_in_any_order(gap):
    """Each date is held out once, with all its samples, and far enough from those learned from."""
    rng = np.random.default_rng(gap)
    ranks = np.concatenate([np.arange(24), rng.integers(24, size=26)])
    ranks = ranks[rng.permutation(50)]
    blocks = []
    for train, test in BlockKFold(5, gap=gap).split(pd.DataFrame({"x": ranks}, MONTHS[ranks])):
        held_out = np.unique(ranks[test])
        first, last = held_out[[0, -1]]
        assert held_out.tolist() == list(range(first, last + 1))
        assert sorted(test) == np.flatnonzero((ranks >= first) & (ranks <= last)).tolist()
        assert sorted(train) == [
            row for row, rank in enumerate(ranks) if rank < first - gap or rank > last + gap
        ]
        blocks.append(held_out)
    assert np.concatenate(blocks).tolist() == list(range(24))
    assert {len(block) for block in blocks} == {4, 5}


SHUFFLED = np.random.default_rng(0).permutation(24)
FIELD = xr.DataArray(np.zeros((24, 2)), {"time": MONTHS[SHUFFLED]}, ("time", "x"))


@pytest.mark.parametrize(
    "given",
    [
        {"X": FIELD.to_dataset(name="sst")},
        {"X": np.zeros((24, 2)), "y": pd.Series(0.0, MONTHS[SHUFFLED])},
        {"X": np.zeros((24, 2)), "groups": [f"{k:02}" for k in SHUFFLED]},
        {"X": pd.DataFrame(np.zeros((24, 2)), MONTHS), "groups": pd.Series(SHUFFLED)},
    ],
    ids=["dataset", "target", "strings", "groups come first"],
)
def test_where_dates_come_from(given):
    expected = list(BlockKFold(3).split(np.zeros((24, 2)), groups=SHUFFLED))
    assert all(SHUFFLED[test].max() - SHUFFLED[test].min() == 7 for _, test in expected)
    assert_same_folds(BlockKFold(3).split(**given), expected)


def test_blocks_in_functions_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), rng.normal(size=24)
    expected = cross_val_score(LinearRegression(), X[np.argsort(SHUFFLED)], y, cv=KFold(4))
    model, y = LinearRegression(), y[SHUFFLED]
    scores = cross_val_score(model, pd.DataFrame(X, MONTHS[SHUFFLED]), y, cv=BlockKFold(4))
    np.testing.assert_allclose(scores, expected)
    np.testing.assert_allclose(
        cross_val_score(model, X, y, cv=BlockKFold(4), groups=SHUFFLED), expected
    )
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(model, X, y, cv=BlockKFold(4), params={"groups": SHUFFLED})
    np.testing.assert_allclose(routed, expected)


@pytest.mark.parametrize(
    ("splitter", "X", "message"),
    [
        (BlockKFold(1), range(9), "n_splits must be an integer from 2 to 2147483647, got 1"),
        (BlockKFold(2.0), range(9), "n_splits must be an integer from 2 to 2147483647, got 2.0"),
        (BlockKFold(3, gap=-1), range(9), "gap must be an integer from 0 to 2147483647, got -1"),
        (BlockKFold(5), range(4), "at least as many dates as blocks, got 4 samples"),
        (BlockKFold(3), FIELD[[0, 0, 1, 1]], "got 2 distinct dates"),
        (BlockKFold(3), FIELD[:0], "got 0 distinct dates"),
        (BlockKFold(3, gap=6), range(9), "With gap=6, no samples are left to learn from"),
    ],
)
def test_blocks_that_cannot_be_made(splitter, X, message):
    with pytest.raises(ValueError, match=message):
        list(splitter.split(X))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros((9, 2)), r"groups must be the date of each sample, got shape \(9, 2\)"),
        ([1, 2, np.nan, 4], "'groups' lacks the date of 1 sample, first at row 2"),
        (np.array(["2000", "NaT", "NaT"], "M8[D]"), "lacks the date of 2 samples, first at row 1"),
        (["a", None, "b"], "The dates of 'groups' have no order: they must be of one kind"),
    ],
)
def test_groups_that_are_no_dates(groups, message):
    with pytest.raises(ValueError, match=message):
        list(BlockKFold(2).split(np.zeros((len(groups), 1)), groups=groups))


# Lags and lead

LAGS = [2, 0, 1]
FREQUENCIES = ["YS", "YE", "QS", "QE-NOV", "MS", "ME", "2MS", "D", "W", "10D", "6h", "90min"]


def model_dates(n, freq, calendar, start="1999-02-01"):
    return xr.date_range(start, periods=n, freq=freq, calendar=calendar, use_cftime=True)


def mid_month(times):
    """Middles of the same months, as models of the climate date their means."""
    return [time.replace(day=15 if time.month == 2 else 16) for time in times]


def moments():
    """Dates of many steps and calendars, each consecutive."""
    for freq in FREQUENCIES:
        yield freq, pd.date_range("1999-02-01", periods=30, freq=freq)
    for calendar in ("standard", "360_day", "noleap", "julian"):
        for freq in ("YS", "QE-NOV", "MS", "D", "6h"):
            yield f"{calendar} {freq}", model_dates(30, freq, calendar)
        yield f"{calendar} middles", mid_month(model_dates(30, "MS", calendar))
    yield "middles", mid_month(pd.date_range("1999-02-01", periods=30, freq="MS"))
    yield "periods", pd.period_range("1999-02", periods=30, freq="M")
    yield "years", np.arange(1999, 2029)
    for freq in ("MS", "D", "6h"):  # across a change of the clocks
        yield f"zone {freq}", pd.date_range("1999-03-20", periods=30, freq=freq, tz="Europe/Berlin")


MOMENTS = dict(moments())


@pytest.mark.parametrize("times", MOMENTS.values(), ids=MOMENTS)
def test_lags_are_found_by_date(times):
    """Values are places in time, of which some are missing, in any order."""
    rng = np.random.default_rng(3)
    there = rng.permutation(np.delete(np.arange(30), [4, 5, 11, 20]))
    times = np.asarray(times, dtype=object)[there]
    if isinstance(times[0], pd.Timestamp | pd.Period):
        X = pd.DataFrame({"place": there}, pd.Index(times))
        by_object = lagged(X.set_axis(pd.Index(times, dtype=object)), LAGS)
        assert by_object.to_numpy().tolist() == lagged(X, LAGS).to_numpy().tolist()
        found = lagged(X, LAGS)
        kept, values = found["place lag 0"].to_numpy(), found.to_numpy()
        assert list(found.index) == [
            time for time, place in zip(times, there, strict=True) if place in kept
        ]
    else:
        dim = "year" if isinstance(times[0], int) else "time"
        times = times.astype(int) if dim == "year" else times
        found = lagged(xr.DataArray(there, {dim: times}, (dim,)), LAGS, dim=dim)
        kept, values = found.sel(lag=0).values, found.values
        assert (found[dim].values == times[np.isin(there, kept)]).all()
    assert kept.tolist() == [p for p in there if {p - lag for lag in LAGS} <= set(there)]
    np.testing.assert_array_equal(values, kept[:, None] - LAGS)


VALUES = np.random.default_rng(1).normal(size=(24, 6))
ROWS = np.delete(np.arange(24), [7, 15])
"""Months that there are."""


def by_month(rows, lags, wanted=lambda row: True):
    """Rows with their lags, by a loop over the months."""
    kept = [r for r in rows if all(r - lag in rows for lag in lags) and wanted(r)]
    return kept, np.array([[VALUES[r - lag] for lag in lags] for r in kept])


def grid(rows=ROWS, times=MONTHS):
    return xr.DataArray(
        VALUES[rows].reshape(-1, 2, 3),
        {"time": times[rows], "lat": [10.0, 20.0], "season": ("time", rows % 4)},
        ("time", "lat", "lon"),
        "sst",
    )


NAMES = list("abcdef")


@pytest.mark.parametrize("lags", [LAGS, [3], 0, 2], ids=repr)
def test_lags_in_every_container(lags):
    listed = lags if isinstance(lags, list) else [lags]
    kept, expected = by_month(ROWS, listed)
    table = expected.reshape(len(kept), -1)
    names = [f"{name} lag {lag}" for lag in listed for name in NAMES]
    names = names if isinstance(lags, list) else NAMES
    frame = pd.DataFrame(VALUES[ROWS], MONTHS[ROWS], NAMES)
    pd.testing.assert_frame_equal(
        lagged(frame, lags), pd.DataFrame(table, MONTHS[kept], names), check_freq=False
    )
    sized = expected.reshape(len(kept), len(listed), 2, 3)
    for field in (grid(), grid().chunk(time=5), grid().transpose("lat", "time", "lon")):
        found = lagged(field, lags)
        dims = [dim for dim in field.dims for dim in ((dim, "lag") if dim == "time" else (dim,))]
        assert list(found.dims) == [d for d in dims if d != "lag" or isinstance(lags, list)]
        np.testing.assert_array_equal(
            found.transpose("time", *["lag"] * isinstance(lags, list), "lat", "lon").values,
            sized if isinstance(lags, list) else sized[:, 0],
        )
        assert (found["time"].values == MONTHS[kept]).all()
        assert found["season"].values.tolist() == [row % 4 for row in kept]
        assert isinstance(lags, int) or found["lag"].values.tolist() == lags
        assert (found.chunks is None) == (field.chunks is None)
    place = grid()[:, 0, 0].drop_vars("lat")
    both = grid().to_dataset().assign(t2m=place)
    found = lagged(both, lags)
    xr.testing.assert_equal(found["sst"], lagged(grid(), lags))
    xr.testing.assert_equal(found["t2m"], lagged(place, lags))
    # Without dates, all rows follow each other.
    kept, expected = by_month(range(24), listed)
    table = expected.reshape(len(kept), -1)
    np.testing.assert_array_equal(lagged(VALUES, lags), table)
    np.testing.assert_array_equal(lagged(VALUES.tolist(), lags), table)
    found = lagged(pl.DataFrame(VALUES, NAMES), lags)
    assert found.columns == names
    np.testing.assert_array_equal(found.to_numpy(), table)
    for undated in (
        grid(np.arange(24)).drop_vars("time"),
        xr.DataArray(VALUES, dims=("time", "x")),
    ):
        np.testing.assert_array_equal(lagged(undated, lags).values.reshape(len(kept), -1), table)
        found = at_lead(undated, TARGET, 0, lags).X
        np.testing.assert_array_equal(found.values.reshape(len(kept), -1), table)


TARGET = np.arange(24.0)


def targets():
    """The target of months 3 to 23 in several containers and calendars."""
    rows = np.arange(3, 24)
    yield "series", pd.Series(TARGET[rows], MONTHS[rows])
    yield "frame of periods", pd.DataFrame({"a": TARGET[rows]}, MONTHS[rows].to_period("M"))
    zone = MONTHS[rows].tz_localize("Europe/Berlin")
    yield "zone", pd.Series(TARGET[rows], zone)
    yield "zone of a field", xr.DataArray(TARGET[rows], {"time": zone}, ("time",))
    yield "days", pd.Series(TARGET[rows], pd.Index(MONTHS[rows].date, name="day"))
    yield "ends", pd.Series(TARGET[rows], MONTHS[rows] + pd.offsets.MonthEnd())
    middles = mid_month(model_dates(24, "MS", "360_day", "2000-01-01"))
    yield "calendar", xr.DataArray(TARGET[rows], {"time": middles[3:]}, ("time",))


TARGETS = dict(targets())
FEATURES = {
    "frame": pd.DataFrame(VALUES[ROWS], MONTHS[ROWS], NAMES),
    "field": grid(),
    "calendar": grid(times=np.array(mid_month(model_dates(24, "MS", "noleap", "2000-01-01")))),
}


@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("X", FEATURES.values(), ids=FEATURES)
def test_targets_at_a_lead_match_by_date(X, y):
    found = at_lead(X, y, lead=2, lags=[1, 0])
    kept, expected = by_month(ROWS, [1, 0], wanted=lambda row: 3 <= row + 2 < 24)
    np.testing.assert_array_equal(
        np.asarray(found.X).reshape(len(kept), -1), expected.reshape(len(kept), -1)
    )
    assert np.ravel(found.y).tolist() == [row + 2 for row in kept]
    assert type(found.y) is type(y)
    assert found.gap == 3
    # Both have the dates of X, so that a fit takes them as they are.
    model = LinCFA().fit(found.X, found.y)
    dates = read_training(found.X, found.y).dates.values
    assert [(date.year, date.month) for date in pd.Index(dates)] == [
        (MONTHS[row].year, MONTHS[row].month) for row in kept
    ]
    assert model.n_features_in_ == 12
    lines = found.dropped.splitlines()
    assert lines[0].startswith("3 of 22 samples lack lag 1: 2000-01-")
    assert lines[1].startswith("3 of 22 samples lack a target at lead 2: 2000-01-")


def test_what_has_no_dates_takes_those_of_the_other():
    y = pd.Series(TARGET[ROWS], MONTHS[ROWS])
    found = at_lead(VALUES[ROWS], y, 1)
    kept = [row for row in ROWS if row + 1 in ROWS]
    np.testing.assert_array_equal(found.X, VALUES[kept])
    pd.testing.assert_series_equal(
        found.y, pd.Series(TARGET[kept] + 1, MONTHS[kept]), check_freq=False
    )
    for X in (grid().drop_vars("time"), pd.DataFrame(VALUES[ROWS])):
        found = at_lead(X, y, 1)
        assert (read_training(found.X, found.y).dates.values == MONTHS[kept]).all()
        assert (pd.Index(found.X["time"] if X.ndim == 3 else found.X.index) == MONTHS[kept]).all()
    found = at_lead(grid(), TARGET[ROWS], 1)
    assert found.y.tolist() == [row + 1 for row in kept]
    found = at_lead(pl.DataFrame(VALUES), pl.Series(TARGET), 4, [0, 9])
    assert found.y.to_list() == list(range(13, 24))
    assert found.dropped == (
        "9 of 24 samples lack lag 9: row 0, row 1, row 2, row 3, row 4, …, row 8.\n"
        "4 of 24 samples lack a target at lead 4: row 20, row 21, row 22, row 23."
    )
    assert at_lead(VALUES, TARGET, 0).dropped == ""


NAMED = pd.Series(TARGET, MONTHS, name="rain")
FIELD_NAMED = xr.DataArray(NAMED, {"time": MONTHS}, ("time",), "rain", {"units": "mm"})


@pytest.mark.parametrize(
    "y", [NAMED, NAMED.to_frame(), FIELD_NAMED, FIELD_NAMED.to_dataset(), pl.Series("rain", TARGET)]
)
def test_a_target_at_a_lead_says_so(y):
    """As do predictions, whose date is that of the features."""
    found = at_lead(VALUES if isinstance(y, pl.Series) else grid(), y, 3).y
    if isinstance(y, xr.Dataset):
        assert list(found) == ["rain lead 3"]
        found = found["rain lead 3"]
    assert getattr(found, "name", None) == "rain lead 3" or list(found) == ["rain lead 3"]
    assert not isinstance(found, xr.DataArray) or found.attrs == {"units": "mm"}
    now = at_lead(VALUES, y, 0).y
    assert getattr(now, "name", None) == "rain" or list(now) == ["rain"]


def test_names_of_lags():
    frame = pd.DataFrame({("a", "x"): range(6), ("b", "x"): range(6)}, MONTHS[:6])
    found = lagged(frame, [0, 1])
    assert found.columns.tolist() == [
        (name, f"x lag {lag}") for lag in (0, 1) for name in ("a", "b")
    ]
    assert lagged(grid(), [0, 1])["lag"].attrs == {"long_name": "lag in steps"}


def test_lags_may_be_any_iterable():
    frame = pd.DataFrame(VALUES, MONTHS, pd.Index(NAMES, name="cell"))
    found = lagged(frame, (lag for lag in LAGS))
    pd.testing.assert_frame_equal(found, lagged(frame, LAGS))
    assert found.columns.name == "cell"


def test_tables_need_no_xarray(monkeypatch):
    monkeypatch.delitem(sys.modules, "xarray")
    found = at_lead(pd.DataFrame(VALUES, MONTHS, NAMES), NAMED, 1, [0, 1])
    assert found.y.name == "rain lead 1"


def test_a_number_is_a_name():
    months = pd.date_range("2001-01", periods=3, freq="MS")
    found = lagged(pd.Series([1, 2, 3], months, name=0), [0, 1])
    assert found.columns.tolist() == ["0 lag 0", "0 lag 1"]


def test_a_single_date_has_the_steps_of_the_others():
    quarters = pd.date_range("2001-01", periods=4, freq="QS")
    y = pd.Series([1.0, 2.0, 3.0, 4.0], quarters, name="y")
    found = at_lead(pd.DataFrame({"x": [7.0]}, quarters[1:2]), y, 1)
    assert found.y.tolist() == [3.0]
    assert at_lead(pd.DataFrame({"x": [7.0]}, quarters[1:2]), y[1:2], 0).y.tolist() == [2.0]


def test_steps_in_words():
    hours = pd.date_range("2001-01-01", periods=8, freq="6h")
    days = pd.date_range("2001-01-01", periods=8, freq="D")
    X, y = pd.DataFrame({"x": np.arange(8.0)}, hours), pd.Series(np.arange(8.0), days)
    with pytest.raises(ValueError, match=r"X is in steps of 6 hours from .* y in steps of 1 day"):
        at_lead(X, y, 1)


def test_missing_targets_are_left_to_the_fit():
    y = pd.Series(np.where(TARGET == 9, np.nan, TARGET), MONTHS)
    assert at_lead(VALUES, y, 3).y.isna().sum() == 1


YEARLY = pd.date_range("2000-11", periods=9, freq="12MS")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lagged(VALUES, -1),
            "lags must be integers from 0 .* got -1; a target in the fut",
        ),
        (lambda: lagged(VALUES, [0, 1.0]), r"lags must be integers from 0 .* got \[0, 1.0\]"),
        (lambda: lagged(VALUES, [1, 1]), r"different integers, at least one, got \[1, 1\]"),
        (lambda: lagged(VALUES, []), r"different integers, at least one, got \[\]"),
        (lambda: lagged(VALUES, 24), r"No sample of X has all lags, \[24\]\."),
        (lambda: lagged(grid(), 24), "X run from 2000-01-01 to 2001-12-01"),
        (lambda: lagged(VALUES, 2**70), "lags must be integers from 0 to 2147483647, steps back"),
        (
            lambda: at_lead(VALUES, TARGET, 2**70),
            "lead must be an integer from 0 to 2147483647, got 1180",
        ),
        (lambda: lagged(pd.DataFrame({"a": []}, MONTHS[:0]), 1), "X has no samples"),
        (lambda: lagged(grid()[:0], 1), "X has no samples"),
        (
            lambda: lagged(
                pd.DataFrame(
                    VALUES, pd.MultiIndex.from_arrays([MONTHS.repeat(2)[:24], ["a", "b"] * 12])
                ),
                1,
            ),
            "X needs one sample for each date, but 2000-01-01 has 2",
        ),
        (
            lambda: lagged(pd.DataFrame(VALUES[:, :2], columns=["a", "a"]), [0, 1]),
            r"Column names must be unique, but X repeats 'a' \(2 times\)",
        ),
        (lambda: lagged(TARGET, 1), r"two dimensions, .* got 1: .* X.reshape\(-1, 1\)"),
        (lambda: lagged(grid(), 1, dim="day"), r"no dimension 'day', .* time \(22\), lat \(2\)"),
        (lambda: lagged(lagged(grid(), [0, 1]), [0, 1]), "'lag' already"),
        (
            lambda: lagged(grid(np.array([3, 4, 3])), 1),
            "X needs one sample for each date, but 2000-04-01 has 2",
        ),
        (
            lambda: lagged(
                pd.DataFrame(
                    VALUES[:3], pd.to_datetime(["2000-01-01", "2000-01-03", "2000-01-08"])
                ),
                1,
            ),
            "The dates of X have no regular step: from 2000-01-03 to 2000-01-08",
        ),
        (
            lambda: lagged(xr.DataArray(VALUES[:2], {"time": [0.5, 1.5]}, ("time", "x")), 1),
            "times of X are not whole numbers, such as 0.5",
        ),
        (
            lambda: at_lead(VALUES, TARGET, -1),
            "lead must be an integer from 0 to 2147483647, got -1",
        ),
        (lambda: at_lead(VALUES, TARGET[1:], 1), "X has 24 samples and y has 23: unless both"),
        (
            lambda: at_lead(grid(), pd.Series(TARGET, MONTHS + pd.DateOffset(years=9)), 1),
            "and a target at lead 1; the dates of X run from 2000-01-01 to .* of y run from 2009",
        ),
        (
            lambda: at_lead(grid(), pd.Series(TARGET, pd.date_range("2000", periods=24)), 1),
            "X is in steps of 1 month from 2000-01-01, and y in steps of 1 day",
        ),
        (  # whether November is before or after January of the same year, the dates do not say
            lambda: at_lead(
                pd.DataFrame(VALUES[:9], YEARLY),
                pd.Series(TARGET[:9], YEARLY + pd.DateOffset(months=2)),
                0,
            ),
            "X is in steps of 12 months from 2000-11-01, and y in steps of 12 months from 2001-01",
        ),
    ],
)
def test_what_cannot_be_lagged_or_aligned(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_years_match_yearly_dates():
    X = xr.DataArray(VALUES[:9], {"year": np.arange(2000, 2009)}, ("year", "x"))
    y = pd.Series(TARGET[:12], pd.date_range("2000", periods=12, freq="YE"))
    assert at_lead(X, y, 1, dim="year").y.tolist() == list(range(1, 10))


# Lags are blocks


@pytest.mark.parametrize("order", [("time", "lag", "lat", "lon"), ("time", "lat", "lon", "lag")])
def test_areas_never_mix_lags(order, tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 1, 1)) + rng.normal(size=(60, 3, 4))
    field = xr.DataArray(
        values, {"time": np.arange(60), "lat": [0.0, 10, 20]}, ("time", "lat", "lon"), "t2m"
    )
    field[:, 1, 2] = np.nan
    X = lagged(field, [0, 1, 2]).transpose(*order)
    y = values[2:, 0, 0] + values[:-2, 2, 3]
    model = LinCFA(connectivity="grid", tolerance=10.0).fit(X, y)
    assert model.n_connected_components_ == 3
    labels = model.label_map()
    assert dict(labels.sizes) == {"lag": 3, "lat": 3, "lon": 4}
    by_lag = [np.unique(each[~np.isnan(each)]) for each in labels.transpose("lag", ...).values]
    assert sum(map(len, by_lag)) == model.n_groups_
    cell = {"lag": "lag=2", "lat": "lat=10.0", "lon": "lon=3"}
    assert f"t2m[{', '.join(cell[dim] for dim in order[1:])}]" in model.feature_names_in_
    # A graph and blocks of the cells at one lag hold for every lag.
    mask = field.notnull().all("time").values
    for given in (grid_connectivity((3, 4)), grid_connectivity((3, 4), mask=mask)):
        same = LinCFA(connectivity=given, tolerance=10.0).fit(X, y)
        np.testing.assert_array_equal(same.labels_, model.labels_)
        same.save(tmp_path / "model.json")
        loaded = load(tmp_path / "model.json")
        xr.testing.assert_identical(loaded.label_map(), labels)
    halves = np.broadcast_to(np.arange(4) // 2, (3, 4))
    for blocks in (halves, xr.DataArray(halves, dims=("lat", "lon")).T, halves.ravel()):
        apart = LinCFA(blocks=blocks).fit(X, y)
        assert apart.n_connected_components_ == 6


def test_labels_of_features_and_of_cells_at_lags():
    """Two cells at two lags are four features; with two that are missing there are four cells."""
    values = np.concatenate([np.full((24, 2), np.nan), VALUES[:, :2]], axis=1)
    X = lagged(xr.DataArray(values.reshape(24, 1, 4), {"time": MONTHS}, ("time", "y", "x")), [0, 1])
    field = read_training(X, TARGET[1:]).columns.field
    labels = np.arange(4)
    for given, expected in (
        (labels, [0, 1, 2, 3]),
        (labels[None], [2, 3, 2, 3]),
        (xr.DataArray(labels, dims="x"), [2, 3, 2, 3]),
        (labels[2:], [2, 3, 2, 3]),
    ):
        assert present_labels(field, given).tolist() == expected
    with pytest.raises(
        ValueError, match=r"one label per feature, 4, got an array of shape \(4, 1\)"
    ):
        LinCFA(blocks=labels[:, None]).fit(X, TARGET[1:])


def test_chains_and_lists_of_places_at_lags():
    spectrum = xr.DataArray(VALUES, {"time": MONTHS}, ("time", "wavelength"))
    for order in (("time", "lag", "wavelength"), ("time", "wavelength", "lag")):
        X = lagged(spectrum, [0, 1]).transpose(*order)
        training = read_training(X, TARGET[1:])
        edges, blocks = read_structure("chain", None, training.columns)
        assert edges.nnz == 20  # five pairs at each of two lags, both ways
        assert blocks.max() == 1
        assert read_structure("grid", None, training.columns)[0].nnz == 20
    stations = spectrum.rename(wavelength="station").assign_coords(
        lon=("station", np.arange(6.0)), lat=("station", np.arange(6.0))
    )
    with pytest.raises(ValueError, match="neighbours of places side by side along 'station'"):
        LinCFA(connectivity="grid").fit(lagged(stations, [0, 1]), TARGET[1:])


def test_lags_of_a_table_are_blocks():
    X = lagged(pd.DataFrame(VALUES, columns=NAMES), [0, 2])
    model = LinCFA(blocks=np.repeat([0, 2], 6), tolerance=100.0).fit(X, TARGET[2:])
    for members in model.groups_by_name().values():
        assert len({name[-1] for name in members}) == 1


# Folds of the estimators


@pytest.fixture(scope="module")
def series():
    """Features and a target of 60 months, in any order."""
    X, y = make_correlated(n_samples=60, n_features=8, random_state=0)
    months = pd.date_range("2000-01", periods=60, freq="MS")
    order = np.random.default_rng(0).permutation(60)
    return pd.DataFrame(X, months).iloc[order], y[order], order


QUICK = {"tolerances": (1.0, 10.0), "min_correlations": [None], "penalties": (1e-3, 0.1)}


def scores(model):
    """Of all combinations and folds, and what was chosen."""
    found = [values for name, values in model.cv_results_.items() if name.startswith("split")]
    return np.array(found)


def as_field(X):
    return xr.DataArray(X.to_numpy(), {"time": X.index}, ("time", "x"))


@pytest.mark.parametrize("cv", [None, BlockKFold(3)])
def test_blocks_are_of_samples_with_weight(cv):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), pd.date_range("2000", periods=60, freq="MS"))
    y = X[0] + rng.normal(size=60)
    weights = np.repeat([1.0, 0.0], [48, 12])  # the last block would have none
    weighted = LinCFACV(cv=cv).fit(X, y, sample_weight=weights)
    plain = LinCFACV(cv=cv).fit(X[:48], y[:48])
    np.testing.assert_allclose(scores(weighted), scores(plain), rtol=1e-9)


@pytest.mark.parametrize("search", [LinCFACV, LinCFAClassifierCV])
@pytest.mark.parametrize("container", [lambda X: X, as_field, lambda X: as_field(X).chunk(time=20)])
def test_dates_are_held_out_in_blocks(series, search, container):
    X, y, order = series
    y = np.where(y > np.median(y), "b", "a") if search is LinCFAClassifierCV else y
    folds = list(BlockKFold(5, n_repeats=2).split(X.to_numpy(), groups=order))
    expected = search(**QUICK, cv=folds).fit(X.to_numpy(), y)
    model = search(**QUICK).fit(container(X), y)
    assert repr(model.cv_) == "BlockKFold(gap=0, n_repeats=2, n_splits=5)"
    np.testing.assert_allclose(scores(model), scores(expected), rtol=1e-9)
    words = "chosen by 5 blocks of samples consecutive in time, held out in turn, twice: "
    assert words in str(model.summary())
    assert "chosen by cross-validation: " in str(expected.summary())
    # A splitter of blocks gets the dates as well, and no other is changed.
    gapped = search(**QUICK, cv=BlockKFold(4, gap=2)).fit(container(X), y)
    folds = list(BlockKFold(4, gap=2).split(X))
    given = search(**QUICK, cv=folds).fit(X.to_numpy(), y)
    np.testing.assert_allclose(scores(gapped), scores(given), rtol=1e-9)
    assert "held out in turn, with a gap of 2 on either side: " in str(gapped.summary())
    shuffled = KFold(3, shuffle=True, random_state=0)
    model = search(**QUICK, cv=shuffled).fit(container(X), y)
    assert model.cv_ is shuffled
    given = search(**QUICK, cv=shuffled).fit(X.to_numpy(), y)
    np.testing.assert_allclose(scores(model), scores(given), rtol=1e-9)


def test_report_says_that_blocks_were_held_out(series):
    X, y, _ = series
    model = LinCFACV(**QUICK).fit(X, y)
    words = "5 blocks of samples consecutive in time, held out in turn, twice"
    found = collect_findings(model)
    assert found.settings["cv"] == words
    assert f"folds of the training data ({words});" in found.path.how
    found = collect_findings(LinCFACV(**QUICK, cv=5).fit(X, y))
    assert found.settings["cv"] == 5
    assert "blocks" not in found.path.how


def test_groups_come_before_dates_and_other_splitters_get_none(series):
    X, y, order = series
    model = LinCFACV(**QUICK, cv=BlockKFold(3)).fit(X, y, groups=np.arange(60))
    rows = LinCFACV(**QUICK, cv=KFold(3)).fit(X, y)
    np.testing.assert_array_equal(scores(model), scores(rows))
    years = LinCFACV(**QUICK, cv=GroupKFold(3)).fit(X, y, groups=order // 12)
    assert len(scores(years)) == 3
    assert len(scores(LinCFACV(**QUICK).fit(X.to_numpy(), y))) == 20  # as without dates
    assert len(scores(LinCFACV(**QUICK).fit(X.iloc[:20], y[:20]))) == 10  # at most twice
    halves = LinCFACV(**QUICK).fit(X, y, groups=order // 30)  # also where blocks are the default
    assert isinstance(halves.cv_, GroupKFold)
    assert halves.cv_.n_splits == 2
    with pytest.raises(ValueError, match="one label for each of 60 samples, got 59"):
        LinCFACV(**QUICK).fit(X, y, groups=order[1:])


def test_many_dates_are_divided_once():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), pd.date_range("2000", periods=200, freq="MS"))
    assert LinCFACV(**QUICK).fit(X, X[0]).cv_.n_repeats == 1
    assert LinCFACV(**QUICK).fit(X[1:], X[0][1:]).cv_.n_repeats == 2


def test_repeated_blocks_begin_elsewhere():
    """Each division holds out every date once, and the gap is around each piece of a block."""
    folds = list(BlockKFold(4, gap=1, n_repeats=3).split(range(24)))
    assert len(folds) == BlockKFold(4, gap=1, n_repeats=3).get_n_splits() == 12
    starts = []
    for repeat in range(3):
        part = folds[4 * repeat : 4 * repeat + 4]
        assert np.sort(np.concatenate([test for _, test in part])).tolist() == list(range(24))
        starts.append(part[0][1][0])
        for train, test in part:
            apart = np.abs(train[:, None] - test).min(axis=1)
            assert (apart > 1).all()  # the first date and the last are not neighbours
            assert train.size == 24 - test.size - sum(
                0 <= near < 24 and near not in test for near in {*(test - 1), *(test + 1)}
            )
    assert starts == [0, 2, 4]
    assert folds[-1][1].tolist() == [0, 1, 2, 3, 22, 23]  # the ends of the series, together
    with pytest.raises(ValueError, match="n_repeats must be an integer from 1"):
        next(BlockKFold(n_repeats=0).split(range(9)))


@pytest.mark.parametrize("container", [lambda X: X, as_field], ids=["frame", "field"])
def test_comparison_holds_out_blocks_and_all_methods_choose_by_blocks(series, planned, container):
    X, y, order = series
    found = compare(container(X), y, methods=["LinCFACV", "ridge"])
    assert found.ordered
    outer = list(BlockKFold(5).split(X))
    assert_same_folds([(task.train, task.test) for task in planned[::2]], outer)
    for task, (train, _) in zip(planned[::2], outer, strict=True):
        assert_same_folds(task.folds, BlockKFold(5, n_repeats=2).split(X.iloc[train]))
    assert all(
        one.folds is other.folds for one, other in zip(planned[::2], planned[1::2], strict=True)
    )
    assert "Folds: 5 blocks of samples consecutive in time, held out in turn" in str(found)
    planned.clear()
    compare(container(X), y, methods=["ridge"], cv=BlockKFold(3, gap=4))
    for task, (train, test) in zip(planned, BlockKFold(3, gap=4).split(X), strict=True):
        assert_same_folds([(task.train, task.test)], [(train, test)])
        assert_same_folds(task.folds, BlockKFold(5, gap=4, n_repeats=2).split(X.iloc[train]))
    planned.clear()
    quarters = order // 3  # come before the dates
    compare(container(X), y, methods=["ridge"], cv=BlockKFold(3, gap=1), groups=quarters)
    for task, (train, test) in zip(
        planned, BlockKFold(3, gap=1).split(X, groups=quarters), strict=True
    ):
        assert_same_folds([(task.train, task.test)], [(train, test)])
        blocks = BlockKFold(5, gap=1, n_repeats=2)
        assert_same_folds(task.folds, blocks.split(X.iloc[train], groups=quarters[train]))
    planned.clear()
    compare(container(X), y, methods=["ridge"], cv=GroupKFold(3), groups=quarters)
    assert_same_folds(
        [(task.train, task.test) for task in planned], GroupKFold(3).split(X, groups=quarters)
    )
    planned.clear()
    found = compare(container(X), y, methods=["ridge"], ordered=False)
    assert len(planned) == 15
    assert planned[0].folds is None
    assert "blocks" not in str(found)


def test_search_and_rivals_are_fitted_by_the_same_blocks(series):
    """What LinCFACV is scored by in a comparison is that of its own fit to the training part."""
    X, y, _ = series
    found = compare(X, y, methods=["LinCFACV", "ridge", "PLS"], cv=2, verbose=False)
    assert found.failures == ("",) * 3
    for k, (train, test) in enumerate(BlockKFold(2).split(X)):
        model = LinCFACV().fit(X.iloc[train], y[train])
        assert found.fold_r2[0, k] == pytest.approx(model.score(X.iloc[test], y[test]))


def test_a_class_of_one_block_cannot_be_learned_from_the_others(series):
    X, _, order = series
    labels = np.where((order > 20) & (order < 23), "rare", np.where(order % 2, "odd", "even"))
    message = "No sample of the class 'rare' is left to learn from when a block of 12 .* shuffled"
    with pytest.raises(ValueError, match=message):
        LinCFAClassifierCV(**QUICK).fit(X, labels)
    with pytest.raises(ValueError, match=message):
        compare(X, labels)
    with pytest.raises(ValueError, match="got 1 distinct date:"):
        LinCFACV(**QUICK).fit(X.set_axis([X.index[0]] * 60), np.arange(60.0))

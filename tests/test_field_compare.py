"""Fields of a transform that differ from that of the fit in units or in the order of cells."""

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV

xr = pytest.importorskip("xarray")

from field_data import dataset, field


@pytest.mark.parametrize("search", [False, True])
def test_other_units(search):
    X, y = field()
    plain = X.copy()
    plain.attrs = {}
    model = LinCFACV(strategies=["sequential"], tolerances=[1.0], cv=3) if search else LinCFA()
    model.fit(X, y)
    message = r"^The field has the units 'degC' and had 'K' in the fit: convert it first"
    use = model.predict if search else model.transform
    with pytest.raises(ValueError, match=message):
        use((X - 273.15).assign_attrs(units="degC"))
    same = use(X)
    for other in (X.assign_attrs(units="K "), plain, X.rename("warmth")):
        np.testing.assert_array_equal(use(other), same)
    model.fit(plain, y)
    np.testing.assert_array_equal(use(X), same)


def test_other_units_of_a_variable():
    X, y = dataset()
    model = LinCFA(sample_dim="time").fit(X, y)
    with pytest.raises(ValueError, match="The variable 'rain' has the units 'm' and had 'mm'"):
        model.transform(X.assign(rain=X.rain.assign_attrs(units="m")))
    number = X.assign({"index": X["index"].assign_attrs(units=1)})  # the same as the text
    np.testing.assert_array_equal(model.transform(number), model.transform(X))


def told(model, X):
    with pytest.raises(ValueError, match="is not that of the fit") as caught:
        model.transform(X)
    return str(caught.value)


START = "The values are the same in another order: sort them first, as with X."


def test_cells_in_another_order():
    X, y = field()
    up, down = LinCFA().fit(X, y), LinCFA().fit(X[:, ::-1], y)
    mixed = X.isel(lat=[2, 0, 3, 1])
    kept = LinCFA().fit(mixed, y)
    for model, other, remedy, remedied in (
        (up, X[:, ::-1], "sortby('lat').", X[:, ::-1].sortby("lat")),
        (up, mixed, "sortby('lat').", mixed.sortby("lat")),
        (down, X, "sortby('lat', ascending=False).", X.sortby("lat", ascending=False)),
        (kept, X, "reindex_like(the field of the fit).", X.reindex_like(mixed)),
    ):
        assert told(model, other).endswith(START + remedy)
        model.transform(remedied)
    single = X[:, ::-1].assign_coords(lat=X.lat[::-1].astype("f4") + np.float32(1e-5))
    assert START in told(up, single)
    assert START not in told(up, X.assign_coords(lat=X.lat + 1))


def test_text_in_another_order():
    X, y = dataset()
    model = LinCFA(sample_dim="time").fit(X, y)
    other = X.isel(station=slice(None, None, -1))
    message = told(model, other)
    assert "(place 0) is f and was a." in message
    assert message.endswith(START + "sortby('station').")
    model.transform(other.sortby("station"))

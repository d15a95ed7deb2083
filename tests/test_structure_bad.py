"""Structures that make no sense: errors that say what and where."""

import numpy as np
import pytest

from lincfa.structure import chain_connectivity, coordinate_connectivity, grid_connectivity

LAND = np.ones((2, 3), dtype=bool)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((), {}, r"shape must be positive integers, one per axis, got \(\)"),
        ((2, 0), {}, "shape must be positive"),
        ((2, -3), {}, "shape must be positive"),
        ((2.0, 3), {}, "shape must be positive integers"),
        (((2, 3),), {}, "shape must be positive"),
        ("grid", {}, "shape must be .* got 'grid'"),
        ((True, True), {}, "shape must be"),
        ((2, 3), {"neighbors": 6}, "neighbors must be 4 .* or 8 .* got 6"),
        ((2, 3), {"wrap": "lon"}, "wrap must be True, False or 2 of these.* got 'lon'"),
        ((2, 3), {"wrap": [True]}, "wrap must be True, False or 2 of these"),
        ((2, 3), {"wrap": [0, 1]}, "wrap must be"),
        ((2, 3), {"wrap": None}, "wrap must be"),
        ((2, 3), {"mask": LAND.T}, r"mask must have the shape \(2, 3\), got \(3, 2\)"),
        ((2, 3), {"mask": LAND * 1.0}, "mask must be of type bool.* got float64; use a comparison"),
        ((2, 3), {"mask": ~LAND}, "mask includes nothing"),
        ((2, 3), {"mask": np.ma.masked_array(LAND, LAND)}, "mask includes nothing"),
    ],
)
def test_grids(shape, options, message):
    with pytest.raises(ValueError, match=message):
        grid_connectivity(shape, **options)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "3", None])
def test_chains(wrong):
    with pytest.raises(ValueError, match="n must be a positive integer, got"):
        chain_connectivity(wrong)
    with pytest.raises(ValueError, match="reach must be a positive integer, got"):
        chain_connectivity(5, reach=wrong)


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("lat", "lon", "options", "message"),
    [
        ([1, 2], [3, 4], {}, "Pass either radius_km or k"),
        ([1, 2], [3, 4], {"k": 1, "radius_km": 5}, "Pass either radius_km or k"),
        ([1, 2, 3], [3, 4], {"k": 1}, r"same shape, got \(3,\) and \(2,\).* np.meshgrid"),
        ([], [], {"k": 1}, "lat and lon are empty"),
        ([1, 90.5], [3, 4], {"k": 1}, "lat must be from -90 to 90, but is 90.5 at place 1;"),
        ([1, -91], [3, 4], {"k": 1}, "is -91.0 at place 1; check that lat and lon are not swap"),
        ([[1, 2], [99, 98]], [[3, 4], [5, 6]], {"k": 1}, r"99.0 at place \(1, 0\) \(and 1 more\);"),
        ([1, NAN], [3, 4], {"k": 1}, "lat must be finite, but is nan at place 1; exclude .* mask"),
        ([1, 2], [INF, 4], {"k": 1}, "lon must be finite, but is inf at place 0; exclude .* mask"),
        (np.ma.masked_array([1, 2], [0, 1]), [3, 4], {"k": 1}, "lat .* nan at place 1"),
        (99.0, 3.0, {"radius_km": 5}, "is 99.0 at place 0;"),
        (["a", "b"], [3, 4], {"k": 1}, "lat must be numeric, in degrees"),
        ([1, 2], [3, 4 + 1j], {"k": 1}, "lon must be numeric, in degrees"),
        ([1, 2], np.array(["x", 4], object), {"k": 1}, "lon must be numeric, in degrees"),
        ([1, 2], [3, 4], {"k": 0}, "k must be an integer from 1 to 1, got 0"),
        ([1, 2, 3], [3, 4, 5], {"k": 3}, "k must be an integer from 1 to 2, got 3"),
        ([1, 2], [3, 4], {"k": 1.0}, "k must be an integer"),
        ([1], [3], {"k": 1}, "k needs at least two places"),
        ([1, 2], [3, 4], {"radius_km": 0}, "radius_km must be a positive number .* got 0"),
        ([1, 2], [3, 4], {"radius_km": -5.0}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"radius_km": NAN}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"radius_km": True}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"radius_km": "5"}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"k": 1, "mask": [True]}, r"mask must have the shape \(2,\), got \(1,\)"),
        ([1, 2], [3, 4], {"k": 1, "mask": [1, 0]}, "mask must be of type bool"),
        ([1, 2, 3], [3, 4, 5], {"k": 2, "mask": [True, False, True]}, "from 1 to 1, got 2"),
    ],
)
def test_coordinates(lat, lon, options, message):
    with pytest.raises(ValueError, match=message):
        coordinate_connectivity(lat, lon, **options)


def test_places_left_out_are_not_looked_at():
    found = coordinate_connectivity(
        [1, 999, 2], [3, NAN, 4], radius_km=500, mask=[True, False, True]
    )
    assert found.toarray().tolist() == [[False, True], [True, False]]

"""Zarr stores that name codecs which run code are refused before anything is read."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("polars")
xr = pytest.importorskip("xarray")
zarr = pytest.importorskip("zarr")
pickles = pytest.importorskip("numcodecs.pickles")

from lincfa.cli._files import open_data

PICKLE = {"id": "pickle", "protocol": 4}
# Zarr takes the type from the first, and decodes with the second.
SECOND = {"compressor": None, "filters": [{"id": "vlen-utf8"}, PICKLE]}
SECOND |= {"dtype": "|O", "fill_value": ""}


class Payload:
    """Makes a file when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("touched"),)


@pytest.fixture(autouse=True)
def unsafe(tmp_path, monkeypatch):
    """A folder of its own, and libraries that still unpickle."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    with zarr.config.set({"array.allow_unsafe_pickle_decode": True}):
        yield


def store(zarr_format=2, name="d.zarr", **options):
    data = xr.Dataset({"a": ("time", np.arange(6.0)), "y": ("time", np.arange(6.0) ** 2)})
    data.to_zarr(name, zarr_format=zarr_format, consolidated=False, **options)
    return Path(name)


def change(file, **entries):
    metadata = json.loads(file.read_text())
    metadata.update(entries)
    file.write_text(json.dumps(metadata))


def refused(path):
    with pytest.raises(ValueError, match="codec") as raised:
        open_data(str(path), targets=["y"])
    assert not Path("touched").exists()
    return str(raised.value)


def test_the_payload_is_one():
    change(store() / "a/.zarray", **SECOND)
    Path("d.zarr/a/0").write_bytes(pickle.dumps(Payload()))
    with pytest.raises(Exception):  # noqa: B017, PT011 - what comes after the code has run
        xr.open_zarr("d.zarr", consolidated=False).load()
    assert Path("touched").exists()


@pytest.mark.parametrize(
    "entries",
    [
        {"compressor": PICKLE},
        {"compressor": None, "filters": [PICKLE]},
        SECOND,
        {"compressor": {"id": "shuffle", "inner": PICKLE}},
    ],
    ids=["compressor", "filter", "second filter", "inside another"],
)
def test_format_2(entries):
    path = store()
    change(path / "a/.zarray", **entries)
    (path / "a/0").write_bytes(pickle.dumps(Payload()))
    assert refused(path) == (
        "d.zarr: array 'a' uses the codec 'pickle', which may execute code; if you trust the "
        "store, rewrite the array with a standard codec such as zstd"
    )


def sharded(codec):
    configuration = {"chunk_shape": [1], "codecs": ["bytes", codec], "index_codecs": ["bytes"]}
    return {"name": "sharding_indexed", "configuration": configuration}


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ({"name": "numcodecs.pickle", "configuration": {}}, "numcodecs.pickle"),
        ({"name": ["other"]}, ["other"]),
        ("pickle", "pickle"),
        (sharded({"name": "of_some_package"}), "of_some_package"),
        (sharded("pickle"), "pickle"),
    ],
    ids=["prefix", "no text", "short", "in a shard", "short in a shard"],
)
def test_format_3(codec, name):
    path = store(3)
    change(path / "a/zarr.json", codecs=[codec])
    unknown = "" if "pickle" in name else "is unknown to lincfa and "
    told = f"d.zarr: array 'a' uses the codec {name!r}, which {unknown}may execute code; "
    assert refused(path).startswith(told)


def test_consolidated_metadata():
    path = store()
    copy = {"metadata": {"a/.zarray": {"compressor": PICKLE}}, "zarr_consolidated_format": 1}
    (path / ".zmetadata").write_text(json.dumps(copy))
    assert "array 'a' uses the codec 'pickle'" in refused(path)
    path = store(3, "e.zarr")
    inline = {"kind": "inline", "metadata": {"b": {"codecs": [{"name": "pickle"}]}}}
    change(path / "zarr.json", consolidated_metadata=inline)
    assert "array 'b' uses the codec 'pickle'" in refused(path)


@pytest.mark.parametrize("package", ["pcodec", "zfpy"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_codecs_whose_package_is_missing(monkeypatch, package, zarr_format):
    monkeypatch.setitem(sys.modules, package, None)
    path = store(zarr_format)
    if zarr_format == 2:
        change(path / "a/.zarray", compressor={"id": package})
    else:
        change(path / "a/zarr.json", codecs=[{"name": f"numcodecs.{package}"}])
    with pytest.raises(ImportError) as raised:
        open_data(str(path), targets=["y"])
    codec = package if zarr_format == 2 else f"numcodecs.{package}"
    assert str(raised.value) == (
        f"d.zarr: array 'a' uses the codec {codec!r}, which needs {package}: "
        f"pip install 'numcodecs[{package}]'"
    )


@pytest.mark.parametrize("text", ["no JSON", "[1]", "\udcff", '{"codecs":' + "[" * 10**5])
def test_metadata_that_are_none(text):
    path = store()
    (path / "a/.zarray").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=r"^d.zarr/a/.zarray is not a Zarr store, or it is damag"):
        open_data(str(path), targets=["y"])


@pytest.mark.parametrize("depth", [900, 2000, 9000])  # Python versions differ in their limits
def test_metadata_that_are_nested_deeply(depth):
    path = store()
    metadata = (path / "a/.zarray").read_text()
    nested = '"filters": ' + "[" * depth + "]" * depth
    assert '"filters": null' in metadata
    (path / "a/.zarray").write_text(metadata.replace('"filters": null', nested))
    with pytest.raises(ValueError, match=r"is not a Zarr store, or it is damaged"):
        open_data(str(path), targets=["y"])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_usual_codecs_are_read(zarr_format):
    import numcodecs
    import zarr

    encoding = {"a": {"compressors": [zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]}}
    if zarr_format == 2:
        filters = [numcodecs.Delta("f8"), numcodecs.FixedScaleOffset(0, 1, "f8")]
        encoding = {"a": {"compressors": numcodecs.LZ4(), "filters": filters}}
    else:
        encoding["y"] = {"chunks": [2], "shards": [4]}
    path = store(zarr_format, encoding=encoding)
    change(path / ("a/.zattrs" if zarr_format == 2 else "a/zarr.json"))  # they parse
    read = open_data(str(path), targets=["y"])
    np.testing.assert_array_equal(read.target("a"), np.arange(6.0))


def test_labels_of_categories_are_no_codecs():
    import numcodecs
    import zarr

    path = store()
    codec = numcodecs.Categorize(["pickle", "b"], dtype="<U6")
    words = zarr.create_array(
        "d.zarr/word", shape=6, chunks=6, dtype="<U6", zarr_format=2, filters=[codec]
    )
    words.attrs["_ARRAY_DIMENSIONS"] = ["time"]
    words[:] = ["pickle", "b"] * 3
    read = open_data(str(path), targets=["y"])
    assert read.labels("word").to_list() == ["pickle", "b"] * 3

"""Files and folders are written whole or not at all, in the place of the old ones."""

import errno
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import lincfa
from lincfa import LinCFA
from lincfa._model._files import replacing
from reference import draw, many_factors

STEPS = {"write": (os, "fsync"), "rights": (shutil, "copymode"), "replace": (Path, "replace")}


@pytest.fixture
def model():
    return LinCFA().fit(*draw(1, D=5))


@pytest.fixture
def old(tmp_path):
    """A file that a save would replace."""
    file = tmp_path / "model.json"
    file.write_bytes(b"an older file\r\n")
    return file


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, MemoryError, SystemExit])
@pytest.mark.parametrize("step", STEPS)
def test_an_interruption_leaves_the_old_file(monkeypatch, model, old, step, error):
    def fail(*args, **kwargs):
        raise error("in the middle")

    monkeypatch.setattr(*STEPS[step], fail)
    with pytest.raises(error, match="in the middle"):
        model.save(old)
    assert old.read_bytes() == b"an older file\r\n"
    assert list(old.parent.iterdir()) == [old]
    old.unlink()
    if step != "rights":  # of an older file
        with pytest.raises(error, match="in the middle"):
            model.save(old)
        assert list(old.parent.iterdir()) == []


def test_all_is_on_the_disk_before_the_old_file_goes(monkeypatch, model, old):
    synced, fsync, replace = [], os.fsync, Path.replace

    def noted_fsync(number):
        fsync(number)
        synced.append(os.fstat(number).st_size)

    def checked_replace(part, target):
        assert part.parent == old.parent  # across file systems nothing can be replaced at once
        assert synced == [part.stat().st_size]
        assert lincfa.load(part).n_groups_ == model.n_groups_
        return replace(part, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", checked_replace)
    model.save(old)
    assert synced == [old.stat().st_size]
    assert list(old.parent.iterdir()) == [old]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("relative", [True, False])
def test_a_link_stays_a_link(model, tmp_path, exists, relative):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    target, link = there / "model.json", here / "link.json"
    link.symlink_to(Path("..", "there", "model.json") if relative else target)
    if exists:
        target.write_text("old")
    model.save(link)
    assert link.is_symlink()
    assert not target.is_symlink()
    assert lincfa.load(target).n_groups_ == lincfa.load(link).n_groups_ == model.n_groups_
    assert list(here.iterdir()) == [link]
    assert list(there.iterdir()) == [target]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o444])
def test_rights_are_kept_or_obey_the_mask(model, old, mode):
    old.chmod(mode)
    model.save(old)
    assert stat.S_IMODE(old.stat().st_mode) == mode
    old.unlink()
    before = os.umask(0o777 - mode)
    try:
        model.save(old)
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.stat().st_mode) == mode & 0o666


def test_folders_that_are_missing_or_in_place_of_the_file(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"no folder {tmp_path / 'none'} to write m.json"):
        model.save(tmp_path / "none" / "m.json")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="folder"):
        model.save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        lincfa.load(tmp_path / "none.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write into any folder"
)
def test_a_folder_that_is_read_only(model, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            model.save(tmp_path / "model.json")
        assert list(tmp_path.iterdir()) == []
    finally:
        tmp_path.chmod(0o700)


def test_a_model_that_is_not_fitted(old):
    X, y = draw(2)
    with pytest.raises(NotFittedError):
        LinCFA().save(old)
    with pytest.raises(NotFittedError):
        LinCFA().partial_fit(X[:3], y[:3]).save(old)
    assert old.read_bytes() == b"an older file\r\n"


CHANGES = [
    ({}, {"strategy": "joint"}, "changed after the fit; fit again"),
    ({"strategy": "joint"}, {"strategy": "centroid"}, "changed after the fit; fit again"),
    ({}, {"connectivity": "chain"}, "changed after the fit; fit again"),
    ({}, {"blocks": [0, 1] * 6}, "changed after the fit; fit again"),
    ({}, {"tolerance": -1}, "tolerance must be"),
    ({}, {"noise": "none"}, "noise must be"),
    ({}, {"strategy": "best"}, "strategy must be"),
    ({}, {"units": "K"}, "units must be"),
]


@pytest.mark.parametrize(("fitted", "changed", "message"), CHANGES)
def test_parameters_that_were_changed_after_the_fit(old, fitted, changed, message):
    """A file that could not be loaded is not written."""
    data = many_factors(np.random.default_rng(4), 50, 12)
    model = LinCFA(**{"tolerance": 5.0, **fitted}).fit(*data).set_params(**changed)
    with pytest.raises(ValueError, match=message):
        model.save(old)
    assert old.read_bytes() == b"an older file\r\n"
    if "must be" not in message:
        model.fit(*data).save(old)
        assert lincfa.load(old).n_groups_ == model.n_groups_


# Folders, and several files at once


def make_store(path, text):
    path.mkdir()
    (path / "zarr.json").write_text(text)


def test_a_folder_takes_the_place_of_a_store(tmp_path):
    old = tmp_path / "a.zarr"
    make_store(old, "old")
    (old / "more").write_text("gone")
    with replacing(old) as part:
        make_store(part, "new")
        assert (old / "zarr.json").read_text() == "old"
    assert [file.name for file in old.iterdir()] == ["zarr.json"]
    assert (old / "zarr.json").read_text() == "new"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_store(tmp_path, error):
    old = tmp_path / "a.zarr"
    make_store(old, "old")

    def fail(part):
        make_store(part, "new")
        raise error("in the middle")

    with pytest.raises(error, match="in the middle"), replacing(old) as part:
        fail(part)
    assert (old / "zarr.json").read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_a_folder_of_other_things_is_not_replaced(tmp_path):
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "work.txt").write_text("years of it")
    with pytest.raises(IsADirectoryError, match="is a folder"), replacing(folder):
        pass
    assert (folder / "work.txt").exists()


def test_of_several_files_the_one_that_failed_is_named(tmp_path):
    def write_both():
        with replacing(tmp_path / "outer") as outer, replacing(tmp_path / "inner") as inner:
            outer.write_text("whole")
            raise OSError(errno.ENOSPC, "No space left on device", str(inner))

    with pytest.raises(OSError, match=r"No space left on device: '.*inner'$"):
        write_both()
    assert list(tmp_path.iterdir()) == []


def test_an_error_about_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), replacing(tmp_path / "a"):
        (tmp_path / "elsewhere").read_text()

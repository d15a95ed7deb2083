"""Files and folders that take their places whole or not at all."""

import errno

import pytest

from lincfa._model._files import replacing


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

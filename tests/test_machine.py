"""Folders for what can be made again: private, and no trust in what other users can have written."""

import os
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from namesake import machine
from namesake.kernels.code_cache import folders


@pytest.fixture
def user(tmp_path, monkeypatch):
    """A user with a home and a folder for temporary files, and nothing remembered from before."""
    for variable in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for name in ("home", "tmp", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    monkeypatch.chdir(tmp_path / "work")
    remembered = (machine._usable, machine._own_folder, machine.warn_once)
    for each in remembered:
        each.cache_clear()
    yield tmp_path
    if machine._own_folder.cache_info().currsize:
        machine._own_folder().cleanup()
    for each in remembered:
        each.cache_clear()


def give_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a folder belong to another user than ours."""
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_the_cache_is_private_and_made_when_it_is_wanted(user, caplog):
    folder = machine.cache_folder()
    assert folder == user / "home" / ".cache" / "namesake"
    assert [stat.S_IMODE(at.stat().st_mode) for at in (folder, folder.parent)] == [0o700, 0o700]
    assert lines(caplog) == []


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HOME"])
def test_a_relative_folder_is_as_good_as_none(variable, user, monkeypatch):
    """Else it would be another one, of anybody's, in every folder in which a command is run."""
    monkeypatch.setenv(variable, "here")
    entry = SimpleNamespace(pw_dir=str(user / "home"), pw_name="somebody")
    monkeypatch.setattr(machine.pwd, "getpwuid", lambda _: entry)
    assert machine.cache_folder() == user / "home" / ".cache" / "namesake"
    assert list((user / "work").iterdir()) == []


def no_entry(_: int) -> None:
    raise KeyError("no such user")


def test_a_user_without_a_home_has_a_private_temporary_folder_and_one_notice(user, monkeypatch, caplog):
    """As in a container that runs under a number that nobody has."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(machine.pwd, "getpwuid", no_entry)
    folder = machine.cache_folder()
    assert folder == machine.cache_folder() == user / "tmp" / f"namesake-{os.geteuid()}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    [line] = lines(caplog)
    assert line.startswith(f"this user has no home folder: caching in {folder} instead")


def test_a_home_that_cannot_be_used_is_said_to_be_one(user, monkeypatch, caplog):
    (user / "file").touch()
    monkeypatch.setenv("HOME", str(user / "file"))
    assert machine.cache_folder().parent == user / "tmp"
    assert lines(caplog)[0].startswith(f"{user / 'file' / '.cache' / 'namesake'} cannot be made (Not a directory)")


def test_a_cache_that_others_can_write_to_is_not_used(user, caplog):
    (user / "home" / ".cache" / "namesake").mkdir(parents=True)
    (user / "home" / ".cache" / "namesake").chmod(0o777)
    assert machine.cache_folder().parent == user / "tmp"
    assert "other users can write to" in lines(caplog)[0]


def test_a_temporary_folder_of_another_user_is_not_used(user, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    squatted = user / "tmp" / f"namesake-{os.geteuid()}"
    squatted.mkdir()
    squatted.chmod(0o777)
    folder = machine.cache_folder()
    assert folder != squatted
    assert folder.parent == squatted.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_is_as_safe_as_those_above_it(user, monkeypatch):
    above, folder = user / "above", user / "above" / "folder"
    folder.mkdir(parents=True)
    for mode, is_safe in ((0o755, True), (0o777, False), (0o1777, True), (0o700, True)):
        above.chmod(mode)
        assert (machine.danger(folder) == "") is is_safe, oct(mode)
        assert (machine.danger(above / "not" / "yet") == "") is is_safe, oct(mode)
    (user / "link").symlink_to(above)
    above.chmod(0o1777)
    assert machine.danger(above) == machine.danger(user / "link") == f"other users can write to {above} (mode 1777)"
    above.chmod(0o755)
    give_away(above, monkeypatch)
    assert machine.danger(folder).endswith(" belongs to another user")


def test_a_group_of_one_is_not_others(tmp_path, monkeypatch):
    """Many systems give each user a group of the same name, and let it write by default."""
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o775)
    monkeypatch.setattr(machine.pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="ann"))
    found = os.stat_result([*folder.stat()[:5], 54321, *folder.stat()[6:]])
    for name, members, is_own in (
        ("ann", [], True),
        ("ann", ["ann"], True),
        ("ann", ["bob"], False),
        ("users", [], False),
    ):
        machine._is_own_group.cache_clear()
        group = SimpleNamespace(gr_name=name, gr_mem=members)
        monkeypatch.setattr(machine.grp, "getgrgid", lambda _, group=group: group)
        assert machine.others_write(found) is not is_own
    machine._is_own_group.cache_clear()


def test_compiled_code_goes_to_the_users_cache_where_the_package_cannot_be_written(user, monkeypatch):
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path).startswith(str(user)) and may(path, mode))
    beside, own = folders.__wrapped__()
    assert beside == Path(machine.__file__).parent / "kernels" / "__pycache__"
    assert own == user / "home" / ".cache" / "namesake" / "kernels"

"""Files and folders of results, written whole or not at all.

A file is written under a temporary name beside it and renamed. So is a folder: it is prepared in a hidden working
folder beside it, together with a manifest of hashes, by which a later run knows what it may replace. Temporary files
and working folders are locked while they are in use, so that those left behind by a killed process are recognised.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from fujiscore.errors import InputError, first_few, spelled
from fujiscore.text.data import to_json

MANIFEST = "manifest.json"
PART = ".fujiscore.part"
LOCK = ".fujiscore.lock"
MARK = ".fujiscore"  # in a working folder, which may be removed
PRIVATE = 0o700  # working folders: the results may be for few eyes
LONGEST_STEM = 50  # characters of a file's name in that of its temporary file: together within any system's limit
SWAP = 2  # the flag for an exchange, in Linux and in macOS


def write_atomically(path: str | os.PathLike[str], write: Callable[[Any], Any], *, replace: bool = True) -> None:
    """Write a file under a temporary name beside it, and rename it once it is complete and on disk.

    A replaced file's permissions are kept. With replace=False a file that exists by then is an InputError.
    """
    if Path(path).is_dir():
        raise InputError(f"{path} must name a file to write; it is a folder.")
    if Path(path).exists() and not Path(path).is_file():  # a device or a pipe cannot be replaced
        with Path(path).open("wb") as file:
            write(file)
        return
    target = Path(os.path.realpath(path))
    remove_unfinished(target.parent, target.name)
    part, opened = _unfinished(target)
    try:
        with opened as file:
            _keep_permissions(target, part)
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if sys.platform == "win32":  # which renames no open file
                file.close()
            part.replace(target) if replace else _rename_new(part, target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _unfinished(target: Path) -> tuple[Path, IO[bytes]]:
    """Return a new, locked file beside the target."""
    while True:
        part = target.with_name(f".{target.name[:LONGEST_STEM]}.{secrets.token_hex(4)}{PART}")
        file = part.open("xb")
        if _locked(file) and part.exists():  # else another process took it for a leftover before it was locked
            return part, file
        file.close()


def _keep_permissions(old: Path, new: Path) -> None:
    """Give a new file or folder the permissions and, where allowed, the owner of the one that it replaces."""
    with suppress(FileNotFoundError):
        status = old.stat()
        with suppress(OSError, AttributeError):  # Windows has no owner to change
            os.chown(new, status.st_uid, status.st_gid)
        new.chmod(stat.S_IMODE(status.st_mode))


def _rename_new(part: Path, target: Path) -> None:
    """Rename a file unless the new name is taken."""
    try:
        target.hardlink_to(part)
    except OSError:  # the name is taken, or the file system has no links
        if target.exists():
            raise InputError(f"{target} came to exist meanwhile; it is left as it is. Name another file.") from None
        part.replace(target)
    else:
        part.unlink()


def remove_unfinished(folder: Path, name: str = "") -> None:
    """Remove temporary files that a killed process left behind: of one file, or all in the folder."""
    with suppress(OSError):
        for part in list(folder.iterdir()):
            if part.name.endswith(PART) and part.name.startswith(f".{name[:LONGEST_STEM]}"):
                with suppress(OSError), part.open("r+b") as file:
                    if _locked(file):
                        part.unlink()


def _locked(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # other errors: the file system has no locks, and nobody can hold one
        return error.errno not in {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
    return True


@contextmanager
def claimed(folder: Path, named: str, mode: int = 0o777) -> Iterator[None]:
    """Hold a folder, created if necessary, for this process alone; if another one holds it, raise an InputError."""
    lock = folder / LOCK
    while True:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode, exist_ok=True)
            file = lock.open("ab")
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"{named} must name a folder; it is a file.") from None
        except FileNotFoundError:  # removed meanwhile by the process that held it
            continue
        except OSError as error:
            raise InputError(f"{named} must be writable; the system reports: {error.strerror}.") from error
        if not _locked(file):
            file.close()
            raise InputError(f"{named}: another process is writing to it. Wait for its end, or name another folder.")
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                break
        file.close()
    with file:
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()


# Folders of results


class Results:
    """A folder of results, `out`, in the making: the files in `new` take its place in `publish`."""

    def __init__(self, out: Path, made_by: str, named: str, *, force: bool) -> None:
        self.out, self.made_by, self.force, self.published = out, made_by, force, False
        self.named = named  # the argument and its value, for messages
        self.work = out.with_name(f".{out.name}.fujiscore")
        self.new = self.work / "new"
        self.resume = self.work / "resume"  # finished parts of the computation
        self._old = (
            self.work / "old"
        )  # the earlier results, for a moment, where folders cannot be exchanged in one step
        self._number = self.work / "number"  # the inode of the new folder: tells whether it has taken its place
        self._spent = self.work / "spent"  # earlier results that are to be removed

    def publish(self) -> list[Path]:
        """Put the new files in the place of the earlier ones, all at once; return their paths."""
        names = _names(self.new)
        earlier = _manifest(self.out, self.made_by)
        others = _others(self.out, earlier)
        taken = sorted(others & {*names, MANIFEST})
        if taken and not self.force:
            raise self._not_ours(taken)
        hashes = {name: _hash(self.new / name) for name in sorted(names)}
        content = to_json({"command": self.made_by, "files": hashes})
        (self.new / MANIFEST).write_text(content, encoding="utf-8")
        for name in [*names, MANIFEST, *_folders(self.new)]:
            _keep_permissions(self.out / name, self.new / name)
        kept = others - {*names, MANIFEST}
        _link(self.out, self.new, kept)
        _sync(self.new, [*names, MANIFEST])
        self._swap(earlier)
        self.published = True
        return [self.out / name for name in sorted(names)]

    def check(self) -> None:
        """Raise if the folder holds files of others, or changed ones of ours, unless they may be replaced."""
        if self.force or not self.out.exists():
            return
        written = _manifest(self.out, self.made_by)
        others = _others(self.out, written)
        if others and not written:
            raise self._not_ours(sorted(others))
        changed = sorted(others & {*written})
        if changed:
            raise self._not_ours(changed, "files that were changed since")

    def _not_ours(self, names: list[str], what: str = "files that this command did not write") -> InputError:
        """Return the error for files that must not be replaced."""
        return InputError(
            f"{self.named}: the folder holds {what} ({first_few(names)}). Use {spelled('force')} to write into it "
            "(files with the same names are replaced, others are kept), or name another folder."
        )

    def _swap(self, earlier: dict[str, str]) -> None:
        """Put the new folder in the place of the old one, in one step where the system can."""
        self._number.write_text(str(self.new.stat().st_ino))
        if not _exchanged(self.new, self.out):
            if self.out.exists():
                self.out.rename(self._old)
            try:
                self.new.rename(self.out)
            except BaseException:
                with suppress(OSError):
                    self._old.rename(self.out)
                raise
        _sync_folder(self.out.parent)
        self._keep_latecomers(earlier)

    def _previous(self) -> Path | None:
        """Return where the folder is that new results have replaced, None if there is none."""
        if self._old.exists():
            return self._old
        with suppress(OSError, ValueError):
            if self.new.exists() and self.out.stat().st_ino == int(self._number.read_text()):
                return self.new  # exchanged
        return None

    def _keep_latecomers(self, earlier: dict[str, str]) -> None:
        """Move files that others wrote while the new folder was prepared, and which it therefore lacks, into it."""
        previous = self._previous()
        if previous is None:
            return
        written = {*_manifest(self.out, self.made_by)} if self.force else set()
        for name in _others(previous, earlier) - written:
            here, there = previous / name, self.out / name
            if there.is_symlink() and here.is_symlink():
                continue
            if there.exists():
                one, other = here.lstat(), there.lstat()
                copied = (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
                if copied or here.samefile(there):
                    continue
            there.parent.mkdir(parents=True, exist_ok=True)
            here.replace(there)
        _link(previous, self.out, ())  # empty folders
        previous.rename(self._spent)

    def recover(self) -> None:
        """Remove what a killed process left behind, after putting back what it had moved away."""
        if self._old.exists() and not self.out.exists():
            self._old.rename(self.out)
        _remove(self._spent)
        if previous := self._previous():
            self._keep_latecomers(_manifest(previous, self.made_by))
        for leftover in (self._spent, self.new):
            _remove(leftover)
        self._number.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the working folder, but keep finished parts of an interrupted computation."""
        self.recover()
        if self.published or not (self.resume.is_dir() and any(self.resume.iterdir())):
            _remove(self.work)


@contextmanager
def results_folder(out: str | os.PathLike[str], made_by: str, *, argument: str, force: bool) -> Iterator[Results]:
    """Claim a folder of results and check, before any work, that it may be written; yield it to be filled.

    What is written to `.new` takes the folder's place when `.publish()` is called, and else is removed; what is in
    `.resume` stays until then.
    """
    target, named = Path(os.path.realpath(out)), spelled(argument, os.fspath(out))
    if target.exists() and not target.is_dir():
        raise InputError(f"{named} must be a folder; it is a file.")
    if target.is_mount() or Path(os.path.realpath(os.curdir)).is_relative_to(target):
        what = "a mount point" if target.is_mount() else "the current folder, or above it"
        raise InputError(f"{named} must be a folder that can be replaced as a whole; it is {what}. Name one in it.")
    folder = Results(target, made_by, named, force=force)
    work = folder.work
    files = {path.name for path in work.iterdir()} if work.is_dir() else set()
    if work.is_symlink() or (work.exists() and not (work.is_dir() and (MARK in files or files <= {LOCK}))):
        raise InputError(f"{work} must be free for unfinished results; something else is there. Move it elsewhere.")
    with claimed(work, named, PRIVATE):
        try:
            (work / MARK).touch()
            folder.recover()
            folder.check()
            folder.new.mkdir()
            yield folder
        finally:
            folder.clear()


def _manifest(folder: Path, made_by: str) -> dict[str, str]:
    """Return the hashes of the files that a command wrote to a folder; empty if it did not."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        hashes = content["files"] if content["command"] == made_by else {}
        return {str(name): str(digest) for name, digest in hashes.items()}
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # not as we write it
        return {}


def _others(folder: Path, hashes: dict[str, str]) -> set[str]:
    """Return the files in a folder, but for those that have the hashes of a manifest, and the manifest."""
    others = {name for name in _names(folder) if name not in hashes or hashes[name] != _hash(folder / name)}
    return others - {MANIFEST} if hashes else others


def _hash(path: Path) -> str:
    """Return the SHA-256 sum of a file, empty if it is not an ordinary one."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _walk(folder: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Walk a folder; what cannot be read is an error, for it could not be kept either."""

    def fail(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=fail) if folder.exists() else ():
        yield Path(place), folders, files


def _names(folder: Path) -> set[str]:
    """Return the names of all files in a folder and the folders in it; a link to a folder counts as a file."""
    names = set()
    for place, folders, files in _walk(folder):
        links = [name for name in folders if (place / name).is_symlink()]
        names |= {(place / name).relative_to(folder).as_posix() for name in (*files, *links)}
    return names


def _folders(folder: Path) -> list[str]:
    """Return the names of a folder, ".", and of the folders in it, the outer before the inner ones."""
    return [place.relative_to(folder).as_posix() for place, _, _ in _walk(folder)]


def _link(source: Path, target: Path, names: Collection[str]) -> None:
    """Link files into another folder, or copy them where the file system has no links; empty folders come along."""
    filled = {parent.as_posix() for name in _names(source) for parent in Path(name).parents}
    wanted = {parent.as_posix() for name in names for parent in Path(name).parents}
    folders = [name for name in _folders(source)[1:] if name not in filled or name in wanted]
    for name in folders:
        (target / name).mkdir(exist_ok=True)
    for name in names:
        try:
            os.link(source / name, target / name, follow_symlinks=False)
        except (OSError, NotImplementedError):
            shutil.copy2(source / name, target / name, follow_symlinks=False)
    for name in reversed(folders):  # the inner ones first: an outer one may be read-only from then on
        shutil.copystat(source / name, target / name)


def _remove(folder: Path) -> None:
    """Remove a folder, with read-only folders in it."""
    for place, _, _ in os.walk(folder):
        with suppress(OSError):
            Path(place).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _sync(folder: Path, names: Iterable[str]) -> None:
    """Wait until files, and the folders that they are in, are on disk."""
    for name in names:
        with (folder / name).open("rb") as file:
            os.fsync(file.fileno())
    for name in _folders(folder):
        _sync_folder(folder / name)


def _sync_folder(folder: Path) -> None:
    """Wait until a folder's list of names is on disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _exchanged(first: Path, second: Path) -> bool:
    """Exchange two folders in one step; return False, with nothing done, if the system or file system cannot."""
    if not second.exists():
        return False
    here = -2 if sys.platform == "darwin" else -100
    try:
        library = ctypes.CDLL(None)
        exchange = library.renameatx_np if sys.platform == "darwin" else library.renameat2
        return bool(exchange(here, os.fsencode(first), here, os.fsencode(second), SWAP) == 0)
    except (AttributeError, OSError, TypeError):
        return False

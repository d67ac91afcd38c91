"""The published rankings: from a folder, or downloaded once from the authors' repository into the user's cache.

Every file is checked against the SHA-256 sums in `published.sha256`.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fujiscore as fj
from fujiscore.errors import InputError, first_few, spelled
from fujiscore.paper.record import DATA_SETS, shipped
from fujiscore.work.files import write_atomically
from fujiscore.work.tiles import run

METHODS = ("Genie3", "RForest", "relief", "mutual_info")
# The pairs of rankers whose curves the paper shows.
ENSEMBLES, FILTERS = ("Genie3", "RForest"), ("mutual_info", "relief")
REPOSITORY = "https://github.com/Petkomat/fuji-score"
# The commit that added the rankings: later changes of the repository cannot invalidate the sums.
BASE_URL = (
    "https://raw.githubusercontent.com/Petkomat/fuji-score/76cb915db9fb1dddb11b1de737889b507dc3ac7e/"
    "featureImportanceFiles"
)
ATTEMPTS = 3
PAUSE = 1.0
TIMEOUT = 30.0  # seconds without an answer
DEADLINE = 300.0  # seconds for a file
LARGEST = 32 * 2**20  # bytes; the largest published file has 0.9 MB
BLOCK = 1 << 16
CONNECTIONS = 4


def sums() -> dict[str, str]:
    """Return the published files' names and SHA-256 sums."""
    return {name: digest for digest, name in (line.split() for line in shipped("published.sha256").splitlines())}


def cache_folder() -> Path:
    """Return the folder in the user's cache where downloaded rankings are kept."""
    home = Path.home()
    windows = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    system = {"darwin": home / "Library" / "Caches", "win32": windows}.get(sys.platform, home / ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or system) / "fujiscore" / "published_rankings"


def load(folder: Path) -> dict[str, fj.Rankings]:
    """Return the four rankings of each data set; negative scores count as 0, as in the published results."""
    named = spelled("rankings", str(folder))
    if not folder.is_dir():
        raise InputError(f"{named}: no such folder. {_remedy(folder, len(sums()))}")
    missing = [name for name in sums() if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{named}: {len(missing)} of the {len(sums())} published files are missing: {first_few(missing)}. "
            f"{_remedy(folder, len(missing))}"
        )
    sets = {}
    for name in DATA_SETS:
        rankings = fj.read([folder / f"{name}_{method}.fimp" for method in METHODS], negative="clip")
        sets[name] = fj.Rankings(METHODS, rankings.scores, rankings.labels)
    return sets


def unpublished(folder: Path, expected: Mapping[str, str] | None = None) -> list[str]:
    """Return the files that a folder lacks, or whose content is not the published one."""
    return [
        name
        for name, digest in (expected or sums()).items()
        if not (folder / name).is_file() or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def fetch(
    base_url: str = BASE_URL,
    folder: Path | None = None,
    expected: Mapping[str, str] | None = None,
    *,
    progress: bool | None = None,
) -> Path:
    """Return the cache folder with all rankings; files that are missing or damaged are downloaded and checked.

    Parameters
    ----------
    base_url : str
        The address of the folder with the files.
    folder : Path, optional
        Where to keep them; the user's cache by default.
    expected : mapping of str to str, optional
        The files and their SHA-256 sums; the published ones by default.
    progress : bool, optional
        Show a progress bar; by default on a terminal.
    """
    if not base_url.startswith(("http://", "https://")):
        raise InputError(f"The address of the rankings must begin with http:// or https://; got {base_url!r}.")
    folder = cache_folder() if folder is None else folder
    expected = expected or sums()
    wanted = unpublished(folder, expected)
    if not wanted:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    files = [(f"{base_url.rstrip('/')}/{name}", folder, expected[name]) for name in wanted]
    try:
        run(_download, files, n_jobs=CONNECTIONS, progress=progress, label="rankings")
    except OSError as error:
        raise InputError(f"{error}. {_remedy(folder, len(unpublished(folder, expected)))}") from error
    return folder


def _download(url: str, folder: Path, digest: str) -> None:
    """Download one file, retrying temporary failures, and write it once its sum is right."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            content = _get(url, digest)
            break
        except OSError as error:
            if attempt == ATTEMPTS or isinstance(error, (FileNotFoundError, EndlessFileError)):
                raise
            time.sleep(PAUSE * attempt)
    write_atomically(folder / url.rpartition("/")[2], lambda file: file.write(content))


def _get(url: str, digest: str) -> bytes:
    """Return the file at an address; any failure is an OSError that says what went wrong."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  # the scheme was checked
            content = _bounded(answer, url)
    except EndlessFileError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        kind = FileNotFoundError if error.code in {404, 410} else OSError
        raise kind(f"{url}: the server answered {error.code} ({error.reason})") from error
    except http.client.HTTPException as error:
        raise OSError(f"{url}: the transfer was interrupted") from error
    except TimeoutError as error:
        raise OSError(f"{url}: no answer within {TIMEOUT:g} s") from error
    except OSError as error:
        raise OSError(f"{url}: no connection ({getattr(error, 'reason', error)})") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise OSError(f"{url}: the file is not the published one (its SHA-256 sum differs)")
    return content


class EndlessFileError(OSError):
    """A download goes on and on."""


def _bounded(answer: Any, url: str) -> bytes:
    """Return what a server sends, unless it sends more, or for longer, than any published file takes."""
    content, end = bytearray(), time.monotonic() + DEADLINE
    while block := answer.read1(BLOCK):
        content += block
        if len(content) > LARGEST:
            raise EndlessFileError(f"{url}: the server sends more than {LARGEST >> 20} MB, not the published file")
        if time.monotonic() > end:
            raise EndlessFileError(f"{url}: the server took more than {DEADLINE:g} s")
    if answer.length:
        raise http.client.IncompleteRead(bytes(content), answer.length)
    return bytes(content)


def _remedy(folder: Path, missing: int) -> str:
    """Return how to obtain the files by hand, or do without them."""
    return (
        f"Download the folder featureImportanceFiles of {REPOSITORY} ({missing} .fimp files are missing) into {folder} "
        f"or into any folder and name it in {spelled('rankings')}. `fuji paper --no-rankings` computes what needs no "
        "rankings."
    )

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
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import fujiscore as fj
from fujiscore.errors import InputError, first_few, spelled
from fujiscore.paper.conventions import labels, named
from fujiscore.tables import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fujiscore.paper.conventions import Sets

METHODS = ("Genie3", "RForest", "relief", "mutual_info")
REPOSITORY = "https://github.com/Petkomat/fuji-score"
# The commit that added the rankings: later changes of the repository cannot invalidate the sums.
BASE_URL = (
    "https://raw.githubusercontent.com/Petkomat/fuji-score/76cb915db9fb1dddb11b1de737889b507dc3ac7e/"
    "featureImportanceFiles"
)
ATTEMPTS = 3
PAUSE = 1.0
TIMEOUT = 30.0
CONNECTIONS = 4


@dataclass(frozen=True, eq=False)
class Published:
    """The published rankings.

    Attributes
    ----------
    sets : mapping of str to Rankings
        For each data set the four rankings, named as in `METHODS`.
    altered : sequence of str
        Files whose content differs from the published one.
    """

    sets: Sets
    altered: Sequence[str]


def sums() -> dict[str, str]:
    """Return the published files' names and SHA-256 sums."""
    lines = files("fujiscore.paper").joinpath("published.sha256").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def data_sets() -> list[str]:
    """Return the names of the 24 data sets."""
    ending = f"_{METHODS[0]}.fimp"
    return [name.removesuffix(ending) for name in sums() if name.endswith(ending)]


def cache_folder() -> Path:
    """Return the folder in the user's cache where downloaded rankings are kept."""
    if cache := os.environ.get("XDG_CACHE_HOME"):
        base = Path(cache)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path.home() / ".cache"
    return base / "fujiscore" / "published_rankings"


def load(folder: Path) -> Published:
    """Read the 96 rankings of a folder; negative scores count as 0, as in the published results."""
    expected = sums()
    if not folder.is_dir():
        raise InputError(f"{spelled('rankings', str(folder))}: no such folder. {_remedy(folder, len(expected))}")
    missing = [name for name in expected if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{spelled('rankings', str(folder))}: {len(missing)} of the {len(expected)} published files are missing: "
            f"{first_few(missing)}. {_remedy(folder, len(missing))}"
        )
    altered = [name for name, digest in expected.items() if not _is_published(folder / name, digest)]
    sets = {}
    for name in data_sets():
        rankings = fj.read([folder / f"{name}_{method}.fimp" for method in METHODS], negative="clip")
        sets[name] = named(METHODS, rankings.scores, labels(rankings))
    return Published(sets, altered)


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
    wanted = {name: digest for name, digest in (expected or sums()).items() if not _is_published(folder / name, digest)}
    if not wanted:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    from tqdm import tqdm

    hidden = not (sys.stderr.isatty() if progress is None else progress)
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        tasks = [pool.submit(_download, f"{base_url.rstrip('/')}/{name}", folder, sha) for name, sha in wanted.items()]
        try:
            for task in tqdm(as_completed(tasks), total=len(tasks), desc="rankings", leave=False, disable=hidden):
                task.result()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, OSError):
                raise
            missing = sum(not _is_published(folder / name, digest) for name, digest in wanted.items())
            raise InputError(f"{error}. {_remedy(folder, missing)}") from error
    return folder


def _download(url: str, folder: Path, digest: str) -> None:
    """Download one file, retrying temporary failures, and write it once its sum is right."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            content = _get(url, digest)
            break
        except FileNotFoundError:
            raise
        except OSError:
            if attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE * attempt)
    write_atomically(folder / url.rpartition("/")[2], lambda file: file.write(content))


def _get(url: str, digest: str) -> bytes:
    """Return the file at an address; any failure is an OSError that says what went wrong."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:  # noqa: S310  # the scheme was checked
            content: bytes = answer.read()
    except urllib.error.HTTPError as error:
        error.close()
        kind = FileNotFoundError if error.code in {404, 410} else OSError
        raise kind(f"{url}: the server answered {error.code} ({error.reason})") from error
    except http.client.HTTPException as error:
        raise OSError(f"{url}: the transfer was interrupted") from error
    except urllib.error.URLError as error:
        raise OSError(f"{url}: no connection ({error.reason})") from error
    except TimeoutError as error:
        raise OSError(f"{url}: no answer within {TIMEOUT:g} s") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise OSError(f"{url}: the file is not the published one (its SHA-256 sum differs)")
    return content


def _remedy(folder: Path, missing: int) -> str:
    """Return how to obtain the files by hand, or do without them."""
    return (
        f"Download the folder featureImportanceFiles of {REPOSITORY} ({missing} .fimp files are missing) into {folder} "
        f"or into any folder and name it in {spelled('rankings')}. `fuji paper --no-rankings` computes what needs no "
        "rankings."
    )


def _is_published(path: Path, digest: str) -> bool:
    """Return whether a file exists and is the published one."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest

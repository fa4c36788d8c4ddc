"""Public files on the user's disk: fetched when asked for, checked, kept as they were checked."""

import gzip
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from skfilterrank._files.files import is_path, open_replacing, read_bytes, reason_of
from skfilterrank._lists.checks import check_flag
from skfilterrank.exceptions import (
    DownloadError,
    FileFormatError,
    InputError,
    InputTypeError,
    brief,
)

VARIABLE = "SKFILTERRANK_DATA"
_FOLDER = "skfilterrank_data"
_SECONDS = 60
_ANOTHER = f"name another folder by data_home= or the variable {VARIABLE}"


class Kept(NamedTuple):
    """How a file is made of what was downloaded, and what is wrong with it, or None."""

    make: Callable[[bytes], bytes] = bytes
    check: Callable[[bytes], str | None] | None = None


def get_data_home(data_home: str | os.PathLike | None = None) -> Path:
    """Folder in which public data sets are kept.

    Nothing is made or fetched by this.

    Parameters
    ----------
    data_home : str or PathLike, default=None
        The folder. None is the one that the environment variable ``SKFILTERRANK_DATA`` names, or
        else ``skfilterrank_data`` in the home folder. A leading ``~`` is the home folder.

    Returns
    -------
    folder : Path
        The folder, which need not be there yet.

    Raises
    ------
    TypeError
        If `data_home` is no path.
    ValueError
        If it starts with the home of a user whom this machine does not know.

    Examples
    --------
    >>> from skfilterrank.datasets import get_data_home
    >>> print(get_data_home("/data/ranking"))
    /data/ranking
    """
    if data_home is None:
        data_home = os.environ.get(VARIABLE) or Path("~") / _FOLDER
    elif not is_path(data_home):
        raise InputTypeError(
            f"data_home must be None or the path of a folder, got {type(data_home).__name__}."
        )
    try:
        return Path(data_home).expanduser()
    except RuntimeError as error:
        raise InputError(
            f"data_home must be the path of a folder, got {brief(data_home)}: {error}"
        ) from error


def digest_check(digest: str) -> Callable[[bytes], str | None]:
    """What is wrong with bytes whose digest is known, written as ``sha256:HEX``."""
    kind, expected = digest.split(":")

    def check(content):
        found = hashlib.new(kind, content, usedforsecurity=False).hexdigest()
        return None if found == expected else f"its {kind} is {found}, not {expected} as published"

    return check


def provide(
    files: Mapping[Path, Kept],
    urls: Sequence[str],
    *,
    download_if_missing: bool,
    digest: str | None = None,
) -> None:
    """See to it that files are there: all of them are made of one download.

    A file that is there is checked, and so is each before it is written. `urls` are tried in turn,
    `digest` is that of what they give. A name that ends in .gz is written packed; checks see what
    is packed.
    """
    check_flag(download_if_missing, "download_if_missing")
    missing = {}
    for path, kept in files.items():
        try:
            is_there = path.exists()
            wrong = is_there and kept.check and kept.check(read_bytes(path))
        except FileFormatError as error:  # such as a packed file that is cut off
            wrong = error.message.rstrip(".")
        except OSError as error:
            raise DownloadError(
                f"{path} cannot be read ({reason_of(error)}): {_ANOTHER}."
            ) from error
        if not is_there:
            missing[path] = kept
        if wrong:
            raise FileFormatError(
                f"{wrong}; remove the file, and it will be fetched again.", file=str(path)
            )
    if not missing:
        return
    name = str(next(iter(missing)))
    if not download_if_missing:
        raise DownloadError(
            f"{name} is not there and download_if_missing=False; set download_if_missing=True, or "
            f"name by data_home= or the variable {VARIABLE} the folder that has it."
        )
    failures = []
    for url in urls:
        try:
            contents = _made(missing, _download(url), digest)
        except (OSError, FileFormatError) as error:
            failures.append(f"{url}: {reason_of(error)}")
            continue
        _write(contents)
        return
    raise DownloadError(
        f"{name} could not be fetched ({'; '.join(failures)}). Nothing was written. Try again with "
        "a connection to the internet, or copy the folder of a machine that has one and name it by "
        f"data_home= or the variable {VARIABLE}."
    )


def _write(contents):
    """Write files by their paths, packed where their names say so."""
    for path, content in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_replacing(path) as raw:
                raw.write(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
        except OSError as error:
            raise DownloadError(
                f"{path} cannot be written ({reason_of(error)}): {_ANOTHER}."
            ) from error


def _made(files, content, digest):
    """What is to be kept of a download, each file by its path."""
    wrong = digest and digest_check(digest)(content)
    if not wrong:
        made = {path: kept.make(content) for path, kept in files.items()}
        wrong = next(
            filter(None, (kept.check(made[path]) for path, kept in files.items() if kept.check)),
            None,
        )
    if wrong:
        raise FileFormatError(wrong)
    return made


def _download(url):
    """Bytes of an address; every failure is an OSError."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        request = Request(url, headers={"User-Agent": "skfilterrank"})
        with urlopen(request, timeout=_SECONDS) as response:
            return response.read()
    except HTTPError as error:
        error.close()  # it has the body of the answer
        raise
    except HTTPException as error:  # such as an answer that breaks off
        raise OSError(f"the answer is not whole: {error!r}") from error

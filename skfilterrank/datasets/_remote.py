"""Public files on the user's disk: fetched when asked for, checked, kept as they were checked."""

import gzip
import hashlib
import os
from collections.abc import Callable, Sequence
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
# ir_datasets keeps copies of what is published elsewhere, by md5.
MIRROR = "https://mirror.ir-datasets.com/"
_FOLDER = "skfilterrank_data"
_SECONDS = 60
_ANOTHER = f"name another folder by data_home= or the variable {VARIABLE}"


class KeptFile(NamedTuple):
    """A file on the user's disk, made of a download.

    `check` raises a FileFormatError for a wrong content, `make` for a download it cannot read. A
    file whose name ends in .gz is written packed; `check` gets the unpacked content.
    """

    path: Path
    check: Callable[[bytes], object]
    make: Callable[[bytes], bytes] = bytes

    def is_there(self):
        """Tell whether the file exists; raise an error if it cannot be read or is wrong."""
        try:
            if not self.path.exists():
                return False
            self.check(read_bytes(self.path))
        except FileFormatError as error:
            raise FileFormatError(
                f"{error.message.rstrip('.')}; remove the file, and it will be fetched again.",
                file=str(self.path),
            ) from error
        except OSError as error:
            raise DownloadError(
                f"{self.path} cannot be read ({reason_of(error)}): {_ANOTHER}."
            ) from error
        return True

    def made_of(self, download):
        """Make the content of the file of a download, and check it."""
        content = self.make(download)
        self.check(content)
        return content

    def write(self, content):
        """Write the file, packed where its name says so."""
        is_packed = self.path.suffix == ".gz"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open_replacing(self.path) as raw:
                raw.write(gzip.compress(content, mtime=0) if is_packed else content)
        except OSError as error:
            raise DownloadError(
                f"{self.path} cannot be written ({reason_of(error)}): {_ANOTHER}."
            ) from error


def find_data_home(data_home: str | os.PathLike | None = None) -> Path:
    """Find the folder of public data sets, which need not exist; None takes the default."""
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


def check_digest(content: bytes, digest: str) -> None:
    """Raise an error unless the bytes have this digest, written as ``sha256:HEX``."""
    kind, expected = digest.split(":")
    found = hashlib.new(kind, content, usedforsecurity=False).hexdigest()
    if found != expected:
        raise FileFormatError(f"its {kind} is {found}, not {expected} as published")


def provide(
    files: Sequence[KeptFile],
    urls: Sequence[str],
    *,
    download_if_missing: bool,
    digest: str | None = None,
) -> None:
    """Make all missing files of one download, and check those that are there.

    `urls` are tried in turn; `digest` is that of their content.
    """
    check_flag(download_if_missing, "download_if_missing")
    missing = [file for file in files if not file.is_there()]
    if not missing:
        return
    name = str(missing[0].path)
    if not download_if_missing:
        raise DownloadError(
            f"{name} is not there and download_if_missing=False; set download_if_missing=True, or "
            f"name by data_home= or the variable {VARIABLE} the folder that has it."
        )
    failures = []
    for url in urls:
        try:
            download = _download(url)
            if digest is not None:
                check_digest(download, digest)
            contents = [file.made_of(download) for file in missing]
        except (OSError, FileFormatError) as error:
            failures.append(f"{url}: {reason_of(error)}")
            continue
        for file, content in zip(missing, contents):
            file.write(content)
        return
    raise DownloadError(
        f"{name} could not be fetched ({'; '.join(failures)}). Nothing was written. Try again with "
        "a connection to the internet, or copy the folder of a machine that has one and name it by "
        f"data_home= or the variable {VARIABLE}."
    )


def _download(url):
    """Fetch the bytes of an address; every failure is an OSError."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    try:
        request = Request(url, headers={"User-Agent": "skfilterrank"})
        with urlopen(request, timeout=_SECONDS) as response:
            return response.read()
    except HTTPError as error:
        error.close()  # closes the body of the answer
        raise
    except HTTPException as error:  # such as an answer that breaks off
        raise OSError(f"the answer is not whole: {error!r}") from error

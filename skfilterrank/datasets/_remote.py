"""Download of public files into a folder of the user, with checks of their content."""

import gzip
import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from skfilterrank._base.checks import check_flag
from skfilterrank._files.files import is_path, open_replacing, read_bytes, reason_of
from skfilterrank.exceptions import (
    DownloadError,
    FileFormatError,
    InputError,
    InputTypeError,
    brief,
)

VARIABLE = "SKFILTERRANK_DATA"
# Mirror of ir_datasets, which names copies of public files by their md5.
MIRROR = "https://mirror.ir-datasets.com/"
_FOLDER = "skfilterrank_data"
_SECONDS = 60
_ANOTHER = f"name another folder by data_home= or the variable {VARIABLE}"


class KeptFile(NamedTuple):
    """A file on the user's disk that is made from a download.

    `make` converts the download to the content of the file, and `check` checks the content. Both
    raise a FileFormatError. A file whose name ends in .gz is written compressed; `check` gets the
    uncompressed content.
    """

    path: Path
    check: Callable[[bytes], object]
    make: Callable[[bytes], bytes] = bytes

    def is_there(self):
        """Return True if the file exists; raise if it cannot be read or has a wrong content."""
        try:
            if not self.path.exists():
                return False
            self.check(read_bytes(self.path))
        except FileFormatError as error:
            raise FileFormatError(
                f"{error.message.rstrip('.')}; remove the file, so that it is fetched again.",
                file=str(self.path),
            ) from error
        except OSError as error:
            raise DownloadError(
                f"{self.path} cannot be read ({reason_of(error)}): {_ANOTHER}."
            ) from error
        return True

    def made_of(self, download):
        """Convert a download to the content of the file, check it and return it."""
        content = self.make(download)
        self.check(content)
        return content

    def write(self, content):
        """Write the file, compressed if its name ends in .gz."""
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
    """Raise if the content does not have this digest, written as ``sha256:HEX`` or ``md5:HEX``."""
    kind, expected = digest.split(":")
    found = hashlib.new(kind, content, usedforsecurity=False).hexdigest()
    if found != expected:
        raise FileFormatError(f"its {kind} is {found}, but the published {kind} is {expected}")


def provide(
    files: Sequence[KeptFile],
    urls: Sequence[str],
    *,
    download_if_missing: bool,
    digest: str | None = None,
) -> None:
    """Check existing files, and make all missing files from one download.

    `urls` are tried one after the other. `digest` is the digest of the download.
    """
    check_flag(download_if_missing, "download_if_missing")
    missing = [file for file in files if not file.is_there()]
    if not missing:
        return
    name = str(missing[0].path)
    if not download_if_missing:
        raise DownloadError(
            f"{name} does not exist and download_if_missing=False; set download_if_missing=True, "
            f"or name the folder that has it by data_home= or the variable {VARIABLE}."
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
        "a connection to the internet, or copy the folder from another machine and name it by "
        f"data_home= or the variable {VARIABLE}."
    )


def _download(url):
    """Download an address and return the bytes; every failure is raised as an OSError."""
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
    except HTTPException as error:  # for example, the connection ends too early
        raise OSError(f"the response is not complete: {error!r}") from error

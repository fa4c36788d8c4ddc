"""Loader of the forum answers of SemEval-2016, and its download."""

import gzip
import hashlib
import json
import os
from pathlib import Path
from xml.etree import ElementTree

from sklearn.utils import Bunch

from skfilterrank._base.checks import check_choice, check_flag
from skfilterrank._files.files import is_path, open_replacing, read_bytes, reason_of
from skfilterrank.exceptions import (
    DownloadError,
    FileFormatError,
    InputError,
    InputTypeError,
    brief,
)
from skfilterrank.io import read_judged_table

_VARIABLE = "SKFILTERRANK_DATA"
_ANOTHER = f"name another folder by data_home= or the variable {_VARIABLE}"
_SECONDS = 60
_REPOSITORY = "https://raw.githubusercontent.com/Mieloch/cqa-sem-eval/"
# For each part: its address, and the SHA-256 of the sorted lines "docid label" of all comments.
_PARTS = {
    "train-part2": (
        f"{_REPOSITORY}8e69c9211c7fbf81c2e4fe33b27b373a3253588f/"
        "data/SemEval2016-Task3-CQA-QL-train-part2.xml",
        "2f41a9a6f165a3d6377af352b3ce472cf99c8bfcffdd9d978e43b6ff8bf204ac",
    ),
    "dev": (
        f"{_REPOSITORY}cf5f125c54074e1c9fafb86175a403cd9b808640/"
        "data/SemEval2016-Task3-CQA-QL-dev.xml",
        "a0d8617ab8f9f863e29c8f9b33a0fc77c7279c92114cc6f593897f3807cb3545",
    ),
}


def fetch_semeval_cqa(
    part: str,
    *,
    data_home: str | os.PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load forum questions with their first 10 comments, each judged (SemEval-2016 task 3 A).

    Parameters
    ----------
    part : {"train-part2", "dev"}
        Part to load: "train-part2" has 3,790 comments on 379 questions, and "dev" has 2,440
        comments on 244 questions.
    data_home : str or PathLike, default=None
        Folder in which data sets are stored. None takes the environment variable
        ``SKFILTERRANK_DATA`` if it is set, else ``skfilterrank_data`` in the home folder.
    download_if_missing : bool, default=True
        False raises an error if the part is not in the folder yet.

    Returns
    -------
    data : Bunch
        data : DataFrame of shape (n_comments, 11)
            Columns "qid" and "docid", the texts "question_subject", "question_body" and "comment",
            "question_category", users and dates of question and comment, and "position" in the
            thread, from 1.
        target : Series of shape (n_comments,)
            Labels "Good", "PotentiallyUseful" and "Bad"; the index level "qid" holds the question.
            Pass ``gains={"Bad": -1, "PotentiallyUseful": 1, "Good": 2}`` to measures and rankers.
        groups : ndarray of shape (n_comments,), object
            Id of the question of each comment.
        DESCR : str
            Description and source of the data.

    Raises
    ------
    DownloadError
        An OSError: if there is no connection, or the download has other labels.
    FileFormatError
        A ValueError: if the stored file has other labels, or is damaged.
    TypeError, ValueError
        If an argument has a wrong type, or the part is not listed above.

    Notes
    -----
    The XML files of version 3 come from a public repository, at a fixed commit. They have no
    published digest, so a SHA-256 of all ids and labels is checked instead. Threads that are marked
    as repeated, and names of users, are left out.

    References
    ----------
    .. [1] P. Nakov et al. "SemEval-2016 Task 3: Community Question Answering". SemEval 2016.

    Examples
    --------
    >>> from skfilterrank.datasets import fetch_semeval_cqa
    >>> data = fetch_semeval_cqa("dev")  # doctest: +SKIP
    >>> data.target.value_counts().to_dict()  # doctest: +SKIP
    {'Bad': 1209, 'Good': 818, 'PotentiallyUseful': 413}
    """
    check_choice(part, "part", tuple(_PARTS))
    check_flag(download_if_missing, "download_if_missing")
    url, digest = _PARTS[part]
    path = find_data_home(data_home) / "semeval2016-cqa" / f"{part}.jsonl.gz"
    try:
        if path.exists():
            _check_labels(read_bytes(path), digest)
        elif download_if_missing:
            _fetch(url, path, digest)
        else:
            raise DownloadError(
                f"{path} does not exist and download_if_missing=False; set "
                f"download_if_missing=True, or {_ANOTHER}."
            )
    except FileFormatError as error:
        raise FileFormatError(
            f"{error.message.rstrip('.')}; remove the file, so that it is fetched again.",
            file=str(path),
        ) from error
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{path} cannot be read or written ({reason_of(error)}): {_ANOTHER}."
        ) from error
    table = read_judged_table(path)
    return Bunch(
        data=table.drop(columns="label").reset_index(),
        target=table["label"],
        groups=table.index.to_numpy(),
        DESCR=f"SemEval-2016 task 3, English, subtask A, {part}: questions of the Qatar Living "
        f"forum with their first 10 comments. Free for general research use. Source: {url}.",
    )


def find_data_home(data_home: str | os.PathLike | None = None) -> Path:
    """Find the folder of public data sets, which need not exist; None takes the default."""
    if data_home is None:
        data_home = os.environ.get(_VARIABLE) or "~/skfilterrank_data"
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


def _fetch(url, path, digest):
    """Download a part, check its labels, and write it as one JSON object per line."""
    try:
        content = "".join(json.dumps(row) + "\n" for row in _comments(_download(url))).encode()
        _check_labels(content, digest)
    except (OSError, FileFormatError) as error:
        raise DownloadError(
            f"{path} could not be fetched ({url}: {reason_of(error)}). Nothing was written. Try "
            "again with a connection to the internet, or copy the folder from another machine and "
            f"name it by data_home= or the variable {_VARIABLE}."
        ) from error
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_replacing(path) as raw:
        raw.write(gzip.compress(content, mtime=0))


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


def _comments(xml):
    """Return a dict for each comment of the XML file, without repeated threads."""
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise FileFormatError(f"XML was expected: {error}") from error
    return [
        row
        for thread in root.iter("Thread")
        if "SubtaskA_Skip_Because_Same_As_RelQuestion_ID" not in thread.attrib
        for row in _comments_of(thread)
    ]


def _comments_of(thread):
    question = thread.find("RelQuestion")
    for position, comment in enumerate(thread.iter("RelComment"), 1):
        yield {
            "qid": question.get("RELQ_ID"),
            "docid": comment.get("RELC_ID"),
            "question_subject": question.findtext("RelQSubject"),
            "question_body": question.findtext("RelQBody"),
            "question_category": question.get("RELQ_CATEGORY"),
            "question_user": question.get("RELQ_USERID"),
            "question_date": question.get("RELQ_DATE"),
            "comment": comment.findtext("RelCText"),
            "user": comment.get("RELC_USERID"),
            "date": comment.get("RELC_DATE"),
            "position": position,
            "label": comment.get("RELC_RELEVANCE2RELQ"),
        }


def _check_labels(content, digest):
    """Raise if the SHA-256 of all ids and labels is not the expected one."""
    try:
        rows = map(json.loads, content.splitlines())
        labels = sorted(f"{row['docid']} {row['label']}" for row in rows)
    except (ValueError, LookupError, TypeError) as error:
        raise FileFormatError(
            f"expected one JSON object per line with docid, label: {reason_of(error)}"
        ) from error
    if hashlib.sha256("\n".join(labels).encode()).hexdigest() != digest:
        raise FileFormatError(
            f"ids and labels of its {len(labels):,} comments differ from the expected ones"
        )

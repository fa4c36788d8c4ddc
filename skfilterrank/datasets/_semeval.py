"""Forum answers of SemEval-2016, good and bad ones."""

import hashlib
import json
import os
from typing import NamedTuple
from xml.etree import ElementTree

from sklearn.utils import Bunch

from skfilterrank._files.files import reason_of
from skfilterrank._lists.checks import check_choice
from skfilterrank.datasets._remote import Kept, get_data_home, provide
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import read_judged_table


class _Part(NamedTuple):
    url: str
    # Of the lines "docid label" of all comments, sorted.
    labels_sha256: str


_REPOSITORY = "https://raw.githubusercontent.com/Mieloch/cqa-sem-eval/"
_PARTS = {
    "train-part2": _Part(
        f"{_REPOSITORY}8e69c9211c7fbf81c2e4fe33b27b373a3253588f/"
        "data/SemEval2016-Task3-CQA-QL-train-part2.xml",
        "2f41a9a6f165a3d6377af352b3ce472cf99c8bfcffdd9d978e43b6ff8bf204ac",
    ),
    "dev": _Part(
        f"{_REPOSITORY}cf5f125c54074e1c9fafb86175a403cd9b808640/"
        "data/SemEval2016-Task3-CQA-QL-dev.xml",
        "a0d8617ab8f9f863e29c8f9b33a0fc77c7279c92114cc6f593897f3807cb3545",
    ),
}
_QUESTION = {
    "question_category": "RELQ_CATEGORY",
    "question_user": "RELQ_USERID",
    "question_date": "RELQ_DATE",
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
        3,790 comments on 379 questions, or 2,440 on 244.
    data_home : str or PathLike, default=None
        Folder in which data sets are kept, see `get_data_home`.
    download_if_missing : bool, default=True
        False raises where the part is not there yet.

    Returns
    -------
    data : Bunch
        data : DataFrame of shape (n_comments, 11)
            Columns "qid" and "docid", the texts "question_subject", "question_body" and "comment",
            "question_category", users and dates of question and comment, and "position" in the
            thread, from 1.
        target : Series of shape (n_comments,)
            "Good", "PotentiallyUseful" or "Bad", on an index with the level "qid". `gains=`
            takes ``{"Bad": -1, "PotentiallyUseful": 1, "Good": 2}``.
        groups : ndarray of shape (n_comments,), object
            The question of each comment.
        DESCR : str
            What this is, and where it is from.

    Raises
    ------
    DownloadError
        An OSError: there is no connection, or what came is not what is expected.
    FileFormatError
        A ValueError: the file on this machine has other labels, or is damaged.
    TypeError, ValueError
        An argument of another type, a part that is not listed above.

    Notes
    -----
    The XML files of version 3 come from a public repository, at a fixed commit. No digest of them
    is published; what is compared, with a SHA-256, are all ids and labels. Threads that the data
    marks as repeats are left out, and so are the names of users.

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
    url, labels_sha256 = _PARTS[part]
    path = get_data_home(data_home) / "semeval2016-cqa" / f"{part}.jsonl.gz"
    provide(
        {path: Kept(make=_lines_of, check=lambda content: _wrong_labels(content, labels_sha256))},
        [url],
        download_if_missing=download_if_missing,
    )
    table = read_judged_table(path)
    return Bunch(
        data=table.drop(columns="label").reset_index(),
        target=table["label"],
        groups=table.index.to_numpy(),
        DESCR=f"SemEval-2016 task 3, English, subtask A, {part}: questions of the Qatar Living "
        f"forum with their first 10 comments. Free for general research use. Source: {url}.",
    )


def _lines_of(xml):
    """One JSON object a comment, of the threads that are no repeats."""
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise FileFormatError(f"XML was expected: {error}") from error
    return "".join(
        json.dumps(row) + "\n"
        for thread in root.iter("Thread")
        if "SubtaskA_Skip_Because_Same_As_RelQuestion_ID" not in thread.attrib
        for row in _comments(thread)
    ).encode()


def _comments(thread):
    question = thread.find("RelQuestion")
    for position, comment in enumerate(thread.iter("RelComment"), 1):
        yield {
            "qid": question.get("RELQ_ID"),
            "docid": comment.get("RELC_ID"),
            "question_subject": question.findtext("RelQSubject"),
            "question_body": question.findtext("RelQBody"),
            **{name: question.get(attribute) for name, attribute in _QUESTION.items()},
            "comment": comment.findtext("RelCText"),
            "user": comment.get("RELC_USERID"),
            "date": comment.get("RELC_DATE"),
            "position": position,
            "label": comment.get("RELC_RELEVANCE2RELQ"),
        }


def _wrong_labels(lines, expected):
    try:
        rows = map(json.loads, lines.decode().splitlines())
        labels = sorted(f"{row['docid']} {row['label']}" for row in rows)
    except (ValueError, KeyError, TypeError) as error:
        return f"one JSON object per comment was expected: {reason_of(error)}"
    if hashlib.sha256("\n".join(labels).encode()).hexdigest() == expected:
        return None
    return f"ids and labels of its {len(labels):,} comments are not those that are expected"

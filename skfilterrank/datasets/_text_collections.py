"""Loaders of judged texts: the Cranfield collection, and forum answers of SemEval-2016."""

import hashlib
import io
import json
import os
import tarfile
from functools import partial
from xml.etree import ElementTree

import pandas as pd
from sklearn.utils import Bunch

from skfilterrank._files.files import read_bytes, reason_of
from skfilterrank._lists.checks import check_choice
from skfilterrank.datasets._remote import MIRROR, KeptFile, find_data_home, provide
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import read_judged_table, read_qrels

_CRANFIELD_URL = "http://ir.dcs.gla.ac.uk/resources/test_collections/cran/cran.tar.gz"
_CRANFIELD_MD5 = "1730f7be572d95a5a4b56c59a7b900a5"  # as ir_datasets lists it
_N_LINES = {"docs.jsonl.gz": 1400, "queries.jsonl": 225, "qrels.txt": 1837}
_FIELDS = {".T": "title", ".A": "author", ".B": "bib", ".W": "text"}
_COLUMNS = {
    "docs.jsonl.gz": ["docid", *_FIELDS.values()],
    "queries.jsonl": ["qid", "text"],
}


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


def fetch_cranfield(
    *, data_home: str | os.PathLike | None = None, download_if_missing: bool = True
) -> Bunch:
    """Load the Cranfield collection: 1,400 abstracts on aerodynamics, 225 queries, judgments.

    Parameters
    ----------
    data_home : str or PathLike, default=None
        Folder in which data sets are stored. None takes the environment variable
        ``SKFILTERRANK_DATA`` if it is set, else ``skfilterrank_data`` in the home folder.
    download_if_missing : bool, default=True
        False raises an error if the collection is not in the folder yet.

    Returns
    -------
    data : Bunch
        documents : DataFrame of shape (1400, 5)
            Columns "docno", "title", "author", "bib" and "text", all str. Missing texts are ""
            (documents 471 and 995). A text starts with its title.
        queries : DataFrame of shape (225, 2)
            Columns "qid", from "1" to "225" as in the judgments, and "text".
        qrels : DataFrame of shape (1837, 3)
            Columns "qid", "docno" and "label". Label 4 is a complete answer, 1 is of minimum
            interest, and 0 is of no interest.
        DESCR : str
            Description and source of the data.

    Raises
    ------
    DownloadError
        An OSError: if there is no connection, or the download is not the published archive.
    FileFormatError
        A ValueError: if a stored file is incomplete or cannot be read. Changes within lines are not
        noticed, because only the download has a digest.
    TypeError, ValueError
        If an argument has a wrong type.

    Notes
    -----
    The archive is that of the University of Glasgow, and is checked by the MD5 that ir_datasets
    lists for it. Its codes are 1 (a complete answer) to 4, and -1 once per query. A label here is 5
    minus the code, but 0 for the code -1, which other readers of the collection also treat as "of
    no interest".

    References
    ----------
    .. [1] C. Cleverdon. "The Cranfield tests on index language devices". Aslib Proceedings 19,
       1967.

    Examples
    --------
    >>> from skfilterrank.datasets import fetch_cranfield
    >>> data = fetch_cranfield()  # doctest: +SKIP
    >>> len(data.documents), len(data.queries)  # doctest: +SKIP
    (1400, 225)
    """
    folder = find_data_home(data_home) / "cranfield"
    paths = [folder / name for name in _N_LINES]
    checks = [partial(_check_lines, name) for name in _N_LINES]
    provide(
        list(map(KeptFile, paths, checks, (_documents, _queries, _qrels))),
        [_CRANFIELD_URL, f"{MIRROR}{_CRANFIELD_MD5}"],
        digest=f"md5:{_CRANFIELD_MD5}",
        download_if_missing=download_if_missing,
    )
    documents, queries = (
        pd.DataFrame(_objects(read_bytes(path)))[columns]
        for path, columns in zip(paths, _COLUMNS.values())
    )
    qrels = read_qrels(paths[2], unjudged_label=None)
    qrels["label"] = (5 - qrels["label"]).where(qrels["label"] > 0, 0)
    return Bunch(
        documents=documents.rename(columns={"docid": "docno"}).fillna(""),
        queries=queries,
        qrels=qrels,
        DESCR="Cranfield 1400, the distribution of the SMART group by the University of Glasgow. "
        f"Source: {_CRANFIELD_URL}.",
    )


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
    url, labels_sha256 = _PARTS[part]
    path = find_data_home(data_home) / "semeval2016-cqa" / f"{part}.jsonl.gz"
    file = KeptFile(path, partial(_check_labels, expected=labels_sha256), _comments)
    provide([file], [url], download_if_missing=download_if_missing)
    table = read_judged_table(path)
    return Bunch(
        data=table.drop(columns="label").reset_index(),
        target=table["label"],
        groups=table.index.to_numpy(),
        DESCR=f"SemEval-2016 task 3, English, subtask A, {part}: questions of the Qatar Living "
        f"forum with their first 10 comments. Free for general research use. Source: {url}.",
    )


def _json_lines(rows):
    """Return rows as bytes with one JSON object per line."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _objects(content, columns=()):
    """Parse one JSON object per line; raise if one lacks a column of `columns`."""
    try:
        rows = list(map(json.loads, content.splitlines()))
        _ = [row[column] for row in rows for column in columns]
    except (ValueError, LookupError, TypeError) as error:
        raise FileFormatError(
            f"expected one JSON object per line with {', '.join(columns)}: {reason_of(error)}"
        ) from error
    return rows


def _check_lines(name, content):
    """Raise if a file does not have the expected number of lines and columns."""
    found, expected = len(content.splitlines()), _N_LINES[name]
    if found != expected:
        raise FileFormatError(f"expected {expected:,} lines, got {found:,}")
    if name in _COLUMNS:
        _objects(content, _COLUMNS[name])


def _member(archive, name):
    """Return the text of the file with this name in a tar archive, which is given as bytes."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for each in files:
                if each.isfile() and os.path.basename(each.name) == name:
                    return files.extractfile(each).read().decode()
    except tarfile.TarError as error:
        raise FileFormatError(f"expected a tar archive: {error}") from error
    raise FileFormatError(f"expected a file {name} in the archive, but it is missing")


def _records(text):
    """Yield the fields of each record of a Cranfield file as a dict.

    A record begins with ``.I number``. A line such as ``.T`` begins a field.
    """
    for record in text.split("\n.I "):
        number, *lines = record.removeprefix(".I ").strip().splitlines()
        fields = {"number": number.strip(), **dict.fromkeys(_FIELDS.values(), "")}
        field = "number"
        for line in lines:
            if line[:2] in _FIELDS:
                field = _FIELDS[line[:2]]
            else:
                fields[field] = f"{fields[field]} {line}".strip()
        yield fields


def _documents(archive):
    records = _records(_member(archive, "cran.all.1400"))
    return _json_lines({"docid": each.pop("number"), **each} for each in records)


def _queries(archive):
    # Judgments refer to queries by their position from 1, not by the numbers in the file.
    records = enumerate(_records(_member(archive, "cran.qry")), 1)
    return _json_lines(
        {"qid": str(place), "original_id": each["number"], "text": each["text"]}
        for place, each in records
    )


def _qrels(archive):
    rows = (line.split() for line in _member(archive, "cranqrel").splitlines() if line.strip())
    return "".join(f"{query} 0 {document} {code}\n" for query, document, code in rows).encode()


def _comments(xml):
    """Convert the XML file to one JSON object per comment, without repeated threads."""
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise FileFormatError(f"XML was expected: {error}") from error
    return _json_lines(
        row
        for thread in root.iter("Thread")
        if "SubtaskA_Skip_Because_Same_As_RelQuestion_ID" not in thread.attrib
        for row in _comments_of(thread)
    )


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


def _check_labels(content, expected):
    """Raise if the SHA-256 of all ids and labels is not the expected one."""
    rows = _objects(content, ("docid", "label"))
    labels = sorted(f"{row['docid']} {row['label']}" for row in rows)
    if hashlib.sha256("\n".join(labels).encode()).hexdigest() != expected:
        raise FileFormatError(
            f"ids and labels of its {len(labels):,} comments differ from the expected ones"
        )

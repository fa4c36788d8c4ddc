"""The Cranfield collection: abstracts, queries, judgments."""

import io
import json
import os
import tarfile
from functools import partial

import pandas as pd
from sklearn.utils import Bunch

from skfilterrank._files.files import read_bytes, reason_of
from skfilterrank.datasets._remote import Kept, get_data_home, provide
from skfilterrank.datasets._trec import MIRROR
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import read_qrels

_URL = "http://ir.dcs.gla.ac.uk/resources/test_collections/cran/cran.tar.gz"
_MD5 = "1730f7be572d95a5a4b56c59a7b900a5"  # as ir_datasets lists it
_N_LINES = {"docs.jsonl.gz": 1400, "queries.jsonl": 225, "qrels.txt": 1837}
_FIELDS = {".T": "title", ".A": "author", ".B": "bib", ".W": "text"}


def fetch_cranfield(
    *, data_home: str | os.PathLike | None = None, download_if_missing: bool = True
) -> Bunch:
    """Load the Cranfield collection: 1,400 abstracts on aerodynamics, 225 queries, judgments.

    Parameters
    ----------
    data_home : str or PathLike, default=None
        Folder in which data sets are kept, see `get_data_home`.
    download_if_missing : bool, default=True
        False raises where the collection is not there yet.

    Returns
    -------
    data : Bunch
        documents : DataFrame of shape (1400, 5)
            Columns "docno", "title", "author", "bib" and "text", all str, "" where there is none
            (documents 471 and 995). A text starts with its title.
        queries : DataFrame of shape (225, 2)
            Columns "qid", from "1" to "225" as the judgments count them, and "text".
        qrels : DataFrame of shape (1837, 3)
            Columns "qid", "docno" and "label": 4 is a complete answer, 1 of least interest, and 0
            of none.
        DESCR : str
            What this is, and where it is from.

    Raises
    ------
    DownloadError
        An OSError: there is no connection, or what came is not the published archive.
    FileFormatError
        A ValueError: a file on this machine is cut off or cannot be read. What was changed within
        lines is not noticed: only the download has a digest.
    TypeError, ValueError
        An argument of another type.

    Notes
    -----
    The archive is that of the University of Glasgow, compared with the MD5 that ir_datasets lists
    for it. Its codes run from 1, a complete answer, to 4, and -1 once a query; labels here are 5
    less the code, and 0 for -1, which other readers of the collection take for "of no interest".

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
    folder = get_data_home(data_home) / "cranfield"
    paths = [folder / name for name in _N_LINES]
    makers = (_documents, _queries, _qrels)
    checks = [partial(_wrong_length, expected) for expected in _N_LINES.values()]
    provide(
        dict(zip(paths, map(Kept, makers, checks), strict=True)),
        [_URL, f"{MIRROR}{_MD5}"],
        digest=f"md5:{_MD5}",
        download_if_missing=download_if_missing,
    )
    documents = _table(paths[0], ["docid", *_FIELDS.values()])
    queries = _table(paths[1], ["qid", "text"])
    qrels = read_qrels(paths[2], unjudged_label=None)
    qrels["label"] = (5 - qrels["label"]).where(qrels["label"] > 0, 0)
    return Bunch(
        documents=documents.rename(columns={"docid": "docno"}).fillna(""),
        queries=queries,
        qrels=qrels,
        DESCR="Cranfield 1400, the distribution of the SMART group by the University of Glasgow. "
        f"Source: {_URL}.",
    )


def _wrong_length(expected, content):
    found = len(content.splitlines())
    return None if found == expected else f"it has {found:,} lines where {expected:,} were expected"


def _table(path, columns):
    """Columns of a file of one JSON object per line."""
    try:
        return pd.read_json(io.BytesIO(read_bytes(path)), lines=True, dtype=False)[columns]
    except (OSError, ValueError, LookupError) as error:
        raise FileFormatError(
            f"one JSON object per line with {', '.join(columns)} was expected: {reason_of(error)}; "
            "remove the file, and it will be fetched again.",
            file=str(path),
        ) from error


def _member(archive, name):
    """Text of a file in the archive."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for each in files:
                if each.isfile() and os.path.basename(each.name) == name:
                    return files.extractfile(each).read().decode()
    except tarfile.TarError as error:
        raise FileFormatError(f"a tar archive was expected: {error}") from error
    raise FileFormatError(f"the archive lacks {name}")


def _records(text):
    """Fields of each record: ``.I number``, then lines of each field below its mark."""
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


def _json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _documents(archive):
    records = _records(_member(archive, "cran.all.1400"))
    return _json_lines({"docid": each.pop("number"), **each} for each in records)


def _queries(archive):
    # Judgments count the queries and leave their own numbers aside.
    records = enumerate(_records(_member(archive, "cran.qry")), 1)
    return _json_lines(
        {"qid": str(place), "original_id": each["number"], "text": each["text"]}
        for place, each in records
    )


def _qrels(archive):
    rows = (line.split() for line in _member(archive, "cranqrel").splitlines() if line.strip())
    return "".join(f"{query} 0 {document} {code}\n" for query, document, code in rows).encode()

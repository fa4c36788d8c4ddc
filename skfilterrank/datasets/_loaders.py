"""Loaders of public judgments and runs of TREC tracks, Cranfield and forum answers."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

import pandas as pd
from sklearn.utils import Bunch

from skfilterrank._base.checks import as_list, check_choice
from skfilterrank._files.files import read_bytes, reason_of
from skfilterrank.datasets._remote import (
    MIRROR,
    KeptFile,
    check_digest,
    find_data_home,
    provide,
)
from skfilterrank.exceptions import FileFormatError, InputError, brief_list
from skfilterrank.io import read_judged_table, read_qrels, read_run


class _Track(NamedTuple):
    file: str
    url: str
    # Digests of the file as NIST publishes it; ir_datasets lists the md5 for this address.
    sha256: str
    md5: str
    about: str


_WEB = (
    "Ad hoc judgments of the TREC {} web track (ClueWeb{}): 4 navigational, 3 key, 2 highly "
    "relevant, 1 relevant, 0 not relevant, -2 junk, which Carmel et al. (SIGIR 2022) treat as "
    "forbidden."
)
_TRACKS = {
    "web-2010": _Track(
        "trec-web-qrels/web2010.qrels.txt.gz",
        "https://trec.nist.gov/data/web/10/10.adhoc-qrels.final",
        "138e82e9e7dddfd9afaa8d6d859beba42d9119bb28729ac1674250b1afe50962",
        "8a22083b0370d6ac799e1e779110de06",
        _WEB.format(2010, "09"),
    ),
    "web-2011": _Track(
        "trec-web-qrels/web2011.qrels.txt.gz",
        "https://trec.nist.gov/data/web/11/qrels.adhoc",
        "e52ba8ff0528ca7d4330085ddd8b03f42195b0b3015bcaa993eaaaa72bae0c7c",
        "7844c8a9cc3a4b6f740d45e56013693d",
        _WEB.format(2011, "09"),
    ),
    "web-2012": _Track(
        "trec-web-qrels/web2012.qrels.txt.gz",
        "https://trec.nist.gov/data/web/12/qrels.adhoc",
        "f04ee8368da4d3329e97ef8b5a859598626d1bcc7bf6a7971964d7a2a3b26c0e",
        "079723ba3e955269f0de6254c4bec180",
        _WEB.format(2012, "09"),
    ),
    "web-2013": _Track(
        "trec-web-qrels/web2013.qrels.txt.gz",
        "https://trec.nist.gov/data/web/2013/qrels.adhoc.txt",
        "94c05be11e6e5256078e8fe53e1efbdb9bd3fefe8010be95a4fe1ef140326d95",
        "44aa6300f9df4a77f7205c574afb9c2d",
        _WEB.format(2013, "12"),
    ),
    "web-2014": _Track(
        "trec-web-qrels/web2014.qrels.txt.gz",
        "https://trec.nist.gov/data/web/2014/qrels.adhoc.txt",
        "5a64eaa29ebf58abb24092ebe6df4b76c826e4248018504b4da14b072b8f12a8",
        "afa1db71680acf71283adc7846282a44",
        _WEB.format(2014, "12"),
    ),
    "covid-round1": _Track(
        "trec-covid-round1/qrels.txt.gz",
        "https://ir.nist.gov/covidSubmit/data/qrels-rnd1.txt",
        "1f2ee6258744581b466c744a1e5956b9a10b0e10f84f44cb6336bef053644b51",
        "d58586df5823e7d1d0b3619a73b31518",
        "Judgments of TREC-COVID round 1 (CORD-19, 30 topics): 2 relevant, 1 partially, 0 not.",
    ),
    "deep-2019-passages": _Track(
        "trec-dl2019/qrels.txt.gz",
        "https://trec.nist.gov/data/deep/2019qrels-pass.txt",
        "8a1f10d550732e4cd91d7fc49846a3784de4040972f583e69285a88f3c5fee92",
        "2f4be390198da108f6845c822e5ada14",
        "Judgments of the passages of the TREC 2019 deep learning track (MS MARCO, 43 topics): 3 "
        "perfect, 2 highly relevant, 1 related, 0 irrelevant; binary measures of the track count "
        "2 and 3 as relevant.",
    ),
}
_RUNS = (
    "https://raw.githubusercontent.com/castorini/TREC-COVID/"
    "3e9b2555004168ea29ea2cc6835d59476d7e22a0/round1/runs/"
)
_N_TOPICS = 30
# Names of the 143 runs of round 1, which are also the names of their files.
_NAMES = """
10x10.prf.unipd.it 10x20.prf.unipd.it BBGhelani1 BBGhelani2 BERT BITEM_BL BITEM_df BITEM_stem
BM25R2 BRPHJ_NLP1 BRPHJ_NLP2 BRPHJ_NLP3 BioinfoUA-emb BioinfoUA-emb-q BioinfoUA-noadapt
CBOWexp.0 CSIROmedNIR CSIROmed_PE CSIROmed_RF CincyMedIR-run1 CincyMedIR-run2 CincyMedIR-run3
Conv_KNRM DA_IICT_all DA_IICT_narr DA_IICT_narr_qe ERST_NARRATIVE ERST_PROSE ERST_QUESTION
IRIT_marked_base IRIT_marked_mu_pair IRIT_marked_un_pair KU_run1 KU_run2 KU_run3 Meta-Conv-KNRM
NTU_NMLAB_BM25_ALLQQ NTU_NMLAB_BM25_Hum2 NTU_NMLAB_BM25_Human OHSU_RUN1 OHSU_RUN2 OHSU_RUN3
PL2c1.0 PL2c1.0_Bo1 PS-r1-bm25all PS-r1-bm25medical PS-r1-bm25none RMITBFuseM2 RMITBM1
RUIR-bm25-at-exp RUIR-bm25-mt-exp RUIR-doc2vec SFDC-23April-run1 SFDC-23April-run2 SINEQUA
SinequaR1_1 SinequaR1_2 T5R1 T5R3 TMACC_SeTA_baseline TU_Vienna_TKL_1 TU_Vienna_TKL_2
Technion-JPD Technion-MEDMM Technion-RRF Tetralogie0Fr Tetralogie1Fr UB_NLP_RUN_1
UIUC_DMG_setrank UIUC_DMG_setrank_re UIUC_DMG_setrank_ret UIowaS_Run1 UIowaS_Run2 UIowaS_Run3
UP-cqqrnd1 UP-rrf5rnd1 UP-sdqrnd1 azimiv_wk1 base.unipd.it baseline bm25_baseline bm25_basline
bm25t5 crowd1 crowd2 cu_dbmi_bm25_1 cu_dbmi_bm25_2 dmis-rnd1-run1 dmis-rnd1-run2 dmis-rnd1-run3
elhuyar_indri elhuyar_rRnk_cbert elhuyar_rRnk_sbert factum-1 ielab-prf ielab-prf.2query.v3
ielab-prf.recency ir_covid19_cle_dfr ir_covid19_cle_ib ir_covid19_cle_lmd irc_entrez irc_pmc
irc_pubmed ixa-ir-filter-narr ixa-ir-filter-query ixa-ir-filter-quest jlbase jlprec jlrecall
lda400s2000 lda400s5000 poznan_run1 poznan_run2 poznan_run3 run1 run2 run3 sab20.1.blind
sab20.1.merged sab20.1.meta.docs savantx_nist_run_1 savantx_nist_run_2 savantx_nist_run_3
sheikh_bm25_all sheikh_bm25_manual smith.bm25 smith.ql smith.rm3 tcs_ilabs_gg_r1 tm_lda400
udel_fang_run1 udel_fang_run2 udel_fang_run3 uogTrDPH_QE uogTrDPH_QE_QQ uogTrDPH_prox_QQ
wistud_bing wistud_indri wistud_noSearch xj4wang_run1 yn-r1-alltext yn-r1-concepttext
yn-r1-hierarchy
"""
RUN_NAMES = tuple(_NAMES.split())


def fetch_trec_qrels(
    track: str,
    *,
    data_home: str | os.PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load the judgments of a TREC track, which are downloaded from NIST if necessary.

    Parameters
    ----------
    track : str
        Name of the track: "web-2010" to "web-2014" (ad hoc judgments of the web tracks, in which -2
        means junk), "covid-round1" or "deep-2019-passages".
    data_home : str or PathLike, default=None
        Folder in which data sets are stored. None takes the environment variable
        ``SKFILTERRANK_DATA`` if it is set, else ``skfilterrank_data`` in the home folder.
    download_if_missing : bool, default=True
        False raises an error if the judgments are not in the folder yet.

    Returns
    -------
    data : Bunch
        qrels : DataFrame of shape (n_judgments, 3)
            Columns "qid" and "docno" (str) and "label" (int64), with rows in the published order.
            Labels below 0 are kept, and measures treat them as forbidden.
        path : Path
            Path of the file in TREC format, compressed with gzip.
        DESCR : str
            Meaning and source of the labels.

    Raises
    ------
    DownloadError
        An OSError: if there is no connection, or the download is not the published file.
    FileFormatError
        A ValueError: if the stored file is not the published one, or is damaged.
    TypeError, ValueError
        If an argument has a wrong type, or the track is not listed above.

    See Also
    --------
    fetch_trec_covid : Load the runs of TREC-COVID with their judgments.

    Notes
    -----
    The download, and each time the stored file, are checked by the SHA-256 of the file that NIST
    publishes. If NIST does not respond, the mirror of ir_datasets is used, with the same check.

    Examples
    --------
    >>> from skfilterrank.datasets import fetch_trec_qrels
    >>> data = fetch_trec_qrels("web-2013")  # doctest: +SKIP
    >>> data.qrels["label"].value_counts()[-2]  # doctest: +SKIP
    234
    """
    check_choice(track, "track", tuple(_TRACKS))
    about = _TRACKS[track]
    path = find_data_home(data_home) / about.file
    file = KeptFile(path, partial(check_digest, digest=f"sha256:{about.sha256}"))
    urls = [about.url, f"{MIRROR}{about.md5}"]
    provide([file], urls, download_if_missing=download_if_missing)
    return Bunch(
        qrels=read_qrels(path, unjudged_label=None),
        path=path,
        DESCR=f"{about.about} Source: {about.url} (NIST, public).",
    )


def fetch_trec_covid(
    runs: Iterable[str] | None = None,
    *,
    data_home: str | os.PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load runs that took part in TREC-COVID round 1, and the judgments of that round.

    Parameters
    ----------
    runs : iterable of str, default=None
        Names of the runs, such as "BBGhelani1". None loads all 143 runs, a download of about 200
        MB.
    data_home : str or PathLike, default=None
        Folder in which data sets are stored. None takes the environment variable
        ``SKFILTERRANK_DATA`` if it is set, else ``skfilterrank_data`` in the home folder.
    download_if_missing : bool, default=True
        False raises an error if a run or the judgments are not in the folder yet.

    Returns
    -------
    data : Bunch
        runs : dict of str to Path
            Path of the file of each run, by its name. Files are in TREC format, compressed with
            gzip. The order is that of the parameter `runs`, or alphabetical. Every function with a
            parameter `runs` takes this dict.
        qrels : DataFrame of shape (8691, 3)
            Columns "qid", "docno" and "label". Label 2 is relevant, 1 is partially relevant, and 0
            is not relevant.
        DESCR : str
            Description and source of the data.

    Raises
    ------
    DownloadError
        An OSError: if there is no connection, or a download has an unexpected content. Runs that
        were downloaded before remain in the folder.
    FileFormatError
        A ValueError: if stored judgments are not the published ones, or a stored run is incomplete.
        Changes within lines of a run are not noticed, because runs have no digests.
    TypeError, ValueError
        If an argument has a wrong type, or a run did not take part.

    See Also
    --------
    fetch_trec_qrels : Load only the judgments of this or another track.

    Notes
    -----
    Runs come from a mirror of NIST's archive in the repository castorini/TREC-COVID, at a fixed
    commit. They have no published checksums, so each run is checked for the 30 topics instead.
    Judgments are checked by a SHA-256.

    References
    ----------
    .. [1] E. Voorhees et al. "TREC-COVID: Constructing a Pandemic Information Retrieval Test
       Collection". SIGIR Forum 54(1), 2020.

    Examples
    --------
    >>> from skfilterrank.datasets import fetch_trec_covid
    >>> from skfilterrank.metrics import evaluate_runs
    >>> data = fetch_trec_covid(["BBGhelani1", "BERT"])  # doctest: +SKIP
    >>> values = evaluate_runs(data.qrels, data.runs, ["ap", "ndcg@10"])  # doctest: +SKIP
    """
    names = RUN_NAMES if runs is None else as_list(runs, "runs", "names of runs")
    unknown = [name for name in names if name not in RUN_NAMES]
    if isinstance(runs, str) or unknown:
        raise InputError(
            "runs must be None or a list of names of TREC-COVID round 1, such as ['BBGhelani1'], "
            f"got {brief_list([runs] if isinstance(runs, str) else unknown)}."
        )
    judgments = fetch_trec_qrels(
        "covid-round1", data_home=data_home, download_if_missing=download_if_missing
    )
    folder = judgments.path.parent / "runs"
    paths = {name: folder / f"{name}.txt.gz" for name in names}
    for name, path in paths.items():
        file = KeptFile(path, _check_run)
        provide([file], [_RUNS + quote(name)], download_if_missing=download_if_missing)
    return Bunch(
        runs=paths,
        qrels=judgments.qrels,
        DESCR=f"Runs of TREC-COVID round 1, at most 1,000 documents a topic, from {_RUNS}. "
        f"{judgments.DESCR}",
    )


def _check_run(content):
    """Raise if the content is not a run with all topics."""
    if not content.strip():
        raise FileFormatError("the file holds no lines")
    n_topics = read_run(io.BytesIO(content))["qid"].nunique()
    if n_topics != _N_TOPICS:
        raise FileFormatError(f"expected a run with {_N_TOPICS} topics, got one with {n_topics}")


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

"""Reading and writing of LETOR files, with lines ``label qid:ID index:value ... # comment``."""

import itertools
import os
import re
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skfilterrank._base.checks import (
    as_column,
    as_list,
    as_number_array,
    check_count,
    check_numbers,
    is_missing,
)
from skfilterrank._base.words import warn_user
from skfilterrank._files.files import (
    check_target,
    is_path,
    iter_line_chunks,
    source_name,
    unpacked_name,
    write_lines,
)
from skfilterrank._files.kinds import seems
from skfilterrank._lists.queries import find_groups
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief, brief_list

_NUMBER = r"[-+]?(?>\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[nN][aA][nN]"
_FEATURE = rf"\d{{1,10}}:(?:{_NUMBER})"
# Lines with the id of the query, and lines without it.
_LINE_PATTERNS = [
    re.compile(rf"\s*({_NUMBER}){qid}((?>\s+{_FEATURE}(?!\S))*)\s*", re.ASCII)
    for qid in (r"\s+qid:(\S+)", r"()")
]
_QID = re.compile(r"\s*[^\s#]+\s+qid:", re.ASCII)
_WORD_PATTERNS = [re.compile(word, re.ASCII) for word in (_NUMBER, r"qid:\S+", _FEATURE)]
# scikit-learn writes this line above the rows if it writes a comment.
_START = re.compile(r"#\s*Column indices are (zero|one)-based\s*")
_DOCID = re.compile(r"\bdocid\s*=", re.ASCII)
_DOCNO_PATTERN = re.compile(rf"{_DOCID.pattern}\s*(\S+)", re.ASCII)
_WORD = re.compile(r"\S+", re.ASCII)
# Only ASCII white space, because ids may hold other white space, such as a no-break space.
_BLANKS = " \t\n\r\f\v"
# Integers that str() writes as they are in the file. Ids such as "007" and "+7" stay strings.
_INTEGER_PATTERN = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)

# Ends of the names of files with the sizes of queries: those of LightGBM and XGBoost.
_SIZES = (".query", ".group")
_MAX_INDEX = np.iinfo(np.int32).max
_SPARSE_BELOW = 0.1


class _LetorData(NamedTuple):
    """Rows of a LETOR file as arrays with one entry per row.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
        Features; column j holds the feature with index j + 1 in the file, or j if `zero_based`.
    y : ndarray of shape (n_rows,), float64
        Labels, NaN for unjudged rows.
    groups : ndarray of shape (n_rows,), int64 or object (str)
        Query id of each row.
    docnos : ndarray of shape (n_rows,), object (str)
        Document ids; "" for a row without one.
    comments : ndarray of shape (n_rows,), object (str)
        Text after the first "#" without surrounding blanks; "" for a row without a comment.
    zero_based : bool
        True if features are numbered from 0.
    """

    X: np.ndarray | sp.csr_matrix
    y: np.ndarray
    groups: np.ndarray
    docnos: np.ndarray
    comments: np.ndarray
    zero_based: bool


def read_letor(
    source,
    *,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    group_sizes=None,
    sparse: bool | str = "auto",
    dtype=np.float64,
) -> _LetorData:
    r"""Read judged documents in LETOR format, the text format of MQ2007 and MSLR-WEB30K.

    A line is ``label qid:ID index:value index:value ... # comment``: svmlight with a query id.
    Indices may have any order, without repeats; features that are not listed are 0. Blank lines and
    lines that hold only a comment are skipped. The document id is read from ``docid = X`` in the
    comment. Where no comment says ``docid =``, it may be the first word of the comment, as in files
    of RankLib. For this every line must have a comment, some query several lines, and none the same
    word twice.

    Parameters
    ----------
    source : str, PathLike, file object, or list of these
        Files to read, in UTF-8, plain or compressed with gzip. Several files are joined in the
        given order. A query id that occurs in two files is one query.
    n_features : int, default=None
        Number of columns of X. None takes the highest index in the files. Pass it so that X of a
        test file has the same columns as X of the training file.
    zero_based : {"auto", True, False}, default="auto"
        Whether the first feature has the index 0, as in files of
        `sklearn.datasets.dump_svmlight_file`, or 1. "auto" takes what the line "# Column indices
        are zero-based" (or "one-based") says, which scikit-learn writes with a comment. Without
        it, "auto" means 0 if some index is 0. For a test file, pass `zero_based` of the training
        data, since its index 0 may not occur. With `n_features`, "auto" without such a line is an
        error where some index is 0, and a warning where neither 0 nor `n_features` occurs.
    group_sizes : path, array-like of int, or list of these, default=None
        Number of rows of each query, for files of LightGBM and XGBoost, whose lines have no
        ``qid:ID``: an array, or a file with one number per line. For a list of files, pass a list
        with one entry per file. None looks for a file beside the data whose name has ".query" or
        ".group" at its end, such as rank.train.query, and warns that it is used. Queries are
        numbered from 0.
    sparse : {"auto", True, False}, default="auto"
        True returns X as a csr_matrix, and False as an array. "auto" returns a csr_matrix if fewer
        than 10 % of the entries differ from 0; pass True or False if X of two files must have the
        same type.
    dtype : dtype, default=numpy.float64
        Type of X, float32 or float64.

    Returns
    -------
    data : named tuple ``(X, y, groups, docnos, comments, zero_based)``
        Arrays with one entry per row, and whether features are numbered from 0. Column j of `X`
        holds the feature with index j + 1 in the file, or j if they are. `y` is NaN for unjudged
        rows. `docnos` and `comments` are "" for lines without one.
        `groups` is int64 if every query id of every file is a plain integer, else an object array
        of str. So an id such as "007" keeps all ids as they are written.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: if a query id is missing, a label is
        not a number, a feature is not index:value, an index is too low, too high for `n_features`
        or occurs twice, a value is infinite, bytes are not UTF-8, or the file has no rows. If the
        first line is wrong, the message says what the file seems to be.

    Warns
    -----
    DataWarning
        If sizes of queries are read from a file beside the data, or if `n_features` is given and
        nothing tells whether the first feature has the index 0 or 1.

    See Also
    --------
    write_letor : Write such a file.
    sklearn.datasets.load_svmlight_file : Reader without document ids and with integer query ids.

    Notes
    -----
    "nan" is read as NaN, in labels (unjudged) and in features (missing value).

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_letor
    >>> data = read_letor(io.StringIO('''\
    ... 2 qid:q1 1:0.5 2:0.25 # docid = d7
    ... -1 qid:q1 2:0.125     # docid = d2
    ... '''))
    >>> data.X
    array([[0.5  , 0.25 ],
           [0.   , 0.125]])
    >>> data.y
    array([ 2., -1.])
    >>> data.groups, data.docnos
    (array(['q1', 'q1'], dtype=object), array(['d7', 'd2'], dtype=object))
    """
    dtype = _check_parameters(n_features, zero_based, sparse, dtype)
    most = _MAX_INDEX if n_features is None else n_features
    sources = source if isinstance(source, list | tuple) else [source]
    if not sources:
        raise InputError("source must hold at least one file, got an empty list: pass a file.")
    blocks: list[tuple] = []
    query_codes: dict = {}
    of_files = group_sizes if sources is source else [group_sizes]
    of_files = [None] * len(sources) if group_sizes is None else of_files
    if not isinstance(of_files, list | tuple) or len(of_files) != len(sources):
        raise InputError(
            f"group_sizes must be a list with an entry for each file ({len(sources):,}), got "
            f"{brief(group_sizes)}."
        )
    have_ids, starts = set(), set()
    for source, sizes in zip(sources, of_files, strict=True):
        n_blocks, pattern = len(blocks), None
        for first_line, lines in iter_line_chunks(source):
            if pattern is None:
                pattern, sizes = _form_of_lines(lines, source, sizes)
                is_from_0 = _start_of(lines) if zero_based == "auto" else zero_based
                starts.add(is_from_0)
                limits = int(is_from_0 is False), most - (is_from_0 is True)
            block = _parse_lines(lines, first_line, source, limits, dtype, query_codes, pattern)
            if block is not None:
                blocks.append(block)
        if len(blocks) == n_blocks:
            raise FileFormatError(
                "the file holds no rows; lines such as 'label qid:ID 1:value' were expected.",
                source_name(source),
            )
        have_ids.add(sizes is None)
        if len(have_ids) > 1:
            raise InputError(
                "some of the files have ids of queries, and some have not: read each by itself."
            )
        if sizes is not None:
            _set_queries(blocks, n_blocks, sizes, query_codes, source)

    parts = list(zip(*blocks, strict=True))
    blocks.clear()
    labels, codes, counts, indices, values = map(np.concatenate, parts[:5])
    is_from_0 = _is_from_0(starts - {None}, indices, n_features)
    columns = indices if is_from_0 else indices - 1
    width = int(columns.max(initial=-1)) + 1
    shape = len(labels), width if n_features is None else n_features
    docnos, comments = (_object_array(itertools.chain.from_iterable(each)) for each in parts[5:])
    # If each query has a single line, nothing tells whether a word is an id or begins a text.
    if all(comments) and len(query_codes) < len(comments) and not any(map(_DOCID.search, comments)):
        words = _object_array(_WORD.findall(comment)[0] for comment in comments)
        docnos = words if len({*zip(codes.tolist(), words)}) == len(words) else docnos
    return _LetorData(
        _assemble(columns, values, counts, shape, sparse),
        labels,
        _query_ids(query_codes)[codes],
        docnos,
        comments,
        is_from_0,
    )


def _start_of(lines):
    """Tell if the first index is 0 by the comments above the rows; None if they do not say."""
    above = itertools.takewhile(lambda line: not line.partition("#")[0].strip(_BLANKS), lines)
    found = [match[1] == "zero" for match in map(_START.match, above) if match]
    return found[0] if found else None


def _is_from_0(starts, indices, n_features):
    """Tell whether features are numbered from 0, by what the files or the caller say.

    `starts` holds True if some say so, and False if some say that the first index is 1.
    """
    has_0 = bool((indices == 0).any())
    if False in starts and (True in starts or has_0):
        raise InputError(
            "some of the files number features from 0, and some from 1: read each by itself."
        )
    if n_features is not None and not starts and has_0:
        raise InputError(
            "zero_based must be said if n_features is given and some feature has the index 0: pass "
            "zero_based=True if features of the training data are numbered from 0 too, and else "
            "number these from 1."
        )
    if n_features is not None and not starts and indices.size and indices.max() < n_features:
        warn_user(
            f"no feature has the index 0 or {n_features:,}, so nothing tells where the numbering "
            "of features begins; it is taken to begin at 1. Pass {zero_based=}, with the value "
            "that reading the training data returned.",
            DataWarning,
            argument="zero_based=",
        )
    return True in starts or has_0


def _check_parameters(n_features, zero_based, sparse, dtype):
    """Return `dtype` as a NumPy dtype; raise if it or another parameter is not valid."""
    check_count(n_features, "n_features", most=_MAX_INDEX, or_none=True)
    for name, value in {"zero_based": zero_based, "sparse": sparse}.items():
        if not (isinstance(value, bool) or value == "auto"):
            raise InputError(f'{name} must be "auto", True or False, got {brief(value)}.')
    try:
        found = str(np.dtype(dtype))
    except TypeError:
        found = brief(dtype)
    if found not in ("float32", "float64"):
        raise InputError(f"dtype must be float32 or float64, got {found}.")
    return np.dtype(dtype)


def _form_of_lines(lines, source, sizes):
    """Return the pattern of the lines of a file, and the sizes of its queries or None.

    Where lines have no ids of queries and no sizes are given, sizes are looked for beside the file.
    """
    first = next((line for line in lines if line.partition("#")[0].strip(_BLANKS)), "")
    if _QID.match(first):
        if sizes is not None:
            raise InputError(
                f"{source_name(source)} has ids of queries (qid:ID): leave out group_sizes=."
            )
        return _LINE_PATTERNS[0], None
    if sizes is None and is_path(source):
        name = unpacked_name(os.fsdecode(source))
        found = [name + end for end in _SIZES if os.path.exists(name + end)]
        if len(found) > 1:
            raise InputError(f"group_sizes must be one of {brief_list(found)}: pass the right one.")
        if found:
            (sizes,) = found
            warn_user(
                f"{name} has no ids of queries, so the sizes of its queries are read from {sizes}"
                "{, as group_sizes= would say without a warning}.",
                DataWarning,
                argument=", as group_sizes= would say without a warning",
            )
    return _LINE_PATTERNS[sizes is not None], sizes


def _set_queries(blocks, begin, sizes, query_codes, source):
    """Number the queries of the blocks from `begin` on, which are of one file, by their sizes."""
    name = "group_sizes"
    if is_path(sizes) or hasattr(sizes, "read"):
        name = source_name(sizes)
        sizes = [word for _, lines in iter_line_chunks(sizes) for word in "\n".join(lines).split()]
    sizes = as_list(sizes, name, "numbers of rows")
    if wrong := [each for each in sizes if not re.fullmatch("0*[1-9][0-9]*", str(each))]:
        raise InputError(
            f"{name} must hold the number of rows of each query, from 1 on, got {brief(wrong[0])}."
        )
    sizes = np.array(list(map(int, sizes)), dtype=np.int64)
    n_rows = sum(len(block[0]) for block in blocks[begin:])
    if sizes.sum() != n_rows:
        raise InputError(
            f"{name} holds sizes of {len(sizes):,} queries with {sizes.sum():,} rows, but "
            f"{source_name(source)} has {n_rows:,} rows: pass the sizes of this file."
        )
    first = len(query_codes)
    query_codes.update({str(number): number for number in range(first, first + len(sizes))})
    codes = np.repeat(np.arange(first, first + len(sizes)), sizes)
    for place in range(begin, len(blocks)):
        y, _, *others = blocks[place]
        blocks[place] = (y, codes[: len(y)], *others)
        codes = codes[len(y) :]


def _parse_lines(lines, first_line, source, limits, dtype, query_codes, pattern):
    """Read a block of lines; `limits` are the lowest and highest possible index.

    Returns labels, query codes, numbers of features per row, feature indices, feature values,
    document ids and comments, or None if the block has no rows. `query_codes` maps query ids to
    codes, and gets the new ids of the block. One pattern matches a whole line, and one call
    converts all numbers, because that is fast.
    """
    labels, qids, features, comments, line_numbers = [], [], [], [], []
    for number, line in enumerate(lines, first_line):
        body, _, comment = line.partition("#")
        match = pattern.fullmatch(body)
        if match is not None:
            label, qid, numbers = match.groups()
            labels.append(label)
            qids.append(qid)
            features.append(numbers)
            comments.append(comment)
            line_numbers.append(number)
        elif body.strip(_BLANKS):
            is_first = not labels and first_line == 1 and not _QID.match(body)
            begin = "\n".join(lines[number - 1 : number + 2]).encode()
            message = _explain(body, pattern, seems(begin) if is_first else "")
            raise FileFormatError(message, source_name(source), number)
    if not labels:
        return None

    def fail(row, message):
        raise FileFormatError(message, source_name(source), line_numbers[row])

    y = np.array(list(map(float, labels)))
    if np.isinf(y).any():
        row = int(np.isinf(y).argmax())
        fail(row, f"the label {brief(labels[row])} is too large for float64; correct it.")
    counts = np.array([numbers.count(":") for numbers in features])
    pairs = np.fromstring("".join(features).replace(":", " "), sep=" ")
    indices = pairs[0::2].astype(np.int64)
    with np.errstate(over="ignore"):  # checked below
        values = pairs[1::2].astype(dtype)
    rows = np.repeat(np.arange(len(counts)), counts)
    if not ((indices[1:] > indices[:-1]) | (rows[1:] > rows[:-1])).all():
        order = np.lexsort((indices, rows))
        indices, values = indices[order], values[order]
    lowest, highest = limits
    wrong = (indices < lowest) | (indices > highest) | np.isinf(values)
    wrong[1:] |= (indices[1:] == indices[:-1]) & (rows[1:] == rows[:-1])
    if wrong.any():
        place = int(wrong.argmax())
        limit = "the highest index" if highest >= _MAX_INDEX - 1 else "by n_features"
        fail(
            rows[place],
            f"feature index {indices[place]}: indices must be from {lowest} to {highest}, {limit}, "
            f"without repeats, and values must be finite in {values.dtype}, or nan. Correct the "
            "line.",
        )
    codes = np.array([query_codes.setdefault(qid, len(query_codes)) for qid in qids if qid])
    comments = [comment.strip(_BLANKS) for comment in comments]
    docnos = [
        "" if (match := _DOCNO_PATTERN.search(comment)) is None else match[1]
        for comment in comments
    ]
    return y, codes, counts, indices.astype(np.int32), values, docnos, comments


def _explain(body, pattern, looks):
    """Return the error message for the part of a line before its comment.

    `looks` says what the file seems to be.
    """
    label, qid, feature = _WORD_PATTERNS
    patterns = [label, qid] if pattern is _LINE_PATTERNS[0] else [label]
    words = itertools.zip_longest(re.findall(r"\S+", body, re.ASCII), patterns)
    wrong = [word or "" for word, of in words if not (of or feature).fullmatch(word or "")]
    got = brief(wrong[0]) if wrong and wrong[0] else "the end of the line"
    form = "label qid:ID index:value" if len(patterns) > 1 else "label index:value"
    return (
        f"expected '{form} ...', where label and values are finite numbers or nan, and indices are "
        f"from 0 or 1 to {_MAX_INDEX}, got {got}{looks or '. Correct the line'}."
    )


def _assemble(columns, values, counts, shape, sparse):
    """Make the feature matrix from columns and values; `counts` holds the number of each row."""
    if sparse == "auto":
        sparse = np.count_nonzero(values) < _SPARSE_BELOW * shape[0] * shape[1]
    if sparse:
        X = sp.csr_matrix((values, columns, np.append(0, np.cumsum(counts))), shape=shape)
        X.eliminate_zeros()
        return X
    if len(values) == shape[0] * shape[1]:
        return values.reshape(shape)
    X = np.zeros(shape, dtype=values.dtype)
    X[np.repeat(np.arange(shape[0]), counts), columns] = values
    return X


def _query_ids(query_codes):
    """Return the query ids in the order of their codes; int64 if all are plain integers."""
    if all(_INTEGER_PATTERN.fullmatch(qid) for qid in query_codes):
        return np.array(list(map(int, query_codes)), dtype=np.int64)
    return _object_array(query_codes)


def _object_array(items):
    """Make a one-dimensional object array from an iterable."""
    items = list(items)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def write_letor(path, X, y, groups, *, docnos=None) -> None:
    r"""Write judged documents in LETOR format.

    `read_letor` reads back exactly the same numbers and ids, if it gets the `dtype` of X, and
    ``sparse=True`` for a sparse X.

    Parameters
    ----------
    path : str, PathLike or file object
        File to write. It is compressed with gzip if its name ends in ".gz". An existing file is
        replaced only when the new file is complete.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Features: finite numbers, or NaN for a missing value. Every entry of a dense X is written,
        and only the entries other than 0 of a sparse X.
    y : array-like of shape (n_rows,)
        Labels, NaN for unjudged rows. Whole numbers are written without a decimal point.
    groups : array-like of shape (n_rows,)
        Query id of each row: integers, or strings without white space and "#".
    docnos : array-like of shape (n_rows,), default=None
        Document ids without white space, written as ``#docid = X``; None or "" for a row without
        an id.

    Raises
    ------
    ValueError
        If there are no rows, lengths differ, a value is infinite, or an id contains white space or
        "#".
    TypeError
        If `path` is neither a path nor an open file.

    Examples
    --------
    >>> import sys
    >>> from skfilterrank.io import write_letor
    >>> write_letor(sys.stdout, [[0.5, 0.0]], [2], ["q1"], docnos=["d7"])
    2 qid:q1 1:0.5 2:0.0 #docid = d7
    """
    check_target(path, "write_letor(path, X, y, groups)")
    find_groups(groups, y, X)
    X = X.tocsr() if sp.issparse(X) else as_number_array(X, "X")
    if X is None:
        raise InputError(
            "X must be a matrix of numbers with one row of features per document: convert its "
            "columns to numbers."
        )
    if X.ndim != 2 or not X.shape[0]:
        raise InputError(f"X must be 2-dimensional with at least one row, got shape {X.shape}.")
    y = check_numbers(y, "y", entry="label").astype(np.float64, copy=False)
    qids = _written_ids(groups, "groups")
    docnos = [""] * len(y) if docnos is None else _written_ids(docnos, "docnos", is_query=False)
    for name, array in (("y", y), ("groups", qids), ("docnos", docnos)):
        if len(array) != X.shape[0]:
            raise InputError(
                f"{name} must have one entry per row of X, got {len(array)} entries for "
                f"{X.shape[0]} rows."
            )
    values = X.data if sp.issparse(X) else X
    for name, array in (("y", y), ("X", values)):
        if np.isinf(np.asarray(array, dtype=np.float64)).any():
            raise InputError(f"{name} must not hold infinite values; use NaN for missing values.")

    labels = [str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in y.tolist()]
    comments = [f" #docid = {docno}" if docno else "" for docno in docnos]
    rows = _sparse_rows(X) if sp.issparse(X) else _dense_rows(X)
    write_lines(path, map("{} qid:{}{}{}\n".format, labels, qids, rows, comments))


def _written_ids(ids, name, is_query=True):
    """Return ids as text; raise for white space, and for a query id that is empty or holds "#"."""
    column = as_column(ids, name, "id")
    ids, missing = np.asarray(column, dtype=object), is_missing(column, name)
    texts = ["" if none else str(item) for item, none in zip(ids, missing, strict=True)]
    search = re.compile(r"[\s#]|\A\Z" if is_query else r"\s", re.ASCII).search
    for text in filter(search, dict.fromkeys(texts)):
        raise InputError(
            f"{name} holds {brief(text)}, but ids in a LETOR file must not "
            f"{'be empty or hold white space or #' if is_query else 'hold white space'}. Rename it."
        )
    return texts


def _dense_rows(X):
    """Yield the text "index:value ..." of all features for each row of a dense X."""
    template = "".join(f" {index}:%r" for index in range(1, X.shape[1] + 1))
    for row in X:
        yield template % tuple(row.astype(np.float64).tolist())


def _sparse_rows(X):
    """Yield the text "index:value ..." for each row of a csr matrix, the lowest index first."""
    X = X.astype(np.float64)  # a copy: the caller's matrix keeps its zeros and its order
    X.sum_duplicates()
    X.eliminate_zeros()
    n_features = X.shape[1]
    # If the last column is empty, the first row gets a 0 in it, so that readers see its index.
    width_is_lost = n_features > 0 and not (X.indices == n_features - 1).any()
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip((X.indices[row] + 1).tolist(), X.data[row].tolist(), strict=True)
        text = "".join([f" {index}:{value!r}" for index, value in pairs])
        yield f"{text} {n_features}:0.0" if i == 0 and width_is_lost else text

# ruff: noqa: B023, E402 - a function that is made in a loop is called at once
"""Record what the library returns, and compare two records to the bit.

Before a change that must not change results, and after it::

    python benchmarks/maintainers/same_results.py record old.pkl --only measures thresholds
    python benchmarks/maintainers/same_results.py record new.pkl --only measures thresholds
    python benchmarks/maintainers/same_results.py compare old.pkl new.pkl

Each section makes many small calls of public functions and commands. A call that raises is
noted with its error and stops nothing, so that one script records a library before and after an
ability has left. Data are read from the folder of SKFILTERRANK_DATA, or ../shared/data.
"""

import os

# One thread, so that sums have one order on every machine.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
os.environ.setdefault("MPLBACKEND", "agg")

import argparse
import contextlib
import dataclasses
import functools
import gzip
import inspect
import io
import itertools
import json
import os.path
import pickle
import shlex
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

SECTIONS = {}
BAD = {0: -1, 1: 1, 2: 2}  # label 0 is forbidden
FUSIONS = ("rrf", "combsum", "combmnz", "borda", "condorcet")
TESTS = ("t", "sign", "randomization", "bootstrap", "tukey")

# Absolute, as some sections work in folders of their own.
DATA = Path(os.environ.get("SKFILTERRANK_DATA", "../shared/data")).expanduser().resolve()


# --- values ---------------------------------------------------------------------------------------


def plain(value):
    """Return a value made of tuples, texts and bytes alone, equal only to the very same value."""
    if value is None or isinstance(value, bool | str | bytes | int):
        return value
    if isinstance(value, float):
        return ("float", float(value).hex())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        if value.dtype == object or value.dtype.kind in "UST":
            return ("list", tuple(plain(each) for each in value.ravel().tolist()))
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value)  # one NaN
        if value.dtype.kind in "Mm":
            value = value.astype(str)
            return ("list", tuple(value.ravel().tolist()))
        return ("array", value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    if sparse.issparse(value):
        return plain(value.toarray())
    if isinstance(value, pd.Series):
        return plain({"index": index_of(value.index), "values": value.to_numpy()})
    if isinstance(value, pd.Index):
        return plain(index_of(value))
    if isinstance(value, pd.DataFrame):
        columns = {str(name): value.iloc[:, i].to_numpy() for i, name in enumerate(value.columns)}
        return plain({"index of rows": index_of(value.index), **columns})
    if isinstance(value, dict):
        return ("dict", {str(key): plain(each) for key, each in value.items()})
    if isinstance(value, list | tuple | set | range):
        items = sorted(value, key=str) if isinstance(value, set) else value
        return ("list", tuple(plain(each) for each in items))
    if hasattr(value, "to_frame"):
        return plain({"table": value.to_frame(), "text": str(value)})
    if hasattr(value, "per_query") and hasattr(value, "means"):
        return plain({"per query": value.per_query, "means": value.means})
    if dataclasses.is_dataclass(value):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return plain({name: each for name, each in fields.items() if not name.startswith("_")})
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return ("text", str(value))


def index_of(index):
    return {"names": list(map(str, index.names)), "rows": index.tolist()}


def differences(old, new, place=""):
    """Yield (place, what) of differences of plain values; keys that came are none."""
    if old == new:
        return
    if _kind(old) == _kind(new) == "dict":
        for key, value in old[1].items():
            inside = f"{place}[{key}]"
            if key not in new[1]:
                yield inside, "left"
            else:
                yield from differences(value, new[1][key], inside)
        return
    are_lists = _kind(old) == _kind(new) == "list" and len(old[1]) == len(new[1])
    if are_lists and any(_kind(each) == "dict" for each in old[1]):
        for i, pair in enumerate(zip(old[1], new[1])):
            yield from differences(*pair, f"{place}[{i}]")
        return
    yield place, f"differs: {_change(old, new)}"


def _kind(value):
    return value[0] if isinstance(value, tuple) else type(value).__name__


def _change(old, new):
    if _kind(old) == _kind(new) == "array" and old[1:3] == new[1:3]:
        first, second = (np.frombuffer(each[3], each[1]) for each in (old, new))
        with np.errstate(all="ignore"):
            is_other = ~((first == second) | ((first != first) & (second != second)))
            most = np.nanmax(np.abs(first[is_other].astype(float) - second[is_other]), initial=0)
        return f"{is_other.sum()} of {len(first)} entries, by at most {most:.3g}"
    if _kind(old) == _kind(new) == "list":
        if len(old[1]) != len(new[1]):
            return f"{len(old[1])} entries, then {len(new[1])}"
        place = next(i for i, (a, b) in enumerate(zip(old[1], new[1])) if a != b)
        return f"at {place}: {_change(old[1][place], new[1][place])}"
    if isinstance(old, str) and isinstance(new, str):
        lines = itertools.zip_longest(old.splitlines(), new.splitlines(), fillvalue="")
        pair = next(((a, b) for a, b in lines if a != b), (old, new))
        return f"{pair[0]!r}, then {pair[1]!r}"
    return f"{_short(old)}, then {_short(new)}"


def _short(value):
    if _kind(value) == "float":
        return repr(float.fromhex(value[1]))
    if _kind(value) == "array":
        return f"array {value[1]}{value[2]}"
    return repr(value)[:120]


# --- recording ------------------------------------------------------------------------------------


class Book:
    """Results and errors by name."""

    def __init__(self):
        self.results, self.errors = {}, {}

    def note(self, name, call, /, **parts):
        """Record what a call returns, or each part of it; return it, or None after an error."""
        value = self._try(name, call)
        if name in self.errors:
            return None
        if not parts:
            self._keep(name, lambda: value)
        for part, take in parts.items():
            self._keep(f"{name}/{part}", functools.partial(take, value))
        return value

    def message(self, name, call):
        """Record the error that a call raises."""
        try:
            call()
        except Exception as error:
            self.results[name] = f"{type(error).__name__}: {error}"
        else:
            self.results[name] = "no error"

    def _try(self, name, call):
        try:
            return call()
        except Exception as error:
            self.errors[name] = (type(error).__name__, str(error))

    def _keep(self, name, call):
        assert name not in self.results, f"{name} is recorded twice"
        found = self._try(name, lambda: plain(call()))
        if name not in self.errors:
            self.results[name] = found


def section(function):
    SECTIONS[function.__name__] = function
    return function


def attributes(*names):
    """Parts that are attributes of the same name."""
    return {name: functools.partial(_attribute, name) for name in names}


def _attribute(name, value):
    return getattr(value, name)


def record(path, only, show_errors):
    if not DATA.is_dir():
        sys.exit(f"{DATA} is no folder: set SKFILTERRANK_DATA to the folder of the public data.")
    warnings.simplefilter("ignore")
    import skfilterrank

    print(f"library: {skfilterrank.__file__}")
    books = {}
    for name in only or SECTIONS:
        begin, book = time.process_time(), Book()
        try:
            SECTIONS[name](book)
        except Exception as error:  # a fault of the section; what it has so far counts
            book.errors[name] = (type(error).__name__, str(error))
            print(f"{name} stopped: {type(error).__name__}: {error}")
        books[name] = {"results": book.results, "errors": book.errors}
        seconds = time.process_time() - begin
        print(
            f"{name:14} {len(book.results):5} results, {len(book.errors):4} errors, "
            f"{seconds:5.1f} s",
            flush=True,
        )
        if show_errors:
            for place, (kind, text) in book.errors.items():
                print(f"    {place}: {kind}: {text.splitlines()[0] if text else ''}"[:240])
    Path(path).write_bytes(pickle.dumps(books))


def compare(first, second, only, most=40):
    old, new = (pickle.loads(Path(path).read_bytes()) for path in (first, second))
    n_wrong = 0
    for name in only or [each for each in old if each in new]:
        if name not in old or name not in new:
            print(f"{name}: not in {first if name not in old else second}")
            continue
        lines, n_equal, gone, left = [], 0, {}, {}
        found, errors = new[name]["results"], new[name]["errors"]
        for place, value in old[name]["results"].items():
            if place not in found:
                gone.setdefault(_reason(place, errors), []).append(place)
                continue
            changes = list(differences(value, found[place]))
            others = [change for change in changes if change[1] != "left"]
            n_equal += not others
            lines += [f"  {place}{where} {what}" for where, what in others]
            for where, what in changes:
                if what == "left":
                    left.setdefault(where.rpartition("[")[2].rstrip("]"), []).append(place)
        n_wrong += len(lines) + len(gone) + len(left)
        n_gone = sum(map(len, gone.values()))
        n_changed = len(old[name]["results"]) - n_equal - n_gone
        print(f"{name}: {n_equal} equal, {n_changed} changed, {n_gone} not recorded")
        for line in lines[:most]:
            print(line[:300])
        if len(lines) > most:
            print(f"  ... and {len(lines) - most} more differences (--all shows them)")
        for key, places in left.items():
            print(f"  column or key {key!r} left {len(places)} results, such as {places[0]}"[:300])
        for reason, places in gone.items():
            print(f"  not recorded: {reason}: {len(places)}, such as {places[0]}"[:400])
    print("everything is equal" if not n_wrong else f"{n_wrong} lines of differences")
    return int(n_wrong > 0)


def _reason(place, errors):
    parts = place.split("/")
    for length in range(len(parts), 0, -1):
        error = errors.get("/".join(parts[:length]))
        if error is not None:
            return f"{error[0]}: {error[1]}"
    return "this call is not made any more"


# --- data -----------------------------------------------------------------------------------------


def lines_of(*names):
    path = DATA.joinpath(*names)
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        return file.read().splitlines()


@functools.cache
def letor(folder, part, n_queries):
    """Features, labels and queries of the first queries of a part."""
    rows, labels, queries, seen = [], [], [], set()
    for line in lines_of(folder, f"{part}.txt.gz"):
        label, query, *features = line.partition("#")[0].split()
        seen.add(query)
        if len(seen) > n_queries:
            break
        rows.append([float(each.partition(":")[2]) for each in features])
        labels.append(float(label))
        queries.append(query.partition(":")[2])
    return np.array(rows), np.array(labels), np.array(queries)


@functools.cache
def made_lists(n_queries=60, seed=0):
    """Scores with ties and -inf, labels with NaN and forbidden ones; lists of several sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, n_queries)
    groups = np.repeat([f"q{i}" for i in range(n_queries)], sizes)
    y = rng.choice(
        [-2.0, -1.0, 0.0, 1.0, 2.0, np.nan], len(groups), p=[0.05, 0.2, 0.3, 0.2, 0.15, 0.1]
    )
    scores = np.round(np.nan_to_num(y) + rng.normal(size=len(y)) + 2, 1)
    scores[rng.random(len(y)) < 0.05] = -np.inf
    order = rng.permutation(len(y))
    return scores[order], y[order], groups[order]


@functools.cache
def reranked(name="bm25.train", n_queries=80, n_documents=40):
    """First documents of a run of Robust04, with label 1 where relevant and 0 elsewhere."""
    columns = ["qid", "q0", "docno", "rank", "score", "tag"]
    rows = [line.split() for line in lines_of("robust04-truncation", f"{name}.run.gz")]
    run = pd.DataFrame(rows, columns=columns).astype({"rank": int, "score": float})
    run = run[run["rank"] <= n_documents]
    run = run[run["qid"].isin(run["qid"].unique()[:n_queries])]
    judged = (line.split() for line in lines_of("robust04-truncation", "qrels.txt.gz"))
    relevant = {(qid, docno) for qid, _, docno, _ in judged}
    labels = [float(pair in relevant) for pair in zip(run["qid"], run["docno"])]
    return run.assign(label=labels).reset_index(drop=True)


def robust_lists():
    run = reranked()
    return run["score"].to_numpy(), run["label"].to_numpy(), run["qid"].to_numpy()


@functools.cache
def two_score_lists(n_documents=60):
    """Scores, harm, labels (forbidden: not credible) and queries of CLEF eHealth 2021."""
    labels = {}
    for name in ("qrels", "credibility"):
        judged = (line.split() for line in lines_of("clef-health-2021", f"{name}.txt.gz"))
        labels[name] = {(row[0], row[2]): float(row[3]) for row in judged}
    rows = {}
    for name in ("bm25", "tf_idf"):
        for line in lines_of("clef-health-2021", f"{name}.run.gz"):
            qid, _, docno, rank, score, _ = line.split()
            if int(rank) < n_documents:
                rows.setdefault((qid, docno), {})[name] = float(score)
    pairs = [pair for pair, found in rows.items() if len(found) == 2]
    scores, other = (np.array([rows[pair][name] for pair in pairs]) for name in ("bm25", "tf_idf"))
    relevance = np.array([labels["qrels"].get(pair, np.nan) for pair in pairs])
    credible = np.array([labels["credibility"].get(pair, np.nan) for pair in pairs])
    y = np.where(credible == 0, -1.0, relevance)
    # A second score that knows something of harm: noise, and less of it where not credible.
    harm = np.random.default_rng(5).normal(size=len(y)) + (y < 0) - 0.02 * other
    return scores, harm, y, np.array([pair[0] for pair in pairs])


COVID = (
    "BERT",
    "BM25R2",
    "KU_run1",
    "KU_run2",
    "T5R1",
    "TMACC_SeTA_baseline",
    "UB_NLP_RUN_1",
    "10x20.prf.unipd.it",
)


@functools.cache
def covid(n_runs=6, n_documents=50):
    """Judgments and runs of TREC-COVID's first round, cut."""
    columns = ["qid", "iteration", "docno", "label"]
    lines = [line.split() for line in lines_of("trec-covid-round1", "qrels.txt.gz")]
    qrels = pd.DataFrame(lines, columns=columns).astype({"label": int})[["qid", "docno", "label"]]
    runs = {}
    for name in COVID[:n_runs]:
        rows = [line.split() for line in lines_of("trec-covid-round1", "runs", f"{name}.txt.gz")]
        run = pd.DataFrame(rows, columns=["qid", "q0", "docno", "rank", "score", "tag"])
        run = run.astype({"score": float})[["qid", "docno", "score"]]
        runs[name] = run.groupby("qid").head(n_documents).reset_index(drop=True)
    return qrels.drop_duplicates(["qid", "docno"]), runs


@functools.cache
def texts_of(name, n_queries):
    """Judged texts of Cranfield or CACM, with as many unjudged: a table."""
    documents = {}
    for line in lines_of(name, "docs.jsonl.gz"):
        row = json.loads(line)
        documents[str(row["docid"])] = row["text"]
    names, rng, rows = list(documents), np.random.default_rng(0), []
    judged = [line.split() for line in lines_of(name, "qrels.txt")]
    queries = list(dict.fromkeys(row[0] for row in judged))[:n_queries]
    for query in queries:
        here = {row[2]: 1.0 for row in judged if row[0] == query and row[3] != "-1"}
        here = {docno: label for docno, label in here.items() if docno in documents}
        others = [each for each in rng.choice(names, 24, replace=False) if each not in here]
        here |= {docno: np.nan if i % 3 == 0 else 0.0 for i, docno in enumerate(others)}
        rows += [(query, docno, documents[docno], label) for docno, label in here.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "text", "label"])


@functools.cache
def answers(n_questions=25):
    """Questions and comments of SemEval 2016, a table."""
    table = pd.DataFrame(map(json.loads, lines_of("semeval2016-cqa", "dev.jsonl.gz")))
    return table[table["qid"].isin(table["qid"].unique()[:n_questions])].reset_index(drop=True)


WORDS = {"Bad": -1, "PotentiallyUseful": 1, "Good": 2}


# --- measures -------------------------------------------------------------------------------------

OPTIONS = {
    "inferred_ap": {"pooled": lambda y: ~np.isnan(y)},
    "stat_ap": {"inclusion_probability": lambda y: np.where(np.isnan(y), 1.0, 0.5)},
}


@section
def measures(book):
    from skfilterrank import metrics

    names = metrics.get_measure_names()
    book.note("names", lambda: list(names))
    scores, y, groups = made_lists()
    no_forbidden = np.clip(y, 0, None)

    def value(name, labels=y, **options):
        more = {key: make(labels) for key, make in OPTIONS.get(name.partition("@")[0], {}).items()}
        return metrics.evaluate(labels, scores, name, groups=groups, **more, **options).per_query

    for name in names:
        for text in (name, f"{name}@1", f"{name}@3", f"{name}@10"):
            book.note(f"{text}/forbidden", lambda: value(text))
            book.note(f"{text}/plain", lambda: value(text, no_forbidden))
        usual = no_forbidden if name == "ul_normalized" else y
        for ties in ("average", "worst", "best", "stable"):
            book.note(f"{name}/ties={ties}", lambda: value(f"{name}", usual, ties=ties))
            book.note(f"{name}@3/ties={ties}", lambda: value(f"{name}@3", usual, ties=ties))
        for options in (
            {"unjudged": "drop"},
            {"undefined": "drop"},
            {"undefined": 0.5},
            {"gains": "exp2"},
            {"gains": BAD | {-2: -1, -1: -1}},
            {"n_items": 1000},
        ):
            label = ",".join(f"{key}={option}" for key, option in options.items())
            labels = no_forbidden if options.get("gains") == "exp2" else usual
            book.note(f"{name}/{label}", lambda: value(name, labels, **options))
        for text in (name, f"{name}@3"):
            book.note(f"{text}/empty", lambda: _empty_lists(metrics, text))
        book.note(f"{name}/parts", lambda: metrics.get_measure(name), text=str)
    weights = {query: 1.0 + i % 3 for i, query in enumerate(dict.fromkeys(groups))}
    few = ["ndcg_f@3", "ap", "lexirecall", "rbp(persistence=0.5)@3", "precision(rel=2)@5"]
    book.note("mean", lambda: metrics.evaluate(y, scores, few[:4], groups=groups).means)
    book.note(
        "weighted mean",
        lambda: metrics.evaluate(y, scores, few[:4], groups=groups, query_weight=weights).means,
    )
    for like, measure in (
        ("lightgbm", "ndcg@5"),
        ("lightgbm", "ap@5"),
        ("xgboost", "ndcg@5"),
        ("catboost", "ndcg@5"),
        ("catboost", "rr"),
        ("scikit-learn", "ndcg@5"),
        ("scikit-learn", "dcg@5"),
    ):
        book.note(
            f"like {like} {measure}", lambda: value(measure, np.nan_to_num(no_forbidden), like=like)
        )
    _measure_functions(book, metrics, scores, y, groups)
    _measure_options(book, value)
    _measures_of_runs(book, metrics)
    _measures_of_rows(book, metrics)


def _empty_lists(metrics, name):
    y = [1.0, 0.0, -1.0, 0.0, np.nan, 2.0, 2.0, -1.0]
    scores = [-np.inf, -np.inf, 0.5, 0.5, 0.1, 1.0, -np.inf, 3.0]
    more = {key: make(np.array(y)) for key, make in OPTIONS.get(name, {}).items()}
    return metrics.evaluate(y, scores, name, groups=[1, 1, 2, 2, 3, 4, 4, 5], **more).per_query


def _measure_functions(book, metrics, scores, y, groups):
    plain_labels = np.nan_to_num(np.clip(y, 0, None))
    pooled = ~np.isnan(y)
    given = {
        "metrics.inferred_ap_score": {"pooled": pooled},
        "metrics.stat_ap_score": {"inclusion_probability": np.where(pooled, 0.5, 1.0)},
    }
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if not inspect.isfunction(function) and not callable(function):
            continue
        try:
            parameters = list(inspect.signature(function).parameters)
        except ValueError:
            continue
        if parameters[:2] != ["y_true", "y_score"] or not hasattr(function, "per_query"):
            continue
        more = given.get(f"metrics.{name}", {})
        book.note(f"function {name}", lambda: function.per_query(y, scores, groups=groups, **more))
        book.note(
            f"function {name}/plain", lambda: function(plain_labels, scores, groups=groups, **more)
        )
        if "k" in parameters:
            book.note(f"function {name}@2", lambda: function(y, scores, groups=groups, k=2, **more))
    labels = {"groups": groups}
    other = np.random.default_rng(1).permutation(scores)
    for kind in ("recall", "precision"):
        book.note(
            f"lexicographic_preference {kind}",
            lambda: metrics.lexicographic_preference(y, scores, other, kind=kind, **labels),
        )
    for weights in ("uniform", "inverse", "dcg"):
        book.note(
            f"recall_paired_preference {weights}",
            lambda: metrics.recall_paired_preference(y, scores, other, weights=weights, **labels),
        )
    book.note("filtering_difficulty", lambda: metrics.filtering_difficulty(y, k=3, **labels))
    book.note("dcg_bounds", lambda: metrics.dcg_bounds(plain_labels, k=5, **labels))
    for measure in ("dcg", "ap", "ndcg", "rr", "precision", "recall"):
        for method in ("exact", "simulation", "auto"):
            book.note(
                f"random_ranking_bound {measure} {method}",
                lambda: metrics.random_ranking_bound(
                    plain_labels,
                    measure,
                    k=5,
                    method=method,
                    n_samples=50,
                    random_state=0,
                    **labels,
                ),
            )
    for measure, variant, expectation in (
        *itertools.product(("dcg", "ap", "ndcg"), ("v1", "v2"), ("exact",)),
        *itertools.product(("sp",), ("v1", "v2"), ("exact", "paper")),
    ):
        book.note(
            f"ul_normalized {measure} {variant} {expectation} ideal",
            lambda: metrics.ul_normalized_score.per_query(
                plain_labels,
                scores,
                k=5,
                measure=measure,
                variant=variant,
                expectation=expectation,
                **labels,
            ),
        )
    book.note(
        "query_informativeness",
        lambda: metrics.query_informativeness(
            plain_labels,
            {"a": scores, "b": other},
            n_samples=50,
            n_queries=5,
            random_state=0,
            **labels,
        ),
    )
    for measure in ("ap", "ndcg_f@3", "precision@3", "rbp", "bpref", "dcg@5"):
        book.note(
            f"unjudged_bounds {measure}",
            lambda: metrics.unjudged_bounds(y, scores, measure, **labels),
        )
    book.note(
        "ndcg_f of ties", lambda: metrics.ndcg_f_score(y, scores, ties=np.arange(len(y)), **labels)
    )
    book.note(
        "rank_filter_report",
        lambda: metrics.rank_filter_report(y, {"a": scores, "b": other}, **labels),
    )
    book.note(
        "explain_differences",
        lambda: metrics.explain_differences(y, scores, groups, docnos=np.arange(len(y))),
    )
    book.message("two lengths", lambda: metrics.ndcg_f_score(y[1:], scores, groups=groups))
    book.message("unknown measure", lambda: metrics.evaluate(y, scores, "ndgc", groups=groups))
    book.message("no groups", lambda: metrics.ndcg_f_score(y, scores))
    book.message("NaN score", lambda: metrics.ndcg_f_score([1.0], [np.nan], groups=[1]))
    _scorers(book, metrics)


def _scorers(book, metrics):
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate

    X, y, groups = letor("mq2007", "S1", 40)
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    for measure in ("ndcg_f@5", "ap", "lexirecall", "ndcg@10", "any_forbidden@2"):
        for gains in (None, BAD):
            scorer = metrics.make_ranking_scorer(measure, gains=gains)
            name = f"scorer {measure} {'forbidden' if gains else 'plain'}"
            book.note(
                name,
                lambda: cross_val_score(
                    Ridge(), X, labels, groups=groups, cv=GroupKFold(3), scoring=scorer
                ),
            )
    scorer = metrics.make_ranking_scorer("ndcg_f@5", gains=BAD)
    book.note(
        "GridSearchCV",
        lambda: GridSearchCV(
            Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, scoring=scorer, cv=GroupKFold(3)
        ).fit(X, labels, groups=groups),
        best=lambda search: search.best_params_,
        score=lambda search: search.best_score_,
        results=lambda search: without_times(search.cv_results_),
        predicted=lambda search: search.predict(X),
    )
    book.note(
        "GridSearchCV of several",
        lambda: without_times(
            GridSearchCV(
                Ridge(),
                {"alpha": [0.1, 1000.0]},
                scoring={"a": scorer, "b": metrics.make_ranking_scorer("ap", k=3)},
                refit=False,
                cv=GroupKFold(4),
            )
            .fit(X, labels, groups=groups)
            .cv_results_
        ),
    )
    book.note(
        "cross_validate",
        lambda: without_times(
            cross_validate(Ridge(), X, labels, groups=groups, cv=GroupKFold(3), scoring=scorer)
        ),
    )


def without_times(results):
    return {key: value for key, value in results.items() if "time" not in key}


def _measure_options(book, value):
    labels = np.clip(made_lists()[1], 0, None)
    gains = {0: 0, 1: 0.5, 2: 1}
    for text in (
        "ap(normalize=min)", "ap(normalize=k)@5", "ap(normalize=found)", "ap(rel=2)",
        "rbp(persistence=0.5)", "rbp(relevance=graded)", "rbp(relevance=graded,persistence=0.95)@5",
        "err(max_grade=2)", "f(beta=2)@5", "f(beta=0.5)",
        "udcg(distraction=1)@5", "compatibility(persistence=0.8)", "compatibility(harm=0)",
        "lexirecall(scale=share)", "lexirecall(scale=log)", "lexiprecision(scale=log)",
        "lexiprecision(scale=share)", "metric_lexirecall(epsilon=0.1)",
        "bpref(variant=buckley2004)", "bpref(variant=printed)", "tse(exposure=ndcg)",
        "tse(exposure=rbp,persistence=0.5)",
        "ul_normalized(measure=ap,variant=v1)@5", "ul_normalized(measure=ndcg,variant=v2)@5",
        "precision(rel=2)@5", "recall(rel=2)@5",
        "iprec@0.5", "iprec(recall=0.5)", "success@2", "ndcg(gains=exp2)@5", "qwa",
        "q_measure(beta=2)", "ndcg_f(gains=exp2)@5", "ndcg_0@5", "ndcg_min@5",
    ):  # fmt: skip
        book.note(f"option {text}", lambda: value(text))
        book.note(f"option {text}/plain", lambda: value(text, labels, gains=gains))
        book.note(f"option {text}/n_items", lambda: value(text, n_items=500))


def _measures_of_runs(book, metrics):
    qrels, runs = covid()
    names = [each for each in metrics.get_measure_names() if each not in OPTIONS]
    book.note("runs", lambda: metrics.evaluate_runs(qrels, runs, names))
    few = ["ndcg_f@10", "ap", "rr", "lexirecall", "bpref", "precision@5", "recall@20", "judged@10"]
    gains = {0: -1, 1: 1, 2: 3}
    for options in (
        {"ties": "average"}, {"ties": "worst"}, {"ties": "best"}, {"ties": "stable"},
        {"unjudged": "drop"}, {"undefined": "drop"}, {"precision": "single"}, {"n_items": None},
        {"n_items": 1000}, {"gains": gains}, {"gains": "exp2"}, {"unjudged_label": 0},
        {"gains": gains, "unjudged": "drop"},
    ):  # fmt: skip
        label = ",".join(f"{key}={option}" for key, option in options.items())
        book.note(f"runs/{label}", lambda: metrics.evaluate_runs(qrels, runs, few, **options))
    missing = {name: run[run["qid"] != "3"] for name, run in runs.items()}
    for how in ("raise", "drop", "empty"):
        name, call = (
            f"runs/missing={how}",
            lambda: metrics.evaluate_runs(qrels, missing, few, missing=how),
        )
        book.message(name, call) if how == "raise" else book.note(name, call)
    web = [line.split() for line in lines_of("trec-web-qrels", "web2012.qrels.txt.gz")]
    web = (
        pd.DataFrame(web, columns=["qid", "i", "docno", "label"])
        .astype({"label": int})
        .drop(columns="i")
    )
    web = web[web["qid"].isin(web["qid"].unique()[:10])]
    rng = np.random.default_rng(0)
    run = web.assign(score=np.round(web["label"] + 3 * rng.normal(size=len(web)), 1)).drop(
        columns="label"
    )
    for label in (None, "trec", -2):
        book.note(
            f"web/unjudged_label={label}",
            lambda: metrics.evaluate_runs(web, {"web": run}, few, unjudged_label=label),
        )


def _measures_of_rows(book, metrics):
    scores, y, groups = made_lists()
    order = np.argsort(groups, kind="stable")
    table = (
        pd.DataFrame({"qid": groups, "label": y, "score": scores})
        .iloc[order]
        .reset_index(drop=True)
    )
    few = ["ndcg_f@3", "ap", "lexirecall", "any_forbidden@2", "num_q", "udcg@5", "gm_map"]
    for name, rows in rows_of(book, table).items():
        book.note(
            f"rows {name}", lambda: metrics.evaluate(rows, few), means=lambda found: found.means
        )


@contextlib.contextmanager
def temporary():
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)


_KEPT = []  # temporary folders of rows, which live as long as the process


def rows_of(book, table, **columns):
    """Return `Rows` of a table in several forms, sorted by query."""
    from skfilterrank.io import Rows

    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    path = os.path.join(folder.name, "rows.parquet")
    queries = table["qid"].unique()
    half = table["qid"].isin(queries[: len(queries) // 2])
    found = {}
    book.note("rows of a frame", lambda: found.update(frame=Rows(table, **columns)))
    book.note(
        "rows of blocks", lambda: found.update(blocks=Rows([table[half], table[~half]], **columns))
    )
    book.note("rows in chunks", lambda: found.update(chunks=Rows(table, chunk_rows=50, **columns)))

    def parquet():
        table.to_parquet(path, row_group_size=70)
        found["parquet"] = Rows(path, chunk_rows=100, **columns)

    def dask():
        import dask
        import dask.dataframe as dd

        dask.config.set(scheduler="synchronous", **{"dataframe.convert-string": False})
        parts = [table[half], table[~half]]
        found["dask"] = Rows(dd.from_map(lambda i: parts[i], range(2)), **columns)

    book.note("rows of Parquet", parquet)
    book.note("rows of Dask", dask)
    return found


# --- thresholds -----------------------------------------------------------------------------------


@functools.cache
def lists(name):
    """Scores, labels, queries and gains of named data; the last half of the queries are new."""
    if name == "made":
        return *made_lists(80), None
    if name == "robust":
        return *robust_lists(), BAD
    if name == "mq2007":
        X, y, groups = letor("mq2007", "S1", 60)
        return X[:, 39], y, groups, BAD
    scores, _, y, groups = two_score_lists()
    return scores, y, groups, None


FITTED = attributes(
    "threshold_", "best_score_", "measure_", "n_unjudged_",
)  # fmt: skip


def halves(*arrays, groups):
    names = np.array(list(dict.fromkeys(groups)))
    is_first = np.isin(groups, names[: len(names) * 2 // 3])
    return [(array[is_first], array[~is_first]) for array in arrays]


def of_threshold(new, y, groups, harm=None):
    """Parts of a fitted threshold: what it found, and what it does with new queries."""
    rows = (new, harm)

    def ask(method, **more):
        return lambda threshold: call_with(getattr(threshold, method), *rows, groups=groups, **more)

    def score(threshold):
        method = threshold.score
        if harm is None:
            return method(new, y, groups=groups)
        return method(np.column_stack([new, harm]), y, groups=groups)

    return FITTED | {
        "curve": lambda threshold: getattr(threshold, "threshold_curve_", None),
        "decision": ask("decision_function"),
        "predicted": ask("predict"),
        "rank": ask("rank"),
        "score": score,
    }


def call_with(method, scores, harm, *arguments, **more):
    """Call with one score, or with two as a table."""
    if harm is None:
        return method(scores, *arguments, **more)
    return method(np.column_stack([scores, harm]), *arguments, **more)


def fit_and_note(book, name, threshold, data, *, harm=None, **more):
    """Fit a threshold on two thirds of the queries and record it with the answers to the rest."""
    scores, y, groups = data
    (s, new_s), (labels, new_y), (g, new_g) = halves(scores, y, groups, groups=groups)
    h, new_h = (None, None) if harm is None else halves(harm, groups=groups)[0]
    more = {key: halves(each, groups=groups)[0][0] for key, each in more.items()}
    return book.note(
        name,
        lambda: call_with(threshold().fit, s, h, labels, groups=g, **more),
        **of_threshold(new_s, new_y, new_g, new_h),
    )


CAPS = ({}, {"max_shown": 5}, {"min_shown": 1}, {"max_shown": 4, "min_shown": 2})


def said(options):
    return ",".join(f"{key}={value}" for key, value in options.items()) or "plain"


@section
def thresholds(book):
    from skfilterrank import thresholds as t

    found = {
        "TunedThreshold": ("ndcg_f@5", "ndcg_f", "f", "udcg@5", "ap@10", "bpref"),
        "FirstK": ("ndcg_f@5", "f", "ap"),
        "ExpectedThreshold": ("ndcg_f@5", "f", "precision@5", "udcg@5"),
        "PerQueryThreshold": ("ndcg_f@5", "f", "dcg"),
    }
    for name, measure_names in found.items():
        for data, measure, caps in itertools.product(
            ("made", "robust", "mq2007", "clef"), measure_names, CAPS
        ):
            if data in ("mq2007", "clef") and caps not in CAPS[::3]:
                continue
            *rows, gains = lists(data)
            fit_and_note(
                book,
                f"{name}/{data}/{measure}/{said(caps)}",
                lambda: getattr(t, name)(measure, gains=gains, **caps),
                rows,
            )
    for data, measure, caps in itertools.product(("made", "robust"), ("ndcg_f@5", "f"), CAPS[::3]):
        *rows, gains = lists(data)
        fit_and_note(
            book,
            f"LearnedThreshold/{data}/{measure}/{said(caps)}",
            lambda: t.LearnedThreshold(measure, gains=gains, random_state=0, cv=4, **caps),
            rows,
        )
    for level, caps in itertools.product((0.5, 2.0, -np.inf, None), CAPS):
        *rows, _ = lists("made")
        fit_and_note(
            book,
            f"FixedThreshold/{level}/{said(caps)}",
            lambda: t.FixedThreshold(level, **caps),
            rows,
        )
    _weighted_thresholds(book, t)
    _two_scores(book, t)
    _thresholds_on_rows(book, t)
    _saved_thresholds(book, t)
    _curves(book, t)


def _weighted_thresholds(book, t):
    scores, y, groups, _ = lists("made")
    rows = scores, y, groups
    rng = np.random.default_rng(3)
    queries = np.unique(groups)
    weight = dict(zip(queries, rng.integers(1, 4, len(queries)).astype(float)))
    weights = np.array([weight[query] for query in groups])
    clusters = np.array([int(query[1:]) // 3 for query in groups])
    for name in (
        "TunedThreshold",
        "FirstK",
        "ExpectedThreshold",
        "PerQueryThreshold",
        "LearnedThreshold",
    ):
        more = {"random_state": 0, "cv": 3} if name == "LearnedThreshold" else {}
        fit_and_note(
            book,
            f"{name}/clusters",
            lambda: getattr(t, name)("ndcg_f@5", **more),
            rows,
            clusters=clusters,
        )
    for measure in ("ndcg_f@5", "f"):
        fit_and_note(
            book,
            f"TunedThreshold/weights/{measure}",
            lambda: t.TunedThreshold(measure),
            rows,
            query_weight=weights,
        )
    levels = np.round(scores)
    fit_and_note(
        book, "TunedThreshold/many ties", lambda: t.TunedThreshold("ndcg_f@5"), (levels, y, groups)
    )
    fit_and_note(book, "FirstK/many ties", lambda: t.FirstK("f"), (levels, y, groups))
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    book.note(
        "TunedThreshold/index level",
        lambda: t.TunedThreshold("ndcg_f@5").fit(scores, labels),
        **of_threshold(scores, y, groups),
    )
    book.message("TunedThreshold/no labels", lambda: t.TunedThreshold().fit(scores, groups=groups))
    book.message(
        "TunedThreshold/measure", lambda: t.TunedThreshold("nope").fit(scores, y, groups=groups)
    )
    book.message(
        "TunedThreshold/lengths", lambda: t.TunedThreshold().fit(scores, y[1:], groups=groups)
    )
    book.message(
        "TunedThreshold/not fitted", lambda: t.TunedThreshold().predict(scores, groups=groups)
    )


def _two_scores(book, t):
    scores, harm, y, groups = two_score_lists()
    for rule, measure, caps in itertools.product(
        ("ratio", "harm"), ("ndcg_f@5", "ndcg_f", "f", "udcg@5"), (CAPS[0], CAPS[1])
    ):
        fit_and_note(
            book,
            f"TunedThreshold/two scores/{rule}/{measure}/{said(caps)}",
            lambda: t.TunedThreshold(measure, rule=rule, **caps),
            (scores, y, groups),
            harm=harm,
        )
    fit_and_note(
        book,
        "TunedThreshold/two scores",
        lambda: t.TunedThreshold("ndcg_f@5"),
        (scores, y, groups),
        harm=harm,
    )


def _thresholds_on_rows(book, t):
    scores, y, groups, _ = lists("made")
    order = np.argsort(groups, kind="stable")
    table = (
        pd.DataFrame({"qid": groups, "label": y, "score": scores})
        .iloc[order]
        .reset_index(drop=True)
    )
    made = {
        "TunedThreshold": lambda: t.TunedThreshold("ndcg_f@5"),
        "TunedThreshold, max_shown": lambda: t.TunedThreshold("f", max_shown=4),
        "FixedThreshold": lambda: t.FixedThreshold(2.0, max_shown=4),
        "CertifiedThreshold": lambda: t.CertifiedThreshold(
            {"any_forbidden@3": 0.6}, confidence_level=0.8
        ),
        "CertifiedThreshold, two risks": lambda: t.CertifiedThreshold(
            {"any_forbidden@2": 0.7, "false_reject_rate": 0.9}, confidence_level=0.8, max_shown=2
        ),
    }
    for form, rows in rows_of(book, table).items():
        for name, make in made.items():
            book.note(
                f"rows {form}/{name}",
                lambda: make().fit(rows),
                **of_threshold(scores, y, groups),
                certificate=lambda fitted: getattr(fitted, "certificate_", None),
            )
    labels = table["label"].to_numpy()
    fitted = t.TunedThreshold("ndcg_f@5").fit(table["score"], labels, groups=table["qid"])

    def partitions():
        import dask
        import dask.dataframe as dd

        dask.config.set(scheduler="synchronous")
        frame = dd.from_pandas(table, npartitions=1)
        return frame.map_partitions(
            lambda part: pd.Series(
                fitted.predict(part["score"].to_numpy(), groups=part["qid"].to_numpy())
            ),
            meta=("x", float),
        ).compute()

    book.note("predicted on partitions", partitions)


def _saved_thresholds(book, t):
    scores, y, groups, _ = lists("made")
    for name in (
        "TunedThreshold",
        "FirstK",
        "ExpectedThreshold",
        "PerQueryThreshold",
        "LearnedThreshold",
        "FixedThreshold",
        "CertifiedThreshold",
    ):
        with temporary():
            if name == "FixedThreshold":
                threshold = t.FixedThreshold(1.5, max_shown=3)
            elif name == "CertifiedThreshold":
                threshold = t.CertifiedThreshold({"any_forbidden@3": 0.6}, confidence_level=0.8)
            else:
                more = {"random_state": 0, "cv": 3} if name == "LearnedThreshold" else {}
                threshold = getattr(t, name)("ndcg_f@5", max_shown=6, **more)
            fitted = threshold.fit(scores, y, groups=groups)
            book.note(
                f"saved {name}", lambda: fitted.save("x.json"), file=lambda _: saved_json("x.json")
            )
            book.note(
                f"loaded {name}",
                lambda: t.load_threshold("x.json"),
                **of_threshold(scores, y, groups),
            )
    two, harm, labels, queries = two_score_lists()
    with temporary():
        book.note(
            "saved two scores",
            lambda: call_with(
                t.TunedThreshold("ndcg_f@5").fit, two, harm, labels, groups=queries
            ).save("x.json"),
            file=lambda _: saved_json("x.json"),
        )
        book.note(
            "loaded two scores",
            lambda: t.load_threshold("x.json"),
            **of_threshold(two, labels, queries, harm),
        )


def saved_json(path):
    """Return the content of a JSON file without what differs between versions."""
    found = json.loads(Path(path).read_text())
    return {
        key: value for key, value in found.items() if key not in ("format", "library", "checksum")
    }


def _curves(book, t):
    for data, measure in itertools.product(
        ("made", "robust", "clef"),
        ("ndcg_f@5", "ndcg_f", "f", "ap", "udcg@5", "any_forbidden@3", "dcg"),
    ):
        scores, y, groups, gains = lists(data)
        book.note(
            f"curve/{data}/{measure}",
            lambda: t.threshold_curve(y, scores, groups=groups, gains=gains, measure=measure),
            **attributes("best_threshold", "best_value"),
            table=lambda curve: curve.to_frame(),
        )
    scores, y, groups, _ = lists("made")
    weight = {query: 1.0 + i % 2 for i, query in enumerate(np.unique(groups))}
    book.note(
        "curve/weights", lambda: t.threshold_curve(y, scores, groups=groups, query_weight=weight)
    )
    book.note(
        "curve/undefined", lambda: t.threshold_curve(y, scores, groups=groups, undefined="drop")
    )
    book.note(
        "risk_coverage_curve/best_score",
        lambda: t.risk_coverage_curve(y, scores, groups=groups, measure="ndcg_f@5"),
    )

    for data in ("made", "robust"):
        scores, y, groups, gains = lists(data)
        book.note(
            f"score_comparability/{data}",
            lambda: t.score_comparability(y, scores, groups=groups, gains=gains),
        )


# --- certificates ---------------------------------------------------------------------------------


@functools.cache
def many_queries(n_queries=400, seed=2):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), 6)
    y = rng.choice([-1.0, 0.0, 1.0, 2.0], len(groups), p=[0.15, 0.35, 0.3, 0.2])
    scores = np.round(y + rng.normal(size=len(y)), 2)
    return scores, y, groups


RISKS = (
    {"any_forbidden": 0.2}, {"any_forbidden@3": 0.2}, {"forbidden@3": 0.1}, {"forbidden": 0.1},
    {"any_forbidden@2": 0.2, "false_reject_rate": 0.7}, {"false_reject_rate": 0.4},
    {"empty_list_rate": 0.3, "any_forbidden@3": 0.3}, {"any_forbidden@3": 0.001},
)  # fmt: skip


def of_certificate():
    return {
        "text": lambda fitted: str(fitted.certificate_),
        "table": lambda fitted: fitted.certificate_.to_frame(),
        "latex": lambda fitted: fitted.certificate_.to_latex(),
        **{
            name: functools.partial(_of_certificate, name)
            for name in ("threshold", "value", "lower", "upper", "n_queries", "n_units", "n_labels")
        },
    }


def _of_certificate(name, fitted):
    return getattr(fitted.certificate_, name)


@section
def certificates(book):
    from skfilterrank import thresholds as t

    rows = many_queries()
    scores, y, groups = rows
    clusters = groups // 4
    new = made_lists(30, 9)

    def fit(name, threshold, given=(scores, y, groups), harm=None, new=new, **more):
        book.note(
            name,
            lambda: call_with(threshold().fit, given[0], harm, given[1], groups=given[2], **more),
            **of_certificate(),
            **(of_threshold(new[0], new[1], new[2]) if harm is None else {}),
        )

    for risks, among, level, cap in itertools.product(
        RISKS, ("all", "answered"), (0.95, 0.8), (None, 2)
    ):
        name = f"{said(risks)}/{among}/{level}/max_shown={cap}"
        fit(
            name,
            lambda: t.CertifiedThreshold(risks, among=among, confidence_level=level, max_shown=cap),
        )
        if level == 0.8:
            fit(
                f"{name}/clusters",
                lambda: t.CertifiedThreshold(
                    risks, among=among, confidence_level=level, max_shown=cap
                ),
                clusters=clusters,
            )
    for measure in ("ndcg_f@3", "f", "udcg@5", "recall@3"):
        fit(f"measure={measure}", lambda: t.CertifiedThreshold(RISKS[1], measure=measure))
    few = (scores[:240], y[:240], groups[:240])
    for risks in RISKS[:4]:
        fit(f"few/{said(risks)}", lambda: t.CertifiedThreshold(risks), few)
    robust_scores, robust_y, robust_groups, gains = lists("robust")
    for risks in ({"any_forbidden@2": 0.9}, {"forbidden@5": 0.8}, {"false_reject_rate": 0.6}):
        fit(
            f"robust/{said(risks)}",
            lambda: t.CertifiedThreshold(risks, gains=gains, confidence_level=0.8),
            (robust_scores, robust_y, robust_groups),
            new=(robust_scores, robust_y, robust_groups),
        )
    made = made_lists(150, 4)
    for risks, among in itertools.product(RISKS, ("all", "answered")):
        fit(
            f"made/{said(risks)}/{among}",
            lambda: t.CertifiedThreshold(risks, among=among, confidence_level=0.8),
            made,
        )
    rng = np.random.default_rng(8)
    harm = np.round((y < 0) + rng.normal(size=len(y)), 2)
    for rule, risks, among in itertools.product(("ratio", "harm"), RISKS[:6], ("all", "answered")):
        fit(
            f"two scores/{rule}/{said(risks)}/{among}",
            lambda: t.CertifiedThreshold(risks, rule=rule, among=among),
            harm=harm,
        )
    fit("two scores/clusters", lambda: t.CertifiedThreshold(RISKS[1]), harm=harm, clusters=clusters)
    for risks, among, level in itertools.product(RISKS[:7], ("all", "answered"), (1.0, 2.0)):
        for what, more in (("", {}), ("/clusters", {"clusters": clusters})):
            book.note(
                f"risk_certificate/{said(risks)}/{among}/{level}{what}",
                lambda: t.risk_certificate(
                    y, scores, level, groups=groups, risks=risks, among=among, **more
                ),
                text=str,
                table=lambda found: found.to_frame(),
                markdown=lambda found: found.to_markdown(),
            )
    book.note(
        "risk_certificate/robust",
        lambda: t.risk_certificate(
            robust_y,
            robust_scores,
            9.0,
            groups=robust_groups,
            risks={"any_forbidden@2": 0.9},
            gains=gains,
        ),
    )
    book.message(
        "unknown risk", lambda: t.CertifiedThreshold({"nope": 0.1}).fit(scores, y, groups=groups)
    )
    book.message(
        "level", lambda: t.CertifiedThreshold({"any_forbidden": 2.0}).fit(scores, y, groups=groups)
    )
    _needed(book, t)


def _needed(book, t):
    for level, expected, confidence, power in itertools.product(
        (0.05, 0.1, 0.3), (0.0, 0.02, 0.04), (0.9, 0.95), (0.8, 0.95)
    ):
        for is_binary in (True, False):
            book.note(
                f"queries_needed/{level}/{expected}/{confidence}/{power}/{is_binary}",
                lambda: t.queries_needed(
                    level, expected, confidence_level=confidence, power=power, is_binary=is_binary
                ),
            )


# --- monitor --------------------------------------------------------------------------------------


@section
def monitor(book):
    from skfilterrank import thresholds as t

    scores, y, groups = many_queries(300, 6)
    bad = np.random.default_rng(1).permutation(y)
    certified = t.CertifiedThreshold({"any_forbidden@3": 0.3}).fit(scores, y, groups=groups)
    clustered = t.CertifiedThreshold({"any_forbidden@3": 0.3, "forbidden@3": 0.3}).fit(
        scores, y, groups=groups, clusters=groups // 3
    )
    made = {
        "any_forbidden": lambda: t.RiskMonitor(
            {"any_forbidden": 0.4}, queries_per_false_alarm=1000
        ),
        "answered": lambda: t.RiskMonitor(
            {"any_forbidden@3": 0.3}, queries_per_false_alarm=5000, among="answered"
        ),
        "three": lambda: t.RiskMonitor(
            {"forbidden@3": 0.2, "false_reject_rate": 0.6, "empty_list_rate": 0.5},
            queries_per_false_alarm=500,
            confidence_level=0.9,
        ),
        "certified": lambda: t.RiskMonitor(certified, queries_per_false_alarm=1000),
    }

    def stream(monitor, labels, size, clusters=None, **more):
        states = []
        for begin in range(0, len(labels), size):
            part = slice(begin, begin + size)
            given = more if clusters is None else {"clusters": clusters[part], **more}
            states.append(monitor.update(labels[part], scores[part], groups=groups[part], **given))
        return monitor, states

    kept = {
        "status": lambda pair: str(pair[1][-1]),
        "alarm": lambda pair: [bool(status.alarm) for status in pair[1]],
        "advice": lambda pair: pair[1][-1].advice,
        "rates": lambda pair: pair[1][-1].rates,
        "levels": lambda pair: pair[0].levels,
    }
    for name, make in made.items():
        for (what, labels), size in itertools.product((("good", y), ("bad", bad)), (60, 600)):
            book.note(f"{name}/{what}/{size}", lambda: stream(make(), labels, size), **kept)
            if name != "certified":
                book.note(
                    f"{name}/{what}/{size}/threshold",
                    lambda: stream(make(), labels, len(y), threshold=1.0),
                    **kept,
                )
    clusters = groups // 3
    for what, labels in (("good", y), ("bad", bad)):
        for name, make in (
            (
                "clusters",
                lambda: t.RiskMonitor({"any_forbidden@3": 0.3}, queries_per_false_alarm=300),
            ),
            ("certified clusters", lambda: t.RiskMonitor(clustered, queries_per_false_alarm=300)),
        ):
            book.note(
                f"{name}/{what}", lambda: stream(make(), labels, 180, clusters=clusters), **kept
            )

    def saved_and_loaded():
        first = made["certified"]()
        first.update(y[:600], scores[:600], groups=groups[:600])
        with temporary():
            first.save("state.json")
            second = t.RiskMonitor.load("state.json")
        return second, [second.update(bad[600:], scores[600:], groups=groups[600:])]

    book.note("saved and loaded", saved_and_loaded, **kept)

    def begun_anew():
        one = made["any_forbidden"]()
        one.update(bad, scores, groups=groups)
        one.reset()
        return one, [one.update(y, scores, groups=groups + 1000)]

    book.note("reset", begun_anew, **kept)

    def counted_twice():
        one = made["any_forbidden"]()
        one.update(y, scores, groups=groups)
        one.update(y, scores, groups=groups)

    book.message("counted twice", counted_twice)


# --- ranking --------------------------------------------------------------------------------------

LOSSES = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")
METHODS = {
    "adarank": {"n_estimators": 10},
    "listnet": {"n_estimators": 10},
    "rankboost": {"n_estimators": 15},
    "random_forest": {"n_estimators": 10},
    "ranknet": {"n_estimators": 10},
    "coordinate_ascent": {"max_iter": 2},
    "logistic": {},
    "lambdamart": {"n_estimators": 10},
}


def of_model(X, y, groups):
    def ask(method, *more):
        return lambda model: getattr(model, method)(X, *more, groups=groups)

    return {
        "predicted": ask("predict"),
        "score": lambda model: model.score(X, y, groups=groups),
    }


def of_ranker_and_filter(X, y, groups):
    return (
        of_model(X, y, groups)
        | FITTED
        | {
            "decision": lambda model: model.decision_function(X, groups=groups),
            "rank": lambda model: model.rank(X, groups=groups),
            "curve": lambda model: getattr(model, "threshold_curve_", None),
            "cv_results_": lambda model: without_times(model.cv_results_),
            "certificate": lambda model: getattr(model.filter_, "certificate_", None),
        }
    )


@section
def ranking(book):
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from skfilterrank import metrics, thresholds
    from skfilterrank import ranking as r

    X, y, groups = letor("mq2007", "S1", 45)
    new_X, new_y, new_groups = letor("mq2007", "S5", 25)
    new = new_X, new_y, new_groups
    for name in LOSSES:
        for learner in (None, "trees"):
            more = {"n_estimators": 10} if learner == "trees" or "lambda" in name else {}
            chosen = {} if learner is None or "lambda" in name else {"learner": learner}
            if "lambda" in name and learner:
                continue
            book.note(
                f"make_ranker/{name}/{learner}",
                lambda: r.make_ranker(name, gains=BAD, random_state=0, **chosen, **more).fit(
                    X, y, groups=groups
                ),
                **of_model(*new),
            )
            book.note(
                f"RankAndFilter/{name}/{learner}",
                lambda: r.RankAndFilter(
                    r.make_ranker(name, random_state=0, **chosen, **more),
                    measure="ndcg_f@5",
                    gains=BAD,
                    cv=3,
                ).fit(X, y, groups=groups),
                **of_ranker_and_filter(*new),
            )
    for name, params in METHODS.items():
        book.note(
            f"method/{name}",
            lambda: r.make_ranker(name, random_state=0, **params).fit(X, y, groups=groups),
            **of_model(*new),
        )
        book.note(
            f"RankAndFilter/method/{name}",
            lambda: r.RankAndFilter(
                r.make_ranker(name, random_state=0, **params), measure="ndcg_f@5", gains=BAD, cv=2
            ).fit(X, y, groups=groups),
            **of_ranker_and_filter(*new),
        )
    _rankers(book, r, (X, y, groups), new)
    t = thresholds
    made = {
        "tune": "tune",
        "none": None,
        "0.5": 0.5,
        "first k": t.FirstK("ndcg_f@5"),
        "tuned": t.TunedThreshold("ndcg_f@5", max_shown=5),
        "expected": t.ExpectedThreshold("ndcg_f@5"),
        "per query": t.PerQueryThreshold("ndcg_f@5"),
        "learned": t.LearnedThreshold("ndcg_f@5", cv=3, random_state=0),
        "certified": t.CertifiedThreshold({"any_forbidden@2": 0.9}, confidence_level=0.8),
    }
    for name, threshold in made.items():
        for kind, estimator in (("ridge", Ridge()), ("logistic", LogisticRegression(C=0.1))):
            book.note(
                f"RankAndFilter/threshold={name}/{kind}",
                lambda: r.RankAndFilter(
                    estimator, threshold, measure="ndcg_f@5", gains=BAD, cv=3
                ).fit(X, y, groups=groups),
                **of_ranker_and_filter(*new),
            )
    for options in (
        {"cv": 0.5}, {"cv": GroupKFold(4)}, {"cv": None}, {"refit": True},
        {"measure": "ap"}, {"measure": "udcg@5"}, {"measure": "ndcg_f"}, {"gains": None},
        {"target": "gain"}, {"target": "label"}, {"n_jobs": 2},
    ):  # fmt: skip
        book.note(
            f"RankAndFilter/{said(options)}",
            lambda: r.RankAndFilter(
                Ridge(), **{"measure": "ndcg_f@5", "gains": BAD, "cv": 3, **options}
            ).fit(X, y, groups=groups),
            **of_ranker_and_filter(*new),
        )
    weights = 1.0 + (groups.astype(int) % 3)
    book.note(
        "RankAndFilter/query_weight",
        lambda: r.RankAndFilter(Ridge(), measure="ndcg_f@5", gains=BAD, cv=3).fit(
            X, y, groups=groups, query_weight=weights
        ),
        **of_ranker_and_filter(*new),
    )
    unjudged = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    frame = pd.DataFrame(
        X[:, :20], columns=[f"f{i}" for i in range(20)], index=pd.Index(groups, name="qid")
    )
    new_frame = pd.DataFrame(
        new_X[:, :20], columns=frame.columns, index=pd.Index(new_groups, name="qid")
    )
    book.note(
        "RankAndFilter/frame with unjudged",
        lambda: r.RankAndFilter(
            make_pipeline(StandardScaler(), Ridge()), measure="ndcg_f@5", gains=BAD, cv=3
        ).fit(frame, unjudged),
        predicted=lambda model: model.predict(new_frame),
        rank=lambda model: model.rank(new_frame),
        **FITTED,
    )
    harmful = LogisticRegression(C=0.1)
    cuts = {
        "str": lambda: "tune",
        "TunedThreshold": lambda: t.TunedThreshold(rule="harm"),
        "CertifiedThreshold": lambda: t.CertifiedThreshold(
            {"any_forbidden@2": 0.95}, confidence_level=0.7
        ),
    }
    for name, make in cuts.items():
        book.note(
            f"RankAndFilter/filter_estimator/{name}",
            lambda: r.RankAndFilter(
                Ridge(), make(), filter_estimator=harmful, measure="ndcg_f@5", gains=BAD, cv=3
            ).fit(X, y, groups=groups),
            **of_ranker_and_filter(*new),
        )
    two_labels = np.column_stack([y, (X[:, 10] > np.median(X[:, 10])).astype(float)])
    book.note(
        "RankAndFilter/two labels",
        lambda: r.RankAndFilter(Ridge(), filter_estimator=harmful, measure="ndcg_f@5", cv=3).fit(
            X, two_labels, groups=groups
        ),
        predicted=lambda model: model.predict(new_X, groups=new_groups),
        **FITTED,
    )
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    book.note(
        "GridSearchCV",
        lambda: GridSearchCV(
            r.RankAndFilter(Ridge(), measure="ndcg_f@5", gains=BAD, cv=3),
            {"estimator__alpha": [0.1, 100.0], "threshold": ["tune", t.FirstK()]},
            scoring=metrics.make_ranking_scorer("ndcg_f@5", gains=BAD),
            cv=GroupKFold(3),
        ).fit(X, labels, groups=groups),
        best=lambda search: str(search.best_params_["estimator__alpha"]),
        scores=lambda search: search.cv_results_["mean_test_score"],
        predicted=lambda search: search.best_estimator_.predict(new_X, groups=new_groups),
    )
    book.message("no groups", lambda: r.RankAndFilter(Ridge()).fit(X, y))
    _differences(book, r, (X, y, groups), new)


def _rankers(book, r, rows, new):
    from lightgbm import LGBMRanker
    from sklearn.linear_model import LogisticRegression, Ridge

    X, y, groups = rows
    new_X, _, new_groups = new
    trees = {"n_estimators": 12, "n_jobs": 1}
    ascent = {"measure": "ndcg_f@5", "gains": BAD, "max_iter": 2, "random_state": 0}
    lightgbm = LGBMRanker(verbose=-1, min_child_samples=5, random_state=0, **trees)
    stopping = {"early_stopping_rounds": 2, "validation_fraction": 0.3, "measure": "ndcg_f@5"}
    made = {
        "LambdaRankRanker": lambda: r.LambdaRankRanker(gains=BAD, random_state=0, **trees),
        "LambdaRankRanker/k=5": lambda: r.LambdaRankRanker(gains=BAD, k=5, **trees, random_state=0),
        "LambdaRankRanker/stopping": lambda: r.LambdaRankRanker(
            gains=BAD, n_estimators=40, n_jobs=1, random_state=0, **stopping
        ),
        "OrdinalRanker": lambda: r.OrdinalRanker(gains=BAD),
        "OrdinalRanker/gain": lambda: r.OrdinalRanker(gains=BAD, weights="gain"),
        "CoordinateAscentRanker": lambda: r.CoordinateAscentRanker(**ascent),
        "CoordinateAscentRanker/filter": lambda: r.CoordinateAscentRanker(filter=True, **ascent),
        "RankBoostRanker": lambda: r.RankBoostRanker(gains=BAD, n_estimators=15),
        "AdaRankRanker": lambda: r.AdaRankRanker(measure="ndcg_f@5", gains=BAD, n_estimators=10),
        "AdaRankRanker/both": lambda: r.AdaRankRanker(
            measure="ap", n_estimators=10, both_directions=True
        ),
        "QueryRanker": lambda: r.QueryRanker(lightgbm, gains=BAD),
        "CalibratedRanker": lambda: r.CalibratedRanker(Ridge(), gains=BAD, cv=3),
        "CalibratedRanker/sigmoid": lambda: r.CalibratedRanker(
            Ridge(), method="sigmoid", gains=BAD, cv=3
        ),
        "FilterOnly": lambda: r.FilterOnly(
            r.RankAndFilter(Ridge(), gains=BAD, cv=3), random_state=0
        ),
        "RankFusion": lambda: r.RankFusion("combsum"),
        "RankFusion/rrf": lambda: r.RankFusion("rrf"),
    }
    more = {
        "CalibratedRanker": ("probabilities", "predict_proba"),
        "OrdinalRanker": ("levels", "predict_level_proba"),
    }
    for name, make in made.items():
        model = book.note(
            f"ranker/{name}", lambda: make().fit(X, y, groups=groups), **of_model(*new)
        )
        if name in more:
            part, method = more[name]
            book.note(
                f"ranker/{name}/{part}", lambda: getattr(model, method)(new_X, groups=new_groups)
            )
    for method in ("standardize", "min_max", "rank"):
        book.note(
            f"QueryScaler/{method}",
            lambda: r.QueryScaler(method).fit(X).transform(new_X, groups=new_groups),
        )
    book.note(
        "list_embedding_features",
        lambda: r.list_embedding_features(new_X[:, ::-1], new_X, new_groups),
    )
    _metrics_of_trees(book, r, rows, new)

    def splits():
        times = np.unique(groups, return_inverse=True)[1]
        index = pd.MultiIndex.from_arrays([groups, times], names=["qid", "time"])
        frame = pd.DataFrame(X, index=index)
        return list(r.QueryTimeSeriesSplit(4).split(frame, y, groups))

    book.note("QueryTimeSeriesSplit", splits)
    book.note(
        "LogisticRegression", lambda: LogisticRegression().fit(X, y > 0).decision_function(new_X)
    )


def _metrics_of_trees(book, r, rows, new):
    """Rounds and scores of rankers of other libraries that stop by a measure."""
    X, y, groups = rows
    new_X, new_y, new_groups = new
    few = {"n_estimators": 15, "early_stopping_rounds": 3}

    def stopped(ranker):
        with temporary():
            fitted = r.QueryRanker(ranker, measure="ndcg_f@5", gains=BAD).fit(
                X, y, groups=groups, eval_set=[(new_X, new_y)], eval_groups=[new_groups]
            )
            return fitted.predict(new_X)

    def lightgbm():
        from lightgbm import LGBMRanker

        return stopped(LGBMRanker(**few, n_jobs=1, verbose=-1, random_state=0))

    def xgboost():
        from xgboost import XGBRanker

        return stopped(XGBRanker(**few, n_jobs=1, random_state=0))

    def catboost():
        from catboost import CatBoostRanker

        quiet = {"verbose": False, "allow_writing_files": False}
        return stopped(CatBoostRanker(**few, **quiet, thread_count=1, random_seed=0))

    book.note("stops by a measure/lightgbm", lightgbm)
    book.note("stops by a measure/xgboost", xgboost)
    book.note("stops by a measure/catboost", catboost)


def _differences(book, r, rows, new):
    from lightgbm import LGBMRegressor
    from sklearn.linear_model import LogisticRegression, Ridge

    X, y, groups = rows
    new_X, _, new_groups = new
    frame, new_frame = (pd.DataFrame(each).add_prefix("f") for each in (X, new_X))
    made = {
        "ridge": Ridge().fit(frame, y),
        "logistic": LogisticRegression(C=0.1).fit(frame, y > 0),
        "trees": LGBMRegressor(n_estimators=8, n_jobs=1, verbose=-1).fit(frame, y),
        "rankboost": r.RankBoostRanker(n_estimators=10).fit(frame, y, groups=groups),
    }
    parts = attributes(
        "features", "values", "other_values", "contributions", "baseline", "difference", "scale"
    )
    for name, model in made.items():
        book.note(
            f"score_difference/{name}",
            lambda: r.score_difference(model, new_frame, 0, 3, groups=new_groups),
            text=str,
            table=lambda found: found.to_frame(),
            **parts,
        )
    for name, estimator in (("ridge", Ridge()), ("logistic", LogisticRegression(C=0.1))):
        book.note(
            f"score_difference/RankAndFilter/{name}",
            lambda: r.score_difference(
                r.RankAndFilter(estimator, measure="ndcg_f@5", gains=BAD, cv=3).fit(
                    frame, y, groups=groups
                ),
                new_frame,
                2,
                groups=new_groups,
            ),
            text=str,
            **parts,
        )


# --- fusion and texts -----------------------------------------------------------------------------


@section
def fusion(book):
    from skfilterrank import ranking as r

    _, runs = covid()
    scores, _, groups = made_lists()
    rng = np.random.default_rng(0)
    others = {
        name: np.where(
            rng.random(len(scores)) < 0.2, -np.inf, rng.permutation(np.nan_to_num(scores, neginf=0))
        )
        for name in "bc"
    }
    systems = {"a": scores, **others}
    for method in FUSIONS:
        book.note(f"runs/{method}", lambda: r.fuse_runs(runs, method).reset_index(drop=True))
        book.note(f"runs/{method}/depth", lambda: r.fuse_runs(runs, method, depth=10))
        book.note(f"scores/{method}", lambda: r.fuse_runs(systems, method, groups=groups))
        book.note(
            f"scores/{method}/weights",
            lambda: r.fuse_runs(
                systems, method, groups=groups, weights={"a": 1.0, "b": 2.0, "c": 0.5}
            ),
        )
    for normalize in ("minmax", None):
        book.note(
            f"combsum/{normalize}",
            lambda: r.fuse_runs(systems, "combsum", groups=groups, normalize=normalize),
        )
    book.note("rrf/k", lambda: r.fuse_runs(systems, "rrf", groups=groups, rrf_k=10))


@section
def texts(book):
    from sklearn.linear_model import LogisticRegression, Ridge

    from skfilterrank import ranking as r

    table = answers()
    given = {
        "document": "comment",
        "query_text": ["question_subject", "question_body"],
        "same": [("user", "question_user")],
        "numeric": ["position"],
        "categorical": ["question_category"],
        "query": "qid",
        "order": "position",
    }
    y = table["label"].map(WORDS).to_numpy(float)
    groups = table["qid"].to_numpy()
    for output in ("sparse", "dense"):
        for what, options in (
            ("all", given),
            ("text", {"document": "comment"}),
            ("two", {"document": "comment", "query_text": ["question_body"], "query": "qid"}),
        ):
            features = r.make_text_features(
                **options, output=output, n_components=10, random_state=0
            )
            book.note(
                f"features/{what}/{output}",
                lambda: features.fit(table),
                names=lambda made: list(made.get_feature_names_out()),
                matrix=lambda made: made.transform(table),
            )
    features = r.make_text_features(**given)
    for name, learner in (("bce", None), ("mse", "trees"), ("ordinal", None)):
        more = {"learner": learner, "n_estimators": 10} if learner else {}
        book.note(
            f"RankAndFilter/{name}",
            lambda: r.RankAndFilter(
                r.make_ranker(name, features=features, random_state=0, **more),
                measure="ndcg_f@3",
                cv=3,
            ).fit(table, y, groups=groups),
            **of_ranker_and_filter(table, y, groups),
        )
    from sklearn.pipeline import make_pipeline

    fitted = make_pipeline(features, Ridge()).fit(table, y)
    book.note("score_difference", lambda: r.score_difference(fitted, table, 0, 1), text=str)
    book.note(
        "pipeline",
        lambda: (
            make_pipeline(features, LogisticRegression()).fit(table, y).decision_function(table)
        ),
    )


# --- judgments ------------------------------------------------------------------------------------


@section
def judgments(book):
    from skfilterrank import judgments as j

    qrels, runs = covid(5, 40)
    queries = sorted(qrels["qid"].unique(), key=int)[:12]
    qrels = qrels[qrels["qid"].isin(queries)].reset_index(drop=True)
    runs = {
        name: run[run["qid"].isin(queries)].reset_index(drop=True) for name, run in runs.items()
    }
    _selectors(book, j, qrels, runs)
    _labels(book, j)
    _samples(book, j, qrels, runs)
    _without_judgments(book, j, runs)
    rng = np.random.default_rng(0)
    noisy = qrels.assign(label=np.clip(qrels["label"] + rng.integers(-1, 2, len(qrels)), 0, 2))
    book.note(
        "assessor_agreement/ordinal", lambda: j.assessor_agreement({"anna": qrels, "bob": noisy})
    )


def _selectors(book, j, qrels, runs):
    ranks = j.rank_table(runs)
    book.note("rank_table", lambda: ranks)
    book.note("rank_table/depth", lambda: j.rank_table(runs, depth=10))
    labels = qrels.set_index(["qid", "docno"])["label"].reindex(ranks.index).fillna(0).to_numpy()
    made = {
        "PoolingSelector": j.PoolingSelector(),
        "PoolingSelector/depth": j.PoolingSelector(depth=5),
        "MoveToFrontSelector": j.MoveToFrontSelector(),
        "MTCSelector": j.MTCSelector(),
        "StatAPSelector": j.StatAPSelector(random_state=0),
        "StatAPSelector/pooled": j.StatAPSelector(pooled=0.2, random_state=0),
        "StatAPSelector/approximate": j.StatAPSelector(form="approximate", random_state=0),
        "RandomSelector": j.RandomSelector(random_state=0),
        "PriorSelector": j.PriorSelector(),
    }
    for name, selector in made.items():
        prior = {"prior": j.StatAPSelector().fit(runs).prior_} if name == "PriorSelector" else {}
        fitted = book.note(
            f"{name}",
            lambda: selector.fit(ranks, **prior),
            five=lambda one: one.select(n_per_query=5),
            total=lambda one: one.select(n_total=77),
            share=lambda one: one.select(share=0.1),
            ranking=lambda one: one.ranking_,
            gains=lambda one: one.gains_,
        )
        if hasattr(fitted, "simulate"):
            book.note(
                f"{name}/simulated",
                lambda: fitted.simulate(labels, n_per_query=30),
                ranking=lambda one: one.ranking_,
                selected=lambda one: one.select(n_per_query=20),
            )
            book.note(
                f"{name}/updated",
                lambda: selector.fit(ranks).update([3, 40, 90], [1, 0, 2]).next_rows(4),
            )
        if hasattr(fitted, "inclusion_probability"):
            book.note(f"{name}/probability", lambda: fitted.inclusion_probability(n_per_query=8))
    table = texts_of("cranfield", 12)
    for threshold in (0.1, 0.2, 0.5, 0.8):
        book.note(
            f"MaxRepSelector/{threshold}",
            lambda: j.MaxRepSelector(threshold).fit(table["text"], groups=table["qid"]),
            five=lambda one: one.select(n_per_query=5),
            total=lambda one: one.select(n_total=40),
            ranking=lambda one: one.ranking_,
            gains=lambda one: one.gains_,
        )
    prior = np.random.default_rng(0).uniform(size=len(table))
    book.note(
        "MaxRepSelector/prior",
        lambda: j.MaxRepSelector(0.3).fit(table["text"], groups=table["qid"], prior=prior),
        ranking=lambda one: one.ranking_,
    )
    judged = np.where(np.arange(len(table)) % 9, np.arange(len(table)) % 4 == 1, np.nan)
    book.note(
        "FeedbackSelector",
        lambda: j.FeedbackSelector().fit(table["text"], judged, groups=table["qid"], prior=prior),
        next=lambda one: one.select(),
        ranking=lambda one: one.ranking_,
        progress=lambda one: one.progress_,
    )


def _labels(book, j):
    from sklearn.linear_model import LogisticRegression

    table = texts_of("cranfield", 15)
    three = table.assign(
        label=table["label"] + ((np.arange(len(table)) % 4 == 0) & (table["label"] > 0))
    )
    y, groups = table["label"].to_numpy(), table["qid"].to_numpy()
    made = {"default": {}, "logistic": {"estimator": LogisticRegression()}}
    made |= {"pairs": {"model": "pairs"}}
    for name, options in made.items():
        book.note(
            f"LabelPredictor/{name}/arrays",
            lambda: j.LabelPredictor(**options).fit(table["text"], y, groups=groups),
            predicted=lambda one: one.predict(table["text"], groups=groups),
            chances=lambda one: one.predict_proba(table["text"], groups=groups),
            sample=lambda one: one.sample(2, random_state=0),
        )
        for what, rows in (("two", table), ("three", three)):
            book.note(
                f"LabelPredictor/{name}/{what}",
                lambda: j.LabelPredictor(**options).fit_transform(
                    rows["text"], rows["label"], groups=groups
                ),
            )
    for budget in ({"n_per_query": 3}, {"n_total": 20}, {"share": 0.2}):
        book.note(
            f"LabelPredictor/select/{said(budget)}",
            lambda: j.LabelPredictor().select(table["text"], y, groups=groups, **budget),
        )
    documents = dict(zip(table["docno"], table["text"]))
    judged = table.dropna(subset="label")[["qid", "docno", "label"]].reset_index(drop=True)
    rng = np.random.default_rng(1)
    runs = {
        name: table.assign(score=rng.random(len(table)))[["qid", "docno", "score"]]
        for name in ("first", "second")
    }
    parts = {
        "qrels": lambda found: found.to_frame(),
        **attributes("columns", "n_drawn", "n_not_returned", "n_without_text", "unknown_queries"),
    }
    topics = dict.fromkeys(judged["qid"], "good words")
    machine = {"machine_qrels": {"large": judged.assign(label=judged["label"].clip(0, 1))}}
    for name, given, options in (
        ("runs", (), {}),
        ("texts", (documents, topics), {}),
        ("machine", (documents,), machine),
    ):
        book.note(
            f"complete_qrels/{name}",
            lambda: j.complete_qrels(judged, runs, *given, random_state=0, **options),
            **parts,
        )


def _samples(book, j, qrels, runs):
    rng = np.random.default_rng(2)
    machine = qrels.assign(label=np.clip(qrels["label"] + rng.integers(-1, 2, len(qrels)), 0, 2))
    truth = qrels.set_index(["qid", "docno"])["label"]

    def filled(sample):
        index = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
        return sample.assign(label=truth.reindex(index).fillna(0).to_numpy())

    sets = {"sums": ["dcg@10", "precision@10", "rbp"], "ratios": ["ndcg@10", "ap"]}
    for aim, source, (what, few) in itertools.product(
        ("differences", "values", "uniform"), ("machine", "pool"), sets.items()
    ):
        given = {"machine_qrels": machine if source == "machine" else None, "pool": qrels}
        for total in (0.2, 0.4) if what == "sums" else (0.3,):
            name = f"{aim}/{source}/{what}/{total}"
            sample = book.note(
                f"draw_sample/{name}",
                lambda: j.draw_sample(
                    runs=runs, measures=few, aim=aim, random_state=0, share=total, **given
                ),
                table=lambda found: found,
            )
            book.note(
                f"estimate/{name}/these queries",
                lambda: j.estimate(filled(sample), runs, few, **given),
                text=str,
                table=lambda found: found.to_frame(),
            )
    book.note(
        "draw_sample/query",
        lambda: j.draw_sample(
            machine, runs, ["ndcg_f@10", "ap"], n_total=8, unit="query", random_state=0
        ),
        table=lambda found: found,
    )
    judged = qrels.groupby("qid").head(6)
    book.note(
        "draw_sample/judged",
        lambda: j.draw_sample(
            machine, runs, sets["sums"], n_total=250, judged=judged, random_state=0
        ),
        table=lambda found: found,
    )


def _without_judgments(book, j, runs):
    for method in ("nruns", "sakai", "condorcet", "bias+condorcet", "soboroff"):
        for options in ({}, {"depth": 10}, {"share": 0.2}, {"n_relevant": 5}, {"ties": "random"}):
            more = {"n_trials": 3, "random_state": 0, **options}
            book.note(
                f"pseudo_qrels/{method}/{said(options)}",
                lambda: j.pseudo_qrels(runs, method, **more),
            )
            book.note(
                f"rank_systems/{method}/{said(options)}",
                lambda: j.rank_systems(runs, method, **more),
            )
    for method in ("aslam", "spoerri"):
        for depth in (10, 30):
            book.note(
                f"rank_systems/{method}/{depth}",
                lambda: j.rank_systems(runs, method, depth=depth, random_state=0),
            )
    teams = {name: f"team{i // 2}" for i, name in enumerate(runs)}
    book.note(
        "rank_systems/teams", lambda: j.rank_systems(runs, teams=teams, measure=["ap", "ndcg@10"])
    )


# --- comparison and metaevaluation ----------------------------------------------------------------


@functools.cache
def system_scores():
    from skfilterrank import comparison

    qrels, runs = covid(8, 50)
    return comparison.score_systems(
        qrels, runs, ["ap", "ndcg_f@10", "precision@10", "lexirecall(scale=preference)"]
    )


@section
def comparison(book):
    from skfilterrank import comparison as c

    qrels, runs = covid(8, 50)
    found = book.note(
        "score_systems",
        lambda: c.score_systems(qrels, runs, ["ap", "ndcg_f@10", "precision@10"]),
    )
    book.note("scores", lambda: {name: each.to_frame() for name, each in found.items()})
    ap = found["ap"] if found is not None else None
    book.note("preferences", lambda: system_scores()["lexirecall(scale=preference)"].to_frame())
    book.note("means", lambda: ap.means)
    book.note("percentage_differences", lambda: ap.percentage_differences())
    book.note("fraction_tied", lambda: [each.fraction_tied() for each in system_scores().values()])
    book.note("select", lambda: ap.select(systems=list(runs)[:3]).to_frame())
    for text in (str, lambda scores: scores.to_latex(), lambda scores: scores.to_markdown()):
        book.note(f"text {getattr(text, '__name__', '')} {len(book.results)}", lambda: text(ap))
    few = {"n_resamples": 300, "random_state": 0}
    kept = attributes(
        "difference",
        "effect_size",
        "low",
        "high",
        "p_value",
        "p_adjusted",
        "n_tied",
        "smallest_p",
        "notes",
    ) | {
        "text": str,
        "table": lambda made: made.to_frame(),
        "markdown": lambda made: made.to_markdown(),
        "pairs": lambda made: made.pairs(),
        "systems": lambda made: made.systems(),
        "matrix": lambda made: made.matrix(),
    }
    baseline = next(iter(runs))
    for test in TESTS:
        for correction in ("holm", "bonferroni", "fdr_bh", None):
            book.note(
                f"compare/{test}/{correction}",
                lambda: c.compare_systems(ap, test=test, correction=correction, **few),
                **kept,
            )
        for options in (
            {"baseline": baseline},
            {"alpha": 0.2},
        ):
            book.note(
                f"compare/{test}/{said(options)}",
                lambda: c.compare_systems(ap, test=test, **few, **options),
                **kept,
            )
    preferences = system_scores()["lexirecall(scale=preference)"]
    book.note("compare/preferences", lambda: c.compare_systems(preferences, **few), **kept)
    for format in ("latex", "markdown"):
        book.note(
            f"comparison_table/{format}",
            lambda: c.comparison_table(
                {name: c.compare_systems(found[name], baseline=baseline) for name in found},
                format=format,
            ),
        )
    for scores, name in ((ap, "ap"), (preferences, "preferences")):
        book.note(
            f"order_systems/win_rate/{name}",
            lambda: c.order_systems(scores, n_resamples=100, random_state=0),
        )
    first, second = dict(ap.means), dict(found["precision@10"].means)
    order = sorted(second, key=second.get, reverse=True)
    for name in ("swap_rate", "kendall_tau"):
        book.note(name, lambda: getattr(c, name)(first, second))
        book.note(f"{name} of an order", lambda: getattr(c, name)(first, order))
    for symmetric in (False, True):
        book.note(f"tau_ap/{symmetric}", lambda: c.tau_ap(first, order, symmetric=symmetric))
    scores, y, groups = made_lists()
    other = np.random.default_rng(1).permutation(scores)
    book.note(
        "score_predictions",
        lambda: {
            name: each.to_frame()
            for name, each in c.score_predictions(
                y, {"a": scores, "b": other}, ["ap", "ndcg_f@3"], groups=groups
            ).items()
        },
    )
    book.note(
        "SystemScores",
        lambda: c.SystemScores([[0.1, 0.2, 0.3], [0.4, 0.1, 0.2]], systems=["a", "b"]).to_frame(),
    )

    def read():
        with temporary():
            frame = ap.to_frame()
            frame.to_csv("scores.csv")
            return c.SystemScores.of(ap).to_frame(), c.SystemScores.of(frame).to_frame()

    book.note("SystemScores.of", read)
    book.message("one system", lambda: c.compare_systems([[0.1, 0.2]]))


@section
def metaevaluation(book):
    from skfilterrank import metaevaluation as m

    found = system_scores()
    ap, ndcg, preferences = found["ap"], found["ndcg_f@10"], found["lexirecall(scale=preference)"]
    for name, scores in (("ap", ap), ("ndcg_f@10", ndcg), ("preferences", preferences)):
        book.note(
            f"stability/{name}", lambda: m.stability_curve(scores, n_resamples=20, random_state=0)
        )
        book.note(
            f"stability/{name}/relative",
            lambda: m.stability_curve(scores, n_resamples=20, relative=True, random_state=0),
        )
        for method in ("paper", "sakai"):
            book.note(
                f"sensitivity/{name}/{method}",
                lambda: m.sensitivity_curve(scores, n_resamples=100, method=method, random_state=0),
            )
        book.note(
            f"discriminative_power/{name}",
            lambda: m.discriminative_power(scores, n_resamples=100, random_state=0),
        )
        book.note(
            f"reliability/{name}",
            lambda: m.reliability(scores, n_queries=50, n_resamples=50, random_state=0),
        )
    for first, second, name in ((ap, ndcg, "ap ndcg_f"), (ap, preferences, "ap preferences")):
        book.note(f"agreement/{name}", lambda: m.agreement(first, second))
        book.note(f"agreement/{name}/tolerance", lambda: m.agreement(first, second, tolerance=0.01))
        book.note(
            f"conflicts/{name}", lambda: m.conflicts(first, second, n_resamples=100, random_state=0)
        )
    qrels, runs = covid(5, 30)
    queries = sorted(qrels["qid"].unique(), key=int)[:6]
    qrels = qrels[qrels["qid"].isin(queries)].reset_index(drop=True)
    runs = {
        name: run[run["qid"].isin(queries)].reset_index(drop=True) for name, run in runs.items()
    }
    curve = attributes("n_labels", "truth", "means", "tau", "rmse") | {
        "text": str,
        "table": lambda made: made.to_frame(),
    }
    few = {"n_samples": 2, "random_state": 0}
    selections = ["pooling", "random", "mtf", "mtc", "statap", "prior", "oracle"]
    book.note(
        "judging_curve",
        lambda: m.judging_curve(
            qrels, runs, "ap", selections=selections, shares=[0.1, 0.3],
            mitigations=["none", "condensed", "infap", "bpref", "induced_ap", "stat_ap"], **few,
        ),
        **curve,
        needed=lambda made: made.share_needed(),
    )  # fmt: skip
    book.note(
        "judging_curve/ndcg",
        lambda: m.judging_curve(qrels, runs, "ndcg@10", shares=[0.2], **few),
        **curve,
    )
    teams = {name: f"team{i // 2}" for i, name in enumerate(runs)}
    book.note(
        "leave_teams_out",
        lambda: m.leave_teams_out(
            qrels,
            runs,
            teams=teams,
            shares=[0.2, 1.0],
            selections=["pooling", "mtf"],
            random_state=0,
        ),
        **attributes("truth", "bias", "other_bias", "rank_change"),
        summary=lambda made: made.summary(),
    )
    for sampling in ("uniform", "frequency"):
        book.note(
            f"label_degradation/{sampling}",
            lambda: m.label_degradation(
                qrels, runs, ["ap", "lexirecall(scale=preference)", "ndcg@10"], shares=(0.3, 0.7),
                sampling=sampling, n_samples=2, random_state=0, missing="drop",
            ),
            **attributes("fraction_tied", "agreement", "kept", "n_removed"),
        )  # fmt: skip
    for measure, k in (("lexirecall", None), ("tse", None), ("r_precision", None), ("recall", 3)):
        for n_relevant in (1, 4):
            book.note(
                f"tie_probability/{measure}/{n_relevant}",
                lambda: m.tie_probability(measure, 20, n_relevant, k=k),
            )
    positions = [[1, 4, 6], [2, 3, 30]]
    for measure in ("ap", "rr", "recall@5", "ndcg", "rbp", "tse", "r_precision", "dcg", "ndcg@10"):
        for kind in ("recall", "precision"):
            book.note(
                f"metric_orientation/{measure}/{kind}",
                lambda: m.metric_orientation(measure, 30, [1, 3, 8], kind=kind),
            )
        book.note(
            f"recall_level_metric/{measure}", lambda: m.recall_level_metric(positions, measure)
        )
        ways = {"auto": measure, "enumerate": lambda some: m.recall_level_metric(some, measure)}
        for order, (method, way) in itertools.product(("fixed", "random"), ways.items()):
            book.note(
                f"worst_case_searcher/{measure}/{order}/{method}",
                lambda: m.worst_case_searcher(positions, way, order=order),
            )


# --- files ----------------------------------------------------------------------------------------


@section
def files(book):
    from skfilterrank import io as library

    folder = DATA
    small = folder / "trec-covid-round1" / "qrels.txt.gz"
    # The frames of readers are the values; what else they hold is of no account.
    frame = pd.DataFrame
    book.note("read_qrels", lambda: library.read_qrels(small), table=frame)
    for label in (None, "trec", -2):
        book.note(
            f"read_qrels/{label}",
            lambda: library.read_qrels(
                folder / "trec-web-qrels" / "web2014.qrels.txt.gz", unjudged_label=label
            ),
            table=frame,
        )
    book.note(
        "read_run",
        lambda: library.read_run(folder / "clef-health-2021" / "bm25.run.gz"),
        table=frame,
    )
    book.note(
        "read_runs",
        lambda: library.read_runs(
            [folder / "trec-covid-round1" / "runs" / f"{name}.txt.gz" for name in COVID[:2]]
        ),
    )
    book.note(
        "read_prels", lambda: library.read_qrels(folder / "mq2007" / "prels.txt.gz"), table=frame
    )
    for name, part in (("ohsumed-letor", "S1"), ("mq2007", "S5")):
        book.note(
            f"read_letor/{name}",
            lambda: library.read_letor(folder / name / f"{part}.txt.gz", sparse=False),
            **attributes("X", "y", "groups", "docnos"),
        )
    qrels, runs = covid(2, 20)
    run = runs[COVID[0]]
    X, y, groups = letor("mq2007", "S1", 3)
    for ending in ("txt", "txt.gz", "csv", "tsv", "jsonl"):
        with temporary():
            for name, write, read, table in (
                ("qrels", library.write_qrels, library.read_qrels, qrels),
                ("run", library.write_run, library.read_run, run),
                (
                    "prels",
                    library.write_qrels,
                    library.read_qrels,
                    qrels.assign(inclusion_probability=0.5),
                ),
            ):
                path = f"{name}.{ending}"
                book.note(
                    f"write_{name}/{ending}",
                    lambda: write(path, table),
                    file=lambda _: content(path),
                )
                book.note(f"read_{name} again/{ending}", lambda: read(path), table=frame)
                table.to_csv("given.csv", index=False)
                book.note(
                    f"read_{name} of a table/{ending}", lambda: read("given.csv"), table=frame
                )
    with temporary():
        book.note(
            "write_letor",
            lambda: library.write_letor("x.txt", X, y, groups),
            file=lambda _: content("x.txt"),
            again=lambda _: library.read_letor("x.txt").X,
        )
    for options in (
        *({}, {"missing": "drop"}, {"missing": "empty"}, {"precision": "single"}),
        *({"ties": "average"}, {"ties": "stable"}),
    ):
        book.note(
            f"align/{said(options)}",
            lambda: library.QrelsIndex(qrels, unjudged_label=None).align(run, **options),
            **attributes("y_true", "y_score", "groups", "docnos"),
        )
    book.note("QrelsIndex", lambda: library.QrelsIndex(qrels, unjudged_label=None).to_frame())
    with temporary():
        for name, text, read in (
            ("few columns", "1 0 a\n", library.read_qrels),
            ("no number", "1 0 a x\n", library.read_qrels),
            ("run twice", "1 Q0 a 1 0.5 x\n1 Q0 a 2 0.4 x\n", library.read_run),
            ("letor", "1 qid:1 1:x\n", library.read_letor),
        ):
            Path("x.txt").write_text(text)
            book.message(f"error/{name}", lambda: read("x.txt"))


def content(path):
    """Return the bytes of a file as they are read, or the rows of a Parquet file."""
    data = Path(path).read_bytes()
    if path.endswith(".parquet"):
        return pd.read_parquet(path)
    return gzip.decompress(data) if path.endswith(".gz") else data


# --- pictures -------------------------------------------------------------------------------------


def drawn(axes):
    """Return the numbers and texts of axes."""
    from matplotlib.patches import Rectangle

    found = []
    for ax in np.atleast_1d(axes).ravel():
        found.append(
            {
                "lines": [np.asarray(line.get_xydata(), float) for line in ax.lines],
                "bars": [
                    (bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height())
                    for bar in ax.patches
                    if isinstance(bar, Rectangle)
                ],
                "points": [np.asarray(each.get_offsets(), float) for each in ax.collections],
                "texts": [each.get_text() for each in ax.texts],
                "labels": [ax.get_xlabel(), ax.get_ylabel(), ax.get_title()],
                "ticks": [each.get_text() for each in ax.get_yticklabels()],
                "legend": [
                    each.get_text()
                    for each in (ax.get_legend().get_texts() if ax.get_legend() else [])
                ],
            }
        )
    return found


@section
def plots(book):
    import matplotlib.pyplot as plt
    from sklearn.linear_model import Ridge

    from skfilterrank import comparison as c
    from skfilterrank import metaevaluation as m
    from skfilterrank import plot
    from skfilterrank import ranking as r
    from skfilterrank import thresholds as t

    def note(name, call):
        book.note(
            name, call, drawn=lambda made: drawn(getattr(made, "ax_", None) or plt.gcf().axes)
        )
        plt.close("all")

    scores, y, groups = made_lists()
    rows = {"groups": groups}
    X, labels, queries = letor("mq2007", "S1", 30)
    model = r.RankAndFilter(Ridge(), measure="ndcg_f@5", gains=BAD, cv=3).fit(
        X, labels, groups=queries
    )
    tuned = t.TunedThreshold("ndcg_f@5").fit(scores, y, groups=groups)
    note("threshold curve/estimator", lambda: plot.ThresholdCurveDisplay.from_estimator(model))
    note("threshold curve/threshold", lambda: plot.ThresholdCurveDisplay.from_estimator(tuned))
    note(
        "threshold curve/new rows",
        lambda: plot.ThresholdCurveDisplay.from_estimator(tuned, scores, y, groups=groups),
    )
    note(
        "threshold curve/predictions",
        lambda: t.threshold_curve(y, scores, **rows).plot(),
    )
    note(
        "threshold curve/f",
        lambda: t.threshold_curve(y, scores, measure="f", **rows).plot(),
    )
    found = system_scores()
    ap = found["ap"]
    names = list(ap.systems)
    note(
        "query differences", lambda: plot.QueryDifferenceDisplay.from_scores(ap, names[0], names[1])
    )
    note(
        "query differences/preferences",
        lambda: plot.QueryDifferenceDisplay.from_scores(
            found["lexirecall(scale=preference)"], names[0], names[1]
        ),
    )
    note("critical difference", lambda: plot.CriticalDifferenceDisplay.from_scores(ap))
    note(
        "critical difference/t",
        lambda: plot.CriticalDifferenceDisplay(c.compare_systems(ap)).plot(),
    )
    note("comparison", lambda: c.compare_systems(ap).plot())
    note("scores", lambda: ap.plot())
    curves = {
        name: m.stability_curve(found[name], n_resamples=10, random_state=0)
        for name in ("ap", "ndcg_f@10")
    }
    note("measure curves", lambda: plot.MeasureCurvesDisplay(curves).plot())
    note("curve", lambda: t.threshold_curve(y, scores, groups=groups).plot())


# --- command line ---------------------------------------------------------------------------------


def command(text, *read):
    """Run a command; return its exit code, its output and the files that it wrote."""
    from skfilterrank.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            code = main(shlex.split(text))
        except SystemExit as stop:
            code = stop.code
    for stream in streams:
        stream.flush()
    output, messages = (stream.buffer.getvalue().decode() for stream in streams)
    if code not in (0, 1):
        raise ValueError(messages.strip() or f"exit code {code}")
    if output.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(json.JSONDecodeError):
            output = json.loads(output)
    written = {path: saved_json(path) if path.endswith(".json") else content(path) for path in read}
    return {"exit code": code, "output": output, **written}


@section
def commands(book):
    def run(text, *read, name=None):
        book.note(name or text, lambda: command(text, *read))

    with temporary():
        _make_files()
        _commands_of_runs(run)
        _commands_of_thresholds(run)
        _commands_of_models(run)
        _commands_of_texts(run)


def _make_files():
    qrels, runs = covid(4, 40)
    _trec_qrels("qrels.txt", qrels)
    for name, run in runs.items():
        _trec_run(f"{name}.txt", run)
    judged = reranked("bm25.train", 70, 30)
    queries = judged["qid"].unique()
    days = {"old": queries[:39], "monday": queries[39:54], "tuesday": queries[54:], "all": queries}
    for name, chosen in days.items():
        rows = judged[judged["qid"].isin(chosen)]
        _trec_qrels(f"{name}.qrels", rows)
        _trec_run(f"{name}.run", rows)
    answers(30).rename(columns={"docid": "docno"}).to_csv("answers.csv", index=False)
    X, labels, groups = letor("mq2007", "S1", 30)
    is_test = np.isin(groups, np.unique(groups)[::3])
    for name, is_in in (("train", ~is_test), ("test", is_test)):
        with open(f"{name}.letor", "w") as file:
            for row, label, query in zip(X[is_in], labels[is_in], groups[is_in]):
                features = " ".join(f"{i + 1}:{value:.6f}" for i, value in enumerate(row))
                file.write(f"{label:.0f} qid:{query} {features}\n")
    table = texts_of("cranfield", 12)
    _trec_qrels("cran.qrels", table.dropna(subset="label"))
    table.drop_duplicates("docno")[["docno", "text"]].to_csv("docs.csv", index=False)
    _trec_run("cran.run", table.assign(score=np.arange(len(table))[::-1]))


def _trec_qrels(path, qrels):
    lines = (f"{row.qid} 0 {row.docno} {row.label:.0f}\n" for row in qrels.itertuples())
    Path(path).write_text("".join(lines))


def _trec_run(path, run):
    name = Path(path).stem
    rows = enumerate(run.itertuples(), start=1)
    lines = (f"{row.qid} Q0 {row.docno} {i} {row.score} {name}\n" for i, row in rows)
    Path(path).write_text("".join(lines))


def _commands_of_runs(run):
    runs = "BERT.txt BM25R2.txt KU_run1.txt KU_run2.txt"
    evaluate = f"evaluate qrels.txt {runs}"
    for form in ("table", "csv", "json", "trec", "latex", "markdown"):
        run(f"{evaluate} --format {form}")
        run(f"{evaluate} --format {form} -m ap,ndcg_f@10,rr --per-query")
    for more in (
        *("--gains 0=-1,1=1,2=2", "--ties average -m ap", "--ties worst", "--precision single"),
        *("--n-items 5000", "--gains exp2 -m ndcg@10"),
    ):
        run(f"{evaluate} --format csv {more}")
    run(f"{evaluate} -m ap,rr --per-query --out values.csv", "values.csv")
    compare = f"compare qrels.txt {runs}"
    for form in ("table", "csv", "json", "latex", "markdown"):
        run(f"{compare} -m ap,lexirecall --format {form}")
    for test in TESTS:
        run(f"{compare} -m ap --test {test} --n-resamples 200 --format csv")
    run(f"{compare} -m ap --baseline BERT --correction bonferroni")
    for method in FUSIONS:
        run(f"fuse {runs} --method {method} --depth 20")
    run(f"fuse {runs} --name mine --out fused.txt.gz", "fused.txt.gz")


def _commands_of_thresholds(run):
    old = "threshold old.qrels old.run --gains=0=-1,1=1"
    for form in ("table", "csv", "json", "latex", "markdown"):
        run(f"{old} --k 5 --format {form}")
        run(f"{old} --risk any_forbidden@2=0.95 --confidence-level 0.8 --format {form}")
    run("threshold old.qrels old.run all.run --gains=0=-1,1=1 -m f --format csv")
    for how in ("tune", "first_k", "expected", "per_query", "learned", "9.5"):
        run(f"{old} -m f --threshold {how} --save {how}.json --format csv", f"{how}.json")
        for form in ("trec", "csv", "json"):
            run(f"apply {how}.json monday.run --format {form}")
    for more in (
        *("--max-shown 3", "--min-shown 1", "--max-shown 4 --min-shown 2", "-m ap", "-m udcg@5"),
    ):
        run(f"{old} {more} --format csv")
    risks = {
        "safe": "--risk any_forbidden=0.95",
        "answered": "--risk any_forbidden=0.95 --among answered",
        "two": "--risk forbidden@3=0.9,false_reject_rate=0.95",
    }
    for name, risk in risks.items():
        saved = f"{name}.json"
        run(f"{old} --k 3 --confidence-level 0.7 --format json {risk} --save {saved}", saved)
        run(f"apply {saved} monday.run --format csv")
        for day, form in (("monday", "json"), ("tuesday", "table")):
            run(f"monitor {saved} --qrels {day}.qrels --run {day}.run --format {form}")


def _commands_of_models(run):
    texts = (
        "rank-filter answers.csv --gains Bad=-1,PotentiallyUseful=1,Good=2 --text comment "
        "--query-text question_subject,question_body --numeric position --same user=question_user "
        "--models bce --learner linear --cv 2 --out-run lists.txt --format"
    )
    numbers = (
        "rank-filter train.letor --test-data test.letor --gains=0=-1,1=1,2=2 --models mse,bce "
        "--learner linear --out-run run.csv"
    )
    run(f"{texts} csv", "lists.txt")
    for form in ("table", "csv", "json", "latex", "markdown"):
        run(f"{numbers} --format {form}", "run.csv")
    run(f"{numbers} --format json --risk any_forbidden@2=0.95 --confidence-level 0.6", "run.csv")
    run(f"{numbers} --format csv -m ndcg_f@5", "run.csv")


def _commands_of_texts(run):
    for more in ("", "--depth 10"):
        run(f"complete cran.qrels cran.run --docs docs.csv {more}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["record", "compare", "sections"])
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=[])
    parser.add_argument("--errors", action="store_true", help="show the errors of calls")
    parser.add_argument("--all", action="store_true", help="show all differences")
    options = parser.parse_args()
    if options.what == "sections":
        print("\n".join(SECTIONS))
        return 0
    if len(options.files) != (1 if options.what == "record" else 2):
        parser.error("record takes one file, compare an old and a new one")
    if options.what == "record":
        return record(os.path.abspath(options.files[0]), options.only, options.errors)
    old, new = options.files
    return compare(old, new, options.only, 10**9 if options.all else 40)


if __name__ == "__main__":
    sys.exit(main())

"""``skfilterrank fuse``: make one run of several."""

from dataclasses import fields
from typing import Annotated, Any, Literal

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, progress, refuse, tell
from skfilterrank.exceptions import InputError, SkfilterrankWarning

BY_RANKS = ("rrf", "isr", "log_isr", "rbc", "borda", "condorcet")
BY_SCORES = ("combsum", "combmnz", "combanz", "combmed", "combmax", "combmin")
NORMALIZATIONS = ("minmax", "zscore", "max", "sum", "rank", "borda", "none")
MEASURE = "ndcg_f@10"
_FOLDS = 5
_FEWEST = 3
# The settings that --learn method chooses from.
_GRID = [
    {"method": ["rrf"], "rrf_k": [1, 10, 60, 200]},
    {"method": ["rbc"], "persistence": [0.8, 0.9, 0.95, 0.98]},
    {"method": [name for name in BY_RANKS if name not in ("rrf", "rbc", "condorcet")]},
    {"method": list(BY_SCORES), "normalize": ["minmax", "zscore", "sum", "rank", "borda"]},
]


def fuse(
    runs: t.Runs,
    *,
    method: Annotated[str | None, t.Arg(choices=BY_RANKS + BY_SCORES, shown="rrf")] = None,
    normalize: Annotated[str | None, t.Arg(choices=NORMALIZATIONS, shown="minmax")] = None,
    rrf_k: Annotated[float | None, t.Arg(convert=t.number, metavar="NUMBER")] = None,
    persistence: Annotated[float | None, t.Arg(convert=t.share, metavar="P")] = None,
    weights: Annotated[
        dict[str, float] | None, t.Arg(convert=t.weights, metavar="RUN=WEIGHT,...")
    ] = None,
    filtered: Literal["all", "majority", "any"] = "all",
    qrels: Annotated[str | None, t.Arg(metavar="QRELS", file="read")] = None,
    learn: Literal["method", "weights", "logistic"] | None = None,
    measure: t.Measures = (),
    reading: t.LabelOptions,
    unjudged: Literal["zero", "drop"] = "zero",
    random_state: t.RandomState = 0,
    n_jobs: t.NJobs = None,
    depth: t.Depth = None,
    name: str = "fused",
    out: t.Out = None,
) -> None:
    """Make one TREC run of several, by a fixed method or by what is learned from judgments.

    Parameters
    ----------
    method
        method of fusion
    normalize
        scale that scores of a run for a query are brought to
    rrf_k
        constant of rrf (default: 60)
    persistence
        constant of rbc (default: 0.8)
    weights
        weight of each run, by the name of its file without .gz and .txt (default: 1 for all)
    filtered
        runs that must hide a document for the fused run to hide it
    qrels
        judgments to learn from
    learn
        what is learned: the best fixed method, or weights by coordinate ascent or logistic
        regression (default: method with --qrels)
    measure
        measure to learn for (default: ndcg_f@10)
    unjudged
        documents without a label have gain 0, or are taken out of the lists
    depth
        documents of each query in the fused run
    name
        name of the run

    Examples
    --------
    skfilterrank fuse runs/*.gz --out fused.txt
    skfilterrank fuse bm25.txt dense.txt --method combsum --weights bm25=1,dense=2 > fused.txt
    skfilterrank fuse runs/* --qrels qrels.txt --learn method -m ap --out fused.txt.gz
    """
    from skfilterrank._lists.results import counted
    from skfilterrank.cli._inputs import read_named_runs
    from skfilterrank.io import write_run
    from skfilterrank.ranking import fuse_runs

    names = ("method", "normalize", "rrf_k", "persistence", "weights")
    settings = {key: value for key, value in locals().items() if key in names and value is not None}
    used = method or "rrf"
    of_method = {
        "rrf_k": used == "rrf",
        "persistence": used == "rbc",
        "normalize": used in BY_SCORES,
    }
    if qrels is None:
        wrong = [key for key, is_used in of_method.items() if not is_used]
        refuse(wrong, f"has no effect on --method {used}. Leave it out.")
        for_learning = ["learn", "measure", "unjudged", "random_state", "n_jobs"]
        for_learning += [each.name for each in fields(reading)]
        refuse(for_learning, "says how fusion is learned. Add --qrels.")
    else:
        # The scores that weights are learned for have a scale.
        is_weighted = learn in ("weights", "logistic")
        wrong = [key for key in settings if not (is_weighted and key == "normalize")]
        refuse(wrong, "is what --qrels is there to learn. Leave out one of them.")
    if out is not None and out.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet")):
        raise InputError(f"--out {out}: fuse writes a TREC run. Name a file such as fused.txt.")
    if normalize == "none":
        settings["normalize"] = None
    table = read_named_runs(runs)
    how: dict[str, Any] = {"depth": depth or None}
    if qrels is None:
        fused = fuse_runs(table, filtered=filtered, **how, **settings)
    else:
        how |= {"random_state": random_state, "n_jobs": n_jobs, "unjudged": unjudged}
        settings["filtered"] = filtered
        measured = list(measure) or [MEASURE], reading
        fused = _learned(table, qrels, *measured, learn, settings, how)
    counts = write_run(data_output(out), fused, name=name)
    tell(
        f"{counted(counts.written, 'document')} of "
        f"{counted(fused['qid'].nunique(), 'query', 'queries')} out of {counted(len(table), 'run')}"
    )


def _learned(runs, path, measures, reading, learn, settings, how):
    """Fuse runs by what is learned from judgments: judged queries by what others teach."""
    from sklearn.model_selection import GridSearchCV, GroupKFold

    from skfilterrank._lists.gains import as_gains
    from skfilterrank._lists.measure_names import parse_measures
    from skfilterrank._lists.results import counted
    from skfilterrank.cli._inputs import gains_of_labels, read_judgments
    from skfilterrank.metrics import make_ranking_scorer
    from skfilterrank.ranking import RankFusion, fuse_runs

    parsed = parse_measures(measures)
    measure, *others = parsed
    if others:
        names = ", ".join([measure, *others])
        raise InputError(f"--measure: fusion is learned for one, got {names}.")
    qrels = read_judgments(path, reading)
    matched = gains_of_labels(qrels["label"], path, reading, parsed.values())
    qrels = qrels.assign(label=as_gains(qrels["label"], matched))
    if learn in ("weights", "logistic"):
        method = "logistic" if learn == "logistic" else "coordinate_ascent"
        search = RankFusion(method, measure=measure, **settings)
    else:
        # Nothing is fitted, so that the number of folds makes no difference.
        fusion, scoring = RankFusion(**settings), make_ranking_scorer(measure)
        search = GridSearchCV(fusion, _GRID, scoring=scoring, cv=GroupKFold(2))
    found = {query for run in runs.values() for query in run["qid"].unique()}
    n_judged = len(found & set(qrels["qid"][qrels["label"].notna()]))
    if n_judged < _FEWEST:
        raise InputError(
            f"{path} has judgments of {counted(n_judged, 'query', 'queries')} of the runs, and "
            f"learning needs at least {_FEWEST}. Compare their ids, or leave out --qrels."
        )
    folds = min(_FOLDS, n_judged)
    fused = fuse_runs(runs, search, qrels=qrels, cv=folds, verbose=progress(), **how)
    if hasattr(search, "param_grid"):
        _tell_choice(search, runs, qrels, measure)
    else:
        _tell_weights(fused.attrs["learned"], learn, measure)
    return fused


def _tell_weights(learned, learn, measure):
    """Print the mean weight of each run, and the range where several models were fitted."""
    from skfilterrank._lists.results import counted

    shown = []
    for name in learned[0]["weights"]:
        weights = [model["weights"][name] for model in learned]
        text = f"{name} {sum(weights) / len(weights):.3g}"
        if len(weights) > 1:
            text += f" ({min(weights):.3g} to {max(weights):.3g})"
        shown.append(text)
    by = "logistic regression" if learn == "logistic" else measure
    tell(f"weights by {by}, mean of {counted(len(learned), 'model')}: {', '.join(shown)}")


def _tell_choice(search, runs, qrels, measure):
    """Tell which settings are best on all judged queries."""
    import warnings

    import pandas as pd

    key = ["qid", "docno"]
    columns = {name: run.set_index(key)["score"] for name, run in runs.items()}
    table = pd.concat(columns, axis=1, sort=True)
    table = table[table.index.get_level_values("qid").isin(qrels["qid"])]
    labels = qrels.set_index(key)["label"].reindex(table.index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkfilterrankWarning)
        search.fit(table, labels, groups=table.index.get_level_values("qid"))
    best = search.best_params_.items()
    shown = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in best)
    tell(f"best by {measure} on all judged queries: {shown}")

"""``skfilterrank fuse``: make one run of several."""

from typing import Annotated, Any

from skfilterrank.cli import _types as t
from skfilterrank.cli._parser import Arg

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
    method: Annotated[str | None, Arg(choices=BY_RANKS + BY_SCORES, shown="rrf")] = None,
    normalize: Annotated[str | None, Arg(choices=NORMALIZATIONS, shown="minmax")] = None,
    rrf_k: Annotated[float | None, Arg(convert=t.number, metavar="NUMBER", shown=60)] = None,
    persistence: Annotated[float | None, Arg(convert=t.share, metavar="P", shown=0.8)] = None,
    weights: Annotated[
        dict[str, float] | None, Arg(convert=t.weights, metavar="RUN=WEIGHT,...", shown=1)
    ] = None,
    filtered: Annotated[str, Arg(choices=("all", "majority", "any"))] = "all",
    qrels: Annotated[str | None, Arg(metavar="QRELS", file="read")] = None,
    learn: Annotated[
        str | None, Arg(choices=("method", "weights", "logistic"), shown="method with --qrels")
    ] = None,
    measure: t.Measures = (),
    gains: t.Gains = None,
    holes: t.Holes = None,
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
        method of fusion; see help fusion
    normalize
        scale that scores of a run for a query are brought to
    rrf_k
        constant of rrf
    persistence
        constant of rbc
    weights
        weight of each run, by the name of its file without .gz and .txt
    filtered
        runs that must leave a document out to have it left out
    qrels
        judgments to learn from
    learn
        settings that are learned; see help fusion
    measure
        measure to learn for (default: ndcg_f@10)
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
    from skfilterrank.cli._errors import refuse
    from skfilterrank.cli._inputs import OF_LABELS, Holes, read_named_runs
    from skfilterrank.cli._output import data_output, tell
    from skfilterrank.exceptions import InputError
    from skfilterrank.io import write_run
    from skfilterrank.ranking import fuse_runs

    settings: dict[str, Any] = {
        "method": method,
        "normalize": normalize,
        "rrf_k": rrf_k,
        "persistence": persistence,
        "weights": weights,
    }
    settings = {key: value for key, value in settings.items() if value is not None}
    used = method or "rrf"
    of_method = {
        "rrf_k": used == "rrf",
        "persistence": used == "rbc",
        "normalize": used in BY_SCORES,
    }
    if qrels is None:
        wrong = [key for key, is_used in of_method.items() if not is_used]
        refuse(wrong, f"has no effect on --method {used}. Leave it out.")
        for_learning = ("learn", "measure", "gains", "holes", "random_state", "n_jobs")
        refuse(for_learning, "says how fusion is learned. Add --qrels.")
    else:
        # The scores that weights are learned for have a scale.
        is_weighted = learn in ("weights", "logistic")
        wrong = [key for key in settings if not (is_weighted and key == "normalize")]
        refuse(wrong, "is what --qrels is there to learn. Leave out one of them.")
    if out is not None and out.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet")):
        raise InputError(f"--out {out}: fuse writes a TREC run. Name a file such as fused.txt.")
    if settings.get("normalize") == "none":
        settings["normalize"] = None
    table = read_named_runs(runs)
    if qrels is None:
        fused = fuse_runs(table, filtered=filtered, depth=depth or None, **settings)
    else:
        treated = Holes.of(holes, only=(*OF_LABELS, "unjudged"))
        learned = _Learned(table, qrels, list(measure) or [MEASURE], gains, treated)
        search = learned.search(learn, filtered, settings)
        fused = learned.fused(search, random_state, n_jobs, depth or None)
    counts = write_run(data_output() if out in (None, "-") else out, fused, name=name)
    tell(
        f"{counts.written:,} documents of "
        f"{counted(fused['qid'].nunique(), 'query', 'queries')} out of {counted(len(table), 'run')}"
    )


class _Learned:
    """Runs and judgments to learn fusion from."""

    def __init__(self, runs, path, measures, gains, treated):
        from skfilterrank._lists.gains import as_gains
        from skfilterrank._lists.measure_names import parse_measures
        from skfilterrank.cli._inputs import gains_of_labels, read_judgments
        from skfilterrank.exceptions import InputError

        names = list(parse_measures(measures))
        if len(names) > 1:
            raise InputError(f"--measure: fusion is learned for one, got {', '.join(names)}.")
        qrels = read_judgments(path, gains, treated)
        matched = gains_of_labels(qrels["label"], path, gains, treated)
        self._qrels = qrels.assign(label=as_gains(qrels["label"], matched))
        self._runs, self._path, self._treated = runs, path, treated
        self._measure = names[0]

    def search(self, learn, filtered, settings):
        """Return the estimator that learns."""
        from sklearn.model_selection import GridSearchCV, GroupKFold

        from skfilterrank.metrics import make_ranking_scorer
        from skfilterrank.ranking import RankFusion

        if learn in ("weights", "logistic"):
            how = "logistic" if learn == "logistic" else "coordinate_ascent"
            return RankFusion(how, measure=self._measure, filtered=filtered, **settings)
        # Nothing is fitted, so that the number of folds makes no difference.
        scoring = make_ranking_scorer(self._measure)
        return GridSearchCV(RankFusion(filtered=filtered), _GRID, scoring=scoring, cv=GroupKFold(2))

    def fused(self, search, random_state, n_jobs, depth):
        """Return the run; judged queries are fused by what was learned from others."""
        from skfilterrank.cli._output import progress
        from skfilterrank.ranking import fuse_runs

        fused = fuse_runs(
            self._runs,
            search,
            qrels=self._qrels,
            depth=depth,
            unjudged=self._treated.unjudged,
            cv=min(_FOLDS, self._n_judged_queries()),
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=progress(),
        )
        if hasattr(search, "param_grid"):
            self._tell_choice(search)
        return fused

    def _n_judged_queries(self):
        """Count queries to learn from; each must be held out, and some be left."""
        from skfilterrank._lists.results import counted
        from skfilterrank.exceptions import InputError

        queries = {query for run in self._runs.values() for query in run["qid"].unique()}
        found = len(queries & set(self._qrels["qid"][self._qrels["label"].notna()]))
        if found < _FEWEST:
            raise InputError(
                f"{self._path} has judgments of {counted(found, 'query', 'queries')} of the runs, "
                f"and learning needs at least {_FEWEST}. Compare their ids, or leave out --qrels."
            )
        return found

    def _tell_choice(self, search):
        """Tell what is best on all judged queries."""
        import warnings

        import pandas as pd

        from skfilterrank.cli._output import tell
        from skfilterrank.exceptions import SkfilterrankWarning

        columns = {n: run.set_index(["qid", "docno"])["score"] for n, run in self._runs.items()}
        table = pd.concat(columns, axis=1, sort=True)
        queries = table.index.get_level_values("qid")
        table = table[queries.isin(self._qrels["qid"])]
        labels = self._qrels.set_index(["qid", "docno"])["label"].reindex(table.index)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkfilterrankWarning)
            search.fit(table, labels, groups=table.index.get_level_values("qid"))
        best = search.best_params_.items()
        shown = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in best)
        tell(f"best by {self._measure} on all judged queries: {shown}")

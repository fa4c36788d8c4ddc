"""What ``skfilterrank fuse`` does."""

import warnings

from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank._core.gains import as_gains
from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.results import counted
from skfilterrank.cli._run_files import gains_of_labels, read_judgments, read_named_runs
from skfilterrank.cli._streams import data_output, progress, tell
from skfilterrank.cli.fuse.options import BY_RANKS, BY_SCORES, MEASURE
from skfilterrank.exceptions import InputError, SkfilterrankWarning
from skfilterrank.io import write_run
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import (
    LinearRankFusion,
    RankFusion,
    fuse_learned,
    fuse_runs,
    score_table,
)

# What says how runs are fused, and is found where the method is learned.
_SETTINGS = ("method", "normalize", "rrf_k", "persistence", "weights")
_OF_WEIGHTS = ("normalize",)
# What says how it is learned.
_LEARNING = ("learn", "measures", "gains", "unjudged_label", "predicted")
_FOLDS = 5
_FEWEST = 3
_GRID = [
    {"method": ["rrf"], "rrf_k": [1, 10, 60, 200]},
    {"method": ["rbc"], "persistence": [0.8, 0.9, 0.95, 0.98]},
    {"method": [name for name in BY_RANKS if name not in ("rrf", "rbc", "condorcet")]},
    {"method": list(BY_SCORES), "normalize": ["minmax", "zscore", "sum", "rank", "borda"]},
]


def run(arguments) -> int:
    """Fuse the runs, and write what comes out."""
    _check(arguments)
    runs = read_named_runs(arguments.runs, arguments)
    fused = _fused(runs, arguments) if arguments.qrels is None else _learned(runs, arguments)
    target = data_output() if arguments.out in (None, "-") else arguments.out
    counts = write_run(target, fused, name=arguments.name)
    tell(
        f"{counts.written:,} documents of {counted(fused['qid'].nunique(), 'topic')} out of "
        f"{counted(len(runs), 'run')}"
    )
    return 0


def _check(arguments):
    """Options that mean nothing beside the others."""
    learned = () if arguments.qrels is None else _SETTINGS
    if learned and arguments.learn in ("weights", "logistic"):
        learned = [name for name in _SETTINGS if name not in _OF_WEIGHTS]
    for name in learned:
        if getattr(arguments, name) is not None:
            raise InputError(
                f"--{name.replace('_', '-')} says how runs are fused, which --qrels is there to "
                "learn: leave out one of them."
            )
    for name in _LEARNING if arguments.qrels is None else ():
        if getattr(arguments, name) not in (None, "warn"):
            option = {"measures": "measure"}.get(name, name).replace("_", "-")
            raise InputError(
                f"--{option} says how fusion is learned: add --qrels, the judgments to learn from."
            )


def _settings(arguments, names):
    """The settings that are given."""
    found = {name: getattr(arguments, name) for name in names}
    found = {name: value for name, value in found.items() if value is not None}
    if found.get("normalize") == "none":
        found["normalize"] = None
    return found


def _fused(runs, arguments):
    """The run of a fixed method."""
    settings = _settings(arguments, _SETTINGS)
    return fuse_runs(runs, filtered=arguments.filtered, depth=arguments.depth, **settings)


def _learned(runs, arguments):
    """The run of what is learned from judgments."""
    measures = list(parse_measures(arguments.measures or [MEASURE]))
    if len(measures) > 1:
        raise InputError(f"fusion is learned for one measure, got {', '.join(measures)}.")
    qrels = read_judgments(arguments.qrels, arguments)
    gains = gains_of_labels(qrels["label"], arguments)
    qrels = qrels.assign(label=as_gains(qrels["label"], gains))
    if arguments.learn in ("weights", "logistic"):
        fusion = LinearRankFusion(
            "logistic" if arguments.learn == "logistic" else "coordinate_ascent",
            measure=measures[0],
            filtered=arguments.filtered,
            **_settings(arguments, _OF_WEIGHTS),
        )
    else:
        # Nothing is fitted, so that the number of folds makes no difference.
        fusion = GridSearchCV(
            RankFusion(filtered=arguments.filtered),
            _GRID,
            scoring=make_ranking_scorer(measures[0]),
            cv=GroupKFold(2),
        )
    fused = fuse_learned(
        qrels,
        runs,
        fusion=fusion,
        unjudged=arguments.unjudged,
        cv=min(_FOLDS, _n_judged_topics(qrels, runs, arguments)),
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        verbose=progress(arguments),
    )
    if isinstance(fusion, GridSearchCV):
        _tell_choice(fusion, qrels, runs, measures[0])
    if arguments.depth is not None:
        fused = fused.groupby("qid", sort=False).head(arguments.depth)
    return fused


def _n_judged_topics(qrels, runs, arguments):
    """Number of topics to learn from; each must be held out, and some be left."""
    topics = {topic for run in runs.values() for topic in run["qid"].unique()}
    found = len(topics & set(qrels["qid"][qrels["label"].notna()]))
    if found < _FEWEST:
        raise InputError(
            f"{arguments.qrels} has judgments of {counted(found, 'topic')} of the runs, and "
            f"learning needs at least {_FEWEST}: compare their ids, or leave out --qrels."
        )
    return found


def _tell_choice(search, qrels, runs, measure):
    """What is best on all judged topics."""
    table = score_table(runs)
    table = table[table.index.get_level_values("qid").isin(qrels["qid"])]
    labels = qrels.set_index(["qid", "docno"])["label"].reindex(table.index)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkfilterrankWarning)
        search.fit(table, labels, groups=table.index.get_level_values("qid"))
    shown = " ".join(
        f"--{name.replace('_', '-')} {value}" for name, value in search.best_params_.items()
    )
    tell(f"best by {measure} on all judged topics: {shown}")

"""A valid call of every public function, to start from."""

import functools
import inspect
import os
import tempfile
from unittest.mock import patch

import pandas as pd
from sklearn.linear_model import LinearRegression

from skfilterrank import comparison, io, judgments, metaevaluation, metrics, ranking, thresholds
from skfilterrank._lists.measure import MEASURES

MODULES = (*(metrics, comparison, metaevaluation, io, ranking, judgments, thresholds),)
NAN = float("nan")
LABELS, GROUPS = [1, -1, 2, 0, 1, 0], ["a", "a", "a", "b", "b", "b"]
SCORES = [0.9, 0.5, 0.8, 0.3, 0.2, 0.1]
FEATURES = [[0.1, 1.0], [0.9, 0.0], [0.2, 2.0], [0.7, 1.0], [0.3, 3.0], [0.8, 0.5]]
RUNS = {
    name: pd.DataFrame({"qid": GROUPS, "docno": list("xyzxyz"), "score": scores})
    for name, scores in {"first": SCORES, "second": SCORES[::-1]}.items()
}
QRELS = pd.DataFrame({"qid": GROUPS, "docno": list("xyzxyz"), "label": LABELS})
VALUES = [[0.5, 0.7, 0.2, 0.4], [0.4, 0.9, 0.6, 0.1], [0.3, 0.8, 0.3, 0.2]]
SYSTEMS = {"new": SCORES, "old": SCORES[::-1]}

RANKS = judgments.rank_table(RUNS)
_ROWS = {"y_true": LABELS, "groups": GROUPS}
_LISTS = {**_ROWS, "y_score": SCORES}
_SYSTEMS = {**_ROWS, "y_scores": SYSTEMS}
_POSITIONS = {"positions": [1, 4, 6]}
_OF_RUNS = {"runs": RUNS, "qrels": QRELS, "measures": ["ap", "ndcg_f@2"]}
# Eleven texts of one query, of which ten are judged.
# Enough labels for complete_qrels.
_TEXTS = pd.DataFrame({"qid": [*"ab"] * 16, "docno": range(32), "label": [0, 0, 1, 1] * 8})
_TEXTS = _TEXTS.astype({"docno": str, "label": float})
_TEXTS.loc[31, "label"] = NAN
_TEXTS["text"] = ["a dog", "the dog", "the cat", "a cat"] * 8
_FEW = {"n_resamples": 100}
_SAMPLE = {
    "runs": RUNS,
    "qrels": QRELS.assign(inclusion_probability=1.0),
    "measures": ["ap", "ndcg_f@2"],
    "machine_qrels": QRELS,
}


def _written():
    return os.path.join(tempfile.gettempdir(), f"odd-arguments-{os.getpid()}")


def _new_monitor():
    """Make a monitor that no call has written to a file yet."""
    return thresholds.RiskMonitor({"any_forbidden": 0.1})


# Arguments that each call makes anew.
_MADE_ANEW = (_written, _new_monitor)

# Arguments of a valid call. What is not named here keeps its default.
CALLS = {
    "metrics.evaluate": {**_LISTS, "measures": ["ap", "ndcg_f@2"]},
    "metrics.explain_differences": _LISTS,
    "metrics.get_measure": {"measure": "rbp(persistence=0.5)@3"},
    "metrics.get_measure_names": {},
    "metrics.lexicographic_preference": {**_ROWS, "y_score_a": SCORES, "y_score_b": SCORES[::-1]},
    "metrics.register_measure": {"name": "mine", "function": lambda y_true, y_score: 0.0},
    "metrics.make_ranking_scorer": {"measure": "ndcg_f"},
    "metrics.recall_paired_preference": {**_ROWS, "y_score_a": SCORES, "y_score_b": SCORES[::-1]},
    "metrics.unjudged_bounds": {**_LISTS, "y_true": [1, NAN, 2, 0, NAN, 0], "measure": "ap"},
    "metrics.query_informativeness": {**_SYSTEMS, "n_queries": 1, "n_samples": 10},
    "metrics.random_ranking_bound": {**_ROWS, "n_samples": 10},
    "metrics.rank_filter_report": _SYSTEMS,
    "metrics.inferred_ap_score": {**_LISTS, "pooled": [True] * 6},
    "metrics.stat_ap_score": {**_LISTS, "inclusion_probability": [1.0] * 6},
    "metrics.rbp_score": {**_LISTS, "ties": list("xyzxyz")},
    "metrics.ul_normalized_score": {**_LISTS, "y_true": [1, 0, 2, 0, 1, 0]},
    "metaevaluation.metric_orientation": {"measure": "ap", "n_items": 9, "n_relevant": [1, 2]},
    "metaevaluation.recall_level_metric": _POSITIONS,
    "metaevaluation.tie_probability": {"measure": "lexirecall", "n_items": 9, "n_relevant": 2},
    "metaevaluation.worst_case_searcher": _POSITIONS,
    "comparison.SystemScores": {"values": VALUES},
    "metaevaluation.agreement": {"first": VALUES, "second": VALUES},
    "comparison.compare_systems": {"scores": VALUES, **_FEW},
    "metaevaluation.conflicts": {"first": VALUES, "second": VALUES, **_FEW},
    "metaevaluation.discriminative_power": {"scores": VALUES, **_FEW},
    "metaevaluation.judging_curve": {
        "runs": RUNS,
        "qrels": QRELS,
        "selections": ["pooling", "random"],
        "shares": [0.5],
        "n_samples": 2,
    },
    "metaevaluation.leave_teams_out": {
        "runs": RUNS,
        "qrels": QRELS,
        "shares": [0.5],
        "teams": {"first": "x", "second": "y"},
    },
    "comparison.kendall_tau": {"first": {"a": 1, "b": 2}, "second": ["b", "a"]},
    "metaevaluation.label_degradation": {**_OF_RUNS, "measures": ["ap"], "n_samples": 2},
    "comparison.comparison_table": {
        "comparisons": comparison.compare_systems(VALUES, **_FEW),
        "format": "markdown",
    },
    "comparison.order_systems": {"scores": VALUES, **_FEW},
    "metaevaluation.reliability": {"scores": VALUES},
    "comparison.score_predictions": {**_SYSTEMS, "measures": ["ap"]},
    "comparison.score_systems": _OF_RUNS,
    "metaevaluation.sensitivity_curve": {"scores": VALUES, **_FEW},
    "metaevaluation.stability_curve": {"scores": VALUES, "n_resamples": 10},
    "comparison.swap_rate": {"first": {"a": 1, "b": 2}, "second": ["b", "a"]},
    "comparison.tau_ap": {"truth": {"a": 1, "b": 2}, "predicted": ["b", "a"]},
    "judgments.draw_sample": {
        "runs": RUNS,
        "machine_qrels": QRELS,
        "measures": ["ap", "ndcg_f@2"],
        "share": 1.0,
    },
    "judgments.estimate": _SAMPLE,
    "metrics.values_of_run": {"run": RUNS["first"], "qrels": QRELS, "measures": ["ap"]},
    "metrics.evaluate_runs": _OF_RUNS,
    "io.QrelsIndex": {"qrels": QRELS},
    "io.Rows": {"source": {"qid": GROUPS, "label": LABELS, "score": SCORES}},
    "io.align": {"run": RUNS["first"], "qrels": QRELS},
    "io.read_runs": {"runs": RUNS},
    "io.write_letor": {"path": _written, "X": FEATURES, "y": LABELS, "groups": GROUPS},
    "io.write_qrels": {"path": _written, "qrels": QRELS},
    "io.write_run": {"path": _written, "run": GROUPS, "docnos": list("xyzxyz"), "y_score": SCORES},
    "ranking.fuse_runs": {"runs": SYSTEMS, "groups": GROUPS},
    "ranking.list_embedding_features": {
        "question_vectors": FEATURES,
        "answer_vectors": FEATURES,
        "groups": GROUPS,
    },
    "ranking.make_ranker": {"name": "bce"},
    "ranking.make_text_features": {"document": "text"},
    "ranking.score_difference": {
        "model": LinearRegression().fit(FEATURES, LABELS),
        "X": FEATURES,
        "document": 0,
        "other": 1,
    },
    "thresholds.RiskMonitor": {"risks": {"any_forbidden": 0.1}},
    "thresholds.queries_needed": {"max_risk": 0.1, "expected_risk": 0.05},
    "thresholds.risk_certificate": {**_LISTS, "threshold": 0.4, "risks": {"any_forbidden": 0.1}},
    "thresholds.risk_coverage_curve": _LISTS,
    "thresholds.score_comparability": _LISTS,
    "thresholds.threshold_curve": _LISTS,
    "judgments.complete_qrels": {
        "runs": {"first": _TEXTS[["qid", "docno"]].assign(score=range(32))},
        "qrels": _TEXTS[["qid", "docno", "label"]],
        "documents": _TEXTS[["docno", "text"]],
    },
    "judgments.assessor_agreement": {"qrels": {"anna": QRELS, "bob": QRELS}},
    "judgments.pseudo_qrels": {"runs": RUNS, "n_trials": 2},
    "judgments.rank_systems": {"runs": RUNS, "n_trials": 2},
    "judgments.rank_table": {"runs": RUNS},
}
# Files are read by tests of their own.
READERS = {"io.read_letor", "io.read_qrels", "io.read_run", "thresholds.load_threshold"}


@functools.cache
def public_functions() -> dict:
    """Every public function, and the classes that check what they are made of, by name."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            thing, path = getattr(module, name), f"{module.__name__.partition('.')[2]}.{name}"
            is_made_here = path in CALLS or not isinstance(thing, type)
            if callable(thing) and is_made_here and path not in READERS:
                found[path] = thing
    return found


def valid_arguments(path) -> dict:
    """Arguments of a valid call; most measures share theirs."""
    function = public_functions()[path]
    if path not in CALLS:
        assert path.startswith("metrics."), f"{path} has no valid call in public_calls.CALLS"
    arguments = dict(CALLS.get(path, _LISTS if "y_score" in _parameters(function) else _ROWS))
    return {
        name: value() if any(value is each for each in _MADE_ANEW) else value
        for name, value in arguments.items()
    }


@functools.cache
def _parameters(function):
    import inspect

    return tuple(inspect.signature(function).parameters)


def call(path, **changes):
    """Call a public function with valid arguments but for these changes."""
    function, values = public_functions()[path], valid_arguments(path) | changes
    first = [
        values.pop(parameter.name)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind == parameter.POSITIONAL_ONLY
    ]
    # What it registers is unknown to tests that come later in this process.
    with patch.dict(MEASURES):
        return function(*first, **values)

"""The models of the command line, and their gains."""

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skfilterrank.cli._columns import Columns
from skfilterrank.ranking import RankAndFilter, make_ranker, make_text_features

TUNING_FOLDS = 5


def make_models(
    losses, columns: Columns | None, *, learner, k, gains, threshold, seed, jobs, n_queries
) -> dict[str, RankAndFilter]:
    """One unfitted RankAndFilter for each loss; `n_queries` are there to tune the threshold on."""
    if n_queries < 2 and (isinstance(threshold, str) or len(losses) > 1):
        raise ValueError(
            "there is only one query to learn from, and choosing a threshold or a model needs at "
            "least two: give more queries, or one model and a number as its --threshold."
        )
    is_text = columns is not None and columns.text is not None
    if learner == "auto":
        learner = "blend" if is_text else "trees"
    features = None
    if columns is not None:
        make = _text_features if is_text else _table_features
        features = {kind: make(columns, kind) for kind in ("linear", "trees")}
    return {
        loss: RankAndFilter(
            make_ranker(loss, learner=learner, features=features, random_state=seed),
            gains=gains,
            k=k,
            threshold=threshold,
            cv=min(TUNING_FOLDS, n_queries) if n_queries > 1 else None,
            n_jobs=jobs,
        )
        for loss in losses
    }


def _text_features(columns, kind):
    """Features of a table with texts."""
    return make_text_features(
        document=columns.text,
        query=columns.query_text,
        same=columns.same,
        numeric=columns.numeric,
        categorical=columns.categorical,
        groups="qid",
        output="sparse" if kind == "linear" else "dense",
    )


def _table_features(columns, kind):
    """Features of a table without texts."""
    numeric = "passthrough"
    if kind == "linear":
        impute = SimpleImputer(keep_empty_features=True)
        numeric = Pipeline([("impute", impute), ("scale", StandardScaler())])
    onehot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False
    )
    return ColumnTransformer(
        [("numeric", numeric, columns.numeric), ("categorical", onehot, columns.categorical)]
    )


def match_gains(gains, labels: dict[str, pd.Series]):
    """Gains with keys of the labels' type, since a command line only knows text.

    `labels` are those of each file; every one of them must have a gain.
    """
    distinct = {path: list(y.dropna().unique()) for path, y in labels.items()}
    every = [label for found in distinct.values() for label in found]
    if not isinstance(gains, dict):
        for path, found in distinct.items():
            if words := [label for label in found if not _is_number(label)]:
                example = ",".join(f"{label}=GAIN" for label in words)
                raise ValueError(
                    f"the labels of {path} are not numbers: give the gain of each, below 0 where "
                    f"it is forbidden, with --gains {example}."
                )
        return gains
    texts = {label: _texts(label) for label in every}
    matched = {
        label: gain for given, gain in gains.items() for label in every if given in texts[label]
    }
    for path, found in distinct.items():
        if missing := [label for label in found if label not in matched]:
            raise ValueError(
                f"--gains has no gain for {', '.join(_texts(label)[0] for label in missing)}, of "
                f"the labels of {path}: add {','.join(f'{_texts(x)[0]}=GAIN' for x in missing)}."
            )
    return matched


def unknown_labels(gains, labels: dict[str, pd.Series]) -> list[str]:
    """Labels that have a gain and do not occur."""
    if not isinstance(gains, dict):
        return []
    found = {
        text for y in labels.values() for label in y.dropna().unique() for text in _texts(label)
    }
    return [label for label in gains if label not in found]


def _is_number(label):
    return not isinstance(label, str) and pd.api.types.is_number(label)


def _texts(label):
    """How a label may be written: 1.0 also as 1 and +1, True also as true."""
    if _is_number(label) and not isinstance(label, bool):
        return [f"{label:g}", str(label), f"{float(label)}", f"{label:+g}"]
    return [str(label), str(label).lower()] if not isinstance(label, str) else [label]

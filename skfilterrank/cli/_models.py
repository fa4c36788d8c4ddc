"""The models of the command line."""

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skfilterrank.cli._columns import Columns
from skfilterrank.cli.rank_filter.options import FOLDS
from skfilterrank.exceptions import InputError
from skfilterrank.features import make_text_features
from skfilterrank.ranking import RankAndFilter, get_ranker_names, make_ranker
from skfilterrank.thresholds import FixedThreshold


def make_models(
    names,
    columns: Columns | None,
    *,
    learner,
    measure,
    threshold,
    gains,
    seed,
    jobs,
    n_queries,
) -> dict[str, RankAndFilter]:
    """One unfitted RankAndFilter for each name; `n_queries` are there to tune the threshold on."""
    if n_queries < 2 and (len(names) > 1 or not isinstance(threshold, FixedThreshold)):
        raise InputError(
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
    losses = get_ranker_names("loss")
    # What has a guarantee is calibrated on queries that the model in use has not seen.
    folds = None if threshold.is_calibrated else min(FOLDS, n_queries)
    return {
        name: RankAndFilter(
            make_ranker(
                name,
                learner=learner if name in losses else None,
                features=features,
                random_state=seed,
            ),
            threshold,
            gains=gains,
            measure=measure,
            cv=folds if n_queries > 1 else None,
            n_jobs=jobs,
        )
        for name in names
    }


def _text_features(columns, kind):
    """Features of a table with texts."""
    return make_text_features(
        document=columns.text,
        query_text=columns.query_text,
        same=columns.same,
        numeric=columns.numeric,
        categorical=columns.categorical,
        query="qid",
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

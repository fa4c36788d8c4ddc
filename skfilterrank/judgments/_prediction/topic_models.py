"""A model of labels for each topic: fitted side by side, asked topic by topic."""

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from tqdm.auto import tqdm

from skfilterrank._core.queries import GroupIndex
from skfilterrank.exceptions import brief
from skfilterrank.judgments._prediction.document_vectors import Vectors
from skfilterrank.judgments._prediction.level_model import (
    LevelModel,
    fit_calibration,
    fit_level_model,
    held_out_margins,
)

NO_LABEL = "no judged document"


def fit_topics(
    estimator, vectors: Vectors, index: GroupIndex, labels, seeds, *, calibrate, n_jobs, verbose
):
    """A model for each topic with judged documents, else None; and the chances' calibration."""
    topics = [rows[~np.isnan(labels[rows])] for rows in rows_of_topics(index)]
    judged = [position for position, rows in enumerate(topics) if len(rows)]
    jobs = (
        delayed(_fit_topic)(
            estimator,
            vectors.take(topics[position]),
            labels[topics[position]],
            seeds[position],
            calibrate,
            index.query_ids[position],
        )
        for position in judged
    )
    fitted = tqdm(
        Parallel(n_jobs=n_jobs, return_as="generator")(jobs),
        total=len(judged),
        desc="topics",
        unit="topic",
        disable=not verbose,
        leave=None,
    )
    models, held_out = [None] * len(topics), []
    for position, (model, margins, above) in zip(judged, fitted):
        models[position] = model
        held_out.append((margins, above))
    calibration = None
    if calibrate:
        margins, above = map(np.concatenate, zip(*held_out))
        calibration = fit_calibration(margins, above)
    return models, calibration


def predict_topics(models, calibration, vectors: Vectors, index: GroupIndex, wanted, *, soft):
    """Labels of the wanted rows (a mask) and how sure they are; NaN where a model is None.

    A copied label is as sure as nothing: its confidence is NaN too.
    """
    labels = np.full(index.n_rows, np.nan)
    confidence = np.full(index.n_rows, np.nan)
    for model, rows in zip(models, rows_of_topics(index)):
        rows = rows[wanted[rows]]
        if model is None or not len(rows):
            continue
        if len(model.levels) == 1:
            labels[rows] = model.levels[0]
            continue
        X = vectors.take(rows)
        chances = model.chances(X, calibration)
        if soft:
            labels[rows] = chances @ model.levels
            confidence[rows] = chances.max(axis=1)
        else:
            likeliest = model.hard_levels(X)
            labels[rows] = model.levels[likeliest]
            confidence[rows] = chances[np.arange(len(rows)), likeliest]
    return labels, confidence


def stand_ins(topics, models, pool, *, one_class, unjudged_topic):
    """The model that answers for each topic, by topic, and the reason where it is not its own.

    `pool` makes the model of all topics, and is called where one is needed.
    """
    answering, reasons, pooled = {}, {}, None
    if unjudged_topic == "pool":
        pooled = pool()
    for topic, model in zip(topics, models):
        if model is None:
            reasons[topic] = NO_LABEL
            model = pooled if unjudged_topic == "pool" else None
        elif len(model.levels) == 1:
            reasons[topic] = f"judged labels all {model.levels[0]:g}"
            if one_class == "pool":
                model = pooled = pool() if pooled is None else pooled
            elif one_class == "leave":
                model = None
        answering[topic] = model
    return answering, reasons, pooled


def rows_of_topics(index: GroupIndex) -> list[np.ndarray]:
    """Row numbers of each topic."""
    return np.split(index.row_order(), np.cumsum(index.sizes)[:-1])


def _fit_topic(estimator, X, labels, seed, calibrate, topic) -> tuple[LevelModel, object, object]:
    """The model of one topic, with the margins of rows it was not shown."""
    try:
        model = fit_level_model(estimator, X, labels, seed)
        margins, above = np.empty(0), np.empty(0, dtype=bool)
        if calibrate:
            margins, above = held_out_margins(estimator, X, labels, seed)
    except Exception as error:
        error.add_note(f"(in topic {brief(topic)}, from {len(labels)} judged documents)")
        raise
    return model, margins, above

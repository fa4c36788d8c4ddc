"""Selections of documents, and mitigations of missing labels."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from judged_topics import QRELS, RUNS, TEXTS, curve, fitted, means_of
from selections import mask
from skfilterrank.comparison import score_systems
from skfilterrank.judgments import LabelPredictor, StatAPSelector
from skfilterrank.metaevaluation import judging_curve
from thinned import thinned

ALL = ["pooling", "prior", "maxrep", "feedback", "mtf", "mtc", "statap", "random", "oracle"]


@pytest.mark.slow
def test_all_labels_give_the_truth():
    options = {"shares": 1, "documents": TEXTS, "n_samples": 2}
    for selections, mitigation, n_known in ((ALL, "none", 6 + 3 * 2), ("prior", "completed", 1)):
        found = curve(selections=selections, mitigations=mitigation, **options)
        known = found.tau[~np.isnan(found.tau)]
        assert len(known) == n_known
        assert known == pytest.approx(1)
        assert found.rmse[~np.isnan(found.rmse)] == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_functions_choose_and_predict():
    truth = QRELS.set_index(["qid", "docno"])["label"]
    seen = []

    def relevant_first(table):
        seen.append(table)
        return truth.loc[table.index]

    def all_known(table):
        return truth.loc[pd.MultiIndex.from_frame(table[["qid", "docno"]])]

    found = curve(
        selections={"best": relevant_first},
        mitigations={"truth": all_known, "nothing": lambda table: table["label"], "as is": "none"},
        shares=[0.05, 0.6],
    )
    assert list(seen[0]) == ["prior"]
    assert found.tau[0, 0, :, 0] == pytest.approx(1)
    assert np.array_equal(found.means[0, 1], found.means[0, 2], equal_nan=True)
    # All relevant documents are among the first 60 %.
    assert found.rmse[0, 2, 1, 0] == pytest.approx(0, abs=1e-12)
    assert found.rmse[0, 2, 0, 0] > 0.01


pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "share"),
    thinned([("maxrep", 0.1), ("pooling", 0.1), ("mtc", 0.5), ("feedback", 0.4)], parts=2),
)
def test_same_as_scoring_runs_by_the_labels_that_are_left(name, share):
    mitigations = ["none", "condensed", "bpref", "infap"]
    found = curve(selections=name, mitigations=mitigations, shares=share, documents=TEXTS)
    judged = mask(fitted(name), share)
    kept, pooled = QRELS[judged], QRELS.assign(label=QRELS["label"].where(judged))
    expected = [
        means_of(kept, "ap"),
        means_of(kept, "ap", unjudged="drop"),
        means_of(kept, "bpref"),
        means_of(pooled, "infap"),
    ]
    assert found.means[0, :, 0, 0] == pytest.approx(np.array(expected), abs=1e-12)
    assert found.truth == pytest.approx(means_of(QRELS, "ap"), abs=1e-12)
    assert found.n_labels.tolist() == [judged.sum()]
    for place, means in enumerate(expected):
        error = np.sqrt(np.mean((means - found.truth) ** 2))
        assert found.rmse[0, place, 0, 0] == pytest.approx(error, abs=1e-12)
        tau = kendalltau(means.round(12), found.truth.round(12)).statistic
        assert found.tau[0, place, 0, 0] == pytest.approx(tau)


def test_stat_ap_has_the_probabilities_of_the_sample():
    selection = {"own": StatAPSelector(pooled=0.5)}
    found = curve(selections=selection, mitigations="stat_ap", shares=0.3, n_samples=20)
    # Without bias but for the ratio by the estimated number of relevant documents.
    assert found.means.mean(axis=3)[0, 0, 0] == pytest.approx(found.truth, abs=0.06)
    uniform = curve(
        selections="random", mitigations=["stat_ap", "none"], shares=[0.5, 1.0], n_samples=4
    )
    assert uniform.rmse[0, 0, 1] == pytest.approx(0)
    assert uniform.rmse[0, 0, 0].mean() < uniform.rmse[0, 1, 0].mean()


def test_no_estimate_where_there_are_no_probabilities():
    found = curve(
        selections=["pooling", "random"], mitigations=["stat_ap", "none"], shares=0.5, n_samples=3
    )
    table = found.to_frame().set_index(["selection", "mitigation"])
    assert table["n_samples"].tolist() == [0, 1, 3, 3]
    assert np.isnan(table.loc[("pooling", "stat_ap"), "tau"])
    assert np.isnan(found.share_needed().loc["pooling", "stat_ap"])


def test_predicted_labels_are_those_of_the_predictor():
    given = LabelPredictor(LogisticRegression(), one_class="copy")
    found = curve(mitigations={"own": given}, selections="pooling", shares=0.3, documents=TEXTS)
    judged = mask(fitted("pooling"), 0.3)
    table = QRELS.assign(text=QRELS["docno"].map(TEXTS), label=QRELS["label"].where(judged))
    labels = given.fit_transform(table["text"], table["label"], table["qid"])
    completed = QRELS.assign(label=labels)
    assert found.means[0, 0, 0, 0] == pytest.approx(means_of(completed, "ap"), abs=1e-12)


def test_chances_of_random_documents_are_those_of_their_topic():
    qrels = QRELS.iloc[:70]  # 28, 28 and 14 documents
    runs = {name: run[run["qid"].isin(qrels["qid"])] for name, run in RUNS.items()}
    tables = []

    def seen(table):
        tables.append(table)
        return table["label"].fillna(0)

    found = judging_curve(
        qrels,
        runs,
        selections="random",
        mitigations={"seen": seen, "stat_ap": "stat_ap"},
        shares=0.4,
        n_samples=1,
        missing="empty",
        depth=10,
        random_state=0,
    )
    (table,) = tables
    by_topic = table.groupby("qid")["label"]
    assert by_topic.count().tolist() == [11, 11, 6]
    drawn = table.assign(
        inclusion_probability=by_topic.transform("count") / by_topic.transform("size")
    )
    sample = drawn[["qid", "docno", "label", "inclusion_probability"]].dropna()
    scores = score_systems(sample, runs, "stat_ap", missing="empty")["stat_ap"]
    assert found.means[0, 1, 0, 0] == pytest.approx(scores.means[list(runs)].to_numpy())

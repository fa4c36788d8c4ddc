"""Order and values of systems by few labels."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from pooled_runs import random_runs, runs_of
from selections import mask
from skfilterrank.comparison import judging_curve, leave_out_teams, score_systems
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
    rank_table,
    statap_prior,
)

RUNS, _ = random_runs(3)
RNG = np.random.default_rng(0)
# Every document of every topic, but for a few that nobody ever judged.
QRELS = pd.DataFrame(
    [(f"q{topic}", f"d{number:02d}") for topic in range(4) for number in range(28)],
    columns=["qid", "docno"],
)
QRELS["label"] = RNG.choice([0.0, 1.0, 2.0], len(QRELS), p=[0.6, 0.3, 0.1])
WORDS = {0.0: "soup bread", 1.0: "wing flutter", 2.0: "wing speed"}
TEXTS = {
    docno: f"{WORDS[label]} {docno}"
    for docno, label in QRELS.drop_duplicates("docno")[["docno", "label"]].to_numpy()
}
INDEX = pd.MultiIndex.from_frame(QRELS[["qid", "docno"]])
RANKS = rank_table(RUNS, depth=10).reindex(INDEX)
TOPICS = QRELS["qid"].to_numpy()


def curve(**options):
    return judging_curve(QRELS, RUNS, **{"missing": "empty", "depth": 10} | options)


def means_of(qrels, measure, **options):
    """Means of the runs by what another part of the library makes of judgments."""
    scores = score_systems(qrels, RUNS, measure, missing="empty", **options)[measure]
    return scores.means[list(RUNS)].to_numpy()


def fitted(name, seed=None):
    prior = statap_prior(RANKS).to_numpy()
    if name == "pooling":
        return PoolingSelector().fit(RANKS)
    if name == "prior":
        return PriorSelector().fit(RANKS, groups=TOPICS, prior=prior)
    if name == "maxrep":
        texts = [TEXTS[docno] for docno in QRELS["docno"]]
        return MaxRepSelector().fit(texts, groups=TOPICS, prior=prior)
    return MTCSelector().fit(RANKS).simulate(QRELS["label"])


@pytest.mark.parametrize("name", ["pooling", "prior", "maxrep", "mtc"])
@pytest.mark.parametrize("share", [0.1, 0.5])
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
    found = curve(selections=selection, mitigations="stat_ap", shares=0.3, n_samples=80)
    # Without bias but for the ratio by the estimated number of relevant documents.
    assert found.means.mean(axis=3)[0, 0, 0] == pytest.approx(found.truth, abs=0.06)
    uniform = curve(selections="random", mitigations=["stat_ap", "none"], shares=[0.5, 1.0])
    assert uniform.rmse[0, 0, 1] == pytest.approx(0)
    assert uniform.rmse[0, 0, 0].mean() < uniform.rmse[0, 1, 0].mean()


def test_no_estimate_where_there_are_no_probabilities():
    found = curve(selections=["pooling", "random"], mitigations=["stat_ap", "none"], shares=0.5)
    table = found.to_frame().set_index(["selection", "mitigation"])
    assert table["n_samples"].tolist() == [0, 1, 10, 10]
    assert np.isnan(table.loc[("pooling", "stat_ap"), "tau"])
    assert np.isnan(found.share_needed().loc["pooling", "stat_ap"])


ALL = ["pooling", "prior", "maxrep", "mtf", "mtc", "statap", "random", "oracle"]


def test_all_labels_give_the_truth():
    mitigations = ["none", "bounds", "completed"]
    found = curve(selections=ALL, mitigations=mitigations, shares=1, documents=TEXTS, n_samples=2)
    known = found.tau[~np.isnan(found.tau)]
    assert len(known) == 3 * (5 + 3 * 2)
    assert known == pytest.approx(1)
    assert found.rmse[~np.isnan(found.rmse)] == pytest.approx(0, abs=1e-12)


def test_predicted_labels_are_those_of_the_predictor():
    given = LabelPredictor(LogisticRegression(), one_class="pool")
    found = curve(mitigations={"own": given}, selections="pooling", shares=0.3, documents=TEXTS)
    judged = mask(fitted("pooling"), 0.3)
    table = QRELS.assign(text=QRELS["docno"].map(TEXTS), label=QRELS["label"].where(judged))
    completed = given.fit_transform(table)[["qid", "docno", "label"]]
    assert found.means[0, 0, 0, 0] == pytest.approx(means_of(completed, "ap"), abs=1e-12)


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


def test_bounds_by_trying_all_labels():
    runs = runs_of(a="uvwx", b="xwvu", c="wxuv")
    qrels = pd.DataFrame({"qid": "1", "docno": list("uvwx"), "label": [1.0, 0.0, 1.0, 0.0]})
    found = judging_curve(qrels, runs, "rr", selections="pooling", mitigations="bounds", shares=0.5)
    judged = mask(PoolingSelector().fit(rank_table(runs).reindex(list("uvwx"), level="docno")), 0.5)
    values = []
    for labels in itertools.product([0.0, 1.0], repeat=int((~judged).sum())):
        trial = qrels.copy()
        trial.loc[~judged, "label"] = labels
        values.append(score_systems(trial, runs, "rr")["rr"].means[list(runs)].to_numpy())
    middle = (np.min(values, axis=0) + np.max(values, axis=0)) / 2
    assert found.means[0, 0, 0, 0] == pytest.approx(middle)


def test_the_same_for_any_number_of_processes_and_by_seed():
    options = {"selections": ["random", "mtf"], "shares": [0.1, 0.4], "n_samples": 3}
    first, second = curve(**options), curve(**options, n_jobs=2)
    assert np.array_equal(first.means, second.means, equal_nan=True)
    other = curve(**options, random_state=1)
    assert not np.array_equal(first.means[0], other.means[0])
    assert np.array_equal(first.means[1], other.means[1], equal_nan=True)
    # A share has the same samples whichever others there are.
    alone = curve(**options | {"shares": 0.4})
    assert np.array_equal(alone.means[:, :, 0], first.means[:, :, 1], equal_nan=True)


def test_a_strategys_own_seed_is_not_used():
    given = {"mine": RandomSelector(random_state=5)}
    first = curve(selections=given, shares=0.2, n_samples=3)
    assert len(np.unique(first.tau[0, 0, 0])) > 1
    assert np.array_equal(first.means, curve(selections="random", shares=0.2, n_samples=3).means)


def test_order_of_rows_runs_and_topics_does_not_matter():
    runs = {name: run.sample(frac=1, random_state=1) for name, run in reversed(RUNS.items())}
    qrels = QRELS.sample(frac=1, random_state=2)
    options = {"missing": "empty", "shares": [0.1, 0.3], "selections": ["pooling", "mtc"]}
    first, second = judging_curve(QRELS, RUNS, **options), judging_curve(qrels, runs, **options)
    assert second.means[..., ::-1] == pytest.approx(first.means, nan_ok=True)
    assert second.tau == pytest.approx(first.tau, nan_ok=True)


def test_share_needed_by_hand():
    found = curve(shares=[0.1, 0.2, 0.4], selections="pooling", mitigations=["none", "condensed"])
    tau = np.array([[0.5, 0.95, 0.85], [0.85, 0.95, 0.92]])[None, :, :, None]
    found = dataclasses.replace(found, tau=tau)
    assert found.share_needed().loc["pooling"].tolist() == [np.inf, pytest.approx(0.15)]
    assert found.share_needed(tau=0.8).loc["pooling"].tolist() == pytest.approx(
        [0.1 + 0.1 / 1.5, 0.1]
    )


def test_intervals_are_quantiles_of_the_samples():
    found = curve(selections=["random", "pooling"], mitigations="none", shares=0.2, confidence=0.5)
    table = found.to_frame()
    low, high = np.quantile(found.tau[0, 0, 0], [0.25, 0.75])
    assert table.loc[0, ["tau_low", "tau_high"]].tolist() == pytest.approx([low, high])
    assert table.loc[1, ["tau_low", "rmse_high"]].isna().all()
    assert "50 % interval" in str(found)


def test_topics_that_runs_lack():
    run = QRELS[["qid", "docno"]].assign(score=1.0)
    runs = {"long": run, "short": run.query("qid != 'q2'")}
    with pytest.raises(InputError, match="topic 'q2' is not in the run 'short'"):
        judging_curve(QRELS, runs)
    found = judging_curve(QRELS, runs, missing="drop", shares=0.5)
    assert "q2" in found.dropped_queries
    assert "q2" not in found.queries


def test_documents_by_topic_and_numbers():
    table = QRELS[["qid", "docno"]].assign(signal=QRELS["label"])
    found = curve(
        documents=table, selections=["maxrep", "random"], mitigations="completed", n_samples=4
    )
    assert np.nanmean(found.tau[1, 0, -1]) > 0.9
    with pytest.warns(DataWarning, match="documents lacks 56 of 112 judged documents,"):
        curve(documents=table[:56], selections="random", mitigations="completed", n_samples=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mitigations": "completed"}, "documents is missing, which 'completed'"),
        ({"selections": "maxrep"}, "documents is missing, which 'maxrep'"),
        ({"selections": "best"}, "selections must hold names among maxrep, mtc"),
        ({"selections": []}, "selections is empty"),
        ({"selections": ["random", "random"]}, "selections names one thing twice"),
        ({"mitigations": "nothing"}, "mitigations must hold 'none', 'condensed'"),
        ({"shares": 0}, "shares must be numbers above 0"),
        ({"shares": []}, "shares must be numbers above 0"),
        ({"documents": {"x": "text"}}, "documents holds none of the 112 judged"),
        ({"documents": pd.Series({"d01": "a"}).repeat(2)}, "documents holds 'd01' twice"),
        ({"selections": {"f": lambda table: table["prior"] * np.nan}}, "returned NaN"),
        ({"selections": {"f": lambda table: [1.0]}}, "112"),
        ({"mitigations": {"f": lambda table: [1.0]}}, "112"),
        ({"measure": "bpref", "mitigations": "condensed"}, "defined by what is unjudged"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        curve(**options)


def test_one_run_and_foreign_ids():
    with pytest.raises(InputError, match="at least 2 runs"):
        judging_curve(QRELS, {"one": RUNS["run0"]}, missing="empty")
    qrels = QRELS.assign(docno="x" + QRELS["docno"])
    with pytest.raises(InputError, match="no run returns a judged document"):
        judging_curve(qrels, RUNS, missing="empty")


TEAMS = {f"run{number}": f"team{number // 2}" for number in range(7)}


def test_teams_that_are_left_out_have_no_say():
    found = leave_out_teams(QRELS, RUNS, teams=TEAMS, shares=[0.3, 1.0], missing="empty", depth=10)
    for place, name in enumerate(RUNS):
        others = [other for other in RUNS if TEAMS[other] != TEAMS[name]]
        ranks = RANKS[others].dropna(how="all")
        for at, share in enumerate((0.3, 1.0)):
            judged = ranks.index[mask(PoolingSelector().fit(ranks), share)]
            kept = QRELS[INDEX.isin(judged)]
            # Topics of which nothing is judged are empty ones.
            kept = pd.concat([kept, QRELS.drop_duplicates("qid").assign(docno="none", label=0.0)])
            bias = means_of(kept, "ap") - found.truth
            assert found.bias[0, 0, at, place] == pytest.approx(bias[place])
            is_other = [other in others for other in RUNS]
            assert found.other_bias[0, 0, at, place] == pytest.approx(bias[is_other].mean())
            estimates = found.truth + bias
            higher = (found.truth > found.truth[place]).sum()
            now = (estimates > estimates[place] + 1e-12).sum()
            assert found.rank_change[0, 0, at, place] == pytest.approx(higher - now)
    table = found.summary()
    assert table["unfairness"].to_numpy() == pytest.approx(
        (table["bias"] - table["other_bias"]).to_numpy()
    )
    assert found.to_frame()["team"].tolist()[:7] == list(TEAMS.values())


def test_a_system_that_stays_falls_by_no_place():
    run = QRELS[["qid", "docno"]].assign(score=np.arange(len(QRELS), 0, -1.0))
    found = leave_out_teams(QRELS, {"one": run, "two": run}, shares=1)
    assert "-0.000" not in str(found)
    # Of no teams, each run is one.
    assert "ap of 2 systems, each a team of its own, " in str(found)


def test_random_selections_are_averaged_over_samples():
    options = {"selections": "random", "missing": "empty", "shares": 0.3}
    found = leave_out_teams(QRELS, RUNS, **options, n_samples=4)
    again = leave_out_teams(QRELS, RUNS, **options, n_samples=4, n_jobs=2)
    assert np.array_equal(found.bias, again.bias)
    assert found.teams == found.systems
    assert np.isfinite(found.bias).all()


def test_bad_teams():
    with pytest.raises(InputError, match="at least 2 teams, got one, 'x'"):
        leave_out_teams(QRELS, RUNS, teams=dict.fromkeys(RUNS, "x"), missing="empty")
    with pytest.raises(InputError, match="no team for 6 of 7 runs"):
        leave_out_teams(QRELS, RUNS, teams={"run0": "x"}, missing="empty")

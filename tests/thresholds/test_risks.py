"""Promises hold whatever the order of rows, and cover all that is shown."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from all_thresholds import PLAIN, THRESHOLDS
from certificates import certified
from skfilterrank.cli import main
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.thresholds import (
    CertifiedThreshold,
    RiskMonitor,
    SegmentedThreshold,
    load_threshold,
    risk_certificate,
)

INF = np.inf


def shows_bad(y_true, shown, groups):
    return np.bincount(groups, shown & (y_true < 0)) > 0


RISKS = {
    "one rate": {"risks": {"any_forbidden@2": 0.4}},
    "a share": {"risks": {"forbidden@2": 0.4}},
    "good ones": {"risks": {"false_reject_rate": 0.9, "any_forbidden@2": 0.6}},
    "on average": {"risks": {"forbidden@2": 0.4}, "guarantee": "expectation"},
    "own cut-offs": {"risks": {"any_forbidden@1": 0.4, "forbidden@3": 0.5}, "measure": "ndcg_f@5"},
    "a function": {"risks": {shows_bad: 0.4}, "max_shown": 2},
    "all shown": {"risks": {"any_forbidden@2": 0.4}, "show_beyond_k": True},
}


@pytest.fixture(scope="module")
def tied():
    """Rows of 150 queries of 6 documents, whose scores are whole numbers from 0 to 4."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 0.0, 1.0, 2.0], 900, p=[0.3, 0.3, 0.2, 0.2])
    scores = np.clip(np.round(y + 1.5 + rng.normal(0, 1, 900)), 0, 4)
    return pd.DataFrame({"label": y, "score": scores, "qid": np.repeat(np.arange(150), 6)})


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(400, documents_per_query=8, random_state=0)


def orders_of(rows):
    """The rows with the best labels first, and with the forbidden ones first."""
    yield rows.sort_values("label", ascending=False, kind="stable")
    yield rows.sort_values("label", kind="stable")


def columns(rows):
    return {"groups": rows["qid"].to_numpy()}


def summary(certificate):
    return certificate.threshold, certificate.to_frame().drop(columns="n_tried").fillna(
        -1
    ).to_dict()


def certificates(rows, promise):
    """Collect the certificates of each way to calibrate on these rows."""
    y, scores = rows["label"].to_numpy(), rows["score"].to_numpy()
    promise = {"measure": "ndcg_f@2", "confidence_level": 0.9} | promise
    capped = CertifiedThreshold(**promise | {"max_shown": 2})
    for model in (CertifiedThreshold(**promise), capped):
        yield model.fit(scores, y, **columns(rows)).certificate_
    table = rows[["score"]].assign(half=np.where(rows["qid"] % 2 == 0, "even", "odd"))
    halves = SegmentedThreshold(capped, segment="half").fit(table, y, **columns(rows))
    yield from (each.certificate_ for each in halves.thresholds_.values())
    fixed = {name: promise[name] for name in ("risks", "confidence_level")}
    yield risk_certificate(y, scores, 1.5, **columns(rows), **fixed)


@pytest.mark.slow
@pytest.mark.parametrize("promise", RISKS.values(), ids=RISKS)
def test_the_order_of_calibration_rows_promises_nothing_more(tied, promise):
    expected = [summary(each) for each in certificates(tied, promise)]
    for rows in orders_of(tied):
        found = [summary(each) for each in certificates(rows, promise)]
        assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {}) for name in ("tuned", "first_k", "largest_gap", "surprise")),
        *((name, {}) for name in ("per_query", "expected")),
        *(("tuned", {"max_shown": 2, "abstain": n}) for n in ("score_gap", "score_regression")),
        ("tuned", {"min_shown": 1}),
        ("tuned", {"min_shown": 2, "max_shown": 3}),
    ],
    ids=str,
)
def test_the_order_of_rows_does_not_change_what_fit_finds(tied, name, parameters):
    model = clone(PLAIN[name]).set_params(measure="ndcg_f@2", **parameters)
    found = []
    for rows in (tied, *orders_of(tied)):
        fitted = clone(model).fit(rows["score"], rows["label"], **columns(rows))
        places = fitted.rank(tied["score"], **columns(tied))
        found.append([fitted.best_score_, fitted.held_out_score_, *places])
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tuned", "per_query", "expected", "largest_gap", "certified"])
def test_documents_of_equal_score_are_shown_together(tied, name):
    model = clone(THRESHOLDS[name])
    if name == "certified":
        model.set_params(risks={"any_forbidden": 0.4})
    model.fit(tied["score"], tied["label"], **columns(tied))
    shown = model.predict(tied["score"], **columns(tied)) > -INF
    assert 0 < shown.mean() < 1
    assert pd.Series(shown).groupby([tied["qid"], tied["score"]]).nunique().eq(1).all()


def test_ties_by_hand():
    # Two of three documents of one score are shown: the forbidden one and one good one, at worst.
    y, scores, groups = [1, -1, 1, 1], [0.5, 0.5, 0.5, 0.2], [0] * 4
    for risk, share in {"any_forbidden@2": 1.0, "forbidden@2": 0.5, shows_bad: 1.0}.items():
        found = risk_certificate(y, scores, 0.4, groups=groups, risks={risk: 0.05})
        (promise,) = found.promises.values()
        assert promise.observed == share
    monitor = RiskMonitor({"forbidden@2": 0.05})
    assert monitor.update(y, scores, groups=groups).rates["observed"].tolist() == [0.5]
    # Two of three good ones are rejected then, where one is shown behind the forbidden one.
    risks = {"any_forbidden@2": 0.99, "false_reject_rate": 0.9}
    groups, y, scores = np.repeat(np.arange(50), 4), np.tile(y, 50), np.tile(scores, 50)
    y[:100] = 1
    with pytest.warns(FitWarning, match="No threshold but"):
        found = certified(y, scores, risks, groups=groups, guarantee="expectation")
    assert found.promises["false_reject_rate"].observed == pytest.approx((1 / 2 + 2 / 3) / 2)


@pytest.fixture(scope="module")
def model(data):
    promise = {"risks": {"any_forbidden@3": 0.3}, "measure": "ndcg_f@3"}
    return CertifiedThreshold(**promise).fit(data.bayes_scores, data.y, groups=data.groups)


class TestNoMoreIsShownThanCovered:
    def test_every_way_to_serve(self, model, data, tmp_path):
        path = tmp_path / "filter.json"
        model.save(path)
        given = {"groups": data.groups}
        for each in (model, load_threshold(path)):
            places = each.rank(data.bayes_scores, **given)
            assert np.bincount(data.groups, places > 0).max() == 3
            assert ((each.predict(data.bayes_scores, **given) > -INF) == (places > 0)).all()
            margins = each.decision_function(data.bayes_scores, **given)
            assert ((margins >= 0) == (places > 0)).all()
        above = data.bayes_scores >= model.threshold_
        assert np.bincount(data.groups, above).max() > 3
        # The rate of all that is shown is that of the certificate.
        shown = model.predict(data.bayes_scores, **given) > -INF
        rate = (np.bincount(data.groups, shown & (data.y < 0)) > 0).mean()
        assert rate == model.certificate_.promises["any_forbidden@3"].observed

    def test_without_query_ids(self, model, data):
        with pytest.raises(InputError, match=r"at most 3 documents of each .* show_beyond_k=True"):
            model.predict(data.bayes_scores)

    def test_the_caller_may_show_more(self, model, data):
        free = clone(model).set_params(show_beyond_k=True)
        free.fit(data.bayes_scores, data.y, groups=data.groups)
        assert free.threshold_ == model.threshold_
        assert "The guarantee covers lists that show at most 3 documents." in str(
            model.certificate_
        )
        for each in (free, copy_of(free)):
            shown = each.predict(data.bayes_scores) > -INF
            assert (shown == (data.bayes_scores >= free.threshold_)).all()
            certificate = each.certificate_
            assert (certificate.max_shown, certificate.shows_more) == (3, True)
            assert "the guarantee covers the first 3 documents alone" in str(certificate)
            assert certificate.to_frame()["shows_more"].tolist() == [True]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("parameters", "most"),
        [
            ({"max_shown": 2}, 2),
            ({"max_shown": 5}, 3),
            ({"max_shown": 2, "show_beyond_k": True}, 2),
            ({"risks": {"any_forbidden@2": 0.3, "forbidden@4": 0.3}}, 2),
            ({"risks": {"any_forbidden@5": 0.3, "false_reject_rate": 0.9}}, 5),
            ({"risks": {shows_bad: 0.3}}, None),
            ({"risks": {shows_bad: 0.3}, "max_shown": 3}, 3),
            ({"risks": {"false_reject_rate": 0.5}}, None),
            ({"risks": {"empty_list_rate": 0.3}}, None),
            ({"risks": {"any_forbidden": 0.3}}, None),
            # The measure's cut-off says which threshold is best, and hides nothing.
            ({"risks": {"any_forbidden": 0.3}, "measure": "ndcg_f@4"}, None),
        ],
        # Addresses of functions differ between processes.
        ids=lambda each: re.sub(r" at 0x\w+", "", str(each)),
    )
    def test_the_smallest_cutoff_counts(self, model, data, parameters, most):
        other = clone(model).set_params(**parameters)
        other.fit(data.bayes_scores, data.y, groups=data.groups)
        for each in (other, copy_of(other)):
            places = each.rank(data.bayes_scores, groups=data.groups)
            assert each.certificate_.max_shown == most
            assert places.max() == (8 if most is None else most)

    def test_what_stands_behind_counts_as_filtered(self, data):
        risks = {"any_forbidden@2": 0.5, "false_reject_rate": 0.9}
        model = CertifiedThreshold(risks, confidence_level=0.9)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        hidden = np.isneginf(model.predict(data.bayes_scores, groups=data.groups))
        good = data.y > 0
        n_good = np.bincount(data.groups, good)
        rate = np.bincount(data.groups, good & hidden)[n_good > 0] / n_good[n_good > 0]
        promise = model.certificate_.promises["false_reject_rate"]
        assert promise.observed == pytest.approx(rate.mean())
        model.set_params(risks={"any_forbidden@1": 0.5, "false_reject_rate": 0.1})
        with pytest.raises(InputError, match=r"at most 1 document of each query hides 0.*good"):
            model.fit(data.bayes_scores, data.y, groups=data.groups)

    def test_a_fixed_threshold(self, data):
        given = {"groups": data.groups, "risks": {"any_forbidden@3": 0.05}}
        more = risk_certificate(data.y, data.bayes_scores, 0.2, confidence_level=0.9, **given)
        assert (more.max_shown, more.shows_more) == (3, True)
        fewer = risk_certificate(data.y, data.bayes_scores, 5.0, confidence_level=0.9, **given)
        assert (fewer.max_shown, fewer.shows_more) == (3, False)

    @pytest.mark.slow
    @pytest.mark.parametrize("more", [[], ["--show-beyond-k"]])
    def test_commands(self, data, tmp_path, more, capsys):
        qrels, run, saved, out = (str(tmp_path / name) for name in ("qrels", "run", "f", "out"))
        table = pd.DataFrame({"q": data.groups, "d": np.arange(len(data.y))})
        with open(qrels, "w") as q, open(run, "w") as r:
            for query, doc, label, score in zip(table["q"], table["d"], data.y, data.bayes_scores):
                q.write(f"{query} 0 d{doc} {label}\n")
                r.write(f"{query} Q0 d{doc} 1 {float(score)} x\n")
        options = ["--holes", "unjudged-label=none", "--k", "3", "--risk", "any_forbidden=0.3"]
        assert main(["threshold", qrels, run, *options, "--save", saved, *more]) == 0
        assert main(["apply", saved, run, "--out", out]) == 0
        with open(out) as lines:
            sizes = pd.Series([line.split()[0] for line in lines]).value_counts()
        assert (sizes.max() > 3) == bool(more)
        covers = "first 3 documents alone" if more else "show at most 3 documents"
        assert covers in capsys.readouterr().out


def copy_of(model):
    """The threshold as its file keeps it, where its risks have names."""
    if any(map(callable, model.risks)):
        return model
    file = io.StringIO()
    model.save(file)
    return load_threshold(io.StringIO(file.getvalue()))


def test_lists_of_other_sizes_end_a_promise():
    tens = make_rank_and_filter(100, documents_per_query=10, random_state=0)
    model = CertifiedThreshold({"any_forbidden": 0.4}, confidence_level=0.9)
    model.fit(tens.bayes_scores, tens.y, groups=tens.groups)
    short = np.repeat(np.arange(100), 2)
    with pytest.warns(DataWarning, match=r"need not hold for such lists: (?!.*ExpectedThreshold)"):
        model.predict(tens.bayes_scores[:200], groups=short)

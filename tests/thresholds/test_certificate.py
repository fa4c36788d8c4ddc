"""What a certificate says, and which labels could change it."""

import io
from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression

from certificates import certified, promise_at
from skfilterrank.cli import main
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import load_model, save_model
from skfilterrank.judgments import CompletedLabels, LabelPredictor
from skfilterrank.metrics import (
    any_forbidden_at_k,
)
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    SegmentedThreshold,
    load_threshold,
    risk_certificate,
)
from skfilterrank.thresholds._risks import BinomialBound

# Lists drawn at random often hold nothing that a promise could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries")


def test_a_certificate_cannot_be_changed():
    found = certified(
        np.ones(60),
        np.arange(60),
        {"any_forbidden": 0.05},
        groups=np.arange(60),
        confidence_level=0.9,
    )
    with pytest.raises(FrozenInstanceError):
        found.threshold = 0.5
    with pytest.raises(FrozenInstanceError):
        found.promises["any_forbidden"].max_risk = 0.5


def test_rounding_does_not_lift_the_upper_bound_over_the_level():
    # The smallest level that 45 queries without a failure allow, to the last digit.
    n = 45
    low, level = 0.01, 0.99
    while low < (middle := (low + level) / 2) < level:
        if BinomialBound(n, middle, 0.9).rules_out(np.zeros(n)):
            level = middle
        else:
            low = middle
    assert level < BinomialBound(n, level, 0.9).upper(np.zeros(n)) < level + 1e-12
    found = promise_at(
        np.tile([1, -1], n),
        np.tile([0.9, 0.1], n),
        {"any_forbidden": level},
        groups=np.repeat(np.arange(n), 2),
        confidence_level=0.9,
    )
    assert found.observed == 0
    assert found.upper_bound == level


def _unjudged_above(y, scores, groups, *, k, above):
    """Row numbers of unjudged documents among the first k places, by hand."""
    rows = []
    for query in np.unique(groups):
        own = np.flatnonzero(groups == query)
        if np.isnan(y[own]).all():
            continue
        for row in own[np.argsort(-scores[own], kind="stable")]:
            n_above = np.count_nonzero(scores[own] > scores[row])
            if np.isnan(y[row]) and scores[row] > above and n_above < k:
                rows.append(row)
    return rows


@pytest.mark.slow
def test_unjudged_documents_that_could_change_a_rate_are_listed(tmp_path):
    _, y, groups, scores = make_rank_and_filter(100, random_state=0)
    y = y.astype(float)
    y[::4] = np.nan
    scores = np.round(scores, 1)
    groups = np.char.add("q", (100 + groups).astype(str))
    given = {"groups": groups, "risks": {"any_forbidden@3": 0.2}}
    message = f"of {len(y)} documents are unjudged although a risk depends on them"
    with pytest.warns(DataWarning, match=message):
        chosen = certified(y, scores, **given)
    rows = _unjudged_above(y, scores, groups, k=3, above=chosen.lower)
    assert 0 < len(rows) < np.count_nonzero(np.isnan(y))
    with pytest.warns(
        DataWarning, match=rf"{len(rows)} of .*query '{groups[rows[0]]}' row {rows[0]}"
    ):
        certified(y, scores, **given)
    with pytest.warns(DataWarning, match=message):
        fixed = risk_certificate(y, scores, np.nextafter(chosen.lower, 1), **given)
    # Behind the first places, and below the lowest certified threshold, nothing need be judged.
    whole = y.copy()
    whole[rows] = 0
    assert certified(whole, scores, **given).n_unjudged == 0
    with pytest.warns(DataWarning, match=message):
        rejected = certified(whole, scores, {"false_reject_rate": 0.2}, groups=groups, max_shown=3)
    judged = pd.Series(whole).notna().groupby(groups).transform("any")
    assert rejected.n_unjudged == (np.isnan(whole) & judged).sum()
    empty = certified(y, scores, {"empty_list_rate": 0.2}, groups=groups)
    assert empty.n_unjudged == 0
    n_unjudged = len(rows)
    model = CertifiedThreshold({"any_forbidden@3": 0.2})
    with pytest.warns(DataWarning, match=message):
        model.fit(scores, y, groups=groups)
    model.save(tmp_path / "filter.json")
    kept = load_threshold(tmp_path / "filter.json").certificate_
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").certificate_
    for certificate in (chosen, fixed, model.certificate_, kept, loaded):
        assert certificate.n_unjudged == n_unjudged
        assert f"{n_unjudged} documents of these queries are unjudged" in str(certificate)
    for certificate in (chosen, fixed, model.certificate_, loaded):
        assert certificate.to_judge["row"].tolist() == rows
        assert certificate.to_judge["query"].tolist() == groups[rows].tolist()


NO = -np.inf


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=600, n_features=8, random_state=0)


class TestFixedThreshold:
    def test_binomial_bounds_are_those_of_scipy(self, data):
        found = risk_certificate(
            data.y,
            data.bayes_scores,
            0.3,
            groups=data.groups,
            risks={"any_forbidden@3": 0.05},
            confidence_level=0.9,
        )
        losses = any_forbidden_at_k(
            data.y,
            np.where(data.bayes_scores >= 0.3, data.bayes_scores, NO),
            groups=data.groups,
            k=3,
            average=None,
        )
        interval = binomtest(int(losses.sum()), len(losses)).proportion_ci(0.8)
        promise = found.promises["any_forbidden@3"]
        assert promise.observed == losses.mean()
        assert (promise.lower_bound, promise.upper_bound) == pytest.approx(
            (interval.low, interval.high)
        )

    @pytest.mark.parametrize(
        ("threshold", "verdict", "words"),
        [(5.0, "kept", "is at most 0.1"), (NO, "broken", "is above 0.1"), (0.22, "open", "may be")],
    )
    def test_verdicts(self, data, threshold, verdict, words):
        found = risk_certificate(
            data.y,
            data.bayes_scores,
            threshold,
            groups=data.groups,
            risks={"any_forbidden@3": 0.1},
            confidence_level=0.9,
        )
        assert found.promises["any_forbidden@3"].verdict == verdict
        assert words in str(found)
        assert not found.is_chosen

    def test_filtered_scores_need_no_threshold(self, data):
        params = {"groups": data.groups, "risks": {"any_forbidden": 0.1, "false_reject_rate": 0.5}}
        kept = np.where(data.bayes_scores >= 0.3, data.bayes_scores, NO)
        one = risk_certificate(data.y, kept, NO, confidence_level=0.9, **params)
        two = risk_certificate(data.y, data.bayes_scores, 0.3, confidence_level=0.9, **params)
        assert one.to_frame().equals(two.to_frame())

    @pytest.mark.parametrize("threshold", [None, "0.3", np.nan, True])
    def test_bad_threshold(self, data, threshold):
        with pytest.raises(ValueError, match="threshold must be a number"):
            risk_certificate(
                data.y,
                data.bayes_scores,
                threshold,
                groups=data.groups,
                risks={"any_forbidden": 0.05},
                confidence_level=0.9,
            )

    def test_no_query_counts(self):
        with pytest.raises(ValueError, match="no query counts for the risk 'false_reject_rate'"):
            risk_certificate(
                [-1, -1],
                [1, 2],
                0,
                groups=[1, 2],
                risks={"false_reject_rate": 0.05},
                confidence_level=0.9,
            )


@pytest.fixture(scope="module")
def judged():
    return make_rank_and_filter(400, documents_per_query=8, random_state=0)


def copy_of(model):
    """The threshold as its file keeps it."""
    file = io.StringIO()
    model.save(file)
    return load_threshold(io.StringIO(file.getvalue()))


class TestLabelsOfMachines:
    """A certificate states how many of its labels machines gave, wherever it is shown."""

    def check(self, certificate, n_machine):
        labels = "label" if n_machine == 1 else "labels"
        assert f"Machines gave {n_machine} {labels} of these queries" in str(certificate)
        assert "for labels of machines" in repr(certificate)
        assert (certificate.to_frame()["n_machine"] == n_machine).all()

    @pytest.mark.slow
    def test_every_way_to_promise(self, judged):
        judges = np.where(judged.groups % 4 == 0, "predicted:large", "people").astype(object)
        judges[judged.groups % 4 == 1] = None
        y = np.where(np.arange(len(judged.y)) % 16 == 0, 0.0, judged.y)
        n_machine = int((judged.groups % 4 == 0).sum())
        given = {"groups": judged.groups, "judged_by": judges}
        risks = {"any_forbidden@3": 0.4}
        self.check(risk_certificate(y, judged.bayes_scores, 0.2, **given, risks=risks), n_machine)
        model = CertifiedThreshold(risks).fit(judged.bayes_scores, y, **given)
        self.check(model.certificate_, n_machine)
        self.check(copy_of(model).certificate_, n_machine)
        X = pd.DataFrame(
            {"score": judged.bayes_scores, "part": np.where(judged.groups < 200, "a", "b")}
        )
        parts = SegmentedThreshold(model, segment="part").fit(X, y, **given)
        for name, part in parts.thresholds_.items():
            own = (X["part"] == name).to_numpy() & (judged.groups % 4 == 0)
            self.check(part.certificate_, int(own.sum()))
        by_people = model.fit(judged.bayes_scores, y, groups=judged.groups).certificate_
        assert "achine" not in str(by_people) + repr(by_people)

    @pytest.mark.slow
    def test_predicted_labels(self, judged):
        y = judged.y.astype(float)
        y[::10] = np.nan
        inner = RankAndFilter(LogisticRegression(), CertifiedThreshold({"any_forbidden@3": 0.6}))
        model = CompletedLabels(inner, predictor=LabelPredictor(shared=True))
        model.fit(judged.X, y, judged.groups)
        certificate = model.estimator_.certificate_
        assert 0 < certificate.n_machine < model.n_imputed_
        self.check(certificate, certificate.n_machine)

    @pytest.mark.slow
    @pytest.mark.parametrize("n_machine", [0, 30])
    def test_command(self, judged, tmp_path, n_machine, capsys):
        qrels, run, saved = (str(tmp_path / name) for name in ("qrels", "run", "filter.json"))
        with open(qrels, "w") as judgments, open(run, "w") as lists:
            rows = zip(judged.groups, judged.y, judged.bayes_scores)
            for row, (query, label, score) in enumerate(rows):
                judge = "predicted" if row < n_machine else "0"
                judgments.write(f"{query} {judge} d{row} {label}\n")
                lists.write(f"{query} Q0 d{row} 1 {float(score)} x\n")
        options = ["--holes", "forbidden,predicted=use", "--save", saved]
        options += ["--k", "3", "--risk", "any_forbidden=0.3"]
        assert main(["threshold", qrels, run, *options]) == 0
        shown = capsys.readouterr().out
        assert ("labels of machines" in shown) == ("Machines gave 30" in shown) == bool(n_machine)
        assert load_threshold(saved).certificate_.n_machine == n_machine

    def test_bad_input(self, judged):
        rows = (judged.y, judged.bayes_scores, 0.3)
        given = {"groups": judged.groups, "risks": {"any_forbidden": 0.05}}
        certify = partial(risk_certificate, *rows, **given)
        with pytest.raises(InputError, match="judged_by has 3 entries but there are"):
            certify(judged_by=["people"] * 3)
        with pytest.raises(InputError, match=r"judged_by must hold texts, .*; got boolean"):
            certify(judged_by=judged.y > 0)

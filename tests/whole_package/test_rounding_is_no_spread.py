"""Numbers that only rounding keeps apart are equal: no measure, test or ratio reads noise."""

import numpy as np
import pytest

from measure_table import MEASURES
from skfilterrank.metrics import evaluate, rank_filter_report
from skfilterrank.metrics._informativeness import QueryInformativeness
from thinned import thinned

SIZES = [3, 5, 7, 10, 11, 23]
NAMES = [name for name, each in MEASURES.items() if not each.columns]
FORMS = [
    *NAMES,
    *(f"{name}@3" for name in NAMES if MEASURES[name].takes_k),
    *(
        f"ul_normalized(measure={name})"
        for name in NAMES
        if MEASURES[name].takes_k and MEASURES[name].greater_is_better
        if name != "ul_normalized"
    ),
]
GAINS = [(0.1, None), (1 / 3, None), (0.7, "exp2"), (-0.1, None)]


def values_of(form, gain, gains, n_more, seed):
    """Values of queries whose documents are all alike, beside a query of `n_more` other rows."""
    rng = np.random.default_rng(seed)
    queries = np.repeat([f"q{i}" for i in range(len(SIZES))], SIZES)
    groups = np.append(queries, ["other"] * n_more)
    y_true = np.append(np.full(len(queries), gain), rng.choice([0.0, gain / 3, gain], n_more))
    y_score = np.concatenate([*(np.arange(n, 0.0, -1) for n in SIZES), rng.normal(size=n_more)])
    rows = rng.permutation(len(groups)) if seed else np.arange(len(groups))
    options = (
        {"n_items": 1000} if "n_items" in MEASURES[form.split("@")[0].split("(")[0]].options else {}
    )
    found = evaluate(
        y_true[rows],
        y_score[rows],
        form,
        groups=groups[rows],
        gains=gains,
        undefined="drop",
        **options,
    ).per_query
    return found[form].drop("other", errors="ignore").to_numpy()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", thinned(FORMS, parts=2))
def test_queries_whose_documents_are_all_alike(form):
    # With a cut-off or another measure around it, a measure is tried with one of them.
    chosen = GAINS if form in NAMES else GAINS[FORMS.index(form) % 3 :][:1]
    for gain, gains in chosen:
        try:
            expected = values_of(form, gain, gains, 0, 0)
        except ValueError:
            # Refused at any size: some measures take no forbidden documents, or no other measure.
            continue
        for n_more, seed in thinned(((1, 0), (17, 1), (90, 2)), turn=FORMS.index(form)):
            found = values_of(form, gain, gains, n_more, seed)
            np.testing.assert_allclose(found, expected, atol=1e-9)


def test_report_does_not_test_rounding():
    # The second system ties documents of equal gain, whose sums are rounded otherwise.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 20)
    y_true = rng.choice([0.1, 0.3, 1 / 3], 600)
    order = rng.random(600)
    scores = {"a": y_true + 1e-3 * order, "b": y_true}
    values = [
        evaluate(y_true, each, "ndcg_f@20", groups=groups).per_query for each in scores.values()
    ]
    assert (values[0] != values[1]).to_numpy().any()
    report = rank_filter_report(y_true, scores, groups=groups, k=20, baseline="a")
    assert report.loc["b", "p_value"] == 1.0


def test_rounding_does_not_order_queries():
    expected = np.array([0.3, 0.7, 0.2, 0.9])
    achieved = np.array([0.1 + 0.2, 0.8 - 0.1, 0.3 - 0.1, 0.9])
    found = QueryInformativeness.from_values(achieved, expected, n_queries=1)
    assert (achieved - expected).argmin() != 0
    assert found.uninformative.tolist() == [True, False, False, False]

"""What hypothesis may do to rows without changing any measure of any query."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measure_checks import NO, OF_ROWS, RandomRows, same, score
from measure_facts import CHECKS
from measure_table import MEASURES
from profiles import CHARACTERS, times
from reference import NONNEGATIVE, expected_failures, written
from skfilterrank.metrics import get_measure

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

ALL = sorted(MEASURES)
LABELS = st.sampled_from([-10.0, -1.0, -0.5, 0.0, 1.0, 1.0, 2.0, np.nan]) | st.floats(-9, 9)
DISTINCT = [NO, -1.5, 0.0, 1.0, 1e300]
SCORES = st.sampled_from([*DISTINCT, NO, 0.0])


@st.composite
def judged_rows(draw, scores=SCORES):
    """Rows of up to 4 queries, mixed up; some show nothing."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    groups = draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    n = len(groups)
    return RandomRows(
        y_true=np.array(draw(st.lists(LABELS, min_size=n, max_size=n))),
        y_score=np.array(draw(st.lists(scores, min_size=n, max_size=n))),
        groups=np.array(groups),
        ids=np.array(draw(st.permutations(range(n)))),
        order=np.array(draw(st.permutations(range(n)))),
        k=draw(st.sampled_from([None, 1, 2, 4])),
    )


def measure_of(name, rows):
    """A measure, and rows with labels that it takes."""
    if name in NONNEGATIVE:
        np.abs(rows.y_true, out=rows.y_true)
    return get_measure(written(name))


@pytest.mark.slow
@times(2)
@given(name=st.sampled_from(ALL), rows=judged_rows(), data=st.data())
def test_order_of_rows_names_of_queries_and_scale_of_scores(name, rows, data):
    measure = measure_of(name, rows)
    expected = score(measure, rows)
    n_queries = rows.n_queries
    kind = data.draw(
        st.sampled_from([st.integers(-(2**62), 2**62), st.text(CHARACTERS, max_size=3)])
    )
    names = data.draw(
        st.lists(kind, min_size=n_queries, max_size=n_queries, unique=True), label="names"
    )
    finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    scale = data.draw(st.sets(finite, min_size=4, max_size=4), label="other scores")
    rescaled = np.array([NO, *sorted(scale)])[np.searchsorted(DISTINCT, rows.y_score)]
    actual = score(
        measure,
        rows,
        y_true=rows.y_true[rows.order],
        y_score=rescaled[rows.order],
        groups=[names[query] for query in rows.groups[rows.order]],
    )
    same(actual, expected[sorted(range(n_queries), key=names.__getitem__)])


# Scores that the scales and types of the checks keep apart.
@pytest.mark.slow
@pytest.mark.parametrize("check", [*OF_ROWS, *CHECKS], ids=lambda check: check.__name__)
@times(1 / 3)
@given(name=st.sampled_from(ALL), rows=judged_rows(st.sampled_from([NO, -1.0, 0.0, 0.5, 3.0])))
def test_checks(check, name, rows):
    assume(check.__name__ not in expected_failures(name))
    assume(not np.isnan(rows.y_true).all())
    check(measure_of(name, rows), rows)

"""Several assessors: agreement by hand and by a printed example."""

import io
from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from profiles import times
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import assessor_agreement

# The data and values of Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
PRINTED = {
    "a": [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    "b": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    "c": [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    "d": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
}


def frames(**labels):
    """Make judgments of one query by assessor."""
    return {
        name: pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(len(of))], "label": of})
        for name, of in labels.items()
    }


def test_the_printed_example():
    found = assessor_agreement(frames(**PRINTED))
    assert found.krippendorff_alpha == pytest.approx(0.815, abs=0.0005)
    assert len(found.pairs) == 6
    assert repr(found) == (
        f"<AssessorAgreement: alpha {found.krippendorff_alpha:.4f} of 4 assessors, 3 of 11 "
        "documents with different labels>"
    )


def test_labels_that_are_all_one_say_why_nothing_is_known():
    found = assessor_agreement(frames(anna=[1, 1, nan], bob=[1, 1, 0]))
    assert np.isnan(found.krippendorff_alpha)
    assert "All labels of documents with several assessors are equal" in str(found)
    known = str(assessor_agreement(frames(anna=[1, 0], bob=[1, 1])))
    assert "are one" not in known
    # Beside an ordinal alpha.
    assert "unweighted kappa" in known


def test_by_hand():
    # Of five documents that both judged four are alike; both find two relevant, either three.
    found = assessor_agreement(frames(anna=[1, 1, 0, 0, 1, nan], bob=[1, 1, 0, 0, 0, 1]))
    (pair,) = found.pairs.to_dict("records")
    assert pair["n_both"] == 5
    assert pair["agreement"] == 4 / 5
    chance = (3 * 2 + 2 * 3) / 25
    assert pair["kappa"] == pytest.approx((4 / 5 - chance) / (1 - chance))
    assert pair["overlap"] == 2 / 3
    # One of five pairs differs; of ten labels, 5 are 1 and 5 are 0.
    assert found.krippendorff_alpha == pytest.approx(1 - (2 / 10) / (2 * 5 * 5 / (10 * 9)))
    assert found.disagreements.index.tolist() == [("1", "d4")]
    assert found.agreed["docno"].tolist() == ["d0", "d1", "d2", "d3", "d5"]
    assert found.agreed["label"].tolist() == [1, 1, 0, 0, 1]


def test_gains_say_what_is_relevant_for_the_overlap():
    labels = frames(anna=[2, 1, 1, 0], bob=[2, 2, 0, 0])
    (pair,) = assessor_agreement(labels).pairs.to_dict("records")
    assert pair["overlap"] == 2 / 3
    (pair,) = assessor_agreement(labels, gains={0: 0, 1: 0, 2: 1}).pairs.to_dict("records")
    assert pair["overlap"] == 1 / 2


def test_the_greatest_disagreements_come_first():
    found = assessor_agreement(frames(a=[0, 1, 0], b=[1, 1, 2]))
    assert found.disagreements.index.get_level_values("docno").tolist() == ["d2", "d0"]


@pytest.mark.slow
@times(0.5)
@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=12),
)
def test_kappa_is_scikit_learns_and_alpha_keeps_its_bounds(labels):
    first, second = map(list, zip(*labels))
    found = assessor_agreement(frames(a=first, b=second))
    (pair,) = found.pairs.to_dict("records")
    if len({*first, *second}) > 1:
        expected = cohen_kappa_score(first, second)
        np.testing.assert_allclose(pair["kappa"], expected, atol=1e-12, equal_nan=True)
        assert -1 <= found.krippendorff_alpha <= 1
        assert (found.krippendorff_alpha == 1) == (first == second)
    else:
        assert np.isnan([pair["kappa"], found.krippendorff_alpha]).all()


def test_files(tmp_path):
    (tmp_path / "anna.txt").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "bob.txt.gz").write_text("1 0 b 1\n1 0 a 1\n")
    found = assessor_agreement([tmp_path / "anna.txt", tmp_path / "bob.txt.gz"])
    assert list(found.labels) == ["anna", "bob"]
    assert found.disagreements.index.tolist() == [("1", "b")]


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ("qrels.txt", "qrels must be a list of paths, or a dict"),
        (frames(a=[1]), "judgments of two assessors, got 1"),
        (frames(a=[1, nan], b=[nan, 1]), "no document is judged by two assessors"),
        (
            frames(a=[1]) | {"b": pd.DataFrame({"qid": [1]})},
            "'docno' and 'label', got columns 'qid'",
        ),
        (frames(a=[1], b=[nan]), "hold no label"),
        (frames(a=[1], b=["no"]), r"numbers, got 'no': .* read_qrels\(qrels, gains=\)"),
        (frames(a=[1]) | {"b": pd.concat(2 * [*frames(b=[1]).values()])}, "'d0' twice in query"),
        (frames(a=[1]) | {"b": io.StringIO("1 0 a\n")}, "3 columns"),
    ],
)
def test_bad_judgments(qrels, message):
    with pytest.raises(InputError, match=message) as caught:
        assessor_agreement(qrels)
    assert "the run" not in "".join(getattr(caught.value, "__notes__", []))


def test_a_label_without_gain_is_one_of_the_judgments():
    with pytest.raises(InputError, match="qrels holds labels with no entry in gains: 2"):
        assessor_agreement(frames(a=[1, 2], b=[1, 1]), gains={1: 1})


@pytest.mark.slow
def test_many_different_labels_need_no_table_of_all_pairs():
    # A table of 40,000 by 40,000 labels would take 13 GB.
    rng = np.random.default_rng(0)
    documents = pd.DataFrame({"qid": "1", "docno": np.arange(20_000).astype(str)})
    both = {name: documents.assign(label=rng.random(20_000)) for name in "ab"}
    found = assessor_agreement(both)
    assert abs(found.krippendorff_alpha) < 0.05
    assert found.pairs["kappa"].abs().max() < 1e-3

"""Labels that are likely wrong."""

from math import nan

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from skfilterrank.exceptions import InputError
from skfilterrank.judgments import LabelPredictor, likely_errors


@pytest.fixture(scope="module")
def table():
    """Two topics of documents about themselves or not, some labels turned round."""
    rng = np.random.default_rng(0)
    rows = []
    for topic, words in {"cats": "cat purr claw mouse milk", "boats": "sail oar wave wind"}.items():
        for number in range(40):
            label = number % 2
            about = words if label else "tax law court bank money"
            text = " ".join(
                [*rng.choice(about.split(), 4), *rng.choice(["the", "of", "a", "in"], 4)]
            )
            rows.append((topic, f"d{number}", text, label))
    table = pd.DataFrame(rows, columns=["qid", "docno", "text", "label"])
    table["wrong"] = table.index.isin([3, 18, 41, 66])
    table.loc[table["wrong"], "label"] = 1 - table["label"]
    return table


def test_labels_that_are_turned_round_are_listed(table):
    found = likely_errors(table)
    assert set(found.index) == {3, 18, 41, 66}
    assert list(found) == ["qid", "docno", "label", "predicted", "neighbors", "doubt"]
    assert (found["predicted"] == 1 - found["label"]).all()
    assert found["doubt"].is_monotonic_decreasing
    assert found["doubt"].between(0, 1, inclusive="right").all()


def test_order_of_rows_and_unjudged_rows(table):
    shuffled = table.sample(frac=1, random_state=1)
    shuffled = pd.concat([shuffled, shuffled.iloc[:5].assign(docno=list("vwxyz"), label=nan)])
    found = likely_errors(shuffled.reset_index(drop=True))
    assert set(zip(found["qid"], found["docno"])) == set(
        zip(table["qid"][table["wrong"]], table["docno"][table["wrong"]])
    )


def test_other_columns_and_features(table):
    numbers = table["text"].str.contains(r"\b(?:tax|law|court|bank|money)\b").astype(float)
    other = table.rename(columns={"qid": "topic", "label": "grade"}).assign(about=numbers)
    predictor = LabelPredictor(query="topic", label="grade", text=None, features=["about"])
    found = likely_errors(other, predictor=predictor)
    assert list(found)[:3] == ["topic", "docno", "grade"]
    assert set(found.index) == {3, 18, 41, 66}
    assert not hasattr(predictor, "models_")


def test_what_cannot_be_told():
    # One label in a topic; a label that one document has; a single document.
    table = pd.DataFrame(
        {
            "qid": list("111122223"),
            "docno": list("abcdabcda"),
            "text": ["cat"] * 9,
            "label": [1, 1, 1, 1, 0, 0, 0, 1, 1],
        }
    )
    assert likely_errors(table).empty


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictor": "svm"}, "predictor must be a LabelPredictor or None"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number from 1 up"),
        ({"predictor": LabelPredictor(text="body")}, "no column 'body'"),
    ],
)
def test_bad_parameters(table, options, message):
    with pytest.raises(InputError, match=message):
        likely_errors(table, **options)


@pytest.mark.slow
@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_neighbors_and_doubt_by_hand(table, n_neighbors):
    table = table.assign(label=table["label"] * 2)  # labels 0 and 2 are 2 apart
    found = likely_errors(table, n_neighbors=n_neighbors)
    assert set(found.index) >= {3, 18, 41, 66}
    similar = cosine_similarity(TfidfVectorizer().fit_transform(table["text"]))
    for row, listed in found.iterrows():
        others = table.index[(table["qid"] == listed["qid"]) & (table.index != row)]
        nearest = others[np.argsort(-similar[row, others], kind="stable")[:n_neighbors]]
        weights, labels = similar[row, nearest], table["label"][nearest]
        assert listed["neighbors"] == pytest.approx(weights @ labels / weights.sum())
        away = abs(listed["predicted"] - listed["label"])
        away += abs(listed["neighbors"] - listed["label"])
        assert listed["doubt"] == pytest.approx(away / (2 * 2))

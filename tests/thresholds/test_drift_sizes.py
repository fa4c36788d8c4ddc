"""Lists of other sizes than those that the threshold was chosen on."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from all_thresholds import PLAIN
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.thresholds import TunedThreshold


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(300, random_state=0)


@pytest.fixture(scope="module")
def tens():
    return make_rank_and_filter(100, documents_per_query=10, random_state=0)


def fitted(data, **parameters):
    model = TunedThreshold("ndcg_f@3", **parameters)
    return model.fit(data.bayes_scores, data.y, groups=data.groups)


class TestListSizes:
    def test_lists_of_other_sizes_are_warned_of(self, tens):
        model = fitted(tens)
        assert model.list_sizes_.tolist() == [10, 10]
        message = r"100 % of the lists have other sizes \(median 1 documents\).* ExpectedThreshold"
        first = np.arange(0, 1000, 10)
        with pytest.warns(DataWarning, match=message):
            model.predict(tens.bayes_scores[first], groups=tens.groups[first])
        # Once is enough, until the next fit.
        model.predict(tens.bayes_scores[first], groups=tens.groups[first])
        model.fit(tens.bayes_scores, tens.y, groups=tens.groups)
        with pytest.warns(DataWarning, match=message):
            model.predict(tens.bayes_scores[first], groups=tens.groups[first])

    def test_queries_that_come_one_by_one(self, tens):
        model = fitted(tens)
        for _ in range(29):  # so few may be so by chance
            model.predict(tens.bayes_scores[:16], groups=np.zeros(16))
        with pytest.warns(DataWarning, match="median 16 documents"):
            model.predict(tens.bayes_scores[:16], groups=np.zeros(16))
        model.predict(tens.bayes_scores[:16], groups=np.zeros(16))

    def test_usual_lists_before_do_not_hide_others(self, tens):
        model = fitted(tens)
        model.predict(tens.bayes_scores, groups=tens.groups)
        first = np.arange(0, 1000, 10)
        with pytest.warns(DataWarning, match="100 % of the lists"):
            model.predict(tens.bayes_scores[first], groups=tens.groups[first])

    def test_what_was_served_is_not_part_of_the_model(self, tens):
        model = fitted(tens)
        before = pickle.dumps(model)
        model.predict(tens.bayes_scores[:16], groups=np.zeros(16))
        assert pickle.dumps(model) == before

    def test_documents_without_a_score_are_no_part_of_a_list(self, tens):
        # Judged but not retrieved, as in qrels that are joined to a run.
        first = np.arange(len(tens.y)) % 10 < 5
        scores = np.where(first, tens.bayes_scores, -np.inf)
        model = TunedThreshold("ndcg_f@3").fit(scores, tens.y, groups=tens.groups)
        assert model.list_sizes_.tolist() == [5, 5]
        model.predict(scores[first], groups=tens.groups[first])
        model.predict(scores, groups=tens.groups)
        with pytest.warns(DataWarning, match="median 10 documents"):
            model.predict(tens.bayes_scores, groups=tens.groups)

    def test_few_others_and_usual_ones_are_not(self, tens):
        model = fitted(tens)
        for n in (7, 10, 15):
            groups = np.repeat(np.arange(30), n)
            model.predict(np.resize(tens.bayes_scores, len(groups)), groups=groups)
        for _ in range(40):
            model.predict(tens.bayes_scores[:16])  # without queries nothing is known
        groups = np.repeat(np.arange(40), [1] * 10 + [10] * 30)
        model.predict(np.resize(tens.bayes_scores, len(groups)), groups=groups)
        groups = np.repeat(np.arange(40), [1] * 11 + [10] * 29)
        with pytest.warns(DataWarning, match="28 % of the lists"):
            model.predict(np.resize(tens.bayes_scores, len(groups)), groups=groups)

    @pytest.mark.slow
    def test_what_follows_the_size_does_not_warn(self, tens):
        first = np.arange(0, 1000, 10)
        for name in ("per_query", "expected", "fixed", "all"):
            model = clone(PLAIN[name]).fit(tens.bayes_scores, tens.y, groups=tens.groups)
            model.predict(tens.bayes_scores[first], groups=tens.groups[first])

    def test_without_queries_at_fit(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TunedThreshold().fit(data.bayes_scores, data.y)
        model.predict(data.bayes_scores, groups=data.groups)

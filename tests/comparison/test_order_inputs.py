"""What says what an order of systems is."""

import pandas as pd
import pytest

from skfilterrank.comparison import SystemScores, kendall_tau, order_systems, swap_rate, tau_ap


class TestWhatIsAnOrder:
    scores = SystemScores(
        [[0.1, 0.9, 0.9], [0.5, 0.7, 0.6], [0.9, 0.4, 0.1]], systems=["a", "b", "c"], measure="ap"
    )

    @pytest.mark.slow
    @pytest.mark.parametrize("measure", [kendall_tau, tau_ap, swap_rate])
    def test_whatever_says_so(self, measure):
        truth = ["b", "c", "a"]
        frame = pd.DataFrame({"value": [1.0, 3.0, 2.0]}, index=["a", "c", "b"])
        assert measure(truth, frame) == measure(truth, ["c", "b", "a"])
        expected = measure(truth, self.scores.means)
        long = self.scores.to_frame().T.melt(ignore_index=False, value_name="ap").reset_index()
        for each in (self.scores, {"ap": self.scores}, long, long.set_index(["system", "qid"])):
            assert measure(truth, each) == expected
        assert measure(truth, long.set_index(["system", "qid"])["ap"]) == expected

    def test_ranks_of_an_order_of_systems(self):
        order = order_systems(self.scores, n_resamples=0, random_state=0)
        assert kendall_tau(order, dict(zip(order.systems, -order.rank))) == 1

    def test_tables_of_several_values(self):
        frame = pd.DataFrame({"ap": [1, 2], "rr": [3, 4]}, index=["a", "b"])
        with pytest.raises(ValueError, match=r"several measures, 'ap', 'rr': .* second\['ap"):
            kendall_tau(["a", "b"], frame)

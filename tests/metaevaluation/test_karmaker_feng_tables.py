"""What the printed tables of Karmaker and Feng (2022) allow to be computed again.

Tables 2 to 5 and 12 to 15 hold the scores of eight methods over all queries at five cutoffs. The
columns "All" of Tables 6 and 16 (Kendall's tau), 9 and 19 (PAD), 10 and 20 (swap rate across data
sets) follow from them. All three start from the mean of each method over the cutoffs. The columns
for sets of queries, Tables 11 and 21, and the significance tests need values of single queries.
"""

from pathlib import Path

import pandas as pd
import pytest

from skfilterrank.comparison import SystemScores, kendall_tau, swap_rate

WEB, MQ = "MSLR-WEB30K", "MQ2007"
TABLE = pd.read_csv(Path(__file__).parent / "data" / "karmaker_feng_tables.csv", comment="#")
SCORES = {
    key: table.set_index("method").filter(like="at_")
    for key, table in TABLE.groupby(["data_set", "measure"])
}
MEANS = {key: table.mean(axis=1) for key, table in SCORES.items()}
# 8 methods make 28 pairs, so that tau moves in steps of 2 / 28 and the swap rate of 1 / 28.
N_PAIRS = 28
# What is printed has often been cut off rather than rounded, as 0.928 for 26 / 28.
LAST_DIGIT = 0.001


def test_table_is_complete():
    assert len(SCORES) == 12
    assert all(table.shape == (8, 5) for table in SCORES.values())
    assert SCORES[WEB, "nDCG"].loc["LMART", "at_30"] == 0.513


def percent(means, **params):
    return SystemScores(means).percentage_differences(**params).mean()


@pytest.mark.parametrize(
    ("data_set", "old", "new", "opposite", "printed"),
    [
        (WEB, "nDCG", "DCG V1", 0, 1),
        (WEB, "nDCG", "DCG V2", 0, 1),
        (MQ, "nDCG", "DCG V1", 0, 1),
        (MQ, "nDCG", "DCG V2", 3, 0.785),
        (WEB, "MAP", "MSP V1", 0, 1),
        (WEB, "MAP", "MSP V2", 1, 0.928),
        (MQ, "MAP", "MSP V1", 0, 1),
        (MQ, "MAP", "MSP V2", 3, 0.785),
    ],
)
def test_kendall_tau_of_tables_6_and_16(data_set, old, new, opposite, printed):
    tau = kendall_tau(MEANS[data_set, old], MEANS[data_set, new])
    assert tau == pytest.approx(1 - 2 * opposite / N_PAIRS)
    assert tau == pytest.approx(printed, abs=LAST_DIGIT)


@pytest.mark.parametrize(
    ("data_set", "measure", "printed"),
    [
        (WEB, "DCG V2", 46.7),
        (MQ, "nDCG", 1.74),
        (MQ, "DCG V2", 6.42),
        (WEB, "MAP", 25.57),
        (MQ, "MAP", 5.91),
        (WEB, "MSP V1", 31.84),
    ],
)
def test_percentage_absolute_difference_of_tables_9_and_19(data_set, measure, printed):
    # Scores of four digits leave the second decimal of the percentage open.
    found = percent(SCORES[data_set, measure])
    assert found == pytest.approx(printed, abs=0.025)


def test_percentage_absolute_difference_of_negative_means():
    with pytest.warns(UserWarning, match="2 of 8 means are negative"):
        found = percent(SCORES[WEB, "MSP V2"])
    # Printed is 97.63, which four digits, with an error of 0.12 at most, reach from here.
    assert found == pytest.approx(97.51, abs=0.005)
    assert found == pytest.approx(97.63, abs=0.125)
    # By the letter the pair of LNet and RNet, both negative, counts with the other sign.
    with pytest.warns(UserWarning, match="2 of 8 means are negative"):
        letter = percent(SCORES[WEB, "MSP V2"], divide_by="letter")
    assert letter == pytest.approx(97.39, abs=0.005)


@pytest.mark.parametrize(
    ("measure", "opposite", "printed"),
    [("DCG V2", 3, 0.107), ("MAP", 7, 0.25), ("MSP V1", 7, 0.25), ("MSP V2", 5, 0.178)],
)
def test_swap_rate_across_data_sets_of_tables_10_and_20(measure, opposite, printed):
    rate = swap_rate(MEANS[WEB, measure], MEANS[MQ, measure])
    assert rate == pytest.approx(opposite / N_PAIRS)
    assert rate == pytest.approx(printed, abs=LAST_DIGIT)

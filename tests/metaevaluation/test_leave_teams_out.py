"""Systems whose team had no say in what was judged."""

import numpy as np
import pandas as pd
import pytest

from judged_topics import INDEX, QRELS, RANKS, RUNS, means_of
from selections import mask
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import PoolingSelector
from skfilterrank.metaevaluation import leave_teams_out

TEAMS = {f"run{number}": f"team{number // 2}" for number in range(7)}


@pytest.mark.slow
def test_teams_that_are_left_out_have_no_say():
    found = leave_teams_out(
        QRELS, RUNS, teams=TEAMS, shares=[0.3, 1.0], missing="empty", depth=10, random_state=0
    )
    for team in set(TEAMS.values()):
        others = [other for other in RUNS if TEAMS[other] != team]
        places = [place for place, name in enumerate(RUNS) if TEAMS[name] == team]
        is_other = [other in others for other in RUNS]
        ranks = RANKS[others].dropna(how="all")
        for at, share in enumerate((0.3, 1.0)):
            judged = ranks.index[mask(PoolingSelector().fit(ranks), share)]
            kept = QRELS[INDEX.isin(judged)]
            # Topics of which nothing is judged are empty ones.
            kept = pd.concat([kept, QRELS.drop_duplicates("qid").assign(docno="none", label=0.0)])
            bias = means_of(kept, "ap") - found.truth
            estimates = found.truth + bias
            for place in places:
                assert found.bias[0, 0, at, place] == pytest.approx(bias[place])
                assert found.other_bias[0, 0, at, place] == pytest.approx(bias[is_other].mean())
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
    found = leave_teams_out(QRELS, {"one": run, "two": run}, shares=1, random_state=0)
    assert "-0.000" not in str(found)
    # Of no teams, each run is one.
    assert "ap of 2 systems, each a team of its own, " in str(found)


def test_bad_teams():
    with pytest.raises(InputError, match="at least 2 teams, got only 'x'"):
        leave_teams_out(
            QRELS, RUNS, teams=dict.fromkeys(RUNS, "x"), missing="empty", random_state=0
        )
    with pytest.raises(InputError, match="no team for 6 of 7 runs"):
        leave_teams_out(QRELS, RUNS, teams={"run0": "x"}, missing="empty", random_state=0)

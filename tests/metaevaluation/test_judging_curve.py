"""Order and values of systems by few labels."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from judged_topics import curve
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation._judging_curve import _tau

pytestmark = pytest.mark.slow


def test_share_needed_by_hand():
    found = curve(shares=[0.1, 0.2, 0.4], selections="pooling", mitigations=["none", "condensed"])
    tau = np.array([[0.5, 0.95, 0.85], [0.85, 0.95, 0.92]])[None, :, :, None]
    found = dataclasses.replace(found, tau=tau)
    assert found.share_needed().loc["pooling"].tolist() == [np.inf, pytest.approx(0.15)]
    assert found.share_needed(tau=0.8).loc["pooling"].tolist() == pytest.approx(
        [0.1 + 0.1 / 1.5, 0.1]
    )


def test_tau_of_ties_by_hand():
    # Six pairs: four in order, one tied by the truth alone, one by the few labels alone.
    assert _tau(np.array([1.0, 2, 2, 3]), np.array([1.0, 2, 3, 3])) == pytest.approx(4 / 5)


def test_intervals_are_quantiles_of_the_samples():
    found = curve(selections=["random", "pooling"], mitigations="none", shares=0.2)
    table = found.to_frame()
    low, high = np.quantile(found.tau[0, 0, 0], [0.025, 0.975])
    assert table.loc[0, ["tau_low", "tau_high"]].tolist() == pytest.approx([low, high])
    assert table.loc[1, ["tau_low", "rmse_high"]].isna().all()
    assert "95 % interval" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mitigations": "completed"}, "documents must be given for 'completed'"),
        ({"selections": "maxrep"}, "documents must be given for 'maxrep'"),
        ({"selections": "feedback"}, "documents must be given for 'feedback'"),
        ({"selections": "best"}, "selections must hold names among feedback, maxrep"),
        ({"selections": []}, "selections must not be empty"),
        ({"selections": ["random", "random"]}, "selections must hold distinct names"),
        ({"mitigations": "nothing"}, "mitigations must hold 'none', 'condensed'"),
        ({"shares": 0}, "shares must be a finite number above 0 and up to 1, got 0"),
        ({"shares": []}, "shares is empty"),
        ({"documents": {"x": "text"}}, "documents has nothing for docno of the runs"),
        ({"documents": pd.Series({"d01": "a"}).repeat(2)}, "documents holds 'd01' twice"),
        (
            {"selections": {"f": lambda table: table["prior"] * np.nan}},
            "must be a number for each document, got NaN",
        ),
        ({"selections": {"f": lambda table: [1.0]}}, "112"),
        ({"mitigations": {"f": lambda table: [1.0]}}, "112"),
        ({"measure": "bpref", "mitigations": "condensed"}, "defined by the unjudged"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        curve(**options)

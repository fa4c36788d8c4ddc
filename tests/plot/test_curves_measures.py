import numpy as np
import pytest

from skfilterrank.comparison import SystemScores
from skfilterrank.metaevaluation import sensitivity_curve, stability_curve
from skfilterrank.plot import MeasureCurvesDisplay

RANDOM = np.random.RandomState(0)
SCORES = {
    name: SystemScores(RANDOM.uniform(size=(4, 20)) + shift, measure=name)
    for name, shift in (("ap", [[0], [0.2], [0.3], [0.4]]), ("rr", [[0], [0], [0.1], [0.1]]))
}
KINDS = {
    "stability": (
        stability_curve,
        {"sizes": [2, 5, 20], "n_resamples": 20, "random_state": 3},
        ("n_queries", "error_rate"),
    ),
    "sensitivity": (
        sensitivity_curve,
        {"alphas": [0.01, 0.05, 0.2], "n_resamples": 100, "random_state": 3},
        ("alpha", "success_rate"),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def drawn(compute, scores, params, **kwargs):
    curves = {name: compute(each, **params) for name, each in scores.items()}
    return MeasureCurvesDisplay(curves).plot(**kwargs)


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_lines_are_the_curves(kind):
    compute, params, (x, y) = kind
    display = drawn(compute, SCORES, params)
    assert list(display.lines_) == list(SCORES) == legend(display)
    for name, line in display.lines_.items():
        curve = compute(SCORES[name], **params)
        np.testing.assert_array_equal(line.get_xdata(), getattr(curve, x))
        np.testing.assert_array_equal(line.get_ydata(), getattr(curve, y))
        np.testing.assert_array_equal(getattr(display.curves[name], y), getattr(curve, y))
    assert len({line.get_color() for line in display.lines_.values()}) == 2
    assert len({line.get_marker() for line in display.lines_.values()}) == 2
    assert display.ax_.get_ylim()[0] == 0


def test_one_measure_is_named_after_itself(kind):
    compute, params, _ = kind
    display = compute(SCORES["rr"], **params).plot()
    assert list(display.lines_) == ["rr"] == legend(display)
    assert display.curves["rr"].measure == "rr"
    plain = compute(RANDOM.uniform(size=(2, 20)), **params).plot()
    assert len(plain.lines_) == 1


@pytest.mark.slow
def test_computed_curves(kind):
    compute, params, (_, y) = kind
    curves = [compute(scores, **params) for scores in SCORES.values()]
    display = MeasureCurvesDisplay(curves).plot()
    assert list(display.lines_) == ["ap", "rr"]
    assert list(display.curves.values()) == curves
    assert list(MeasureCurvesDisplay(curves[1]).plot().lines_) == ["rr"]
    named = MeasureCurvesDisplay({"mine": curves[0], "yours": curves[0]}).plot()
    assert legend(named) == ["mine", "yours"]
    np.testing.assert_array_equal(named.lines_["yours"].get_ydata(), getattr(curves[0], y))


@pytest.mark.slow
def test_degenerate_values_are_drawn(kind):
    compute, params, _ = kind
    tied = drawn(compute, {"tied": np.ones((2, 20))}, params)
    constant = drawn(compute, {"constant": [[1] * 20, [2] * 20]}, params)
    for display in (tied, constant):
        (line,) = display.lines_.values()
        assert np.isfinite(line.get_ydata()).all()
        display.figure_.draw_without_rendering()


@pytest.mark.slow
def test_many_long_names_do_not_cover_the_curves(kind):
    compute, params, _ = kind
    curve = compute(SCORES["ap"], **params)
    names = [f"ndcg_f(gains=exp2, unjudged=skip, undefined=0)@{k}" for k in range(9)]
    display = MeasureCurvesDisplay(dict.fromkeys(names, curve)).plot()
    display.figure_.draw_without_rendering()
    box = display.ax_.get_legend().get_window_extent()
    assert not box.overlaps(display.ax_.bbox)
    assert box.x1 <= display.figure_.bbox.x1
    assert len(set(legend(display))) == 9
    styles = {(line.get_color(), line.get_marker()) for line in display.lines_.values()}
    assert len(styles) == 9


@pytest.mark.slow
def test_numbers_of_queries_are_whole():
    curve = stability_curve(SCORES["ap"], sizes=[2, 3], n_resamples=5, random_state=0)
    display = curve.plot()
    display.figure_.draw_without_rendering()
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())


def test_errors(kind):
    compute, params, _ = kind
    curve = compute(SCORES["ap"], **params)
    with pytest.raises(ValueError, match="2 are of the measure 'ap'; pass a dict"):
        MeasureCurvesDisplay([curve, curve])
    with pytest.raises(ValueError, match=r"or all of sensitivity_curve, got S\w+Curve and int"):
        MeasureCurvesDisplay({"ap": curve, "other": 3})
    with pytest.raises(ValueError, match="at least one curve"):
        MeasureCurvesDisplay([])
    with pytest.raises(ValueError, match="curves must be a list of curves, got 3"):
        MeasureCurvesDisplay(3)


def test_curves_of_both_kinds_are_refused():
    stability = stability_curve(SCORES["ap"], sizes=[2], n_resamples=5, random_state=0)
    sensitivity = sensitivity_curve(SCORES["ap"], n_resamples=100, random_state=0)
    with pytest.raises(ValueError, match="got SensitivityCurve and StabilityCurve"):
        MeasureCurvesDisplay({"ap": stability, "rr": sensitivity})

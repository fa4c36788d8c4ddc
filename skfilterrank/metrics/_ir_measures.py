"""Use of our measures in ir_measures expressions and in PyTerrier experiments."""

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd

from skfilterrank._files.tokens import id_tokens
from skfilterrank._lists.gains import own_reading
from skfilterrank._lists.measure import MEASURES, ParsedMeasure
from skfilterrank._lists.measure_names import get_measure_names
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.io import QrelsIndex
from skfilterrank.metrics._evaluate_runs import OF_QRELS, values_of_run

_SHARED = {
    "gains": (dict, str),
    "ties": (str,),
    "unjudged": (str,),
    "undefined": (int, float),
    "unjudged_label": (int, float, str, type(None)),
    "predicted": (str,),
}


@cache
def register_with_ir_measures() -> SimpleNamespace:
    """Make every measure of the measure table known to ir_measures.

    After the call ``ir_measures.parse_measure("nDCG_f@20")`` works, and
    ``ir_measures.calc_aggregate`` takes our measures beside its own, as does PyTerrier's
    ``Experiment``. Calling it again changes nothing. On Python 3.14, ir_measures 0.4.3 cannot parse
    names that contain a number, not even its own ``"AP@10"``: write ``nDCG_f @ 20`` there.

    Returns
    -------
    namespace : SimpleNamespace
        The measures by name: ``nDCG_f``, ``nDCG_min``, ``nDCG_0``, and all by their names in the
        measure table, such as ``lexirecall`` or ``rbp``. ``nDCG_f @ 20`` sets the cut-off,
        ``rbp(persistence=0.95)`` an option; every measure takes ``rel``, ``gains``, ``ties``,
        ``judged_only``, ``unjudged``, ``undefined`` (a number), ``unjudged_label`` and
        ``predicted`` too, the last two as :func:`evaluate_runs` does. They can be pickled; where
        they are loaded, the measures are registered too.

    Raises
    ------
    ImportError
        If ir_measures is not installed.
    ValueError
        If ir_measures knows another measure by one of the names; none is registered then.

    See Also
    --------
    evaluate_runs : Evaluates runs without ir_measures, and faster.

    Notes
    -----
    As everywhere for runs, ties are broken by document id, descending, unless ``ties=`` says
    otherwise; queries that are not in the run count as empty lists; and collections have
    1,000,000 documents unless ``n_items=`` says otherwise. Names are those of skfilterrank, so
    nothing of ir_measures is replaced: its ``AP`` stays beside our ``ap``. A run that is empty, or
    has no query of the judgments, counts as empty lists.

    Two rules follow ir_measures and differ from the rest of skfilterrank. A label that the dict
    ``gains`` does not name is its own gain, so ``gains={2: 5}`` changes label 2 alone. Judgments
    without rows give no values. One rule differs from ir_measures: its measures from trec_eval 9
    round scores to single precision, which can create ties; our measures do not. To get the same
    ties from both, round the scores of the run, for example with ``score.astype("float32")``.

    Examples
    --------
    >>> import ir_measures
    >>> from skfilterrank.metrics import register_with_ir_measures
    >>> measures = register_with_ir_measures()
    >>> qrels = {"1": {"a": 2, "b": 0, "c": 1}}
    >>> run = {"1": {"a": 0.9, "b": 0.8}}
    >>> values = ir_measures.calc_aggregate([measures.nDCG_f @ 20, ir_measures.AP], qrels, run)
    >>> print(f"{values[measures.nDCG_f @ 20]:.3f} {values[ir_measures.AP]:.3f}")
    0.760 0.500
    """
    try:
        import ir_measures
    except ModuleNotFoundError as error:
        if error.name != "ir_measures":
            raise
        raise MissingPackageError(
            "register_with_ir_measures needs ir_measures, which is not installed: "
            "pip install 'skfilterrank[ir-measures]'."
        ) from error

    entries = [MEASURES[name] for name in get_measure_names()]
    names = {entry.title: entry for entry in entries}
    measures = {name: _measure_class(name, entry)() for name, entry in names.items()}
    registry = ir_measures.measures.registry
    taken = sorted({*names, *MEASURES} & registry.keys())
    if taken:
        raise InputError(
            f"ir_measures knows other measures by the names {', '.join(taken)}; nothing was "
            "registered. Register those under other names, or remove them from "
            "ir_measures.measures.registry first."
        )
    for name, measure in measures.items():
        aliases = {measure.TABLE_NAME} - {name}
        ir_measures.measures.register(measure, aliases=sorted(aliases))
    provider = _provider_class()()
    ir_measures.providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)
    return SimpleNamespace(**{m.TABLE_NAME: m for m in measures.values()} | measures)


def _loaded(name, params):
    """Return a measure from its pickle."""
    return getattr(register_with_ir_measures(), name)(**params)


def _measure_class(name, entry):
    """Make the subclass of ir_measures' `Measure` that represents one of our measures."""
    from ir_measures.measures import Measure, ParamInfo

    params = {key: ParamInfo(dtype=kinds) for key, kinds in _SHARED.items()}
    params["rel"] = ParamInfo(dtype=(int, float))
    params["judged_only"] = ParamInfo(dtype=bool, default=False)
    params |= {key: ParamInfo(default=entry.defaults[key]) for key in entry.options}
    if entry.takes_k:
        params["cutoff"] = ParamInfo(dtype=int)
    return type(
        name,
        (Measure,),
        {
            "__doc__": entry.__doc__,
            "__name__": name,
            "NAME": name,
            "TABLE_NAME": entry.name,
            "SHORT_DESC": entry.summary,
            "SUPPORTED_PARAMS": params,
            "__reduce__": lambda self: (_loaded, (name, self.params)),
        },
    )


def _provider_class():
    """Return the provider class, in a function because ir_measures need not be installed."""
    from ir_measures import Metric
    from ir_measures.providers import Evaluator, Provider
    from ir_measures.util import QrelsConverter, RunConverter

    class RunEvaluator(Evaluator):
        def __init__(self, measures, qrels):
            frame = QrelsConverter(qrels).as_pd_dataframe()
            self.wanted = _by_parameters(measures) if len(frame) else []
            self.indexes = [_index(frame, params) for params, _ in self.wanted]
            super().__init__(measures, list(self.indexes[0].queries) if self.wanted else [])

        def _iter_calc(self, run):
            if not self.wanted:
                return
            frame = RunConverter(run).as_pd_dataframe()
            if not _shares_a_query(self.indexes[0], frame):
                frame = _run_of_nothing(self.indexes[0])
            for (params, texts), qrels in zip(self.wanted, self.indexes):
                values = values_of_run(qrels, frame, list(texts), **params)
                for text, column in values.items():
                    for qid, value in column.items():
                        yield Metric(query_id=qid, measure=texts[text], value=value)

    class SkfilterrankProvider(Provider):
        """Measures of skfilterrank."""

        NAME = "skfilterrank"

        def supports(self, measure):
            measure.validate_params()
            return getattr(measure, "TABLE_NAME", None) in MEASURES

        def _evaluator(self, measures, qrels):
            return RunEvaluator(list(measures), qrels)

    return SkfilterrankProvider


def _by_parameters(measures):
    """Group measures by the parameters they share: pairs (parameters, {text: measure})."""
    calls = {}
    for measure in measures:
        entry = MEASURES[measure.TABLE_NAME]
        given = dict(measure.params)
        shared = {name: given.pop(name) for name in _SHARED if name in given}
        if given.pop("judged_only", False):
            shared["unjudged"] = "drop"
        if isinstance(shared.get("gains"), dict):
            shared["gains"] = NamedGains(shared["gains"])
        if "rel" in given:
            entry = entry.with_reading(own_reading({"rel": given.pop("rel")}, measure))
        text = ParsedMeasure(entry, given.pop("cutoff", None), given).text
        _, texts = calls.setdefault(repr(shared), (shared, {}))
        texts[text] = measure
    return list(calls.values())


def _index(frame, params):
    """Return indexed judgments for measures with these parameters."""
    said = {name: params.pop(name) for name in OF_QRELS if name in params}
    return QrelsIndex.of(frame, gains=params.get("gains"), **said)


def _shares_a_query(qrels, run):
    """Tell whether some query of a frame of ir_measures is in the judgments."""
    if not len(run):
        return False
    _, queries = id_tokens(run["query_id"], "query_id").factorize()
    return not set(queries).isdisjoint(qrels.queries)


def _run_of_nothing(qrels):
    """Return a run in which every document is filtered out."""
    return pd.DataFrame({"qid": qrels.queries, "docno": "none", "score": -np.inf})


@dataclass(frozen=True)
class NamedGains:
    """Gains from a dict of labels; labels that are not in it are their own gains."""

    gains: dict

    def __call__(self, label):
        return self.gains.get(label, label)

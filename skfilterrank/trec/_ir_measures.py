"""The measures inside ir_measures expressions, and so in PyTerrier experiments."""

from functools import cache
from types import SimpleNamespace

from skfilterrank.io import QrelsIndex, align
from skfilterrank.metrics._core.measure import MEASURES, ParsedMeasure
from skfilterrank.trec._evaluate import evaluate_run

# As the field writes them; every measure goes by its name in the measure table too.
_PRETTY = {"ndcg_f": "nDCG_f", "ndcg_min": "nDCG_min", "ndcg_0": "nDCG_0"}
_SHARED = {"gains": (dict, str), "ties": (str,), "unjudged": (str,), "undefined": (int, float)}


@cache
def register_with_ir_measures() -> SimpleNamespace:
    """Make every measure of the measure table known to ir_measures.

    After the call ``ir_measures.parse_measure("nDCG_f@20")`` works, and
    ``ir_measures.calc_aggregate`` takes our measures beside its own, as does PyTerrier's
    ``Experiment``. Calling it again changes nothing.

    Returns
    -------
    namespace : SimpleNamespace
        The measures by name: ``nDCG_f``, ``nDCG_min``, ``nDCG_0``, and all by their names in the
        measure table, such as ``lexirecall`` or ``rbp``. ``nDCG_f @ 20`` sets the cut-off,
        ``rbp(persistence=0.95)`` an option; every measure takes ``gains``, ``ties``, ``unjudged``
        and ``undefined`` (a number) too.

    Raises
    ------
    ImportError
        If ir_measures is not installed.

    See Also
    --------
    evaluate_run : Without ir_measures, and faster.

    Notes
    -----
    As everywhere for runs, ties are broken by document id, descending, unless ``ties=`` says
    otherwise; topics that are not in the run count as empty lists; and collections have
    1,000,000 documents unless ``n_items=`` says otherwise. Names are those of skfilterrank, so
    nothing of ir_measures is replaced: its ``AP`` stays beside our ``ap``.

    Examples
    --------
    >>> import ir_measures
    >>> from skfilterrank.trec import register_with_ir_measures
    >>> measures = register_with_ir_measures()
    >>> qrels = {"1": {"a": 2, "b": -2, "c": 1}}
    >>> run = {"1": {"a": 0.9, "b": 0.8}}
    >>> wanted = [measures.nDCG_f @ 20, ir_measures.AP]
    >>> values = ir_measures.calc_aggregate(wanted, qrels, run)
    >>> {str(measure): round(value, 3) for measure, value in values.items()}  # doctest: +SKIP
    {'nDCG_f@20': 0.591, 'AP': 0.5}
    """
    import ir_measures

    names = {_PRETTY.get(name, name): entry for name, entry in MEASURES.items()}
    measures = {name: _measure_class(name, entry)() for name, entry in names.items()}
    for name, measure in measures.items():
        aliases = {measure.TABLE_NAME} - {name}
        ir_measures.measures.register(measure, aliases=sorted(aliases))
    provider = _provider_class()()
    ir_measures.providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)
    return SimpleNamespace(**{m.TABLE_NAME: m for m in measures.values()} | measures)


def _measure_class(name, entry):
    """The class that ir_measures wants for a measure."""
    from ir_measures.measures import Measure, ParamInfo

    params = {key: ParamInfo(dtype=kinds) for key, kinds in _SHARED.items()}
    params |= {key: ParamInfo(default=entry.defaults[key]) for key in entry.options}
    if entry.takes_k:
        params["cutoff"] = ParamInfo(dtype=int)
    return type(
        name,
        (Measure,),
        {
            "__doc__": entry.function.__doc__,
            "__name__": name,
            "NAME": name,
            "TABLE_NAME": entry.name,
            "SHORT_DESC": entry.summary,
            "SUPPORTED_PARAMS": params,
        },
    )


def _provider_class():
    """The provider that calculates them; a function, because ir_measures need not be installed."""
    from ir_measures import Metric
    from ir_measures.providers import Evaluator, Provider
    from ir_measures.util import QrelsConverter, RunConverter

    class RunEvaluator(Evaluator):
        def __init__(self, measures, qrels):
            self.qrels = QrelsIndex(QrelsConverter(qrels).as_pd_dataframe())
            super().__init__(measures, list(self.qrels.topics))
            self.wanted = _by_parameters(measures)

        def _iter_calc(self, run):
            aligned = align(RunConverter(run).as_pd_dataframe(), self.qrels)
            for params, texts in self.wanted:
                values = evaluate_run(aligned, None, list(texts), **params)
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
    """Measures by the parameters they share: pairs (parameters, {text: measure})."""
    found = {}
    for measure in measures:
        entry = MEASURES[measure.TABLE_NAME]
        given = dict(measure.params)
        shared = {name: given.pop(name) for name in _SHARED if name in given}
        text = ParsedMeasure(entry, given.pop("cutoff", None), given).text
        _, texts = found.setdefault(repr(shared), (shared, {}))
        texts[text] = measure
    return list(found.values())

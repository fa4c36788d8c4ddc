"""Implementation of ``skfilterrank judge``: documents to judge, and output of judgments."""

import contextlib
import os
import warnings
from bisect import bisect_left
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank import judgments
from skfilterrank._files.files import locked, read_bytes
from skfilterrank._files.forms import name_of_path
from skfilterrank._lists.checks import check_share
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.results import counted
from skfilterrank.cli import _inputs
from skfilterrank.cli._output import listed, plural, progress, refuse, tell
from skfilterrank.cli._terminal import TerminalAssessor
from skfilterrank.cli._types import GRADES, POOL_DEPTH, LabelOptions
from skfilterrank.exceptions import DataWarning, InputError, JudgmentLogError, brief_list
from skfilterrank.io import read_qrels, write_prels, write_qrels
from skfilterrank.judgments import judge, read_judgment_log
from skfilterrank.thresholds import PLANNED_RATE, queries_needed

_KEY = ["qid", "docno"]
# Probability of a certificate that --risk plans for.
_POWER = 0.8
# Largest number of grades, one for each digit key.
_MOST_GRADES = 10
# Measures that count only forbidden documents.
_OF_HARM = ("any_forbidden", "forbidden")
# Selectors that need ranks, and selectors that use a prior.
_OF_RANKS: dict[str, Any] = {
    "pooling": judgments.PoolingSelector,
    "mtf": judgments.MoveToFrontSelector,
    "mtc": judgments.MTCSelector,
}
_RANDOM = {"random": judgments.RandomSelector, "statap": judgments.StatAPSelector}


class Earlier(NamedTuple):
    """Earlier judgments of assessors, by document.

    The pool holds all documents that were judged or should have been. Remarks are texts that are
    shown with documents that are asked about again. The agreement is that of several assessors, or
    None.
    """

    labels: pd.Series
    pool: pd.Index
    remarks: dict
    agreement: Any = None

    @property
    def known(self) -> pd.Series:
        """Labels of documents that are not asked about again."""
        return self.labels[~self.labels.index.isin(list(self.remarks))]


def earlier_judgments(sources, answers) -> Earlier:
    """Return the labels of one assessor, or the labels on which several assessors agree.

    Sources are judgments by the assessor's name, answers are tables of `read_judging_answers`
    by the file's name, of any number of assessors; their notes are among the remarks.
    """
    notes = {}
    if answers:
        table = judgments.merge_answers(answers).answers
        own = {name: rows[[*_KEY, "label"]] for name, rows in table.groupby("assessor")}
        if both := sorted(sources.keys() & own.keys()):
            raise InputError(
                f"two files hold judgments of {brief_list(both)}: give each assessor's once, "
                "and name assessors apart."
            )
        sources = sources | own
        noted = table.dropna(subset="note")[[*_KEY, "assessor", "note"]]
        notes = {tuple(row[:3]): f" ({row[3]})" for row in noted.itertuples(index=False)}
    if len(sources) < 2:
        empty = pd.DataFrame({"qid": [], "docno": [], "label": np.array([], dtype=float)})
        labels = next(iter(sources.values()), empty).set_index(_KEY)["label"]
        return Earlier(labels.dropna(), labels.index, {})
    found = judgments.assessor_agreement(sources)
    pool = pd.concat([frame[_KEY] for frame in sources.values()]).drop_duplicates()
    remarks = {
        pair: ", ".join(
            f"{name}: {label:g}{notes.get((*pair, name), '')}"
            for name, label in row.dropna().items()
        )
        for pair, (_, row) in zip(
            found.disagreements.index.tolist(), found.disagreements.iterrows()
        )
    }
    agreed = found.agreed.set_index(_KEY)["label"]
    return Earlier(agreed, pd.MultiIndex.from_frame(pool), remarks, found)


class JudgingSession:
    """Documents to ask about, in the order of a strategy, and earlier judgments.

    Parameters
    ----------
    given : Namespace
        Values of the options.
    """

    def __init__(self, given):
        self.given, self.log = given, Path(f"{given.out}.log")
        self.is_sample = given.strategy == "sample"
        self.reading = LabelOptions(unjudged_label=given.unjudged_label, predicted="use")
        machines = {}
        if self.is_sample:
            paths = _inputs.named_paths(given.machine_qrels or [])
            read = partial(read_qrels, unjudged_label=None, predicted="use")
            machines = {name: read(path) for name, path in paths.items()}
        self.grades = given.grades or _chosen_grades(given.gains, machines)
        self._check()
        self.topics = None if given.topics is None else _inputs.read_topics(given.topics)
        self.judged = self._read_judged()
        self.index, ranks = self._pool(machines)
        self.strategy = given.strategy or ("maxrep" if ranks is None else "pooling")
        if self.strategy in (*_OF_RANKS, "prior", "statap") and ranks is None:
            raise InputError(
                f"--strategy {self.strategy} looks at runs. Name runs, or choose maxrep or random."
            )
        documents = _inputs.read_document_texts(given.docs, text=given.text)
        self.documents = documents[documents.index.isin(self.index.unique("docno"))]
        self._check_queries()
        texts = _inputs.joined(self.documents)
        texts = texts.reindex(self.index.get_level_values("docno")).fillna("")
        is_known = self.index.isin(self.judged.known.index)
        rows = (texts.str.strip() == "").to_numpy() & ~is_known
        self._tell_of_missing(rows)
        self.without = np.flatnonzero(rows)
        if self.strategy == "statap":
            # The sample is drawn from documents with text, with the priors of all.
            self.index, self.without = self.index[~rows], self.without[:0]
        self.selector = self._fitted(ranks, texts, is_known)

    def _fitted(self, ranks, texts, is_known):
        """Return the strategy, fitted on the pool."""
        name = self.strategy
        if name in _OF_RANKS:
            return _OF_RANKS[name]().fit(ranks)
        X, groups = np.zeros((len(self.index), 1)), self.index.get_level_values("qid")
        prior = np.arange(len(X), 0, -1) if self.is_sample else None
        if ranks is not None and name != "random":
            prior = judgments.statap_prior(ranks).loc[self.index].to_numpy()
        if name in _RANDOM:
            selector = _RANDOM[name](random_state=self.given.random_state)
        elif name == "maxrep":
            selector = judgments.MaxRepSelector(verbose=progress())
            # A message about documents without text was printed already.
            with warnings.catch_warnings(action="ignore", category=DataWarning):
                return selector.fit(list(texts), groups=groups, prior=prior, judged=is_known)
        else:
            selector = judgments.PriorSelector()
        return selector.fit(X, groups=groups, prior=prior)

    def _check(self):
        """Check dependent options, and files that would be overwritten."""
        given, label = self.given, self.reading.written_unjudged
        if sum(each is not None for each in (given.out, given.page, given.export)) != 1:
            raise InputError("give one of --out, --page and --export.")
        if given.out is not None and os.path.exists(given.out) and not self.log.exists():
            raise InputError(
                f"{given.out} is there already, but not its log {self.log}, and would be "
                "overwritten. Move it away, or name another file by --out."
            )
        if label in self.grades:
            raise InputError(f"--unjudged-label {label:g} is one of --grades. Choose another.")
        if given.strategy in ("statap", "sample") and label is not None:
            raise InputError(
                f"--strategy {given.strategy} writes probabilities, which say of the pool what is "
                "needed. Leave out --unjudged-label."
            )
        if given.strategy not in ("random", "statap", "sample"):
            refuse(["random_state"], "has no effect on this strategy. Leave it out.")
        if not (given.pool or given.runs or given.judged):
            raise InputError("there is nothing to judge. Name runs, or --pool.")
        of_risk = "is that of --risk. Add both or none."
        if not self.is_sample:
            size = (
                "is the size of a sample. Add --strategy sample, or give --n-per-query, the "
                "documents of each query that other strategies ask for."
            )
            refuse(["n_total"], size)
            what_for = "says what a sample is for. Add --strategy sample."
            refuse(("machine_qrels", "gains", "measure", "unit", "risk"), what_for)
            refuse(("confidence_level", "plan"), of_risk)
            return
        if given.risk:
            refuse(
                ["measure", "unit"],
                "has no effect beside --risk, whose measures a sample of queries is for. Leave "
                "one out.",
            )
            given.measure, given.unit = list(given.risk), "query"
        else:
            refuse(("confidence_level", "plan"), of_risk)
        no_size = not given.risk and given.n_total is None
        if given.n_per_query is not None or no_size:
            raise InputError(
                "--strategy sample is drawn over all queries. Give --n-total, not --n-per-query."
            )
        if not given.runs:
            raise InputError("--strategy sample draws what decides between runs. Name runs.")
        if given.pool or given.machine_qrels:
            refuse(
                ["depth"],
                "makes a pool of the runs. Leave out this option, or --pool and --machine-qrels, "
                "whose documents are the pool.",
            )

    def _read_judged(self):
        """Read the judgments of --judged; with several assessors, those on which they agree."""
        sources, answers = {}, {}
        for name, path in _inputs.named_paths(self.given.judged or []).items():
            tool = getattr(path, "tool", "page")
            if tool == "page" and not read_bytes(path).startswith(b'{"log"'):
                sources[name] = self._judgments(path)
                continue
            queries = None if self.topics is None else self.topics.iloc[:, 0]
            answers[name_of_path(path.removesuffix(".log"))] = judgments.read_judging_answers(
                path, tool=tool, grades=self.grades, queries=queries
            )
        judged = earlier_judgments(sources, answers)
        for line in str(judged.agreement or "").splitlines():
            tell(line)
        return judged

    def _judgments(self, path):
        """Read people's judgments; raise if a label is not one of the grades."""
        qrels = _inputs.read_judgments(path, self.reading)
        qrels = _inputs.without_machines(qrels, path)
        others = sorted(set(qrels["label"].dropna()) - set(self.grades))
        if others:
            mark = f"Say --unjudged-label {others[0]:g} where it means not judged, or add"
            raise InputError(
                f"{path} holds the label {others[0]:g}, which is none of --grades. "
                f"{mark if others[0] < 0 else 'Add'} it to --grades."
            )
        return qrels

    def _pool(self, machines):
        """Return query and document of each row, and the ranks in runs, if there are any."""
        given, pool, ranks, depth = self.given, None, None, self.given.depth
        runs = _inputs.read_named_runs(given.runs or [])
        if given.pool is not None:
            pool, run = _inputs.read_pool(given.pool)
            if run is not None and not runs:
                runs = {name_of_path(given.pool): run}
        elif not runs:
            pool = self.judged.pool
        elif not machines:
            depth = POOL_DEPTH if depth is None else depth
            ranks = judgments.rank_table(runs, depth=depth or None)
            pool = ranks.index
        if self.is_sample:
            return self._drawn(runs, machines, pool), None
        if ranks is None and runs:
            ranks = judgments.rank_table(runs, depth=depth or None).reindex(pool)
            n_unknown = int(ranks.isna().all(axis=1).sum())
            if n_unknown == len(ranks):
                raise InputError(
                    f"no run returns a document of {given.pool}. Their ids of queries or documents "
                    "differ."
                )
            if n_unknown:
                of_all = f"{n_unknown:,} of {counted(len(ranks), 'document')} of {given.pool}"
                tell(f"{of_all} {plural(n_unknown, 'is', 'are')} in no run")
        return pool, ranks

    def _drawn(self, runs, machines, pool):
        """Draw a sample with all judged documents; return query and document of each row."""
        given, known = self.given, self.judged.labels.rename("label").reset_index()
        labels = {"--grades": pd.Series(list(self.grades), dtype=float)}
        if given.unit == "query":
            # Samples of documents take gains between those of --gains.
            paths = _inputs.named_paths(given.machine_qrels or [])
            labels |= {paths[name]: each["label"] for name, each in machines.items()}
        pool = None if pool is None else pool.to_frame(index=False)
        measures = parse_measures(list(given.measure))
        gains = _inputs.match_gains(given.gains, labels)
        gains = _inputs.with_other_labels(gains, given.gains)
        of_harm = [text for text, each in measures.items() if each.measure.name in _OF_HARM]
        if of_harm and as_gains(list(self.grades), gains).min() >= 0:
            raise InputError(
                f"--measure {of_harm[0]} counts documents with a gain below 0, and none of the "
                f"grades {brief_list(list(self.grades))} has one. Give a grade below 0 by "
                "--grades, or such gains as --gains 0=-1,1=1."
            )
        pool = judgments.RankedPool.read(machines or None, runs, pool=pool)
        if given.risk:
            # Queries for which no run returns a document have nothing to judge.
            every = judgments.draw_sample(None, pool, measures, n_total=1.0, unit="query")
            n_queries = every["qid"].nunique()
            n_needed = self._queries_needed(measures, n_queries)
            given.n_total = n_needed if given.n_total is None else given.n_total
        if gains is None and not machines:
            # Labels that people can give.
            gains = {grade: grade for grade in self.grades}
        self.draw = partial(
            judgments.draw_sample,
            None,
            pool,
            measures,
            unit=given.unit,
            judged=known if len(known) else None,
            gains=gains,
            random_state=given.random_state,
        )
        self.sample = self.draw(n_total=given.n_total)
        n_new = counted(int(self.sample["label"].isna().sum()), "document")
        before = f", beside {len(known):,} judged before" if len(known) else ""
        n_queries = counted(self.sample["qid"].nunique(), "query", "queries")
        tell(f"a sample of {n_new} of {n_queries}{before}, for {', '.join(measures)}")
        return pd.MultiIndex.from_frame(self.sample[_KEY])

    def _queries_needed(self, measures, n_queries):
        """Print how many queries the risks need and what that assumes; return the largest number.

        Raise if all queries together are too few, unless --n-total says to draw nevertheless.
        """
        given, needed = self.given, 0
        known = {"power": _POWER}
        known |= {name: PLANNED_RATE * level for name, level in given.risk.items()}
        plan = known | self._plan(known)
        for (name, level), parsed in zip(given.risk.items(), measures.values()):
            measure = parsed.measure
            if measure.greater_is_better or measure.value_range != (0.0, 1.0):
                raise InputError(
                    f"--risk must name rates, of which lower is better, got {name!r}. Choose one "
                    "such as any_forbidden@5."
                )
            check_share(level, "--risk")
            if measure.takes_k and parsed.k is None:
                tell(
                    f"{name} looks at whole lists: {name}@5 needs labels of five documents of each"
                )
            rate, what = plan[name], f"{name} at most {level:g}"
            if rate >= level:
                raise InputError(
                    f"--plan {name}={rate:g}: a rate that is not below the level {level:g} of "
                    "--risk cannot be certified. Give a lower rate, or a higher level."
                )
            what += f", if it is {rate:g}"
            n, would = n_queries + 1, ""
            with contextlib.suppress(InputError):
                n = queries_needed(
                    *(level, rate),
                    confidence_level=given.confidence_level,
                    power=plan["power"],
                    is_binary=measure.name == "any_forbidden",
                )
                would = f", those of {n:,} queries would"
            if n > n_queries:
                of_all = counted(n_queries, "query that there is", "queries that there are")
                what += f", needs more than the {of_all}"
                if given.n_total is None:
                    raise InputError(
                        f"{what}: all of their labels would hardly certify it{would}. Give more "
                        "queries with documents in the runs, a higher level, a lower "
                        f"--confidence-level, or --plan {name}=RATE if you expect a lower rate; "
                        "--n-total draws nevertheless."
                    )
                tell(what)
            else:
                tell(
                    f"{what}, needs {counted(n, 'query', 'queries')} for "
                    f"{100 * plan['power']:g} % of the draws to certify it"
                )
            needed = max(needed, n)
        shown = ",".join(f"{name}={value:g}" for name, value in plan.items())
        tell(f"assumed: --plan {shown}")
        return needed

    def _plan(self, known):
        """Return the settings of --plan; raise for unknown ones, and for numbers that are none."""
        plan = self.given.plan or {}
        for name, value in plan.items():
            if name not in known:
                raise InputError(
                    f"--plan {name} is no setting of the plan. Choose from {', '.join(known)}."
                )
            if not 0 <= value <= 1 or (name == "power" and value in (0, 1)):
                raise InputError(f"--plan {name} must be between 0 and 1, got {value:g}.")
        return plan

    def _can_draw(self, n_total):
        """Tell whether there is a sample of this size."""
        try:
            self.draw(n_total=n_total)
        except InputError:
            return False
        return True

    def _check_queries(self):
        """Print a message about queries without text; raise for unknown queries."""
        ids = self.index.unique("qid")
        if unknown := [query for query in self.given.only or [] if query not in ids]:
            raise InputError(f"--only {', '.join(unknown)}: the pool holds no such query.")
        missing = [] if self.topics is None else ids[~ids.isin(self.topics.index)]
        if len(missing):
            of_all = f"{len(missing):,} of {counted(len(ids), 'query', 'queries')}"
            have = plural(len(missing), "has", "have")
            tell(f"{of_all} {have} no text in {self.given.topics}: {listed(missing)}")

    def _tell_of_missing(self, rows):
        """Print a message about rows without text, which cannot be judged."""
        if not rows.any():
            return
        path, docnos = self.given.docs, self.index[rows].unique("docno")
        if self.is_sample:
            raise InputError(
                f"{path} holds no text of {counted(rows.sum(), 'document')} of the sample "
                f"({brief_list(docnos)}), and without all of its labels a sample gives no "
                "interval. Add the texts."
            )
        if rows.all():
            raise InputError(
                f"{path} holds no text of any document of the pool. Compare their ids."
            )
        tell(
            f"{rows.sum():,} of {counted(len(rows), 'document')} of the pool "
            f"{plural(rows.sum(), 'has', 'have')} no text in {path} and "
            f"{plural(rows.sum(), 'is', 'are')} left out: {listed(docnos)}"
        )

    def _judge(self, assessor, **log):
        """Run :func:`judge` in the order of the strategy."""
        # Samples are judged in their own order across queries, so that a judged prefix is a smaller
        # sample.
        in_order = self.is_sample and not self.given.only
        judge(
            self.selector,
            assessor,
            n_per_query=self.given.n_per_query,
            queries=self.given.only,
            order=np.arange(len(self.index)) if in_order else None,
            pool=self.index,
            leave_out=self.without,
            grades=self.grades,
            known=self.judged.known.reset_index(),
            **log,
        )

    def write_tasks(self, path, tool):
        """Write the documents to judge as a page or as tasks of a tool."""
        asked = {}

        def skip(question):
            asked[question.query, question.docno] = question
            return "skip"

        self._judge(skip)
        if not asked:
            raise InputError("all is judged: there is nothing to ask about.")
        judgments.write_judging_tasks(
            path,
            pd.MultiIndex.from_tuples(asked, names=_KEY),
            self.documents,
            queries=self.topics,
            grades=self.grades,
            tool=tool,
            assessor_name=self.given.assessor,
        )
        tell(f"{counted(len(asked), 'document')} to judge in {path}")

    def ask(self):
        """Ask at the terminal, and write the answers, also after an interruption."""
        remarks, n_before = self.judged.remarks, 0
        assessor = TerminalAssessor(self.documents, self.topics, self.grades, remarks=remarks)
        if self._has_log():
            # judge says what is wrong with it.
            quiet = warnings.catch_warnings(action="ignore", category=DataWarning)
            with quiet, contextlib.suppress(ValueError):
                n_before = len(read_judgment_log(self.log))
        if n_before:
            tell(f"going on behind {counted(n_before, 'judgment')} of {self.log}")
        try:
            self._judge(assessor, log=self.log, assessor_name=self.given.assessor)
        except JudgmentLogError:
            raise
        except BaseException:
            # A disk that has no room for a first line leaves an empty log.
            if self._has_log():
                self._write(assessor, n_before)
            raise
        self._write(assessor, n_before)

    def _has_log(self):
        """Tell whether the log holds anything."""
        return self.log.exists() and self.log.stat().st_size > 0

    def _write(self, assessor, n_before):
        """Write the judgments of the log together with earlier ones."""
        path = self.given.out
        # Another process may append to this log meanwhile.
        with locked(path):
            new, kept = self.judged.labels.iloc[:0], self.judged.labels
            if self.log.exists():
                new = read_judgment_log(self.log).set_index(_KEY)["label"]
            kept = kept[~kept.index.isin(new.index)]
            # pandas before 3 warns of empty parts.
            labels = pd.concat([part for part in (kept, new) if len(part)] or [new])
            if assessor.n_open:
                n_total = counted(assessor.n_total, "document")
                tell(
                    f"{assessor.n_open:,} of {n_total} {plural(assessor.n_open, 'is', 'are')} not "
                    "yet judged: give the same command again to go on"
                )
            try:
                table, of_what = self._table_of(labels)
            except InputError as error:
                # An earlier file would still contain undone answers.
                Path(path).unlink(missing_ok=True)
                tell(f"{path} is not written: {error}")
            else:
                if "inclusion_probability" in table:
                    write_prels(path, table)
                    one, many = (
                        "judgment with its probability",
                        "judgments with their probabilities",
                    )
                    tell(f"{counted(len(table), one, many)} in {path}{of_what}")
                else:
                    write_qrels(path, table, unjudged_label=self.reading.written_unjudged)
                    n_new = max(len(new) - n_before, 0)
                    tell(f"{counted(len(labels), 'judgment')} in {path}, {n_new:,} of them new")

    def _table_of(self, labels):
        """Return the table to write and a remark; raise if there is nothing to write."""
        if labels.empty:
            raise InputError("nothing is judged")
        if self.is_sample:
            table = _with_labels(self.sample, labels)
            if table["label"].notna().all():
                return table, ""
            table = self._finished(labels)
            return table, f", a sample by themselves: the first of {len(self.sample):,} documents"
        if self.strategy == "statap":
            return self._statap(labels), ""
        rest = self.index.difference(labels.index, sort=False)
        rest = rest[rest.isin(labels.index.unique("qid"), level="qid")]
        if self.reading.written_unjudged is not None:
            labels = pd.concat([labels, pd.Series(np.nan, index=rest)])
        elif self.strategy == "random" and len(rest):
            tell(
                f"infap needs the {counted(len(rest), 'document')} of these queries that "
                f"{plural(len(rest), 'is', 'are')} not judged, too: --unjudged-label, such "
                "as -1, writes them"
            )
        table = labels.rename("label").rename_axis(_KEY).reset_index()
        return table.sort_values("qid", kind="stable"), ""

    def _finished(self, labels):
        """Return the longest fully judged prefix of the sample."""
        drawn = _with_labels(self.sample, labels)[self.sample["label"].isna()]
        is_open = drawn["label"].isna()
        if self.given.unit == "query":
            is_open = is_open.groupby(drawn["qid"], sort=False).any()
        n_done = int(is_open.to_numpy().argmax())

        # With fewer documents, some of the pool would have probability 0.
        least = bisect_left(range(1, len(is_open)), True, key=self._can_draw) + 1
        if n_done < least:
            what = "document" if self.given.unit == "document" else "whole query"
            raise InputError(
                f"so few are no sample from which an interval can be had; judge at least "
                f"{counted(least - n_done, f'more {what}')}, in the order of the sample"
            )
        return _with_labels(self.draw(n_total=n_done), labels)

    def _statap(self, labels):
        """Return the sample of the finished queries, with inclusion probabilities."""
        n = self.given.n_per_query
        budget = {"share" if isinstance(n, float) else "n_per_query": n}
        probability = self.selector.inclusion_probability(**budget)
        selected = self.selector.select(**budget)
        sample = pd.DataFrame({"inclusion_probability": probability}, index=self.index)
        sample = sample.iloc[selected].assign(label=labels.reindex(self.index[selected]))
        is_open = sample["label"].isna().groupby(level="qid").transform("any")
        if n_open := is_open.index[is_open].unique("qid").size:
            tell(f"{counted(n_open, 'query', 'queries')} whose sample is not yet judged: left out")
        if n_outside := int((~labels.index.isin(sample.index)).sum()):
            tell(f"{counted(n_outside, 'judgment')} outside of the sample: left out")
        if is_open.all():
            raise InputError("no query is finished")
        if n_never := int((probability == 0).sum()):
            tell(
                f"{counted(n_never, 'document')} that no run ranks can never be drawn: stat_ap is "
                "the average precision over the others"
            )
        return sample[~is_open].reset_index()


def _with_labels(sample, labels):
    """Add labels to the documents of a sample."""
    index = pd.MultiIndex.from_frame(sample[_KEY])
    return sample.assign(label=labels.reindex(index).to_numpy())


def _chosen_grades(gains, machines):
    """Return default grades: from --gains, from machine labels, or any."""
    found: Any = None
    whose = ""
    if machines:
        found = np.unique(np.concatenate([each["label"].dropna() for each in machines.values()]))
        broken = found[found % 1 != 0]
        why = "no label" if not len(found) else f"the label {found[0]:g} alone"
        if len(broken):
            why = f"labels such as {broken[0]:g}, which are no whole numbers"
        # Grades between machine labels are allowed even if no machine used them.
        found = np.union1d(found, np.arange(found.max(initial=0).clip(max=_MOST_GRADES) + 1))
        if not len(broken) and len(found) > _MOST_GRADES:
            why = f"labels from {found[0]:g} to {found[-1]:g}, more grades than {_MOST_GRADES}"
        is_scale = 1 < len(found) <= _MOST_GRADES and not len(broken)
        found = found.tolist() if is_scale else None
        whose = "as in --machine-qrels" if found else f"since --machine-qrels holds {why}"
    if isinstance(gains, dict):
        found, whose = sorted(_inputs.numbered_gains(gains)), "as in --gains"
    found = found or GRADES
    if whose:
        shown = ",".join(f"{grade:g}" for grade in found)
        tell(f"grades {shown}, {whose}; --grades chooses others")
    return dict.fromkeys(map(float, found), "")

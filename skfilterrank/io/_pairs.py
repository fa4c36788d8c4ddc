"""Judgments and runs as pairs of query and document, from tables and from TREC lines.

Labels by machines never count as people's labels without a warning. The column "judged_by" of a
table names the judge. In the second column of a TREC file, "predicted" or "predicted:NAME" means a
machine, and any other value means people.
"""

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import (
    LARGEST_INTEGER,
    as_column,
    as_floats,
    as_number_array,
    as_numbers,
    check_scores,
    is_finite_number,
)
from skfilterrank._base.words import PEOPLE, PREDICTED, warn_user
from skfilterrank._files.kinds import (
    AS_IN,
    MS_MARCO_RUN,
    PRELS,
    QRELS,
    ROLES,
    RUN,
    advice_on_names,
    doubtful_queries,
    find_column,
    has_labels,
    scores_are_labels,
)
from skfilterrank._files.tokens import Tokens, id_tokens
from skfilterrank.exceptions import (
    DataWarning,
    FileFormatError,
    InputError,
    Message,
    SkfilterrankError,
    brief,
    brief_list,
)
from skfilterrank.io._columns import NUMBER_PATTERN
from skfilterrank.io._repeats import check_no_repeats, without_repeats

# Largest number of bytes of an id.
_MOST_BYTES = 1 << 16
# Number of rising scores from which a run whose scores never fall with the rank gets a warning.
_MANY_RISES = 20
# Second column of a TREC file without iterations.
_NO_ITERATION = {"0", "Q0"}
_TRUTHS = {text: text[0] in "t1" for text in ("true", "false", "1", "0", "1.0", "0.0")}


def gains_of_texts(content, gains: dict) -> np.ndarray:
    """Convert the labels (texts or numbers) of a table or of lines to gains.

    "1" and 1.0 are the same label. Raises if a gain is not valid or a label has no gain.
    """
    if not isinstance(gains, dict) or not gains:
        raise InputError(f"gains must be a dict {{label: gain}} or None, got {brief(gains)}.")
    for label, gain in gains.items():
        if not is_finite_number(gain) and not (isinstance(gain, float) and np.isnan(gain)):
            raise InputError(
                f"the gain of the label {brief(label)} must be a finite number, or NaN for "
                f"unjudged, got {brief(gain)}."
            )
    codes, labels = content.words("label")
    # An empty text is no label, as in CSV.
    known = {"": np.nan} | {_key(label): gain for label, gain in gains.items()}
    if lacking := [label for label in labels if _key(label) not in known]:
        raise InputError(
            f"{{gains}} has no gain for labels of {content.name}: {brief_list(lacking)}. Add a "
            "gain for each of these labels.",
            argument="gains",
        )
    # Code -1, a missing label, takes the last entry, NaN.
    return np.array([*(float(known[_key(label)]) for label in labels), np.nan])[codes]


def _key(label):
    """Return a dict key that is the same for a number and its texts, such as 1.0 and "1".

    True and "true" are 1: a table may hold truth values, and options of commands are texts.
    """
    text = str(label).strip()
    try:
        number = _TRUTHS[text.lower()] if text.lower() in _TRUTHS else float(text)
    except ValueError:
        return text
    return text if np.isnan(number) else number


class Judges(NamedTuple):
    """Sources of labels: names[codes[i]] is the judge (people or a machine) of row i."""

    codes: np.ndarray
    names: list[str]

    @property
    def is_machine(self) -> np.ndarray:
        """Mask of the rows with a label by a machine."""
        return np.array([name != PEOPLE for name in self.names], dtype=bool)[self.codes]

    def counts(self, labels) -> dict[str, int]:
        """Count the labels that each machine gave; NaN is no label.

        Returns a dict from names to counts, with the highest counts first.
        """
        kept = self.codes[self.is_machine & ~np.isnan(labels)]
        numbers = np.bincount(kept, minlength=len(self.names)).tolist()
        pairs = sorted(zip(numbers, self.names), key=lambda pair: (-pair[0], pair[1]))
        return {name: number for number, name in pairs if number}


def judges_of(content, subtopic=None) -> Judges | None:
    """Return the judges of a table or of lines; None if nothing names a judge.

    With `subtopic`, the second column of lines holds subtopics.
    """
    if content.has("judged_by"):
        codes, names = content.words("judged_by")
        if wrong := [name for name in names if not isinstance(name, str) or not name]:
            raise InputError(
                f"column 'judged_by' of {content.name} must hold {brief(PEOPLE)} or the name of "
                f"the machine that gave the label, got {brief(wrong[0])}."
            )
    elif content.has("iteration") and subtopic is None:
        codes, words = content.words("iteration")
        names = [_judge_of_iteration(word) for word in words]
        is_odd = len(words) > 1 and not (isinstance(content, Table) or _NO_ITERATION & {*words})
        if is_odd and set(names) == {PEOPLE} and len(content.words("docno")[1]) < len(words):
            content.fail(
                0,
                f"{brief(words[0])} in its second column, which has more different words than the "
                "third",
                f"; write {QRELS.columns}, with the iteration 0 where there is none, or put names "
                "of the columns into a first line.{ For diversity judgments, pass subtopic='max'.}",
                " For diversity judgments, pass subtopic='max'.",
            )
        if set(names) == {PEOPLE}:
            return None
    else:
        return None
    # Code -1, a missing name, takes the last entry: people.
    places, distinct = pd.factorize(np.array([*names, PEOPLE], dtype=object))
    return Judges(places[codes], distinct.tolist())


def _judge_of_iteration(iteration):
    word, _, name = str(iteration).partition(":")
    if word != PREDICTED:
        return PEOPLE
    return PREDICTED if name in ("", PEOPLE) else name


def iterations_of(judges: Judges | None, n_rows) -> np.ndarray:
    """Return the second column of a TREC file of judgments, which names machines."""
    if judges is None:
        return np.full(n_rows, "0", dtype=object)
    known = {PEOPLE: "0", PREDICTED: PREDICTED}
    words = [known.get(name, f"{PREDICTED}:{name}") for name in judges.names]
    return np.array(words, dtype=object)[judges.codes]


class DocumentPairs(NamedTuple):
    """Rows of judgments or of a run: row i has query queries[codes[i]] and document docnos[i].

    `values` holds labels or scores as float64. `name` is the name of a run, or None.
    `probabilities` are inclusion probabilities, or None. `judges` are the sources of the labels,
    or None if people gave all of them. `draws` are numbers of drawn label sets, -1 for rows that
    hold in every set, or None without such sets.
    """

    queries: list[str]
    codes: np.ndarray
    docnos: Tokens
    values: np.ndarray
    name: str | None = None
    probabilities: np.ndarray | None = None
    judges: Judges | None = None
    draws: np.ndarray | None = None

    def take(self, rows) -> "DocumentPairs":
        """Return some of the rows, by their positions."""
        return self._replace(
            codes=self.codes[rows],
            docnos=self.docnos.take(rows),
            values=self.values[rows],
            probabilities=None if self.probabilities is None else self.probabilities[rows],
            judges=self.judges and self.judges._replace(codes=self.judges.codes[rows]),
            draws=None if self.draws is None else self.draws[rows],
        )


class Table:
    """A data frame of judgments or of a run, from memory or from a file.

    `name` is the name of the argument or file. For a file, `line_of` returns the line number of a
    row; else it is None. `roles` are the possible names of each column.
    """

    def __init__(self, frame, name, line_of=None, roles=ROLES):
        self.name, self.line_of, self._roles = name, line_of, roles
        levels = [each for each in frame.index.names if each not in (None, *frame.columns)]
        self._frame = frame.reset_index(level=levels) if levels else frame
        self._present = [str(column) for column in self._frame.columns]

    def fail(self, row, what, rest="", argument=()):
        """Raise an error that names a row (or a line of a file) and says what it holds."""
        if self.line_of is None:
            raise InputError(f"{self.name} holds {what} in row {row}{rest}", argument=argument)
        text = f"the row holds {what}{rest}"
        raise FileFormatError(text, self.name, self.line_of(row), argument=argument)

    def alias(self, name):
        """Return the name that the table uses for a column, such as "query_id" for "qid".

        None means that the table does not have the column.
        """
        role, present = self._roles[name], self._present
        if role is ROLES["score"] and find_column(present, ["corpus-id"]) is not None:
            # Judgments of BEIR; their scores are labels.
            return None
        found = role.column(present)
        if found is None and role is ROLES["label"] and scores_are_labels(present):
            return find_column(present, ["score"])
        return self.alias("rank") if found is None and role is ROLES["score"] else found

    def has(self, name):
        """Return True if the table has a column, under any of its known names."""
        return self.alias(name) is not None

    def check(self, value, *, may_be_empty=False):
        """Raise if the table lacks "qid", "docno" or the column `value`, or has no rows.

        ``may_be_empty=True`` allows a table that has columns, but no rows.
        """
        found = {name: self.alias(name) for name in ("qid", "docno", value)}
        if self._present and None in found.values():
            self._fail_of_columns(found)
        if not len(self._frame) and not (may_be_empty and self._present):
            raise InputError(f"{self.name} has no rows; at least one was expected.")
        if self._is_doubtful("qid"):
            doubtful_queries.get()(self.name, found["qid"])

    def _fail_of_columns(self, found):
        """Raise for roles without a column; `found` are the columns of the roles."""
        order = f"judgments come first, then runs{{{AS_IN}}}."
        absent = [name for name in found if found[name] is None]
        swapped = None
        if absent == ["score"] and has_labels(self._present):
            swapped = f"These look like judgments, but a run was expected: {order}"
        if absent == ["label"] and find_column(self._present, ["score", "rank"]) is not None:
            swapped = f"This looks like a run, but judgments were expected: {order}"
        # A caller who names what lacks must name columns of doubtful names, too.
        lacking = [name for name in found if name in absent or self._is_doubtful(name)]
        lacking = absent if swapped else lacking
        taken = [found[name] for name in found if name not in lacking]
        others = [each for each in self._present if each not in taken]
        advice, given = advice_on_names({name: self._roles[name] for name in lacking}, others)
        most = {"score": 1}
        names = [
            " or ".join(map(repr, self._roles[name].sure[: most.get(name, 2)])) for name in lacking
        ]
        if "score" in lacking and "score" in self._present:
            names[lacking.index("score")] += " of a run (beside 'corpus-id' it is a label)"
        raise InputError(
            f"{self.name} has no column {', and no column '.join(names)}; its "
            f"columns are {brief_list(self._present)}. {swapped or advice}",
            argument=(AS_IN, "columns=", given),
        )

    def _is_doubtful(self, name):
        """Tell whether the column of a role has it by a doubtful name."""
        role = self._roles[name]
        return bool(role.doubtful) and not role.is_sure(self.alias(name))

    def column(self, name):
        """Return a column that the table has, under any of its known names, as a Series."""
        alias = self.alias(name)
        column = self._frame[alias]
        if isinstance(column, pd.DataFrame):
            raise InputError(f"{self.name} has several columns {brief(alias)}; keep one of them.")
        return column

    def ids(self, name) -> Tokens:
        """Return a column of ids as texts; raise if an id is missing, or blank in a file."""
        column = self.column(name)
        return id_tokens(column, column.name, self.fail, may_be_blank=self.line_of is None)

    def words(self, name) -> tuple[np.ndarray, Any]:
        """Return the number of the word in each row, -1 if missing, and the distinct words."""
        return pd.factorize(self.column(name))

    def numbers(self, name, what=""):
        """Return a column as float64, with NaN for missing numbers; raise for other texts."""
        column = self.column(name)
        shown = f"column {column.name!r} of {self.name}"
        numbers = as_numbers(as_column(column, shown), shown)
        if numbers is None and self.line_of:
            # Cells of spreadsheets, JSON and Parquet may hold numbers as texts, as CSV does.
            column = column.map(_number_of_text, na_action="ignore")
            numbers = as_numbers(as_column(column, shown), shown)
        if numbers is None:
            is_no_number = pd.to_numeric(column, errors="coerce").isna() & column.notna()
            is_text = np.array([isinstance(value, str) for value in column])
            row = int((is_no_number.to_numpy() if is_no_number.any() else is_text).argmax())
            text = f"{brief(column.iloc[row])} in column {brief(column.name)}"
            advice = "." if self.line_of else "; convert texts, for example by pandas.to_numeric."
            self.fail(row, text, f", but a number was expected{advice}")
        return as_floats(numbers, shown)


def _number_of_text(value):
    """Return the number that a text of a file is, NaN for a blank one; others are unchanged."""
    text = (value.strip() or "nan") if isinstance(value, str) else ""
    return float(text) if NUMBER_PATTERN.fullmatch(text) else value


def qrels_rows_of(content, gains=None, duplicates="raise", subtopic=None) -> DocumentPairs:
    """Read judgments from a table or from lines.

    A label of NaN in a table means unjudged. `gains` converts labels to gains; None reads numbers.
    The others are parameters of `read_qrels`.
    """
    is_table = isinstance(content, Table)
    if is_table:
        content.check("label")
    if gains is not None:
        labels = gains_of_texts(content, gains)
    else:
        try:
            labels = content.numbers("label", "the label")
        except SkfilterrankError as error:
            how = "read_qrels(qrels, gains=)"
            note = f"Labels that are texts can be read with {{{how}}}, the gain of each label."
            error.add_note(Message(note, how))
            raise
        advice = (
            "; labels must be finite numbers, or in tables NaN for unjudged documents. In TREC "
            "files, write a number for unjudged documents, and name it as the unjudged label."
        )
        is_label = np.isfinite(labels) | (is_table & np.isnan(labels))
        _check(content, labels, is_label, "the label", advice)
        if is_table and content.column("label").name == "score":
            advice = (
                ", but a label, a whole number, was expected: this looks like a run; if it is not, "
                "rename the column to 'label'."
            )
            _check(content, labels, ~(labels % 1 > 0), "the score", advice)
    judges = judges_of(content, subtopic)
    rows = _rows_of(content, labels)._replace(draws=_draws_of(content), judges=judges)
    rows = rows._replace(probabilities=_probabilities_of(content, rows))
    return without_repeats(content, rows, duplicates, subtopic)


def _probabilities_of(content, rows) -> np.ndarray | None:
    """Read the inclusion probabilities of judgments; None if there are none."""
    if not content.has("inclusion_probability"):
        return None
    is_table, labels = isinstance(content, Table), rows.values
    probabilities = content.numbers("inclusion_probability", "the inclusion probability")
    if is_table and np.isnan(probabilities).all():
        # A table of documents that a strategy chose has no probabilities.
        return None
    if not is_table and rows.docnos.take([0]).tolist()[0] in _NO_ITERATION:
        words = content.words("docno")[1]
        if set(words) <= _NO_ITERATION:
            content.fail(
                0,
                f"{brief(words[0])} in its second column, as all lines do",
                f"; 5 columns are a sample ({PRELS.columns}): leave the second one out if this is "
                f"one, and else the fifth, so that {QRELS.columns} are left.",
            )
    is_inside = np.isnan(labels) | ((probabilities > 0) & (probabilities <= 1))
    advice = " for a label; it must be above 0 and at most 1."
    _check(content, probabilities, is_inside, "the inclusion probability", advice)
    return probabilities


def _draws_of(content) -> np.ndarray | None:
    """Read the column "draw" as int64, -1 where it is empty; None without this column."""
    if not (isinstance(content, Table) and content.has("draw")):
        return None
    draws = content.numbers("draw")
    is_draw = np.isnan(draws) | ((draws >= 0) & (draws % 1 == 0) & (draws < LARGEST_INTEGER))
    advice = "; draws are whole numbers from 0 on, and empty for labels that hold in every set."
    _check(content, draws, is_draw, "the draw", advice)
    return np.where(np.isnan(draws), -1, draws).astype(np.int64)


def run_rows_of(content) -> DocumentPairs:
    """Read a run from a table or from lines, with its name if all rows have the same name."""
    rows = pair_rows(content)
    if not len(rows.values):
        warn_user(
            f"{content.name} holds no document, so it is read as a run that shows nothing for any "
            "query. If no filter hid all documents, write the run again.",
            DataWarning,
        )
    if not isinstance(content, Table) and content.layout is MS_MARCO_RUN:
        ranks = pd.DataFrame({"query": rows.codes, "rank": -rows.values})
        is_again = ranks.duplicated().to_numpy()
        if is_again.any() or ranks["rank"].min() > 1:
            row = int(is_again.argmax())
            what = f"the rank {ranks['rank'][row]:g}"
            content.fail(
                row,
                f"{what} a second time in its query" if is_again.any() else what,
                f"; a run with 3 columns ({MS_MARCO_RUN.columns}) ranks documents from 1, and a "
                f"run with scores has 6 columns ({RUN.columns}).",
            )
    if content.has("run"):
        codes, names = content.words("run")
        if len(names) == 1 and codes.min() >= 0:
            return rows._replace(name=str(names[0]))
    return rows


def scores_of(content) -> np.ndarray:
    """Read the scores of a run; hidden documents get -inf.

    If there are no scores, scores are negative ranks. In a table, documents are hidden by a column
    "shown" or, without it, by rank 0.
    """
    if isinstance(content, Table):
        content.check("score", may_be_empty=True)
        column = content.column("score").name
        scores = content.numbers("score")
        if column == content.alias("rank"):
            scores = -scores
        if content.has("rank"):
            _warn_of_distances(content, scores, _ranks_of(content))
        is_hidden = _hidden(content, scores)
        scores = np.where(is_hidden, -np.inf, scores) if is_hidden.any() else scores
        if content.line_of is None:
            return check_scores(scores, name=f"column {brief(column)} of {content.name}")
    elif content.layout is MS_MARCO_RUN:
        ranks = content.numbers("rank", "the rank")
        is_rank = (ranks >= 0) & (ranks % 1 == 0)
        advice = (
            f", but a whole number was expected: a run with 3 columns is one of MS MARCO "
            f"({MS_MARCO_RUN.columns}); a run with scores has 6 columns ({RUN.columns})."
        )
        _check(content, ranks, is_rank, "the rank", advice)
        return -ranks
    else:
        scores = content.numbers("score", "the score")
        if (large := np.isfinite(scores) & (np.abs(scores) >= LARGEST_INTEGER)).any():
            texts = content.ids("score").take(large).tolist()
            whole = [int(text) for text in texts if re.fullmatch(r"[+-]?[0-9]{16,300}", text)]
            name = f"column 'score' of {content.name}"
            as_floats(np.asarray(as_number_array(whole, name)), name)
        if content.has("rank"):
            _warn_of_distances(content, scores, content.numbers("rank", "the rank"))
    if len(scores) and not scores.max() < np.inf:
        advice = "; a score must be finite, or -inf for a document that is hidden."
        _check(content, scores, scores < np.inf, "the score", advice)
    return scores


def _warn_of_distances(content, scores, ranks) -> None:
    """Warn if a score rises wherever the next line has the next rank, as distances do."""
    follows = np.diff(ranks) == 1
    n_rises = np.count_nonzero(follows & (scores[1:] > scores[:-1]))
    if n_rises >= _MANY_RISES and not (follows & (scores[1:] < scores[:-1])).any():
        warn_user(
            f"scores of {content.name} rise from rank to rank, as distances do, but a higher score "
            "is better here, whatever the rank: negate them, or leave them out, so that ranks "
            "count.",
            DataWarning,
        )


def _check(content, values, is_good, what, advice):
    """Raise an error for the first row that is False in the mask `is_good`."""
    if not is_good.all():
        row = int(np.argmin(is_good))
        content.fail(row, f"{what} {values[row]}", advice)


def _ranks_of(table) -> np.ndarray:
    """Return the ranks in a table, NaN where there is no number."""
    ranks = pd.to_numeric(table.column("rank"), errors="coerce")
    return ranks.to_numpy(dtype=np.float64, na_value=np.nan)


def _hidden(table, scores) -> np.ndarray:
    """Return a mask of hidden rows, by the column "shown" or, without it, by rank 0.

    Rank 0 does not hide a document if the ranks of all lists count from 0.
    """
    if table.has("shown"):
        column = table.column("shown")
        codes, distinct = pd.factorize(column, use_na_sentinel=False)
        truths = [_TRUTHS.get(str(value).lower()) for value in distinct]
        if None in truths:
            row = int(np.argmax(codes == truths.index(None)))
            what = f"{brief(distinct.tolist()[truths.index(None)])} in column {brief(column.name)}"
            rest = ", but True or False was expected, for shown or hidden documents;"
            table.fail(row, what, f"{rest} rename the column if it has another meaning.")
        return ~np.array(truths, dtype=bool)[codes]
    if not table.has("rank"):
        return np.zeros(len(scores), dtype=bool)
    has_rank_0 = _ranks_of(table) == 0
    if not (has_rank_0 & (scores != -np.inf)).any():
        return np.zeros(len(scores), dtype=bool)
    codes = pd.factorize(table.column("qid"), use_na_sentinel=False)[0]
    if has_rank_0.all() and len(codes) > codes.max() + 1:
        raise InputError(
            f"{table.name} has the rank 0 in all rows, which means that all documents are hidden. "
            "Leave out the column 'rank' if scores rank the documents, or mark hidden documents in "
            "a column 'shown' (True or False)."
        )
    return hidden_by_rank(codes, has_rank_0, scores)


def hidden_by_rank(codes, is_0, scores) -> np.ndarray:
    """Return a mask of rows that rank 0 hides: none if the ranks of all lists count from 0."""
    is_0 = is_0 & (scores != -np.inf)
    # If ranks count from 0, rank 0 occurs exactly once in each list, at the best score.
    best = pd.Series(scores).groupby(codes).transform("max").to_numpy()
    n_of_rank_0 = np.bincount(codes, is_0)[codes]
    counts_from_0 = (n_of_rank_0[best > -np.inf] == 1).all() and (scores == best)[is_0].all()
    return is_0 & (not counts_from_0)


def pair_rows(content) -> DocumentPairs:
    """Read a run from a table or from lines; raise if a query holds a document twice."""
    rows = _rows_of(content, scores_of(content))
    check_no_repeats(content, rows)
    return rows


def _rows_of(content, values) -> DocumentPairs:
    """Make DocumentPairs with given labels or scores; raise if an id is too long."""
    queries, docnos = content.ids("qid"), content.ids("docno")
    for tokens in (queries, docnos):
        if (longest := tokens.lengths.max(initial=0)) > _MOST_BYTES:
            row = int(tokens.lengths.argmax())
            content.fail(row, f"an id of {longest:,} bytes", f"; at most {_MOST_BYTES:,} are read.")
    codes, queries = queries.factorize()
    return DocumentPairs(queries, codes, docnos, values)

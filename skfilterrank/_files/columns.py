"""Roles of the columns of tables, and the names that a column of each role may have."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from skfilterrank.exceptions import InputError, brief, brief_list


class Role(NamedTuple):
    """Names of the columns of one role, in any case; the first one is ours.

    A column of a doubtful name may hold something else, such as a text or the user of a search. It
    has the role only if no column has a sure name.
    """

    sure: tuple[str, ...]
    doubtful: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the sure ones first."""
        return self.sure + self.doubtful

    def column(self, present):
        """Return the column of this role, None without one; raise if several may be meant."""
        ours = find_column(present, self.sure[:1])
        if ours is not None:
            return ours
        for names in (self.sure, self.doubtful):
            found = [find_column(present, [name]) for name in names]
            found = [column for column in found if column is not None]
            if len(found) == 1:
                return found[0]
            if found:
                option = f"columns=, such as {{{self.sure[0]!r}: {brief(found[0])}}}"
                raise InputError(
                    f"the columns {brief_list(found)} may each be {brief(self.sure[0])}: name one "
                    f"of them by {{{option}}}, or rename it to {brief(self.sure[0])}.",
                    argument=option,
                )
        return None


# PyTerrier has our names too. Users and items are those of recommenders.
ROLES = {
    "qid": Role(
        (
            *("qid", "query_id", "q_id", "query-id", "queryid", "query_no"),
            *("topic_id", "topic-id", "topicid", "topic_no"),
            *("question_id", "question-id", "questionid"),
        ),
        ("topic", "query", "user", "user_id", "userid", "uid"),
    ),
    "docno": Role(
        (
            *("docno", "doc_id", "docid", "doc-id", "doc_no", "did"),
            *("document_id", "document-id", "documentid", "corpus-id", "corpus_id"),
            *("passage_id", "passage-id", "passageid", "pid"),
        ),
        ("document", "doc", "item", "item_id", "itemid", "iid", "product_id", "movieid"),
    ),
    "label": Role(("label", "relevance", "rel", "rating", "grade", "r_ui")),
    "score": Role(("score", "prediction", "est")),
    "rank": Role(("rank",)),
    # False where a document is hidden.
    "shown": Role(("shown", "kept")),
    "inclusion_probability": Role(("inclusion_probability",)),
    "judged_by": Role(("judged_by",)),
    "draw": Role(("draw",)),
    "iteration": Role(("iteration", "subtopic", "subtopic_id")),
    "run": Role(("run",)),
}
# A table with one of these columns was written for BEIR or ranx; its column "score" holds labels.
_BESIDE_LABELS = ("corpus-id", "q_id")


def find_column(present, names):
    """Return the first of some names that is among the columns, in any case; None without one.

    "Query ID" is "query_id". A name in the same case comes before others. Raises if several columns
    differ only in this.
    """
    present = dict.fromkeys(present)
    in_any_case: dict = {}
    for column in present:
        in_any_case.setdefault(str(column).lower().replace(" ", "_"), []).append(column)
    for name in names:
        if name in present:
            return name
        if len(found := in_any_case.get(str(name).lower().replace(" ", "_"), [])) > 1:
            raise InputError(
                f"the columns {brief_list(found)} differ only in case, and each may be "
                f"{brief(name)}: rename all but one, or name one exactly, by {{columns=}} or the "
                "like.",
                argument="columns=",
            )
        if found:
            return found[0]
    return None


def roles_of(columns) -> dict[str, Role]:
    """Return the names of each role, of which the caller may have given some."""
    columns = {} if columns is None else columns
    if not isinstance(columns, Mapping) or not all(isinstance(x, str) for x in columns.values()):
        raise InputError(
            "columns must be a dict of names by our names, such as {'qid': 'question'}, got "
            f"{brief(columns)}."
        )
    if unknown := [name for name in columns if name not in ROLES]:
        raise InputError(
            f"columns must have keys among {brief_list(ROLES.keys())}, got {brief(unknown[0])}."
        )
    if twice := [name for name, n in Counter(columns.values()).items() if n > 1]:
        raise InputError(
            f"columns must name each column once, got {brief(columns)}, where {brief(twice[0])} "
            "has two meanings: name another column for one of them."
        )
    return ROLES | {name: Role((given,)) for name, given in columns.items()}


def scores_are_labels(present) -> bool:
    """Tell from the names of columns whether a column "score" holds labels."""
    return find_column(present, _BESIDE_LABELS) is not None


def has_labels(present) -> bool:
    """Tell from the names of columns whether a table holds judgments."""
    if find_column(present, ROLES["label"].names) is not None:
        return True
    return find_column(present, ["score"]) is not None and scores_are_labels(present)

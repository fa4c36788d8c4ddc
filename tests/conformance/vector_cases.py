"""Which lists each question is asked of: small ones, drawn until the answers to it differ."""

from collections.abc import Callable
from typing import NamedTuple

BINARY, GRADED = (0, 1), (0, 1, 2, 3)


class Ask(NamedTuple):
    """A measure, its parameters, and how its lists are drawn."""

    measure: str
    parameters: dict
    draw: Callable
    n_lists: int = 3


def query(
    rng,
    n,
    name="q1",
    *,
    labels=BINARY,
    levels=None,
    out=0,
    holes=0,
    low=0,
    near=False,
):
    """One query of n documents: something relevant, something not, and what is asked for.

    `levels` is the number of distinct scores, `out` how many documents are not in the list,
    `holes` how many are unjudged, `low` how many have a label below 0.
    """
    grades = [max(labels), min(labels)] + [rng.choice(labels) for _ in range(n - 2)]
    grades = grades[:n]
    for i in range(low):
        grades[-1 - i] = -1 - i % 2
    rng.shuffle(grades)
    if levels is None:
        scores = rng.sample(range(1, n + 1), n)
    else:
        scores = [rng.randint(1, levels) for _ in range(n)]
    # Sums of powers of two, so that a number reads the same in every language.
    scores = [1 + score * 2**-30 if near else score / 4 for score in scores]
    documents = rng.sample(range(1, n + 1), n)
    rows = [
        {"query": name, "document": f"d{document}", "label": grade, "score": score}
        for document, grade, score in zip(documents, grades, scores)
    ]
    for row in rng.sample(rows, out):
        row["score"] = None
    for row in rng.sample(rows, holes):
        row["label"] = None
    return rows


def one(n, **how):
    """Lists of one query."""
    return lambda rng: query(rng, n, **how)


def several(*parts):
    """Lists of several queries, each as (n, how)."""
    return lambda rng: [
        row
        for i, (n, how) in enumerate(parts, start=1)
        for row in query(rng, n, f"q{i}", **how)
    ]  # fmt: skip


def apart(n_queries, n):
    """Rows of different queries mixed."""

    def draw(rng):
        rows = several(*[(n, {})] * n_queries)(rng)
        rng.shuffle(rows)
        return rows

    return draw


def flat(n, **how):
    """All documents have one score."""
    return lambda rng: [{**row, "score": 0.5} for row in query(rng, n, **how)]


def with_score(score, n, **how):
    """A relevant document has a score that is no plain number, others on both sides of 0."""

    def draw(rng):
        rows = below_zero_scores(n, **how)(rng)
        relevant = [row for row in rows if row["label"] > 0]
        relevant[0]["score"] = score
        return rows

    return draw


def below_zero_scores(n, **how):
    """Scores on both sides of 0."""
    return lambda rng: [
        {**row, "score": row["score"] - n / 8 - 1 / 4} for row in query(rng, n, **how)
    ]


def unknown_last(kind, *sizes):
    """The last query has nothing relevant, nothing judged, or nothing in its list."""

    def draw(rng):
        rows = several(*[(n, {}) for n in sizes])(rng)
        for row in rows:
            if row["query"] == f"q{len(sizes)}":
                row.update(kind)
        return rows

    return draw


NOTHING_RELEVANT, NOTHING_JUDGED, NOTHING_SHOWN = {"label": 0}, {"label": None}, {"score": None}
B1 = {"err_greatest": 1}


def each(measures, draw, n_lists=3):
    """The same lists for several measures, given as name and parameters."""
    return [Ask(name, parameters, draw, n_lists) for name, parameters in measures]


COMMON = [
    ("ndcg", {}),
    ("ndcg", {"k": 3}),
    ("ap", {}),
    ("precision", {"k": 2}),
    ("recall", {"k": 2}),
    ("rr", {}),
]
OF_RELEVANT = [
    ("ap", {}),
    ("precision", {"k": 3}),
    ("recall", {"k": 3}),
    ("rr", {}),
    ("success", {"k": 2}),
    ("r_precision", {}),
    ("rbp", {}),
    ("f1", {"k": 3}),
]
UNDEFINED = [
    ("ndcg", {}),
    ("ndcg", {"k": 2}),
    ("ap", {}),
    ("recall", {"k": 2}),
    ("rr", {}),
    ("r_precision", {}),
    ("success", {"k": 2}),
    ("err", B1),
    ("f1", {"k": 2}),
    ("bpref", {}),
]

ASKS = {
    "ties": [
        *each([*COMMON, ("dcg", {"k": 3})], one(5, levels=2)),
        *each([("ndcg", {}), ("ap", {}), ("rr", {}), ("rbp", {})], one(6, levels=3)),
        *each([("r_precision", {}), ("success", {"k": 2}), ("err", B1)], one(5, levels=2), 4),
        *each([("ndcg", {}), ("ap", {}), ("precision", {"k": 2})], flat(4), 3),
    ],
    "near_scores": [
        *each([("ndcg", {}), ("ap", {}), ("precision", {"k": 2}), ("rr", {})], one(5, near=True)),
        *each([("ndcg", {"k": 2}), ("rbp", {})], one(5, near=True)),
    ],
    "negative_scores": each(COMMON, below_zero_scores(5), 2),
    "nan_scores": each([("ndcg", {}), ("ap", {}), ("rr", {})], with_score("NaN", 4), 2),
    "infinite_scores": each([("ndcg", {}), ("ap", {}), ("rr", {})], with_score("Infinity", 4), 2),
    "minus_infinity": each(
        [("ndcg", {}), ("ap", {}), ("recall", {"k": 5}), ("rbp", {})], with_score("-Infinity", 5), 2
    ),
    "gains": [
        *each([("ndcg", {}), ("ndcg", {"k": 3}), ("dcg", {})], one(5, labels=GRADED), 4),
        *each([("ndcg", {"k": 2})], several((4, {"labels": GRADED}), (5, {"labels": GRADED}))),
    ],
    "large_grades": each([("ndcg", {}), ("ndcg", {"k": 2})], one(4, labels=(0, 33)), 2),
    "discount": each([("ndcg", {}), ("ndcg", {"k": 3}), ("dcg", {})], one(6), 4),
    "ideal": [
        *each([("ndcg", {}), ("ndcg", {"k": 3}), ("ndcg", {"k": 10})], one(6, out=3)),
        *each([("ndcg", {})], several((5, {"out": 2}), (4, {"out": 2}))),
    ],
    "ideal_cut": each([("ndcg", {"k": 1}), ("ndcg", {"k": 2}), ("ndcg", {"k": 3})], one(6), 3),
    "undefined": [
        *each(UNDEFINED, unknown_last(NOTHING_RELEVANT, 4, 3), 2),
        *each(UNDEFINED[:5], unknown_last(NOTHING_RELEVANT, 3), 1),
    ],
    "unjudged": [
        *each(COMMON, one(6, holes=2), 2),
        *each([("rbp", {}), ("success", {"k": 2}), ("r_precision", {})], one(6, holes=2), 3),
        *each([("ndcg", {}), ("ap", {})], several((5, {"holes": 2}), (5, {"holes": 1})), 2),
    ],
    "below_zero": [
        *each([("ndcg", {}), ("ndcg", {"k": 2}), ("dcg", {})], one(5, labels=GRADED[:2], low=1), 3),
        *each([("ndcg", {}), ("dcg", {"k": 3})], one(6, low=2), 3),
    ],
    "below_zero_judged": each([("bpref", {}), ("judged", {"k": 3})], one(6, low=2), 4),
    "long_cut": [
        *each([("ndcg", {"k": 10}), ("ap", {"k": 10}), ("rr", {"k": 10})], one(4), 2),
        *each([("rbp", {"k": 10})], one(4), 2),
        *each([("recall", {"k": 10}), ("success", {"k": 10})], one(4, out=2), 2),
        *each([("ndcg", {"k": 4}), ("recall", {"k": 4})], several((3, {}), (6, {})), 2),
        *each([("dcg", {"k": 10}), ("err", {"k": 10, **B1})], one(4), 2),
    ],
    "precision_divisor": [
        *each([("precision", {"k": 5}), ("precision", {"k": 10})], one(4), 3),
        *each([("precision", {"k": 4})], several((3, {}), (6, {})), 2),
    ],
    "ap_divisor": each([("ap", {"k": 2}), ("ap", {"k": 3}), ("ap", {"k": 4})], one(7), 3),
    "recall_divisor": each([("recall", {"k": 1}), ("recall", {"k": 2})], one(6), 4),
    "missing_queries": each(COMMON, unknown_last(NOTHING_SHOWN, 4, 4, 3), 1),
    "empty_lists": each(COMMON, unknown_last(NOTHING_SHOWN, 4, 4, 3), 1),
    "unjudged_queries": each(COMMON, unknown_last(NOTHING_JUDGED, 4, 4, 3), 1),
    "one_document": [
        *each([("ndcg", {}), ("ap", {}), ("rr", {})], several((1, {"labels": (1,)}), (4, {})), 2),
        *each([("ndcg", {"k": 5}), ("precision", {"k": 1})], one(1, labels=(1,)), 1),
        *each([("dcg", {}), ("recall", {"k": 1})], one(1, labels=(1,)), 1),
    ],
    "row_order": each(COMMON, apart(3, 4), 2),
    "mean": each(COMMON, several((2, {}), (3, {}), (7, {})), 2),
    "weighted_mean": each(
        [
            (name, {**parameters, "weights": weights})
            for name, parameters in COMMON
            for weights in ({"q1": 2, "q2": 1, "q3": 1}, {"q1": 1, "q2": 0.5, "q3": 0})
        ],
        several((3, {}), (4, {}), (5, {})),
        1,
    ),
    "relevant_grades": each(OF_RELEVANT, one(6, labels=GRADED), 2),
    "relevant_fractions": each(
        [("ap", {}), ("precision", {"k": 3}), ("rr", {}), ("recall", {"k": 3})],
        one(6, labels=(0, 0.25, 0.75, 1)),
        3,
    ),
    "rbp_gain": each([("rbp", {}), ("rbp", {"persistence": "1/2"})], one(5, labels=GRADED), 4),
    "err_greatest": each([("err", {}), ("err", {"k": 3})], one(5, labels=GRADED), 4),
    "bpref": [
        *each([("bpref", {})], one(6), 5),
        *each([("bpref", {})], one(7, labels=(0, 0, 1), holes=1, out=1), 3),
    ],
    "recall_levels": each([("eleven_points", {})], one(7), 4),
    "infap": each([("infap", {})], one(6, holes=2), 6),
    **{
        f"plain_{name}": each([(name, {**how}), (name, {"k": 3, **how})], one(6, **lists), 2)
        for name, how, lists in (
            ("dcg", {}, {}),
            ("ndcg", {}, {}),
            ("precision", {}, {}),
            ("recall", {}, {"out": 1}),
            ("rr", {}, {}),
            ("success", {}, {"out": 2}),
            ("f1", {}, {"out": 1}),
            ("rbp", {}, {}),
            ("err", {}, {"labels": (0, 1, 2, 3, 4)}),
            ("q_measure", {}, {"labels": GRADED}),
            ("judged", {}, {"holes": 2, "out": 1}),
            ("sum_precision", {}, {}),
            ("ndcg_min", {}, {"low": 2}),
            ("ndcg_f", {}, {"low": 2, "out": 1}),
            ("forbidden", {}, {"low": 2, "out": 1}),
            ("dcg_v1", {}, {"labels": GRADED}),
            ("dcg_v2", {}, {"labels": GRADED}),
        )
    },
    **{
        f"plain_{name}": each([(name, how)], one(6, **lists), 4)
        for name, how, lists in (
            ("ap", {}, {}),
            ("r_precision", {}, {}),
            ("set_map", {}, {"out": 2}),
            ("iprec", {"recall": "1/2"}, {}),
            ("bpref", {}, {"out": 1}),
            ("infap", {}, {}),
            ("qwa", {}, {"out": 2}),
            ("false_reject_rate", {}, {"low": 1, "out": 2}),
            ("total_search_efficiency", {"n_items": 9}, {"out": 1}),
            ("search_length", {"n_items": 9}, {"out": 1}),
            ("recall_error", {"n_items": 9}, {"out": 1}),
            ("lexirecall_share", {"n_items": 9}, {"out": 1}),
        )
    },
}

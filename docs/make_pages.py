"""Write docs/measures.md and docs/api.md, so that they cannot drift."""

import re
from pathlib import Path

from _site import measures, public
from skfilterrank._lists.measure_names import parse_measure

ROOT = Path(__file__).parent.parent

# In the table, names of measures lead to their pages.
SITUATIONS = {
    "forbidden documents, one number to tune by": "`ndcg_f@k`",
    "forbidden documents, a risk to report or to certify": "`any_forbidden@k` (how often), "
    "`forbidden@k` (how much of what is shown)",
    "what a filter costs": "`false_reject_rate`, `empty_list_rate`",
    "help minus harm, by the order of the labels only": "`compatibility`",
    "the ranking alone, as trec_eval's nDCG": "`ndcg_0@k`",
    "passages for a language model (RAG)": "`udcg@k`, RAGAS' `context_precision` and "
    "`context_recall`",
    "one right answer": "`rr@k`, `success@k`",
    "first page, graded labels": "`ndcg@k`, `err@k` (stops when satisfied), `q_measure`",
    "first page, relevant or not": "`precision@k`, `ap`, `rbp` (a patience in place of a cut-off)",
    "random rankings score very differently from query to query": "`ul_normalized`",
    "everything has to be found ([which](recall.md))": "`recall@k`, `r_precision`, "
    "`search_length`, `tse`, `lexirecall`",
    "a list that stops early, nothing forbidden": "`qwa`, `f@k`",
    "much is unjudged (`judged@k` far below 1), judged at random": "`inferred_ap`",
    "much is unjudged, judged with known probabilities": "`stat_ap`, or "
    "[estimates with intervals](judging_less.md#values-with-intervals-from-a-sample) "
    "of nearly any measure",
    "much is unjudged, judged by rank or by hand": "`bpref`, `induced_ap`, or any with "
    "`unjudged=drop`; give [the least and the most](recall.md#how-to-report-it)",
}

HEAD = """# Measures

{situations}

Names work as they stand in `evaluate`, `make_ranking_scorer`, `RankAndFilter(measure=...)`, on the
command line:

```python
>>> from skfilterrank.metrics import evaluate
>>> labels = [2, -1, 0, 1, 1]  # -1: forbidden
>>> scores = [0.9, 0.5, 0.8, 0.1, float("-inf")]  # -inf: hidden
>>> names = ["ndcg_f@10", "rbp(persistence=0.95)", "MRR@10"]
>>> evaluate(labels, scores, names, groups=list("aabbb")).per_query.round(2)
     ndcg_f@10  rbp(persistence=0.95)  MRR@10
qid
a         0.79                   0.05     1.0
b         0.39                   0.05     0.5

```

Choose the measure before you look at results. Report the number of queries and an interval
([comparing systems](comparing_systems.md)), and say how ties, unjudged documents and empty queries
count.

## What a measure gets

Every measure is a function `(y_true, y_score, *, groups, ...)`, such as `ndcg_f_score`, of three
arrays with one entry per (query, document) row. It returns the mean over queries, and its method
`per_query` one value per query, in the order of the sorted query ids.

Measures need the queries. scikit-learn's `average_precision_score` ranks the documents of all
queries against each other, but scores of rankers mean something within a query only:

```python
>>> import sklearn.metrics
>>> from skfilterrank.metrics import average_precision_score
>>> labels, scores = [1, 0, 0, 1, 0, 0], [0.9, 0.2, 0.1, 0.5, 0.6, 0.8]
>>> print(f"wrong {sklearn.metrics.average_precision_score(labels, scores):.2f}")
wrong 0.75
>>> print(f"right {average_precision_score(labels, scores, groups=list('aaabbb')):.2f}")
right 0.67

```

* **Filtered** documents have the score -inf: they are not in the list, which has no gaps.
* **Unjudged** documents have the label NaN: they stand in the list as gain 0, or are taken out
  first with `unjudged="drop"`. Ideal and worst lists are made of the judged rows of the query,
  whether the system returned them or not.
* **Ties** in score are averaged exactly over all their orders, unless `ties=` says otherwise.
  For runs of TREC they are broken by document id, as trec_eval does.
* **Undefined** queries get the value of `undefined=`, 0 by default.

## What a name can say

Names may be written in any case, and as trec_eval, ir_measures and papers write them: `"MAP"`,
`"P_5"`, `"nDCG@10"` or `"RBP(p=0.9)"`. A column of results is called what was written. For labels
from 0 up, each gives the number of the tool whose name it is, but trec_eval's `rbp` is
`"trec_rbp"`. Labels below 0, which trec_eval takes for not judged, are forbidden documents:
`ndcg_cut_10` and binary measures give its numbers there too, `ndcg@10`, `bpref` and `infAP` do not.

A name may also say how it reads judgments, so that one call has `"AP(rel=2)"` beside `"nDCG@10"`:

* `rel=2`: documents with a gain of 2 or more are relevant, with gain 1; others have gain 0, and
  forbidden ones keep theirs. It is the `-l 2` of trec_eval.
* `gains=exp2`, or a gain for each label, `gains={0:0,1:1,2:5}`, where `nan` means unjudged.
* `unjudged=drop`: unjudged documents are taken out of the lists first. It is the `-J` of trec_eval
  and the `judged_only=True` of ir_measures, except that infAP reads the unjudged documents, by
  which it is defined.
* `like=lightgbm`, `xgboost`, `catboost` or `scikit-learn`: gains, ties and the value of undefined
  queries as in that library; `like=trec_eval9`: see [other libraries](other_libraries.md).

Gains of a name start from the gains of the call. An option of a name goes before that of a call.

## All measures

Each measure has a page of its own on the site: its formula, what it rewards, when to use it. Values
are from 0 to 1, and higher is better, unless the column "range" says otherwise.
"""


def situations() -> str:
    """The table of situations, each with its measures."""
    lines = [f"| {situation} | {found} |" for situation, found in SITUATIONS.items()]
    table = "\n".join(["| situation | measure |", "| --- | --- |", *lines])
    return re.sub(r"`(\w+)(@k)?`", _link, table)


def _link(match) -> str:
    name = parse_measure(match[1]).measure.name
    return f"[{match[0]}](measures.md#{name})"


def pages() -> dict[str, str]:
    """Texts of the written files by their paths."""
    return {
        "docs/measures.md": f"{HEAD.replace('{situations}', situations())}\n{measures.overview()}",
        "docs/api.md": public.api(),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")

"""Write docs/measures.md and docs/api.md, so that they cannot drift."""

from pathlib import Path

from _site import measures, public

ROOT = Path(__file__).parent.parent

HEAD = """# Measures

Written by `docs/make_pages.py` from the measure table. Each measure has a page of its own on the
site (`make site`): its formula, what it rewards, when to use it, its sources.

Every measure is a function `(y_true, y_score, *, groups, ...)` of three arrays with one entry per
(query, document) row. It returns the mean over queries, or with `average=None` one value
per query, in the order of the sorted query ids. The names below, with a cut-off and options where
wanted, such as `"ndcg_f@10"` or `"rbp(persistence=0.95)"`, work in `make_ranking_scorer`, in
`RankAndFilter(measure=...)`, in `evaluate`, on the command line, and in ir_measures.

Names may be written in any case. The table also has names of trec_eval, ir_measures and papers,
which work wherever a measure is named: `"MAP"`, `"P_5"`, `"MRR@10"`, and so `"nDCG@10"` and
`"RBP(p=0.9)"`. A column of results is called what was written. For labels from 0 up, each gives the
number of the tool whose name it is, of trec_eval 9 and 10, but `rbp` is not trec_eval's,
which is `"trec_rbp"`. Labels below 0, which trec_eval takes for not judged, are forbidden
documents: `ndcg_cut_10` and the measures of relevant or not give its numbers there too, while
`ndcg@10`, `bpref` and `infAP` do not.

Judgments are read as a call says, for all of its measures. A name may tell its own way, so that one
call has `"AP(rel=2)"` beside `"nDCG@10"` and `"ndcg(gains=exp2)@10"` beside `"ndcg@10"`:

* `rel=2`: documents with a gain of 2 or more are relevant, with gain 1; others have gain 0, and
  forbidden ones keep theirs. It is the `-l 2` of trec_eval and the `rel=2` of ir_measures.
* `gains=exp2`, or a gain for each label, `gains={0:0,1:1,2:5}`, where `nan` means unjudged.
  ir_measures' `dcg='exp-log2'` is `gains=exp2`.
* `unjudged=drop`: unjudged documents are taken out of the lists first, as with `unjudged="drop"`
  of a call. It is the `-J` of trec_eval and the `judged_only=True` of ir_measures, which may be
  written too. Only infAP differs from `-J`: it is defined by the unjudged documents, so it reads
  them whatever a call says, while `-J` takes them out first.

Gains start from what `gains=` of the call, where there is any, has made of labels. `like=lightgbm`,
`xgboost`, `catboost` or `scikit-learn` tells gains, ties and the value of undefined queries at
once, as in `"ndcg(like=lightgbm)@10"`: the number that the library reports, see
[other_libraries.md](other_libraries.md). What a name tells goes before what a call says.

* **Filtered** documents have the score -inf: they are not in the list, and the places close up.
* **Unjudged** documents have the label NaN: they stand in the list as gain 0, or are taken out
  first with `unjudged="drop"`. Measures that are defined by them say what they do. Ideal and
  worst lists are made of the judged rows of the query, whether the system returned them or not.
* **Ties** in score are averaged exactly over all their orders, unless `ties=` says otherwise.
  For runs of TREC they are broken by document id, as trec_eval does.
* **Undefined** queries get the value of `undefined=`, 0 by default.
"""


def pages() -> dict[str, str]:
    """Texts of the written files by their paths."""
    return {
        "docs/measures.md": f"{HEAD}\n{measures.overview()}",
        "docs/api.md": public.api(),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")

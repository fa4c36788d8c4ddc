"""What do vectors of texts add to features of words? Forum answers, rank and filter.

    python benchmarks/semantic_features.py [--data DIR] [--cache FILE]

Needs the extra "neural" and the package of the model, as docs/encoder.md says; the encoder
is that page's program. Trained and tuned on train-part2 of SemEval-2016; the dev part and the
questions of 2015 are only scored. About 10 CPU minutes on one thread, 5 of them for the vectors,
which a FILE keeps. Writes results/semantic_features.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS, HERE, arguments, write_report
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import fetch_semeval_cqa
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import (
    RankAndFilter,
    list_embedding_features,
    make_ranker,
    make_text_features,
    share_features,
)
from skfilterrank.ranking._make_ranker import SharedFeatures

# Price of a bad answer, and places: the whole thread, or its first three.
SETTINGS = ((1, 10), (10, 10), (10, 3))
NOTES = """
"words" are the features of make_text_features. "lists" are the 16 columns of
list_embedding_features for questions (subject and body) and answers. "vectors" adds the answer's
vector and its product with the question's, number by number, to the linear model alone.

The weights and columns were chosen on train-part2 alone, by two times 5 folds of its questions,
with thresholds from other folds. There words have 0.798 at price 1 and 0.864 at price 10; lists
add 0.017 and 0.015; vectors and products, at half of their weight, 0.021 and 0.020. Tried and not
taken: products without vectors (0.019 and 0.016), principal components of both for the trees, too
(0.020 and 0.021), and cosines with the subject alone (no better than with subject and body). At
twice their weight products make the linear model worse than words alone do, by its log loss.

An earlier run had vectors that differed by at most 2e-7. As the rows' content decides their folds,
its folds were others. There "words, lists and vectors" had over words on both sets of questions
+0.0254 (price 1), +0.0155 (price 10) and +0.0370 (price 10, three places), each with p < 0.02, and
on dev +0.0134, +0.0132 and +0.0185. So at price 10 the folds that choose the threshold move the
result by as much as the features do; at price 1 they do not. Three places were added when results
of ten were known; columns and weights stayed.
"""


def recipe():
    """Return the encoder of docs/encoder.md, whose program is run from the page."""
    page = (HERE.parent / "docs" / "encoder.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (program,) = (text for text in programs if "class MiniLM" in text)
    space: dict = {}
    exec(program, space)
    return space["MiniLM"]()


def read(options):
    """Return the rows of each part, with the label and the texts to encode."""
    parts = {}
    for name in ("train-part2", "dev"):
        part = fetch_semeval_cqa(name, data_home=options.data)
        parts[name] = part.data.assign(label=part.target.to_numpy())
    older = pd.read_json(options.data / "semeval2015-cqa" / "dev.jsonl.gz", lines=True)
    # Threads of 2016 end after ten comments.
    older = older[older["position"] <= 10]
    seen = pd.concat(parts.values())["question_body"]
    parts["2015"] = older[~older["question_body"].isin(seen)].reset_index(drop=True)
    for part in parts.values():
        subject, body = (part[f"question_{name}"].fillna("") for name in ("subject", "body"))
        part["question"] = subject + ". " + body
        part["comment"] = part["comment"].fillna("")
    return parts


def vectors_of(texts, file):
    """Return the vector of each text and the CPU seconds of encoding, from the file if it is there.

    Without a package, return None.
    """
    if file and Path(file).exists():
        kept = np.load(file, allow_pickle=True)
        vectors = dict(zip(kept["texts"], kept["vectors"]))
        if vectors.keys() >= set(texts):
            return vectors, float(kept["seconds"])
    try:
        encoder = recipe()
    except ImportError as error:
        print(f"Skipped: {error}. See docs/encoder.md for what to install.")
        sys.exit()
    begin = time.process_time()
    vectors = encoder.encode(texts)
    seconds = time.process_time() - begin
    if file:
        kept = {"texts": np.array(texts, dtype=object), "vectors": vectors, "seconds": seconds}
        np.savez(file, **kept)
    return dict(zip(texts, vectors)), seconds


def systems(parts, vectors):
    """Return the rows of each part with all columns, and the features of each system."""
    tables, columns = {}, []
    for name, part in parts.items():
        question, answer = (
            np.array([vectors[text] for text in part[column]]) for column in ("question", "comment")
        )
        found = list_embedding_features(question, answer, part["qid"])
        columns = list(found)
        # Numbers of a product are about as large as those of a vector so.
        products = question * answer * np.sqrt(answer.shape[1])
        given = pd.DataFrame(np.hstack([answer, products]), part.index).add_prefix("vector_")
        tables[name] = pd.concat([part, found, given], axis=1)
    words = [*FORUM_COLUMNS["query_text"], *FORUM_COLUMNS["same"][0], "comment", "qid", "position"]
    more = {"words": {}, "words and lists": {"lists": columns}}
    more["words, lists and vectors"] = {"lists": columns, "vectors": list(given)}
    made = {
        name: {kind: features_of(kind, words, added) for kind in ("linear", "trees")}
        for name, added in more.items()
    }
    return tables, made


def features_of(kind, words, added):
    """Return features of words beside the columns of lists and, for linear models, of vectors."""
    dense = {"output": "dense", "random_state": 0} if kind == "trees" else {}
    # Computed once for all systems.
    of_words = SharedFeatures(make_text_features(**FORUM_COLUMNS, **dense))
    scaled = {"lists": StandardScaler(), "vectors": "passthrough"}
    parts = [
        (name, scaled[name], names) for name, names in added.items() if name == "lists" or not dense
    ]
    # As in make_text_features: beside rows of tf-idf, which have length 1, columns are small.
    return ColumnTransformer(
        [("words", of_words, words), *parts],
        sparse_threshold=0.0 if dense else 1.0,
        transformer_weights=None if dense else {"lists": 0.1, "vectors": 0.5},
    )


def section(tables, made, price, k):
    """Return the table of a price and k, a line for each system and set of questions."""
    shown, cross_validated, seconds = {}, {}, {}
    held = {name: tables[name] for name in ("dev", "2015")}
    train, gains = tables["train-part2"], {"Bad": -price, "PotentiallyUseful": 1, "Good": 2}
    for name, features in made.items():
        ranker = make_ranker("ordinal", "blend", features=features, random_state=0)
        begin = time.process_time()
        model = RankAndFilter(ranker, measure=f"ndcg_f@{k}", gains=gains)
        model.fit(train, train["label"], groups=train["qid"])
        seconds[name] = time.process_time() - begin
        shown[name] = {part: model.predict(rows) for part, rows in held.items()}
        shown[f"{name}, nothing hidden"] = {
            part: model.decision_function(rows) for part, rows in held.items()
        }
        cross_validated[name] = model.best_score_
    lines = [
        f"| questions | features | cross-validated | nDCG_f@{k} | 95 % interval | over words | p | "
        f"forbidden@{k} | good hidden | empty | fit, CPU s |",
        "|" + " --- |" * 11,
    ]
    for title, among in (("dev", ["dev"]), ("2015", ["2015"]), ("both", ["dev", "2015"])):
        rows = pd.concat([held[part] for part in among])
        scores = {name: np.concatenate([of[part] for part in among]) for name, of in shown.items()}
        report = rank_filter_report(
            rows["label"].to_numpy(),
            scores | {"nothing": np.full(len(rows), -np.inf)},
            groups=rows["qid"].to_numpy(),
            k=k,
            gains=gains,
            baseline="words",
        )
        for name, row in report.loc[[*scores, "nothing"]].iterrows():
            is_model = name in cross_validated
            p = "< 0.0001" if row["p_value"] < 5e-5 else f"{row['p_value']:.4f}"
            over = f"{row['difference']:+.4f} | {p}" if name != "words" else " | "
            lines.append(
                f"| {title}, {rows['qid'].nunique()} | {name} | "
                + (f"{cross_validated[name]:.4f}" if is_model else "")
                + f" | {row[f'ndcg_f@{k}']:.4f} | {row['low']:.3f} to {row['high']:.3f} | {over} | "
                f"{100 * row[f'forbidden@{k}']:.1f} % | {100 * row['false_reject_rate']:.1f} % | "
                f"{100 * row['empty_list_rate']:.1f} % | "
                + (f"{seconds[name]:.0f} |" if is_model else "|")
            )
    return "\n".join(lines)


def main():
    options = arguments(__doc__, cache="")
    parts = read(options)
    texts = pd.unique(
        pd.concat([part[name] for part in parts.values() for name in ("question", "comment")])
    )
    vectors, seconds = vectors_of(list(texts), options.cache)
    tables, made = systems(parts, vectors)
    sizes = {name: f"{part['qid'].nunique()} questions" for name, part in parts.items()}
    text = [
        f"Trained and tuned on train-part2 of semeval2016-cqa ({sizes['train-part2']}), scored on "
        f"its dev part ({sizes['dev']}) and on the first ten answers of semeval2015-cqa "
        f"({sizes['2015']}; those whose text is in a part of 2016 are left out). "
        'RankAndFilter(make_ranker("ordinal", "blend"), measure="ndcg_f@k"), one threshold. '
        "Intervals: Student's t over questions; p: paired t test over questions. Features of words "
        "are computed once, and counted with the first fit.",
        f"The encoder is all-MiniLM-L6-v2 by numpy: {len(texts):,} texts in {seconds:.0f} CPU "
        f"seconds, {1000 * seconds / len(texts):.0f} ms each.",
        NOTES,
    ]
    with share_features():
        for price, k in SETTINGS:
            if k == 3:
                made.pop("words and lists")
            text += [f"## A bad answer costs {price}, k = {k}", section(tables, made, price, k)]
    write_report("semantic_features", "Vectors of texts beside words", "\n\n".join(text))


if __name__ == "__main__":
    main()

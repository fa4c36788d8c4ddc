"""A certified threshold behind the retriever of a RAG service: what it keeps off, and its price.

Two collections with people's judgments. TREC 2021 Health Misinformation: pages that recommend
harmful treatment are forbidden. TREC 2019 Deep Learning: passages that people call irrelevant
(label 0) are forbidden, as they distract; certificates come from people's labels and from those of
seven language models.

    python benchmarks/rag.py
"""

import warnings

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.exceptions import SkfilterrankError, SkfilterrankWarning
from skfilterrank.io import read_qrels, read_run
from skfilterrank.metrics import evaluate
from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold

K = 5
CONFIDENCE = 0.9
LEVELS = (0.3, 0.2)
RISK = f"any_forbidden@{K}"
MEASURES = {
    RISK: "pages with harm",
    f"forbidden@{K}": "harm",
    f"precision@{K}": "help",
    "empty_list_rate": "empty pages",
    f"udcg@{K}": "UDCG",
    f"compatibility@{K}": "compatibility",
    f"ndcg_f@{K}": "nDCG_f",
}


class Log:
    """Judged passages of each query in the order of a score."""

    def __init__(self, table):
        table = table.sort_values(["qid", "score"], ascending=[True, False], kind="stable")
        self.queries, self.codes = np.unique(table["qid"], return_inverse=True)
        self.scores = table["score"].to_numpy(dtype=float)
        self.place = table.groupby("qid").cumcount().to_numpy()
        self.rows = [np.flatnonzero(self.codes == i) for i in range(len(self.queries))]
        self.table = table

    def draw(self, n, rng):
        """Rows and query numbers of some queries, drawn with replacement."""
        drawn = rng.integers(len(self.queries), size=n)
        rows = [self.rows[i] for i in drawn]
        return np.concatenate(rows), np.repeat(np.arange(n), list(map(len, rows)))

    def values(self, gains, shown):
        """Means over all queries of what is shown."""
        return evaluate(gains, shown, list(MEASURES), groups=self.codes).means


def certified(log, gains, level, n, rng):
    """What a threshold shows that is certified on some queries; nothing where none is possible.

    Only the first documents of a query are judged: the certificate needs no others.
    """
    rows, groups = log.draw(n, rng)
    labels = np.where(log.place[rows] < K, gains[rows], np.nan)
    cut = CertifiedThreshold({RISK: level}, confidence_level=CONFIDENCE, measure=f"dcg@{K}")
    try:
        cut.fit(log.scores[rows], labels, groups=groups)
    except SkfilterrankError:
        return np.full(len(log.scores), -np.inf)
    return cut.predict(log.scores, groups=log.codes)


def line(name, values, above=""):
    """A line of a table of values."""
    cells = [f"{values[measure]:.3f}" for measure in MEASURES]
    return f"| {name} | " + " | ".join(cells) + f" | {above} |"


HEAD = f"| | {' | '.join(MEASURES.values())} | above |\n| --- |{' ---: |' * (len(MEASURES) + 1)}"


def lines_of(log, gains, n_draws):
    """Lines of a table: everything, tuned, certified."""
    n = len(log.queries)
    yield line("all passages", log.values(gains, log.scores))
    tuned = TunedThreshold(f"ndcg_f@{K}").fit(log.scores, gains, groups=log.codes)
    yield line("tuned on nDCG_f", log.values(gains, tuned.predict(log.scores, groups=log.codes)))
    for level in LEVELS:
        rng = np.random.default_rng(0)
        draws = pd.DataFrame(
            [log.values(gains, certified(log, gains, level, n, rng)) for _ in range(n_draws)]
        )
        above = (draws[RISK] > level).mean()
        yield line(f"certified at {level:g}", draws.mean(), f"{above:.1%}")


def misinformation(folder):
    """The judged of the first 100 pages of BM25, by the chance to agree with the right answer."""
    qrels = read_qrels(folder / "qrels.txt.gz", unjudged_label=None).astype({"qid": str})
    table = pd.read_parquet(folder / "features.parquet").rename(columns={"query": "qid"})
    rank = table.groupby("qid")["bm25_score"].rank(ascending=False, method="first")
    table = table[rank <= 100].astype({"qid": str})
    top = table.sort_values("p_correct", ascending=False).groupby("qid").head(K)
    n_judged = len(top.merge(qrels, on=["qid", "docno"]))
    table = table.merge(qrels, on=["qid", "docno"]).rename(columns={"p_correct": "score"})
    return Log(table), n_judged / len(top)


def deep_learning(folder, run):
    """The judged of the first 100 passages of a run, with each judge's labels in a column."""
    keys = ["qid", "docno"]
    table = read_run(folder / "runs" / f"{run}.gz").astype({"qid": str, "docno": str})
    table = table[table.groupby("qid")["score"].rank(ascending=False, method="first") <= 100]
    paths = {"people": folder / "qrels.txt.gz"}
    paths |= {
        path.name.removesuffix(".txt.gz"): path for path in sorted(folder.glob("llm-qrels/*"))
    }
    for name, path in paths.items():
        qrels = read_qrels(path, unjudged_label=None).astype({"qid": str, "docno": str})
        table = table.merge(qrels[[*keys, "label"]].rename(columns={"label": name}), on=keys)
    return Log(table), list(paths)


def main():
    """Both collections, and the report."""
    options = arguments(__doc__.splitlines()[0], draws=200)
    warnings.simplefilter("ignore", SkfilterrankWarning)
    log, judged = misinformation(options.data / "trec-misinfo-2021")
    gains = np.sign(log.table["label"].to_numpy(dtype=float))
    n = len(log.queries)
    text = FINDINGS.format(n_draws=options.draws, k=K, confidence=CONFIDENCE)
    text += f"\n## TREC 2021 Health Misinformation\n\n{n} questions, {len(gains):,} judged pages, "
    text += f"{(gains < 0).sum()} of them harmful. Of the first {K} of all 100 pages, "
    text += f"{judged:.0%} are judged.\n\n{HEAD}\n"
    text += "\n".join(lines_of(log, gains, options.draws)) + "\n"

    log, judges = deep_learning(options.data / "trec-dl2019-llm", "p_bert")
    gains = {
        name: log.table[name].map({0: -1.0, 1: 0.5, 2: 1.0, 3: 1.0}).to_numpy() for name in judges
    }
    n = len(log.queries)
    text += f"\n## TREC 2019 Deep Learning\n\n{n} questions, {len(log.scores):,} judged passages "
    text += f"of the run p_bert, {(gains['people'] < 0).sum():,} of them irrelevant to people.\n\n"
    text += f"{HEAD}\n" + "\n".join(lines_of(log, gains["people"], options.draws)) + "\n"
    text += f"\nCertified at {LEVELS[0]:g} on the labels of each judge, measured by people's:\n\n"
    text += "| judge | rate that the judge sees | rate by people | above |\n"
    text += "| --- | ---: | ---: | ---: |\n"
    for name in judges:
        rng = np.random.default_rng(0)
        rates = np.array(
            [
                [
                    log.values(gains[by], shown)[RISK]
                    for shown in [certified(log, gains[name], LEVELS[0], n, rng)]
                    for by in (name, "people")
                ]
                for _ in range(options.draws)
            ]
        )
        above = (rates[:, 1] > LEVELS[0]).mean()
        means = rates.mean(axis=0)
        text += f"| {name} | {means[0]:.3f} | {means[1]:.3f} | {above:.1%} |\n"
    write_report("rag", "A certified threshold behind a retriever", text)


FINDINGS = """
{n_draws} draws of as many questions as there are, with replacement; all questions are the
population, so that true rates are known. Certificates are fitted on the labels of the first {k}
passages of each drawn question, with confidence {confidence:g}. "Pages with harm": share of
questions that show a forbidden passage in the top {k}; "harm": share of the shown
passages that is forbidden; "help": good passages among the {k} places. Certified: means over draws.
"Above": share of draws in which the true rate of pages with harm is above the certified level, at
most 1 - {confidence:g} by the certificate. "Tuned" saw the whole population.
"""


if __name__ == "__main__":
    main()

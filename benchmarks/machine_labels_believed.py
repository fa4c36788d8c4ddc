"""How far values are off where a machine's labels are believed as they are.

37 runs of TREC 2019 Deep Learning, measured by the labels of NIST and by those of each of seven
language models, of the same passages.

    python benchmarks/machine_labels_believed.py
"""

import glob

from _common import arguments, write_report
from scipy.stats import kendalltau

from skfilterrank.io import read_qrels
from skfilterrank.trec import evaluate_runs

MEASURES = ["dcg@10", "ndcg@10"]


def main():
    folder = arguments(__doc__).data / "trec-dl2019-llm"
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))
    people = read_qrels(folder / "qrels.txt.gz").set_index(["qid", "docno"])["label"]
    true = means(runs, people)
    judges = sorted(glob.glob(f"{folder}/llm-qrels/*.txt.gz"))
    rows = {measure: [] for measure in MEASURES}
    for path in judges:
        labels = read_qrels(path, predicted="use").set_index(["qid", "docno"])["label"]
        assert labels.index.sort_values().equals(people.index.sort_values())
        believed = means(runs, labels)
        name = path.rsplit("/", 1)[1].removesuffix(".txt.gz")
        same = (labels.reindex(people.index) == people).mean()
        for measure in MEASURES:
            off = believed[measure] - true[measure]
            tau = kendalltau(believed[measure], true[measure]).statistic
            spread = " | ".join(f"{value:+.2f}" for value in (off.min(), off.mean(), off.max()))
            rows[measure].append(f"| {name} | {measure} | {spread} | {tau:.3f} | {same:.3f} |")
    ranges = ", ".join(f"{m} from {true[m].min():.2f} to {true[m].max():.2f}" for m in MEASURES)
    lines = "\n".join(line for lines in rows.values() for line in lines)
    write_report(
        "machine_labels_believed",
        "A machine's labels, believed",
        f"{len(judges)} language models labelled the {len(people):,} passages that NIST judged. Of "
        f"the {len(runs)} runs the means over topics by NIST's labels are: {ranges}. `least`, "
        "`mean` and `most` are of the value by the machine minus the value by NIST, over the runs; "
        "Kendall's tau compares the two orders of the runs; `same label` is the share of passages "
        "to which both give the same label.\n\n"
        "| judge | measure | least | mean | most | Kendall's tau | same label |\n"
        f"| --- | --- | --- | --- | --- | --- | --- |\n{lines}",
    )


def means(runs, labels):
    """Means over topics of each run and measure."""
    values = evaluate_runs(labels.reset_index(), runs, MEASURES)
    return values.groupby("run", sort=False).mean()


if __name__ == "__main__":
    main()

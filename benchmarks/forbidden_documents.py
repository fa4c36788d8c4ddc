"""Intervals of the share of forbidden documents, from samples of documents.

    python benchmarks/forbidden_documents.py

Every third run of TREC 2019 Deep Learning; documents of NIST's label 0 are forbidden.
"""

import glob

import pandas as pd
from _common import arguments, write_report
from _intervals import Study, studies_of_deep_learning, true_values

from skfilterrank.io import read_qrels

GAINS = {0: -1, 1: 1, 2: 2, 3: 3}
SHARES = (0.05, 0.1, 0.2, 0.4)
JUDGES = ("llama3-70b_4prompts", "llama3-8b_query-similarity")


def main():
    args = arguments(__doc__, repetitions=10)
    folder, measure = args.data / "trec-dl2019-llm", "forbidden@5"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))[::3]
    rows = []
    for judge, _, study, _ in studies_of_deep_learning(args.data, JUDGES, ("dcg@10",)):
        true = true_values(runs, qrels, (measure,), GAINS, study.pool.runs)(measure)
        labels = qrels.set_index(["qid", "docno"])["label"]
        study = Study(study.pool, labels, {measure: true}.get)
        for share in SHARES:
            seeds = range(args.repetitions)
            (row,) = study.figures((measure,), GAINS, "differences", share, seeds)
            shown = ("labels", "coverage", "least", "of differences", "half-width", "bias")
            rows.append({"judge": judge, "share": share} | {name: row[name] for name in shown})
            print(rows[-1], flush=True)
    text = (
        f"TREC 2019 Deep Learning, {len(runs)} runs, {args.repetitions} samples of documents, "
        f"nominal 95 %. Documents of label 0 are forbidden; true values are {true.min():.3f} to "
        f"{true.max():.3f}. `least`: coverage of the worst run.\n\n"
    )
    table = pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format)
    text += f"```\n{table}\n```"
    write_report("forbidden_documents", "Intervals of the share of forbidden documents", text)


if __name__ == "__main__":
    main()

"""Three questions that labels_needed.py leaves open, on its systems over Cranfield.

What uniform samples by the truth need when they hold a relevant document where there is one;
whether MAXREP is worse than its prior by measures that leave unjudged copies out; and how many
documents soft labels take for relevant. Needs bm25s and PyStemmer.
Writes results/labels_needed_checks.md.
"""

import time

import numpy as np
from _common import arguments, write_report
from _cranfield_systems import read_collection
from _labels_needed_pool import Pool
from _labels_needed_trial import ENOUGH, Trial, predicted
from labels_needed import SHARES, compare_all, grid, near_duplicates, needed_table

ORACLE = "uniform, oracle"
WITHOUT_PREDICTION = ("trec-map", "indAP", "infAP")


def soft_labels(trial):
    """Lines of the table: how many unjudged documents soft labels take for relevant."""
    pool, lines = trial.pool, []
    for name, share in (("uniform", 0.3), ("prior", 0.1)):
        labels, _ = trial.labels(name, share)
        unjudged = np.isnan(labels)
        cells = [f"{pool.truth[unjudged].mean():.3f}"]
        for calibration in ("pooled", None):
            found = predicted(pool, labels, output="soft", calibration=calibration)
            cells.append(f"{np.nanmean(found[unjudged]):.3f}")
        lines.append(f"| {name}, {share:.0%} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    options = arguments(__doc__.splitlines()[0], repetitions=30, predict_repetitions=1)
    begin = time.process_time()
    documents, queries, relevant = read_collection(options.data / "cranfield")
    trial = Trial(Pool(documents, queries, relevant))
    found = compare_all(trial, [ORACLE], options.repetitions, options.predict_repetitions)
    soft = soft_labels(trial)
    few, many = (
        near_duplicates(documents, queries, relevant, n, WITHOUT_PREDICTION) for n in (1, 3)
    )
    text = f"""
Setting and names as in [labels_needed.md](labels_needed.md).

## Uniform samples by the truth

Since `RandomSelector(oracle=True)` takes a relevant document first, where there is one; the row of
labels_needed.md is of before, when small samples held none. {options.repetitions} repetitions, of
predict-map {options.predict_repetitions}. Percent of the pool for a tau above {ENOUGH}:

{needed_table(found, [ORACLE])}

Kendall's tau:

{grid(found, [ORACLE], 0, (0.01, *SHARES[2:8]))}

## MAXREP and its prior without prediction

A third of the documents copied, as there. Cells: tau / RMSE; the last line of each measure is the
difference in tau, with a 95 % interval over topics (200 samples).

### One copy each

{few}

### Three copies each

{many}

## Soft labels

`LabelPredictor(output="soft")`: the mean label that it gives unjudged documents, where documents
are judged at random and where the likely ones are, by the pooled sigmoid and by the logistic
function of the margins.

| judged | relevant among the unjudged | pooled sigmoid | logistic function |
| --- | ---: | ---: | ---: |
{soft}

{time.process_time() - begin:.0f} seconds of processor time.
"""
    write_report("labels_needed_checks", "Labels needed: three checks", text)


if __name__ == "__main__":
    main()

"""Which of some systems differ by more than chance: two of them, all, and all against one.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import os
from pathlib import Path

from skfilterrank.comparison import compare_systems
from skfilterrank.trec import evaluate_runs

folder = Path(os.environ["SKFILTERRANK_DATA"]) / "trec-covid-round1"
runs = sorted((folder / "runs").glob("*.gz"))[:6]
table = evaluate_runs(runs, folder / "qrels.txt.gz", ["ap", "ndcg@10"])

print(compare_systems(table.loc[["BBGhelani1", "BERT"], "ap"]))
print(compare_systems(table, measure="ap", test="randomization", correction="holm"))
print(compare_systems(table, measure="ndcg@10", baseline="BITEM_BL", correction="bonferroni"))

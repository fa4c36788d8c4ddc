"""Write fitted models, and what they say, for later versions to load: run it before a release.

``PYTHONPATH=. python tests/support/keep_models.py`` writes `tests/io/kept/VERSION.skops` and
`VERSION.json`. Best with the oldest packages, ``.venv-oldest/bin/python``: what they write, all
later ones must read. What is there from earlier versions stays, and is never written again.
From 0.1.0.dev0, which was never published, models that are not read any more were taken out:
RankAndFilter before its thresholds were estimators, SegmentedFilter, FilterAll, FilterOnly,
LinearRankFusion, RankFusion before it had a `random_state`, LabelPredictor before it took matrices.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

import skfilterrank
from all_estimators import CASES, DATA, Data, asked
from skfilterrank.io import save_model

KEPT = Path(__file__).parent.parent / "io" / "kept"
# Of what is asked about rows that are given, not about those of `fit`.
KINDS = ("rows", "texts", "numbers", "judgments")


def values(said) -> list:
    """What a model says as lists of numbers, which JSON holds exactly."""
    return [np.asarray(each, dtype=float).tolist() for each in said]


def data_of(kept) -> dict:
    """Data of each kind, from what JSON holds of it."""
    return {
        kind: Data((pd.DataFrame(table).astype(dict(dtypes)),), {"groups": np.array(groups)})
        for kind, (table, dtypes, groups) in kept.items()
    }


def main():
    tables = {}
    for kind in KINDS:
        args, more = DATA[kind][0]
        table = pd.DataFrame(args[0]).head(24)
        groups = np.asarray(more.get("groups", ()))[:24].tolist()
        tables[kind] = [table.to_dict("list"), table.dtypes.map(str).to_dict(), groups]
    tables = json.loads(json.dumps(tables))
    models, said = {}, {}
    for name, case in CASES.items():
        if case.kind in KINDS and case.change is None and "warm_start" not in name:
            models[name] = case.fit(clone(case.estimator), DATA[case.kind][0])
            said[name] = [case.kind, values(asked(models[name], data_of(tables)[case.kind]))]
    KEPT.mkdir(exist_ok=True)
    stem = KEPT / skfilterrank.__version__
    save_model(models, f"{stem}.skops")
    # One line for each model and table, so that differences can be read.
    lines = (
        f'"{part}": {{\n'
        + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
        + "\n}"
        for part, found in (("data", tables), ("said", said))
    )
    Path(f"{stem}.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    print(f"{len(models)} models in {stem}.skops", file=sys.stderr)


if __name__ == "__main__":
    main()

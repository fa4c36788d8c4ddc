"""Models that an earlier version saved load, and say what they said then."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from all_estimators import asked
from keep_models import KEPT, data_of, values
from skfilterrank.io import load_model

FILES = sorted(KEPT.glob("*.skops"))


def test_there_is_one():
    assert FILES


# That other packages saved them is no news here.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* was saved with .*, and is loaded with")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_model_that_was_kept(file):
    kept = json.loads(Path(file).with_suffix(".json").read_text(encoding="utf-8"))
    models, data = load_model(file), data_of(kept["data"])
    assert models.keys() == kept["said"].keys()
    for name, (kind, then) in kept["said"].items():
        now = values(asked(models[name], data[kind]))
        assert len(now) == len(then), name
        for first, second in zip(now, then):
            np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12, err_msg=name)
        assert repr(clone(models[name])) == repr(models[name])
        if hasattr(models[name], "certificate_"):
            certificate = models[name].certificate_
            assert certificate.to_judge.empty
            assert repr(replace(certificate)) == repr(certificate)

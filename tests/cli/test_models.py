"""The models that `rank-filter` trains."""

from itertools import chain, repeat

import pytest

LOSSES = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")


def write(table, path, first, last):
    """Write the rows of some queries, as the working folder has them."""
    table[table["qid"].str[1:].astype(int).between(first, last)].to_csv(path, index=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "loss", "threshold"),
    [
        # The threshold is kept beside the model, whatever the model is: others have none to learn,
        # which takes folds.
        *zip(repeat("linear"), LOSSES, chain(["tune", "per_query"], repeat("0.3"))),
        ("trees", "bce", "0.3"),
        ("trees", "weighted-ordinal", "0.3"),
        ("blend", "mse", "0.3"),
        *(
            pytest.param(learner, loss, threshold, marks=pytest.mark.nightly)
            for learner in ("trees", "blend")
            for loss, threshold in zip(LOSSES, ["tune", "per_query", "0.3", "0.3"])
        ),
    ],
)
def test_every_kind_of_model_loads_without_further_trust(
    run, table, folder, learner, loss, threshold
):
    write(table, "train.csv", 0, 19)
    write(table, "test.csv", 50, 59)
    code, _, err = run(
        "rank-filter", "train.csv", "--test-data", "test.csv", "--gains", "Bad=-1,Ok=1,Good=2",
        "--models", loss, "--learner", learner, "--threshold", threshold, "--save", "m.skops",
        "--out-run", "a.txt", "--categorical", "color",
    )  # fmt: skip
    assert code == 0
    assert "warning" not in err
    assert run("apply", "m.skops", "test.csv", "--out", "b.txt")[0] == 0
    assert (folder / "a.txt").read_text() == (folder / "b.txt").read_text()

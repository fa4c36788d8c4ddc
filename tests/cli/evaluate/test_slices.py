"""Values by slices of the topics."""

import io
import json

import pandas as pd
import pytest

from evaluated_runs import MEASURES, NAMES, values

SLICES = "qid,language,source\n1,en,web\n2,fr,web\n3,en,mail\n4,,mail\n"


@pytest.mark.slow
def test_slices_are_those_of_the_library(evaluate, files):
    (files / "slices.csv").write_text(SLICES)
    text = evaluate("--slices", "slices.csv", "--format", "csv", measures=["ap", "ndcg_f@2"])
    table = pd.read_csv(io.StringIO(text))
    assert table["run"].unique().tolist() == NAMES
    for measure in ("ap", "ndcg_f@2"):
        whole = values([measure], missing="empty")[measure]
        for name in NAMES:
            own = table[(table["run"] == name) & (table["measure"] == measure)]
            assert own["slice"].tolist() == ["en", "fr", "mail", "web"]
            assert own["n_topics"].tolist() == [2, 1, 1, 2]
            by_topic = whole.loc[name]
            assert own["value"].tolist() == pytest.approx(
                [by_topic[["1", "3"]].mean(), by_topic["2"], by_topic["3"],
                 by_topic[["1", "2"]].mean()]
            )  # fmt: skip
            assert own["whole"].tolist() == pytest.approx([by_topic.mean()] * 4)


@pytest.mark.slow
def test_slices_as_table_and_json(evaluate, files):
    (files / "slices.csv").write_text(SLICES)
    shown = evaluate("--slices", "slices.csv", runs=["good.txt"], measures=["ap"])
    assert shown.splitlines()[0].split() == (
        ["good", "topics", "value", "95", "%", "interval", "difference", "p"]
    )
    assert shown.splitlines()[1].split()[:4] == ["ap", "language", "en", "2"]
    lines = evaluate("--slices", "slices.csv", "--format", "json", runs=["good.txt"])
    rows = [json.loads(line) for line in lines.splitlines()]
    assert len(rows) == 4 * len(MEASURES)
    assert rows[1]["low"] is None  # one topic


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (SLICES, ["--per-query"], "leave out it or --per-query"),
        (SLICES, ["--sort", "ap"], "leave out it or --sort"),
        (SLICES, ["--format", "trec"], "not as trec"),
        ("qid,language\n1,en\n2,en\n", [], "nothing of 1 of 3 queries"),
        ("qid,language\n1,a\n2,b\n3,c\n", [], "a slice of its own"),
        ("qid\n1\n2\n3\n", [], "no column but that of the topics"),
        ("language\nen\n", [], "no column is called qid"),
        ("qid,language\n1,a\n1,b\n", [], "a second time"),
    ],
)
def test_bad_slices(run, files, text, options, message):
    (files / "slices.csv").write_text(text)
    code, _, err = run(
        "evaluate", "qrels.txt", "good.txt", "-m", "ap", "--slices", "slices.csv", *options
    )
    assert code == 2
    assert message in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_formats_of_slices_say_the_same(evaluate, files):
    (files / "slices.csv").write_text(SLICES)
    arguments = ["--slices", "slices.csv"]
    kwargs = {"runs": ["good.txt"], "measures": ["ap", "rr"]}
    table = pd.read_csv(io.StringIO(evaluate(*arguments, "--format", "csv", **kwargs)))
    # By hand: ap of the topics is 0.25, 0.5 and 0, rr 0.5, 0.5 and 0.
    value = {"ap": [0.125, 0.5, 0, 0.375], "rr": [0.25, 0.5, 0, 0.5]}
    for measure, whole in (("ap", 0.25), ("rr", 1 / 3)):
        own = table[table["measure"] == measure]
        assert own["value"].tolist() == value[measure]
        assert own["whole"].tolist() == pytest.approx([whole] * 4)
        differences = [each - whole for each in value[measure]]
        assert own["difference"].tolist() == pytest.approx(differences)
        assert (own["low"].dropna() <= own["value"][own["low"].notna()]).all()
        assert (own["value"][own["low"].notna()] <= own["high"].dropna()).all()
        assert (own["p_value"].dropna() <= own["p_adjusted"].dropna()).all()
    lines = evaluate(*arguments, **kwargs).splitlines()[1:]
    for line, row in zip(lines, table.itertuples(), strict=True):
        *named, n_topics, value, interval, difference, p_value = line.split()
        is_alone = row.low != row.low  # a slice of one topic
        assert named == [row.measure, row.slicing, row.slice]
        assert (n_topics, value) == ("1" if is_alone else "2", f"{row.value:.4f}")
        assert interval == ("-" if is_alone else f"{row.low:.4f}-{row.high:.4f}")
        assert difference == f"{row.difference:+.4f}"
        if p_value == "-":
            assert row.p_adjusted != row.p_adjusted
        else:
            assert float(p_value) == pytest.approx(row.p_adjusted, abs=5.1e-5)
    records = evaluate(*arguments, "--format", "json", **kwargs).splitlines()
    for record, row in zip(map(json.loads, records), table.to_dict("records"), strict=True):
        assert record == {
            name: None if each != each else pytest.approx(each) if isinstance(each, float) else each
            for name, each in row.items()
        }

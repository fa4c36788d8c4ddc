"""The library's comparison in every format."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from compared_runs import RUNS, from_csv, library
from skfilterrank.cli.compare.output import in_order, number


def test_table(compare):
    # Means 1, 3/4 and 5/12. Good minus poor is 2/3 1/2 1/2 2/3: the mean is 7/12, the standard
    # deviation 1 / sqrt(108), so that t = 2 * 7/12 * sqrt(108) = 12.12 with 3 degrees of freedom,
    # p = 0.0012, three times that by Holm. Fair minus poor has p = 0.116, twice that by Holm;
    # good minus fair 0.182, which may not be less than the one before it. The interval of fair
    # ends at 1.2093 by Student's t, and at 1 as no reciprocal rank is above it.
    assert compare("--correction", "holm") == (
        "rr: 3 runs, 4 topics, paired t test, Holm's correction for 3 pairs\n"
        "\n"
        "run     mean  95 % interval  beats  beaten by\n"
        "good  1.0000  1.0000 1.0000      1          0\n"
        "fair  0.7500  0.2907 1.0000      0          0\n"
        "poor  0.4167  0.2636 0.5698      0          1\n"
        "\n"
        "1 of 3 pairs differ (p <= 0.05)\n"
        "better  worse  difference    95 % interval  Cohen's d_z      p\n"
        "good     fair     +0.2500  -0.2093 +0.7093        +0.87  0.232\n"
        "good     poor     +0.5833  +0.4302 +0.7364        +6.06  0.004  *\n"
        "fair     poor     +0.3333  -0.1509 +0.8175        +1.10  0.232\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        ([], {}),
        (["--test", "wilcoxon"], {"test": "wilcoxon"}),
        (["--test", "sign", "--correction", "none"], {"test": "sign", "correction": None}),
        (["--test", "tukey"], {"test": "tukey"}),
        (
            ["--test", "randomization", "--n-resamples", "200", "--seed", "7"],
            {"test": "randomization", "n_resamples": 200, "random_state": 7},
        ),
        (["--correction", "fdr_bh"], {"correction": "fdr_bh"}),
        (["--correction", "bonferroni"], {"correction": "bonferroni"}),
        (["--baseline", "fair"], {"baseline": "fair"}),
        (["--alpha", "0.3"], {"alpha": 0.3}),
    ],
)
def test_csv_has_what_the_library_says(compare, arguments, params):
    found = from_csv(compare("--format", "csv", *arguments, measures=["rr", "ap"]))
    alpha = params.get("alpha", 0.05)
    for name in ("rr", "ap"):
        pairs = found[found["measure"] == name].reset_index(drop=True)
        comparison = library(name, **params)
        expected = comparison.pairs(alpha)
        assert list(pairs["significant"]) == list(expected["significant"].astype(int))
        for column in expected.columns.drop("significant"):
            assert list(pairs[column]) == pytest.approx(list(expected[column])), column
        means = comparison.scores.means
        assert list(pairs["mean_first"]) == pytest.approx(list(means[pairs["first"]]))
        assert list(pairs["mean_second"]) == pytest.approx(list(means[pairs["second"]]))


def test_json(compare):
    measures = ["rr", "lexirecall(scale=preference)"]
    lines = compare("--format", "json", measures=measures).splitlines()
    first, second = map(json.loads, lines)
    assert (first["measure"], first["test"], first["n_topics"]) == ("rr", "t", 4)
    assert [each["system"] for each in first["systems"]] == ["good", "fair", "poor"]
    assert first["pairs"] == [pytest.approx(each) for each in library().pairs().to_dict("records")]
    assert (second["test"], second["is_preference"]) == ("sign", True)
    # Constant differences have an infinite effect, for which JSON has no number.
    line = compare("--format", "json", runs=["good.txt", "poor"], measures=["precision@1"])
    (pair,) = json.loads(line)["pairs"]
    assert (pair["difference"], pair["p_value"], pair["effect_size"]) == (1, 2 / 2**4, None)


def test_how_measures_agree(compare):
    out = compare("--correction", "none", measures=["rr", "precision@1"])
    # Both order good, fair, poor. By rr good and poor differ (0.001); by P@1 on each topic by 1,
    # of which four are too few. Fair and poor differ on two topics by either.
    assert out.endswith(
        "\nrr and precision@1: Kendall's tau of the means 1.000; of 3 pairs, 0 differ by both, 1 "
        "by rr only, 0 by precision@1 only, 0 in opposite ways, 2 by neither\n"
    )


@pytest.mark.slow
def test_many_pairs_are_cut(compare, files):
    runs = [f"run{place}" for place in range(8)]
    for place, name in enumerate(runs):
        text = RUNS["poor"] if place % 2 else RUNS["fair"]
        (files / name).write_text(text)
    out = compare(runs=runs)
    assert out.endswith("\n8 more pairs: --format csv or json has all of them\n")
    # Pairs of the 4 good ones among each other, then with the 4 poor ones, the best pairs first.
    assert [line.split()[:2] for line in out.splitlines()[14:16]] == [
        ["run0", "run2"],
        ["run0", "run4"],
    ]
    assert len(from_csv(compare("--format", "csv", runs=runs))) == 28


@pytest.mark.slow
def test_of_many_pairs_those_that_differ_are_shown(run, tmp_path):
    # Ten runs alike, and five far below them: no pair differs before the eleventh of each.
    rng = np.random.RandomState(1)
    level = np.repeat([0.8, 0.2], [10, 5])[:, None]
    values = level + 0.01 * rng.normal(size=(15, 40))
    names = [f"run{place:02d}" for place in range(15)]
    table = pd.DataFrame(values, pd.Index(names, name="run"), pd.Index(range(40), name="qid"))
    long = table.reset_index().melt("run", var_name="qid", value_name="ap")
    long.to_csv(tmp_path / "values.csv", index=False)
    code, out, _ = run("compare", "--scores", tmp_path / "values.csv", "--test", "tukey")
    assert code == 0
    assert "\n50 of 105 pairs differ (p <= 0.05)\n" in out
    assert out.endswith("85 more pairs, 30 of which differ: --format csv or json has all of them\n")
    lines = out.split("pairs differ")[1].splitlines()[2:-1]
    pairs = [line.split()[:2] for line in lines]
    assert all(line.endswith("*") for line in lines)
    order = table.mean(axis=1).sort_values(ascending=False).index
    # Each of the ten with the best of the five, and then what else differs, by the better run.
    for better in order[:10]:
        assert [better, order[10]] in pairs
    assert len(pairs) == 20
    assert [order.get_loc(better) for better, _ in pairs] == sorted(
        order.get_loc(better) for better, _ in pairs
    )


@pytest.fixture
def contradicting(files):
    """Values of which means and signs say opposite things, of topics 1 to 11."""
    # "steady" is ahead on ten topics by 0.01, "lucky" on topic 10 by 0.9.
    rows = [f"steady,{topic},{0.0 if topic == 10 else 0.06}" for topic in range(1, 12)]
    rows += [f"lucky,{topic},{0.9 if topic == 10 else 0.05}" for topic in range(1, 12)]
    (files / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    return ["compare", "--scores", "values", "--correction", "none", "--test"]


def test_the_better_run_is_the_one_that_the_test_finds_better(run, contradicting):
    # Ten against one: p = 2 * (1 + 11) / 2**11 = 0.012.
    code, out, err = run(*contradicting, "sign")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["lucky", "0.1273"] in [line[:2] for line in lines]
    systems = {line[0]: line[-2:] for line in lines[3:5]}
    assert systems == {"lucky": ["0", "1"], "steady": ["1", "0"]}
    assert lines[-1][:3] == ["steady", "lucky", "-0.0727"]
    assert lines[-1][-3:] == ["+0.82", "0.012", "*"]
    assert (
        "of 1 pair the run with the worse mean is significantly better: the test goes by the net "
        "share of queries, not by means\n"
    ) in out
    (pair,) = from_csv(run(*contradicting, "sign", "--format", "csv")[1]).itertuples()
    assert (pair.first, pair.second, pair.significant) == ("steady", "lucky", 1)
    assert pair.mean_first < pair.mean_second
    found = json.loads(run(*contradicting, "sign", "--format", "json")[1])
    assert (found["pairs"][0]["first"], found["systems"][0]["system"]) == ("steady", "lucky")


def test_a_test_of_means_contradicts_none(run, contradicting):
    out = run(*contradicting, "t")[1]
    assert out.splitlines()[-1].split()[:3] == ["lucky", "steady", "+0.0727"]
    assert "worse mean" not in out


def test_topics_are_named_by_number(run, files):
    topics = [10, 2, 1, 30]
    rows = [f"{name},{topic},0.{topic}" for name in "ab" for topic in topics]
    rows += [f"a,{topic},0.5" for topic in (11, 100, 9)]
    (files / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    args = ["compare", "--scores", "values", "--missing", "drop"]
    assert "ap: 3 topics left out: 9, 11, 100\n" in run(*args)[2]
    assert json.loads(run(*args, "--format", "json")[1])["left_out"] == ["9", "11", "100"]
    assert "b: 9, 11, 100" in run(*args[:-2])[2]
    assert in_order(["10", "q2", "1"]) == ["10", "q2", "1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.1235"),
        (9.87654, "9.8765"),
        (12.3456, "12.346"),
        (-1234.5678, "-1234.6"),
        (263814.5652, "263815"),
        (0.00001, "1.0e-05"),
        (0.0, "0.0000"),
        (np.inf, "inf"),
        (np.nan, "-"),
    ],
)
def test_numbers_have_as_many_digits_as_are_read(value, text):
    assert number(value, 4) == text


def test_lower_is_better(compare):
    out = compare(measures=["search_length(n_items=10)"])
    assert "lower is better" in out
    assert [line.split()[0] for line in out.splitlines()[3:6]] == ["good", "fair", "poor"]


@pytest.mark.slow
@pytest.mark.parametrize("measures", [["rr", "precision@1"], ["precision@1", "rr"]])
def test_tables_for_papers_by_hand(compare, measures):
    # Reciprocal ranks as above; of the first places good has 4 relevant, fair 2, poor none.
    means = {
        "rr": {"good": "1.000", "fair": "0.750", "poor": "0.417"},
        "precision@1": {"good": "1.000", "fair": "0.500", "poor": "0.000"},
    }
    for format, between, rule in (("markdown", "|", "|"), ("latex", "&", "")):
        out = compare("--format", format, measures=measures)
        lines = [line.strip(rule).split(between) for line in out.splitlines() if between in line]
        rows = [[cell.strip(" \\") for cell in line] for line in lines if "---" not in line[0]]
        assert rows[0] == ["system", *measures]
        for (name, *cells), system in zip(rows[1:4], ("good", "fair", "poor"), strict=True):
            assert name.split()[-1] == system
            found = [re.search(r"\d\.\d{3}", cell)[0] for cell in cells]
            assert found == [means[measure][system] for measure in measures]


@pytest.mark.slow
@pytest.mark.parametrize("measures", [["rr", "precision@1"], ["precision@1", "rr"]])
def test_csv_and_json_by_hand(compare, measures):
    # Differences of the means, the better run first.
    means = {"rr": (1, 3 / 4, 5 / 12), "precision@1": (1, 1 / 2, 0)}
    table = from_csv(compare("--format", "csv", measures=measures))
    assert table["measure"].tolist() == [name for name in measures for _ in range(3)]
    records = map(json.loads, compare("--format", "json", measures=measures).splitlines())
    for name, record in zip(measures, records, strict=True):
        good, fair, poor = means[name]
        pairs = table[table["measure"] == name]
        assert list(zip(pairs["first"], pairs["second"])) == [
            ("good", "fair"), ("good", "poor"), ("fair", "poor"),
        ]  # fmt: skip
        assert pairs["mean_first"].tolist() == pytest.approx([good, good, fair])
        assert pairs["mean_second"].tolist() == pytest.approx([fair, poor, poor])
        differences = [good - fair, good - poor, fair - poor]
        assert pairs["difference"].tolist() == pytest.approx(differences)
        assert (pairs["low"] <= pairs["difference"]).all()
        assert (pairs["difference"] <= pairs["high"]).all()
        assert (pairs["low"] < pairs["high"]).any()
        assert record["measure"] == name
        found = {each["system"]: each["mean"] for each in record["systems"]}
        assert found == pytest.approx({"good": good, "fair": fair, "poor": poor})
        for pair, row in zip(record["pairs"], pairs.to_dict("records"), strict=True):
            assert (pair["first"], pair["second"]) == (row["first"], row["second"])
            same = ("difference", "low", "high", "p_value", "p_adjusted")
            assert [pair[each] for each in same] == pytest.approx([row[each] for each in same])

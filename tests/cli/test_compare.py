"""``skfilterrank compare``: runs against each other in every format, and what is told."""

import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._output import in_order, number
from skfilterrank.cli.compare import MEASURES
from skfilterrank.comparison import SystemScores, compare_systems, score_systems
from skfilterrank.exceptions import DataWarning

# Topic by topic, by reciprocal rank: good 1 1 1 1, fair 1 1 1/2 1/2, poor 1/3 1/2 1/2 1/3.
QRELS = "1 0 a 2\n1 0 b 0\n2 0 a 1\n3 0 a 1\n4 0 a 1\n4 0 c 1\n"
RUNS = {
    "good.txt": "1 Q0 a 1 9 x\n2 Q0 a 1 9 x\n3 Q0 a 1 9 x\n4 Q0 a 1 9 x\n",
    "fair": "1 Q0 a 1 9 x\n2 Q0 a 1 9 x\n3 Q0 z 1 9 x\n3 Q0 a 2 8 x\n4 Q0 z 1 9 x\n4 Q0 a 2 8 x\n",
    "poor": "1 Q0 y 1 9 x\n1 Q0 z 2 8 x\n1 Q0 a 3 7 x\n2 Q0 z 1 9 x\n2 Q0 a 2 8 x\n"
    "3 Q0 z 1 9 x\n3 Q0 a 2 8 x\n4 Q0 z 1 9 x\n4 Q0 y 2 8 x\n4 Q0 a 3 7 x\n",
}
NAMED = {"good": "good.txt", "fair": "fair", "poor": "poor"}


def library(measure="rr", runs=NAMED, **params):
    """What the library says."""
    scores = score_systems("qrels", runs, measure, n_items=1_000_000)[measure]
    return compare_systems(scores, **{"random_state": 0} | params)


def from_csv(text):
    return pd.read_csv(io.StringIO(text), dtype={"first": str, "second": str})


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and runs in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def compare(run, files):
    """Run the command without messages, expect that it works, and return its output."""

    def compare(*arguments, runs=RUNS, measures=("rr",)):
        named = [word for name in measures for word in ("-m", name)]
        code, out, err = run("compare", "qrels", *runs, *named, "--quiet", *arguments)
        assert (code, err) == (0, "")
        return out

    return compare


def test_names_of_trec_eval(compare):
    assert "recip_rank: 3 runs" in compare(measures=["recip_rank"])


def test_default_measures(compare):
    out = compare("--format", "csv", measures=[])
    assert list(from_csv(out)["measure"].unique()) == list(MEASURES)


@pytest.mark.slow
def test_a_baseline_may_be_named_by_its_path(compare):
    assert compare("--baseline", "good.txt") == compare("--baseline", "good")
    assert "good (baseline)" in compare("--baseline", "good")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing QRELS, RUN."),
        (["qrels", "fair"], "compare needs judgments and at least two runs"),
        (["qrels", "fair", "nope"], "nope: No such file or directory"),
        (["qrels", "fair", "qrels"], "qrels:1: "),
        (["one-query", "fair", "poor"], "there are values of 2 runs for 1 query to compare"),
        (
            ["qrels", "fair", "poor", "--baseline", "x"],
            "'x' is not one of the runs: 'fair', 'poor'.",
        ),
        (["qrels", "fair", "poor", "--test", "x"], "--test: expected t, sign"),
        (
            ["qrels", "fair", "poor", "--confidence-level", "2"],
            "expected a number between 0 and 1, got '2'",
        ),
        (["qrels", "fair", "poor", "--n-resamples", "5"], "--n-resamples must be a whole number"),
        (["qrels", "fair", "poor", "--html", "no/x.html"], "there is no folder no"),
    ],
)
def test_errors(run, files, arguments, message):
    (files / "one-query").write_text("1 0 a 1\n")
    code, out, err = run("compare", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_table(compare):
    # Means 1, 3/4 and 5/12. Good minus poor is 2/3 1/2 1/2 2/3: the mean is 7/12, the standard
    # deviation 1 / sqrt(108), so that t = 2 * 7/12 * sqrt(108) = 12.12 with 3 degrees of freedom,
    # p = 0.0012, three times that by Holm. Fair minus poor has p = 0.116, twice that by Holm;
    # good minus fair 0.182, which may not be less than the one before it. The interval of fair
    # ends at 1.2093 by Student's t, and at 1 as no reciprocal rank is above it.
    assert compare("--correction", "holm") == (
        "rr: 3 runs, 4 queries, paired t test, Holm's correction for 3 pairs\n"
        "\n"
        "run     mean  95 % interval  beats  beaten by\n"
        "good  1.0000  1.0000 1.0000      1          0\n"
        "fair  0.7500  0.2907 1.0000      0          0\n"
        "poor  0.4167  0.2636 0.5698      0          1\n"
        "\n"
        "1 of 3 pairs differ (p <= 0.05)\n"
        "better  worse  difference    95 % interval  Cohen's d_z       p\n"
        "good     fair     +0.2500  -0.2093 +0.7093        +0.87  0.2323\n"
        "good     poor     +0.5833  +0.4302 +0.7364        +6.06  0.0036  *\n"
        "fair     poor     +0.3333  -0.1509 +0.8175        +1.10  0.2323\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        ([], {}),
        (["--test", "sign", "--correction", "none"], {"test": "sign", "correction": None}),
        (["--test", "tukey", "--confidence-level", "0.7"], {"test": "tukey", "alpha": 0.3}),
        (
            ["--test", "randomization", "--n-resamples", "200", "--random-state", "7"],
            {"test": "randomization", "n_resamples": 200, "random_state": 7},
        ),
        (["--correction", "fdr_bh"], {"correction": "fdr_bh"}),
        (
            ["--correction", "bonferroni", "--baseline", "fair"],
            {"correction": "bonferroni", "baseline": "fair"},
        ),
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
    assert (first["measure"], first["test"], first["n_queries"]) == ("rr", "t", 4)
    assert [each["run"] for each in first["runs"]] == ["good", "fair", "poor"]
    assert first["pairs"] == [pytest.approx(each) for each in library().pairs().to_dict("records")]
    assert (second["test"], second["is_preference"]) == ("sign", True)
    # Constant differences have an infinite effect, for which JSON has no number.
    line = compare("--format", "json", runs=["good.txt", "poor"], measures=["precision@1"])
    (pair,) = json.loads(line)["pairs"]
    assert (pair["difference"], pair["p_value"], pair["effect_size"]) == (1, 2 / 2**4, None)


def test_how_measures_agree(compare):
    out = compare("--correction", "none", measures=["rr", "precision@1"])
    # Both order good, fair, poor. By rr good and poor differ (0.001); by P@1 on each query by 1,
    # of which four are too few. Fair and poor differ on two queries by either.
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
    assert out.endswith("\n8 more pairs: --format csv or json has all pairs\n")
    # Pairs of the 4 good ones among each other, then with the 4 poor ones, the best pairs first.
    assert [line.split()[:2] for line in out.splitlines()[14:16]] == [
        ["run0", "run2"],
        ["run0", "run4"],
    ]
    assert len(from_csv(compare("--format", "csv", runs=runs))) == 28


@pytest.fixture
def given(monkeypatch):
    """Give the command values of a file in place of those that it measures."""

    def given(path, **how):
        found = SystemScores.read(path, **how)
        monkeypatch.setattr("skfilterrank.cli.compare.measured", lambda *_: (found, {}))

    return given


@pytest.mark.slow
def test_of_many_pairs_those_that_differ_are_shown(run, files, given, tmp_path):
    # Ten runs alike, and five far below them: no pair differs before the eleventh of each.
    rng = np.random.RandomState(1)
    level = np.repeat([0.8, 0.2], [10, 5])[:, None]
    values = level + 0.01 * rng.normal(size=(15, 40))
    names = [f"run{place:02d}" for place in range(15)]
    table = pd.DataFrame(values, pd.Index(names, name="run"), pd.Index(range(40), name="qid"))
    long = table.reset_index().melt("run", var_name="qid", value_name="ap")
    long.to_csv(tmp_path / "values.csv", index=False)
    given(tmp_path / "values.csv")
    code, out, _ = run("compare", "qrels", "fair", "poor", "--test", "tukey")
    assert code == 0
    assert "\n50 of 105 pairs differ (p <= 0.05)\n" in out
    foot = "85 more pairs, 30 of them significant: --format csv or json has all pairs\n"
    assert out.endswith(foot)
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
def contradicting(files, given):
    """Values of which means and signs say opposite things, of queries 1 to 11."""
    # "steady" is ahead on ten queries by 0.01, "lucky" on query 10 by 0.9.
    rows = [f"steady,{query},{0.0 if query == 10 else 0.06}" for query in range(1, 12)]
    rows += [f"lucky,{query},{0.9 if query == 10 else 0.05}" for query in range(1, 12)]
    (files / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    given("values")
    return ["compare", "qrels", "fair", "poor", "--correction", "none", "--test"]


def test_the_better_run_is_the_one_that_the_test_finds_better(run, contradicting):
    # Ten against one: p = 2 * (1 + 11) / 2**11 = 0.0117.
    code, out, err = run(*contradicting, "sign")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["lucky", "0.1273"] in [line[:2] for line in lines]
    systems = {line[0]: line[-2:] for line in lines[3:5]}
    assert systems == {"lucky": ["0", "1"], "steady": ["1", "0"]}
    assert lines[-1][:3] == ["steady", "lucky", "-0.0727"]
    assert lines[-1][-3:] == ["+0.82", "0.0117", "*"]
    assert (
        "of 1 pair the system with the worse mean is significantly better, because "
        "the test uses the "
        "net share of queries, not means\n"
    ) in out
    (pair,) = from_csv(run(*contradicting, "sign", "--format", "csv")[1]).itertuples()
    assert (pair.first, pair.second, pair.significant) == ("steady", "lucky", 1)
    assert pair.mean_first < pair.mean_second
    found = json.loads(run(*contradicting, "sign", "--format", "json")[1])
    assert (found["pairs"][0]["first"], found["runs"][0]["run"]) == ("steady", "lucky")


def test_a_test_of_means_contradicts_none(run, contradicting):
    out = run(*contradicting, "t")[1]
    assert out.splitlines()[-1].split()[:3] == ["lucky", "steady", "+0.0727"]
    assert "worse mean" not in out


def test_topics_are_named_by_number(run, files, given):
    queries = [10, 2, 1, 30]
    rows = [f"{name},{query},0.{query}" for name in "ab" for query in queries]
    rows += [f"a,{query},0.5" for query in (11, 100, 9)]
    (files / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    given("values", missing="drop")
    args = ["compare", "qrels", "fair", "poor"]
    assert "ap: 3 queries left out: 9, 11, 100\n" in run(*args)[2]
    assert json.loads(run(*args, "--format", "json")[1])["left_out"] == ["9", "11", "100"]
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
        assert rows[0] == ["run", *measures]
        for (name, *cells), system in zip(rows[1:4], ("good", "fair", "poor"), strict=True):
            assert name.split()[-1] == system
            found = [re.search(r"\d\.\d{3}", cell)[0] for cell in cells]
            assert found == [means[measure][system] for measure in measures]


@pytest.mark.slow
def test_topics_that_runs_lack(run, files):
    (files / "fair").write_text(RUNS["fair"].replace("2 Q0 a 1 9 x\n", ""))
    (files / "poor").write_text(RUNS["poor"].replace("1 Q0", "9 Q0").replace("2 Q0", "8 Q0"))
    args = ["compare", "qrels", *RUNS, "-m", "rr"]
    lack = (
        "2 of 3 runs (fair: 2; poor: 1, 2) lack values of queries that the runs are to be "
        "compared on"
    )
    code, out, err = run(*args, "--missing", "raise")
    assert (code, out) == (2, "")
    assert err == (
        f"skfilterrank: error: {lack}. --missing drop leaves these queries out for all runs, "
        "--missing empty counts them as empty lists.\n"
    )
    code, out, err = run(*args, "--missing", "drop")
    assert (code, err.splitlines()[0]) == (0, "rr: 2 queries left out: 1, 2")
    assert out.startswith("rr: 3 runs, 2 queries (2 left out), ")
    code, empty, err = run(*args, "--missing", "empty")
    assert (code, err) == (0, "")
    assert "poor  0.2083" in empty  # (0 + 0 + 1/2 + 1/3) / 4
    done = "counted as empty lists; --missing drop leaves these queries out for all runs"
    told = f"{lack}: {done}\n"
    assert run(*args) == (0, empty, told)


def test_topics_where_a_measure_is_not_defined(run, files):
    (files / "qrels").write_text(QRELS + "5 0 b 0\n")
    for name, text in RUNS.items():
        (files / name).write_text(text + "5 Q0 a 1 1 x\n")
    args = ["compare", "qrels", *RUNS, "-m", "rr"]
    assert ", 5 queries," in run(*args)[1]
    code, _, err = run(*args, "--undefined", "drop")
    assert code == 2
    assert "3 of 3 runs (good: 5;" in err
    assert ", 4 queries (1 left out)," in run(*args, "--undefined", "drop", "--missing", "drop")[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_negative_labels(run, files):
    (files / "qrels").write_text(QRELS.replace("1 0 b 0", "1 0 b -2"))
    (files / "poor").write_text(RUNS["poor"].replace("1 Q0 y", "1 Q0 b"))
    args = ["compare", "qrels", *RUNS, "-m", "ndcg_f@3", "--format", "csv"]
    code, out, err = run(*args)
    assert code == 0
    assert "qrels holds labels below 0 (-2: 1), which are treated as forbidden" in err
    with pytest.warns(DataWarning, match="labels below 0"):
        expected = library("ndcg_f@3").scores.means["poor"]
    assert from_csv(out)["mean_second"].iloc[1] == pytest.approx(expected)
    code, other, err = run(*args, "--gains=-2=-9,1=1,2=2")
    assert (code, err) == (0, "")
    assert from_csv(other)["mean_second"].iloc[1] < from_csv(out)["mean_second"].iloc[1]


def test_runs_named_alike_go_by_their_paths(compare, files):
    for folder in ("x", "y"):
        (files / folder).mkdir()
        (files / folder / "run.txt").write_text(RUNS["fair" if folder == "x" else "poor"])
    out = compare("--format", "csv", runs=["x/run.txt", "y/run.txt"])
    assert from_csv(out).loc[0, ["first", "second"]].tolist() == ["x/run.txt", "y/run.txt"]


@pytest.mark.slow
def test_standard_input(run, compare, files, monkeypatch):
    def given(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    expected = compare("--format", "csv", runs=["good.txt", "fair"])
    args = ["-m", "rr", "--quiet", "--format", "csv"]
    given(RUNS["fair"])
    out = run("compare", "qrels", "good.txt", "-", *args)[1]
    assert out == expected.replace("fair", "stdin")
    given(QRELS)
    assert run("compare", "-", "good.txt", "fair", *args)[1] == expected


def test_what_cannot_be_significant_is_told(run, files):
    # Of 4 queries a sign test cannot have a p value below 2 / 2**4, and of 3 pairs thrice that.
    err = run("compare", "qrels", *RUNS, "-m", "rr", "--test", "sign")[2]
    assert err == (
        "rr: no difference could be significant: the smallest p value of 4 queries is 0.125 (0.375 "
        "corrected). Take more queries, or name a baseline to compare fewer pairs\n"
    )


def test_a_correction_that_is_not_used_is_told(run, files):
    args = ["compare", "qrels", *RUNS, "-m", "rr", "--test", "tukey"]
    assert run(*args)[2] == ""
    assert "--test tukey corrects for all pairs by itself" in run(*args, "--correction", "holm")[2]


def test_equal_runs(compare, files):
    (files / "same").write_text(RUNS["fair"])
    out = compare(runs=["fair", "same"])
    assert "0 of 1 pair differs (p" in out
    assert "1.000" in out


def test_what_the_library_remarks_is_told(run, files):
    (files / "same").write_text(RUNS["fair"])
    err = run("compare", "qrels", "fair", "same", "-m", "rr")[2]
    assert (
        "rr: the systems have equal values for every query, so no test can tell them apart." in err
    )
    # Good has reciprocal rank 1 on each query at the first place, and poor 0.
    err = run("compare", "qrels", "good.txt", "poor", "-m", "precision@1")[2]
    assert "precision@1: the systems of 1 pair differ by the same amount for every query" in err
    assert "or take --test sign\n" in err
    assert run("compare", "qrels", "good.txt", "fair", "-m", "rr")[2] == ""

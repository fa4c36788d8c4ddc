"""Tables as LaTeX and Markdown, written out, and numbers with their words."""

import pytest

from skfilterrank._base.results import Cell, paper_note, paper_table
from skfilterrank._base.words import counted, interval_text, p_text, plural
from skfilterrank.exceptions import InputError

HEAD = ["system", "ap", "n"]
ROWS = [["bm25", Cell("0.25", "a"), "-3"], ["a_b", Cell("0.5", "ab", True), Cell("-x", "", True)]]


def test_markdown():
    assert paper_table(HEAD, ROWS, "markdown") == (
        "| system | ap | n |\n"
        "| --- | ---: | ---: |\n"
        "| bm25 | 0.25<sup>a</sup> | -3 |\n"
        "| a\\_b | **0.5**<sup>ab</sup> | **-x** |\n"
    )
    assert paper_note("a: p < 0.05", "markdown") == "\na: p \\< 0.05\n"


def test_latex():
    assert paper_table(HEAD, ROWS, "latex") == (
        "\\begin{tabular}{lrr}\n"
        "\\toprule\n"
        "system & ap & n \\\\\n"
        "\\midrule\n"
        "bm25 & 0.25$^{a}$ & $-$3 \\\\\n"
        "a\\_b & \\textbf{0.5}$^{ab}$ & \\textbf{-x} \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )
    assert paper_note("a: p < 0.05", "latex") == "% a: p < 0.05\n"


@pytest.mark.parametrize(
    ("text", "latex", "markdown"),
    [
        ("50 % & $5", r"50 \% \& \$5", "50 % & $5"),
        ("#{x}", r"\#\{x\}", r"\#\{x\}"),
        ("a\\b", r"a\textbackslash{}b", r"a\\b"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}", r"\<a\|b\>"),
        ('~^"', r"\textasciitilde{}\textasciicircum{}\textquotedbl{}", '~^"'),
        ("*x* `y` [z]", "*x* `y` [z]", r"\*x\* \`y\` \[z\]"),
        ("-.5", "$-$.5", "-.5"),
        ("a\nb", r"a\textbackslash{}nb", r"a\\nb"),
    ],
)
def test_marks_of_either_language(text, latex, markdown):
    assert paper_table([text], [], "latex").split("\n")[2] == f"{latex} \\\\"
    assert paper_table([text], [], "markdown").split("\n")[0] == f"| {markdown} |"


def test_other_formats():
    with pytest.raises(InputError, match="format must be"):
        paper_table(HEAD, ROWS, "html")


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("user", "users"),
        ("family", "families"),
        ("query", "queries"),
        ("day", "days"),
        ("box", "boxes"),
        ("batch", "batches"),
        ("class", "classes"),
        ("users", "users"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many
    assert (counted(1, one), counted(1200, one)) == (f"1 {one}", f"1,200 {many}")
    assert counted(2, one, "others") == "2 others"


def test_p_values_are_never_0():
    assert [p_text(value) for value in (0.0, 9e-5, 1e-4, 0.5)] == [
        *("<0.0001", "<0.0001", "0.0001", "0.5000")
    ]


def test_intervals():
    assert interval_text(0.95) == "95 % interval"
    assert interval_text(0.999) == "99.9 % interval"

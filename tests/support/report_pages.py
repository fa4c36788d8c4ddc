"""Runs of which reports are written, and what a report holds."""

import re
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

from skfilterrank.cli import _report as report
from skfilterrank.cli.compare import describe_agreement
from skfilterrank.comparison import SystemScores, compare_systems, score_systems
from skfilterrank.io import QrelsIndex

# Labels below 0 are forbidden. The run whose name HTML might take for a tag shows most of them.
QRELS = """\
1 0 a 3
1 0 b 1
1 0 spam1 -2
1 0 spam2 -2
2 0 a 2
2 0 c 0
2 0 spam1 -2
3 0 d 1
3 0 <i>&spam3 -2
"""
ODD = '<b>&"x'
RUNS = {
    "good": "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n1 Q0 spam1 3 7 x\n2 Q0 a 1 5 x\n2 Q0 c 2 4 x\n"
    "3 Q0 d 1 2 x\n",
    ODD: "1 Q0 spam1 1 9 x\n1 Q0 spam2 2 8.5 x\n1 Q0 b 3 8 x\n1 Q0 a 4 7 x\n2 Q0 spam1 1 5 x\n"
    "2 Q0 c 2 4 x\n3 Q0 <i>&spam3 1 2 x\n3 Q0 d 2 1 x\n",
    "filtered": "1 Q0 a 1 9 x\n1 Q0 zz 2 8 x\n2 Q0 a 1 5 x\n2 Q0 c 2 4 x\n3 Q0 u 1 2 x\n",
}
VOID = {"meta", "br", "img", "link", "use", "path", "image", "rect"}


for package in ("matplotlib", "jinja2"):
    if find_spec(package) is None:
        pytest.skip(f"reports need {package}", allow_module_level=True)


class Page(HTMLParser):
    """Tables, ids, open tags and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.attributes, self.tables, self.words = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.words.append("" if tag == "bdi" else " ")
        attributes = dict(attrs)
        self.attributes.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("th", "td"):
            self.tables[-1]["rows"][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag
        self.words.append("" if tag == "bdi" else " ")

    def handle_data(self, data):
        if "style" in self.open or "script" in self.open:
            return
        self.words.append(data)
        if "caption" in self.open:
            self.tables[-1]["caption"] += data
        elif self.open and {"th", "td"} & set(self.open):
            self.tables[-1]["rows"][-1][-1] += data

    def table(self, caption):
        """Rows of the first table whose caption has this in it."""
        return next(each["rows"] for each in self.tables if caption in each["caption"])

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


def read(path="r.html"):
    text = Path(path).read_text(encoding="utf-8")
    return text, Page(text)


def compared(*files, measures="ndcg_f@3", test=None, baseline=None, missing="empty", **options):
    """Write a report of runs, the files behind the judgments, or of values in one file."""
    n_predicted, read_files = {}, {}
    if len(files) == 1:
        scores = SystemScores.read(files[0])
    else:
        qrels, *paths = files or ("qrels", *RUNS)
        read_files = {"judgments": [qrels], "run": paths}
        index = QrelsIndex(qrels, unjudged_label=None, predicted="use")
        runs = {Path(path).name: path for path in paths}
        scores = score_systems(index, runs, measures, missing=missing, unjudged="zero")
        n_predicted = index.n_predicted
    found = {
        name: compare_systems(each, test=test, baseline=baseline, random_state=0)
        for name, each in scores.items()
    }
    html = options.get("html", "r.html")
    lines = describe_agreement(found, 0.05)
    report.write_report(html, read_files, found, n_predicted, lines, random_state=0)
    return read(html)

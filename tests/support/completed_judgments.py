"""Judgments with holes, texts and runs."""

# Topic 2 has labels of one kind, topic 3 none. Document x has no text, y an empty one.
import json

QRELS = """\
1 0 w1 2
1 0 w2 2
1 0 h1 0
1 0 x 0
2 0 h1 1
1 0 w3 -1
1 0 h2 -1
2 0 h2 -1
3 0 w1 -1
1 0 y -1
"""
# All of topic 4 is judged, so that there are enough labels of either kind.
ENOUGH = [
    f"4 0 {docno} {int(docno[0] == 'w')}"
    for docno in ["w1", "w2", "w3", "h1", "h2", "h3", "y2", "y3"]
]
QRELS += "".join(f"{line}\n" for line in ENOUGH)
DOCS = {
    "w1": "the wing and its lift",
    "w2": "lift of a swept wing",
    "w3": "wing of much lift",
    "w4": "a wing, lift and flaps",
    "h1": "boiling heat in slabs",
    "h2": "heat in boiling water",
    "h3": "heat flux in slabs",
    "y": " ",
    "y2": "water in slabs",
    "y3": "flux of boiling water",
}
RUN_A = "1 Q0 w4 1 9 a\n1 Q0 w1 2 8 a\n1 Q0 z 3 7 a\n7 Q0 w1 1 9 a\n"
RUN_B = "1 Q0 h3 1 9 b\n2 Q0 w4 1 1 b\n1 Q0 w4 2 5 b\n"


def write_files(folder):
    """Write the judgments, texts and runs."""
    (folder / "qrels.txt").write_text(QRELS)
    lines = [json.dumps({"docno": docno, "text": text}) for docno, text in DOCS.items()]
    (folder / "docs.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "a.run").write_text(RUN_A)
    (folder / "b.run").write_text(RUN_B)

"""Judgments of some documents of three queries, runs, texts and topics."""

import json

WORDS = ["the wing and its lift", "boiling heat in slabs"]
# Of each query every second document of the first 40 is judged, and every third is relevant.
N_DOCUMENTS, N_RELEVANT, N_JUDGED = 50, 3, 40
QUERIES = "123"
DOCS = {
    f"{query}-{number}": f"{WORDS[number % N_RELEVANT > 0]} number{number % 5}"
    for query in QUERIES
    for number in range(N_DOCUMENTS)
}
QRELS = "".join(
    f"{query} 0 {query}-{number} {int(number % N_RELEVANT == 0)}\n"
    for query in QUERIES
    for number in range(0, N_JUDGED, 2)
)
RUNS = {
    name: "".join(
        f"{query} Q0 {query}-{number} 1 {-((number * step) % 47)} {name}\n"
        for query in QUERIES
        for number in range(N_DOCUMENTS)
    )
    for name, step in (("a", 1), ("b", 5))
}


def write_files(folder):
    """Write the judgments, texts, topics and runs."""
    (folder / "qrels.txt").write_text(QRELS)
    lines = [json.dumps({"docno": docno, "text": text}) for docno, text in DOCS.items()]
    (folder / "docs.jsonl").write_text("\n".join(lines) + "\n")
    rows = [f"{query},wing {query},all of it\n" for query in QUERIES]
    (folder / "topics.csv").write_text("".join(["qid,query,narrative\n", *rows]))
    for name, lines in RUNS.items():
        (folder / f"{name}.run").write_text(lines)

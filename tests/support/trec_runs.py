"""Random TREC runs and their judgments, as trec_eval and as skfilterrank take them."""

import numpy as np


def random_run(seed, labels):
    """Qrels and run as dictionaries, and the same as rows (query, docno, label, score).

    Judged documents that are not retrieved, retrieved ones that are not judged, many ties, lists of
    2 to 59 documents. Every topic has a judgment and a retrieved document: trec_eval leaves out
    those without.
    """
    rng = np.random.default_rng(seed)
    qrels, run, rows = {}, {}, []
    for query in (f"q{number:02}" for number in range(40)):
        docnos = [f"d{number}" for number in rng.permutation(80)[: rng.integers(2, 60)]]
        qrels[query], run[query] = {docnos[0]: int(rng.choice(labels))}, {docnos[1]: 1.0}
        for docno in docnos:
            if rng.random() < 0.6:
                qrels[query][docno] = int(rng.choice(labels))
            if rng.random() < 0.7:
                run[query][docno] = float(rng.integers(0, 9)) / 4
            label, score = qrels[query].get(docno, np.nan), run[query].get(docno, -np.inf)
            rows.append((query, docno, label, score))
    return qrels, run, rows

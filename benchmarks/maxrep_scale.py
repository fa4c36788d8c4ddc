"""MAXREP on large pools: similarity join and full greedy order, against other packages.

Needs `pip install sparse_dot_topn apricot-select`. Run it on a machine that does nothing else.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _common import arguments, write_report
from scipy import sparse

from skfilterrank.judgments import MaxRepSelector

N_TERMS = 200_000
THRESHOLD = 0.8
SHARE_OF_NEAR_DUPLICATES = 0.25
N_TOPICS = 1_000
TOPIC_SIZE = 200


def zipf_words(rng, n_words, n_terms, shift, exponent):
    """Numbers of words, the r-th with a probability in proportion to (r + shift)^-exponent."""
    running = np.cumsum((np.arange(n_terms) + shift) ** -exponent)
    return np.searchsorted(running, rng.random(n_words) * running[-1])


def word_counts(n_documents, seed=0):
    """Counts of words of a pool of which a quarter are near-duplicates.

    Words follow a Zipf-Mandelbrot law over 200,000 terms; in each document three words in ten come
    from the 2,000 words of one of 20 subjects. Lengths are lognormal, 200 words on average. A
    near-duplicate is a document in which 5 to 10 % of the words are replaced. How many there are of
    one document follows a power law: most often one, at most 50.
    """
    rng = np.random.default_rng(seed)
    n_copies = int(n_documents * SHARE_OF_NEAR_DUPLICATES)
    n_originals = n_documents - n_copies
    lengths = np.maximum(20, rng.lognormal(np.log(200) - 0.18, 0.6, n_originals).astype(int))
    words = zipf_words(rng, lengths.sum(), N_TERMS, 2.7, 1.05)
    subject = np.repeat(rng.integers(20, size=n_originals), lengths)
    vocabularies = np.array([rng.permutation(np.arange(100, 20_000))[:2000] for _ in range(20)])
    of_subject = rng.random(len(words)) < 0.3
    chosen = zipf_words(rng, np.count_nonzero(of_subject), 2000, 10, 1.0)
    words[of_subject] = vocabularies[subject[of_subject], chosen]

    times = np.minimum(rng.zipf(2.0, size=n_copies), 50)
    source = np.repeat(rng.permutation(n_originals)[:n_copies], times)[:n_copies]
    copied = lengths[source]
    first = np.cumsum(lengths) - lengths
    within = np.arange(copied.sum()) - np.repeat(np.cumsum(copied) - copied, copied)
    copies = words[np.repeat(first[source], copied) + within]
    edited = rng.random(len(copies)) < np.repeat(rng.uniform(0.05, 0.1, n_copies), copied)
    copies[edited] = zipf_words(rng, np.count_nonzero(edited), N_TERMS, 2.7, 1.05)

    documents = np.repeat(rng.permutation(n_documents), np.concatenate((lengths, copied)))
    words = np.concatenate((words, copies))
    counts = sparse.coo_array(
        (np.ones(len(words)), (documents, words)), shape=(n_documents, N_TERMS)
    )
    return counts.tocsr()


def tf_idf(counts):
    """tf * log(n / df), rows of norm 1."""
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    X = counts.copy()
    X.data *= np.log(X.shape[0] / df[X.indices])
    X.eliminate_zeros()
    norms = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(norms, np.diff(X.indptr))
    return X


def maxrep(X):
    """The whole fit of one topic."""
    return MaxRepSelector(THRESHOLD).fit(X, groups=np.zeros(X.shape[0]))


def timed(function, *args):
    """Seconds, and the result."""
    begin = time.perf_counter()
    result = function(*args)
    return time.perf_counter() - begin, result


def sparse_dot_topn(X):
    """All similarities from the threshold on, on one thread."""
    from sparse_dot_topn import sp_matmul_topn

    X = sparse.csr_matrix(X)
    # There are at most 51 near-duplicates of one document.
    return sp_matmul_topn(X, X.T.tocsr(), top_n=200, threshold=THRESHOLD, n_threads=1)


def apricot(similarity, optimizer="lazy", n_chosen=None):
    """apricot's facility location, by default of all documents."""
    from apricot import FacilityLocationSelection

    selection = FacilityLocationSelection(
        n_chosen or similarity.shape[0], metric="precomputed", optimizer=optimizer, n_jobs=1
    )
    return selection.fit(similarity)


def against_product(n_documents, rounds):
    """Row of the table: the fit against scipy's product of all rows with all, turn by turn."""
    X = tf_idf(word_counts(n_documents))
    found = [(timed(maxrep, X)[0], timed(lambda X: X @ X.T, X)[0]) for _ in range(rounds)]
    ours, theirs = np.array(found).T
    return (
        f"| {n_documents:,} | {ours.min():.3f} s | {theirs.min():.3f} s "
        f"| {ours.min() / theirs.min():.3f} | {np.min(ours / theirs):.3f} to "
        f"{np.max(ours / theirs):.3f} |"
    )


def peak(path):
    """Peak memory in MiB of a process that loads a pool, and once it has ranked it (on Linux)."""
    # resource.getrusage would count the process that starts this one.
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from scipy import sparse\n"
        "from skfilterrank.judgments import MaxRepSelector\n"
        "def peak():\n"
        "    status = Path('/proc/self/status').read_text().split('VmHWM:')[1]\n"
        "    return int(status.split()[0]) / 1024\n"
        "X = sparse.load_npz(sys.argv[1])\n"
        "before = peak()\n"
        f"MaxRepSelector({THRESHOLD}).fit(X, groups=np.zeros(X.shape[0]))\n"
        "print(json.dumps([before, peak()]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def against_packages(n_documents):
    """Text on the largest pool: times, objectives and memory."""
    apricot(sparse.csr_matrix(sparse.eye_array(10)))  # compiles
    X = tf_idf(word_counts(n_documents))
    before, selector = timed(maxrep, X)
    join, similarity = timed(sparse_dot_topn, X)
    greedy, selection = timed(apricot, similarity)
    ours = min(before, *(timed(maxrep, X)[0] for _ in range(2)))
    value = np.cumsum(np.sort(selector.gains_)[::-1])
    lead = value - np.cumsum(selection.gains)
    n_checked = min(2_000, n_documents)
    plain = np.cumsum(apricot(similarity, "naive", n_checked).gains)
    difference = np.abs(value[:n_checked] - plain).max()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.npz"
        sparse.save_npz(path, X, compressed=False)
        loaded, most = peak(path)
    return f"""
| step | time |
| --- | --- |
| MaxRepSelector.fit, join and full order | {ours:.2f} s |
| sparse_dot_topn {version("sparse_dot_topn")}, one thread | {join:.1f} s |
| apricot {version("apricot-select")}, lazy facility location of its result | {greedy:.1f} s |
| both packages over MaxRepSelector | {(join + greedy) / ours:.1f} times |

{similarity.nnz - n_documents:,} similarities above 0 beside the diagonal. The value of the first m
documents is that of apricot's plain greedy (optimizer="naive", which looks at all documents every
time): they differ by at most {difference:.0e} for m from 1 to {n_checked:,}. apricot's lazy one is
not quite greedy: its value is between {lead.max():.1f} below and {max(-lead.min(), 0):.1g} above,
for m from 1 to {n_documents:,}.

Peak memory of a process that loads the vectors ({X.nnz:,} entries, {loaded:.0f} MiB then) and
ranks: {most:.0f} MiB.
"""


def many_topics(n_topics, size):
    """Rows of the table: a collection of many topics, on one and two processes."""
    counts = sparse.vstack([word_counts(size, seed) for seed in range(n_topics)]).tocsr()
    X = tf_idf(counts)
    groups = np.repeat(np.arange(n_topics), size)
    rows = []
    for n_jobs in (1, 2):
        selector = MaxRepSelector(THRESHOLD, n_jobs=n_jobs)
        seconds = min(timed(lambda s=selector: s.fit(X, groups=groups))[0] for _ in range(3))
        rows.append(f"| {n_topics:,} x {size} | {n_jobs} | {seconds:.1f} s |")
    return "\n".join(rows)


def main():
    options = arguments(__doc__, largest=50_000, rounds=5, n_topics=N_TOPICS, topic_size=TOPIC_SIZE)
    table = "\n".join(against_product(n, options.rounds) for n in (500, 5_000))
    text = f"""
Synthetic pools: words by a Zipf-Mandelbrot law over {N_TERMS:,} terms, about 200 words a document,
a quarter of the documents near-duplicates of others, with 5 to 10 % of the words replaced, up to
50 of one document. Vectors tf * log(n / df), no stop words removed; threshold {THRESHOLD}; all
weights alike. Times are for the similarity join and the greedy order down to the last document,
one thread.

## Against the product of all rows with all

scipy's `X @ X.T`, which has the similarities but no order yet. Best of {options.rounds}, the two in
turn; the last column is the range of the ratio over single turns.

| documents | MaxRepSelector.fit | X @ X.T | ratio | ratios |
| --- | --- | --- | --- | --- |
{table}

## {options.largest:,} documents

Best of 3, the other packages once, between the first and the second.
{against_packages(options.largest)}
## Many topics

One fit of a whole collection, topics in parallel processes. Best of 3.

| topics x documents | n_jobs | time |
| --- | --- | --- |
{many_topics(options.n_topics, options.topic_size)}
"""
    write_report("maxrep_scale", "MAXREP on large pools", text)


if __name__ == "__main__":
    main()

"""Tables of texts of which some are judged."""

import numpy as np
import pandas as pd

NAN = np.nan

WORDS = {"wings": ["lift", "wing", "slipstream", "flap"], "heat": ["slab", "flux", "boil", "melt"]}

NOISE = ["the", "paper", "method", "result", "flow", "plate"]


def make_table(n_docs=24, share=0.5, seed=0, labels=(0.0, 1.0)):
    """Topics whose documents use more of the topic's words the better they are."""
    rng = np.random.RandomState(seed)
    rows = []
    for topic, words in WORDS.items():
        for number in range(n_docs):
            grade = number % len(labels)
            picked = [*rng.choice(words, 4 * grade), *rng.choice(NOISE, 5)]
            judged = number < len(labels) * 2 or rng.rand() < share
            label = labels[grade] if judged else NAN
            rows.append((topic, f"{topic[0]}{number}", " ".join(picked), label, labels[grade]))
    table = pd.DataFrame(rows, columns=["qid", "docno", "text", "label", "truth"])
    return table.sample(frac=1, random_state=seed, ignore_index=True)


def parts(table):
    """Texts, and labels with queries in their index."""
    return table["text"].tolist(), table.set_index("qid")["label"]

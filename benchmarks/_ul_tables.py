"""What Karmaker and Feng's tables ask of the scores of several methods, and what they print."""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank.comparison import SystemScores, kendall_tau, score_predictions, swap_rate
from skfilterrank.metaevaluation import (
    conflicts,
    discriminative_power,
)
from skfilterrank.metrics import dcg_score, query_informativeness
from skfilterrank.metrics._informativeness import QueryInformativeness

CUTOFFS = (5, 10, 15, 20, 30)
PRINTED = (
    Path(__file__).parent.parent / "tests" / "metaevaluation" / "data" / "karmaker_feng_tables.csv"
)
SETS = ("all", "uninformative", "ideal")


class Family(NamedTuple):
    """A measure, its normalised versions, and what is printed of them for MQ2007."""

    measures: dict
    informativeness: str
    # By kind of number and measure, columns as SETS; None where nothing is printed.
    numbers: dict
    # Printed swap rates between uninformative and ideal queries.
    swaps: dict
    # Printed swap rates between MSLR-WEB30K and MQ2007, columns as SETS.
    across: dict


# Tables 6 to 11: tau, disagreements of tests, significant pairs, PAD; columns as SETS.
DCG = Family(
    {
        "nDCG": "ndcg",
        "DCG V1": "ul_normalized(measure=dcg,variant=v1)",
        "DCG V2": "ul_normalized(measure=dcg,variant=v2)",
    },
    "ndcg",
    {
        ("tau", "DCG V1"): (1, 1, 1),
        ("tau", "DCG V2"): (0.785, 0.928, 1),
        ("conflicts", "DCG V1"): (0, 20, 1),
        ("conflicts", "DCG V2"): (6, 24, 8),
        ("significant", "nDCG"): (0, 9, 7),
        ("significant", "DCG V1"): (0, 29, 8),
        ("significant", "DCG V2"): (6, 33, 15),
        ("PAD", "nDCG"): (1.74, 5.85, 1.61),
        ("PAD", "DCG V1"): (3.6, 7.825, 1.98),
        ("PAD", "DCG V2"): (6.42, 44.81, 2.98),
    },
    {"nDCG": 0.5, "DCG V1": 0.5, "DCG V2": 0.5},
    dict.fromkeys(("nDCG", "DCG V1", "DCG V2"), (0.107, 0.42, 0.35)),
)
# Tables 16 to 21. With the paper's expectation, and with the exact one, of which nothing is
# printed.
SP = Family(
    {
        "MAP": "ap(normalize=min)",
        "MSP V1": "ul_normalized(measure=sp,variant=v1,expectation=paper)",
        "MSP V2": "ul_normalized(measure=sp,variant=v2,expectation=paper)",
        "MSP V1, exact": "ul_normalized(measure=sp,variant=v1)",
        "MSP V2, exact": "ul_normalized(measure=sp,variant=v2)",
    },
    "ap(normalize=min)",
    {
        ("tau", "MSP V1"): (1, 1, 1),
        ("tau", "MSP V2"): (0.785, 0.624, 1),
        ("tau", "MSP V1, exact"): None,
        ("tau", "MSP V2, exact"): None,
        ("conflicts", "MSP V1"): (1, 2, 3),
        ("conflicts", "MSP V2"): (8, 21, 17),
        ("conflicts", "MSP V1, exact"): None,
        ("conflicts", "MSP V2, exact"): None,
        ("significant", "MAP"): (45, 0, 71),
        ("significant", "MSP V1"): (50, 2, 74),
        ("significant", "MSP V2"): (59, 21, 88),
        ("significant", "MSP V1, exact"): None,
        ("significant", "MSP V2, exact"): None,
        ("PAD", "MAP"): (5.91, 5.89, 6.77),
        ("PAD", "MSP V1"): (6.86, 7.19, 8.04),
        ("PAD", "MSP V2"): (20.01, 28.27, 13.49),
        ("PAD", "MSP V1, exact"): None,
        ("PAD", "MSP V2, exact"): None,
    },
    {"MAP": 0.3928, "MSP V1": 0.3928, "MSP V2": 0.2857},
    {
        "MAP": (0.25, 0.357, 0.2857),
        "MSP V1": (0.25, 0.321, 0.25),
        "MSP V2": (0.178, 0.25, 0.321),
    },
)


class Values(NamedTuple):
    """Per-query values of every method, and how far above chance each query is."""

    # {(measure, cut-off): frame of methods x queries}
    frames: dict
    informativeness: QueryInformativeness

    def sample(self, queries, n_queries):
        """The values of some queries, given by number."""
        informativeness = QueryInformativeness.from_values(
            self.informativeness.achieved[queries],
            self.informativeness.expected[queries],
            n_queries=n_queries,
        )
        frames = {key: frame.iloc[:, queries] for key, frame in self.frames.items()}
        return Values(frames, informativeness)


def values_of(family, found, n_queries) -> Values:
    """Score predictions by the measures of a family."""
    texts = {(name, k): f"{text}@{k}" for name, text in family.measures.items() for k in CUTOFFS}
    scored = score_predictions(
        found.y, found.scores, list(texts.values()), groups=found.groups, gains="exp2"
    )
    informativeness = query_informativeness(
        found.y,
        found.scores,
        groups=found.groups,
        measure=family.informativeness,
        k=CUTOFFS,
        gains="exp2",
        n_queries=n_queries,
    )
    return Values({key: scored[text].to_frame() for key, text in texts.items()}, informativeness)


def means(values, name) -> pd.DataFrame:
    """Means of a measure: a row for each method, a column for each cut-off."""
    return pd.DataFrame({k: values.frames[name, k].mean(axis=1) for k in CUTOFFS})


def printed_means(name) -> pd.DataFrame:
    """The same as printed for MQ2007."""
    table = pd.read_csv(PRINTED, comment="#")
    table = table[(table["data_set"] == "MQ2007") & (table["measure"] == name)]
    table = table.set_index("method").filter(like="at_")
    return table.set_axis(list(CUTOFFS), axis=1)


def significant_by_spread(family, values, name, table, n_queries) -> dict:
    """Significant pairs of given means, were their spreads and correlations those of our values.

    For the t test of two samples and for the paired one, over all cut-offs; of about a thousand
    queries, so that 1.96 is the bound.
    """
    first, second = np.triu_indices(len(table), 1)
    counts = {"two samples": 0, "paired": 0}
    for k in CUTOFFS:
        found = values.frames[name, k].loc[table.index].to_numpy()
        difference = np.abs(table[k].to_numpy()[first] - table[k].to_numpy()[second])
        variance = found.var(axis=1, ddof=1)
        errors = {
            "two samples": np.sqrt((variance[first] + variance[second]) / n_queries),
            "paired": (found[first] - found[second]).std(axis=1, ddof=1) / np.sqrt(n_queries),
        }
        for test, error in errors.items():
            counts[test] += int(np.count_nonzero(difference > 1.96 * error))
    return counts


def ul_of_slips(y, scores, groups, k) -> pd.DataFrame:
    """V1 and V2 of DCG with the printed lower bound, and with other values in its place."""
    queries, place = np.unique(groups, return_inverse=True)
    sizes = np.bincount(place)
    dcg = dcg_score.per_query(y, scores, groups=groups, k=k, gains="exp2")
    ideal = dcg_score.per_query(y, y, groups=groups, k=k, gains="exp2")
    discounts = np.cumsum(1 / np.log2(np.arange(2, sizes.max() + 2)))
    discounts = discounts[np.minimum(sizes, k) - 1]
    bounds = {
        "E[2^R - 1], equation 7": np.bincount(place, 2**y - 1) / sizes,
        "2^E[R] - 1": 2 ** (np.bincount(place, y) / sizes) - 1,
    }
    expected = discounts * np.bincount(place, 2**y - 1) / sizes
    # Undefined, and 0 as elsewhere: no relevant document, or all documents equally good.
    rows, defined = {}, ideal > expected * (1 + 1e-12)
    for name, gain in bounds.items():
        A, U, R = dcg[defined], ideal[defined], (gain * discounts)[defined]
        v2 = np.where(A >= R, (A - R) / (U - R), (A - R) / R)
        rows[name] = {
            "V1": (A / U * A / (A + R)).sum() / len(queries),
            "V2": v2.sum() / len(queries),
        }
    return pd.DataFrame(rows).T


def numbers_of(family, values) -> dict:
    """Tau, conflicts, significant pairs and PAD on the three sets of queries."""
    original, *normalised = family.measures
    results = {key: [] for key in family.numbers}
    for mask in sets_of(values):
        scores = {
            (name, k): SystemScores(frame.loc[:, mask], measure=f"{name}@{k}")
            for (name, k), frame in values.frames.items()
        }
        tables = {
            name: pd.DataFrame({k: scores[name, k].means for k in CUTOFFS})
            for name in family.measures
        }
        for name in family.measures:
            significant = (
                discriminative_power(scores[name, k], test="t", correction=None).n_significant
                for k in CUTOFFS
            )
            results["significant", name].append(sum(significant))
            with warnings.catch_warnings():
                # Methods may be worse than chance on the uninformative queries.
                warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ means are negative")
                table = tables[name].rename_axis(index="system")
                percent = SystemScores(table).percentage_differences()
                results["PAD", name].append(percent.mean())
        for name in normalised:
            averages = [tables[each].mean(axis=1) for each in (original, name)]
            results["tau", name].append(kendall_tau(*averages))
            disagreements = (
                conflicts(
                    scores[original, k], scores[name, k], test="t", correction=None
                ).n_disagreements
                for k in CUTOFFS
            )
            results["conflicts", name].append(sum(disagreements))
    return results


def sets_of(values) -> tuple:
    """Masks of the queries: all, uninformative, ideal."""
    found = values.informativeness
    return np.full(len(found.ideal), True), found.uninformative, found.ideal


def swap_rates(family, values) -> dict:
    """Pairs of methods that uninformative and ideal queries order oppositely, by measure."""
    _, *sets = sets_of(values)
    return {
        name: swap_rate(*(_means_of_methods(values, name, mask) for mask in sets))
        for name in family.measures
    }


def swap_rates_across(family, first, second) -> dict:
    """Pairs of methods that two data sets order oppositely, by measure, each set of queries."""
    pairs = list(zip(sets_of(first), sets_of(second)))
    return {
        name: [
            swap_rate(_means_of_methods(first, name, one), _means_of_methods(second, name, other))
            for one, other in pairs
        ]
        for name in family.measures
    }


def _means_of_methods(values, name, mask):
    """Mean of each method over the queries of a mask and all cut-offs."""
    columns = {k: values.frames[name, k].loc[:, mask].mean(axis=1) for k in CUTOFFS}
    return pd.DataFrame(columns).mean(axis=1)

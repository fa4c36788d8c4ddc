"""Certificates of all kinds of units and of segments: are they kept?

    python benchmarks/promise_kinds.py [units] [segments] [reports] [--data DATA]
        [--repeats 500] [--cache DIR]

Each kind of certificate on generated queries whose true rates are known; finished kinds are kept in
DIR. `units`: among answered queries and over clusters; writes results/promise_units.md. `segments`:
a threshold for each of three segments; writes results/promise_kinds_segments.md.
`reports`: certificates by reports of spam, which depend on the place, against the truth. Writes
results/promise_reports.md. One thread, a quarter of an hour of processor time.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import run_parts, write_report
from _promises import Population, certificate_of, generated, share
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.prefixes import Ranking
from skfilterrank.datasets import make_marketplace
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds import CertifiedThreshold, threshold_curve
from skfilterrank.thresholds._risks import read_risks

CONFIDENCE, N_QUERIES, N_COPIES, N_CLUSTERS = 0.95, 300, 5, 100
LEVELS, N_POPULATION = (0.15, 0.1), 4000
KINDS = {
    "all queries": {},
    "answered queries": {"among": "answered"},
    f"{N_COPIES} copies, as queries": {"copies": True},
    f"{N_COPIES} copies, clusters": {"copies": True, "clusters": True},
    f"{N_COPIES} copies, clusters, answered": {
        "copies": True, "clusters": True, "among": "answered",
    },
    "users of 1 to 9, clusters": {"users": True, "clusters": True},
    "users of 1 to 9, clusters, answered": {"users": True, "clusters": True, "among": "answered"},
}  # fmt: skip


# Share of the queries of each segment, from the best to the worst ones.
SEGMENTS = {"large": 0.7, "middle": 0.22, "small": 0.08}
N_OF_SEGMENTS = 1000
CONFIDENCES = {"0.95": CONFIDENCE, "1 - 0.05 / 3": 1 - (1 - CONFIDENCE) / len(SEGMENTS)}


class Truth:
    """Rates of a population at any threshold, in all, answered, and by user or segment."""

    def __init__(self, population, seed=0):
        self.population, self.k = population, population.k
        lists = RankedLists(population.gains, population.scores, groups=population.groups)
        # A good document behind the end of a list is hidden.
        ranking = Ranking(lists.scores, lists.index, lists.gains)
        is_hidden = ranking.by_row(ranking.place) >= self.k
        lists = lists.with_scores(np.where(is_hidden, -np.inf, lists.scores))
        risks = {f"{name}@{self.k}": 0.1 for name in ("any_forbidden", "forbidden")}
        risks["false_reject_rate"] = 0.1
        self.steps = {each.name: each.steps(lists) for each in read_risks(risks)}
        n = len(population.sizes)
        self.best = np.full(n, -np.inf)
        np.maximum.at(self.best, population.groups, population.scores)
        # Users ask queries that are alike: in the order of the rate of forbidden documents.
        rng = np.random.default_rng(seed)
        bad = np.bincount(population.groups, population.gains < 0) / population.sizes
        order = np.argsort(bad + 0.1 * rng.normal(size=n))
        ends = np.cumsum(rng.integers(1, 10, n))
        self.user = np.empty(n, dtype=int)
        self.user[order] = np.searchsorted(ends, np.arange(n), side="right")
        self.users = [np.flatnonzero(self.user == each) for each in range(self.user.max() + 1)]
        sizes = np.bincount(self.user)
        self.weights = {"queries": np.full(n, 1 / n), "users": 1 / sizes[self.user] / len(sizes)}
        self.segment = np.empty(n, dtype=object)
        order = np.argsort(bad + 0.5 * rng.normal(size=n))
        ends = (n * np.cumsum([0, *SEGMENTS.values()])).round().astype(int)
        for name, first, last in zip(SEGMENTS, ends, ends[1:]):
            self.segment[order[first:last]] = name
            self.weights[name] = (self.segment == name) / (last - first)

    def rate(self, risk, threshold, *, of="queries", answered=False):
        """The true rate at a threshold."""
        steps, weights = self.steps[risk], self.weights[of]
        counted = weights[steps.counted]
        lost = counted @ steps.at(threshold) / counted.sum()
        share = weights @ (self.best >= threshold)
        return lost / max(share, 1e-300) if answered else lost

    def hidden(self, threshold, among=True):
        """The share of all documents that is hidden, with a cut after k."""
        shown = np.bincount(self.population.groups, self.population.scores >= threshold)
        shown = np.minimum(shown, self.k) * among
        return 1 - shown.sum() / len(self.population.scores)

    def keeps(self, risks, threshold, **of):
        """Whether all rates are truly kept."""
        return all(
            self.rate(risk, threshold, **of) <= level + 1e-12 for risk, level in risks.items()
        )

    def kept_by(self, risks, certificate, **of):
        """Whether rates are truly kept at the chosen threshold, and in the certified range."""
        ends = np.nextafter(certificate.lower, np.inf), certificate.upper
        at = self.keeps(risks, certificate.threshold, **of)
        return at, at and all(self.keeps(risks, end, **of) for end in ends if end < np.inf)

    def best_of(self, risks, **of):
        """nDCG_f and the share hidden of the best threshold in hindsight."""
        tried = np.unique(np.quantile(self.population.scores, np.linspace(0, 1, 300)))
        kept = [t for t in tried if self.keeps(risks, t, **of)]
        if not kept:
            return np.nan, np.nan
        t = max(kept, key=self.population.value)
        return self.population.value(t), self.hidden(t)


def drawn(truth, rng, *, copies=False, users=False):
    """Calibration queries, and the cluster of each."""
    n = len(truth.population.sizes)
    if copies:
        queries = np.repeat(rng.integers(0, n, N_CLUSTERS), N_COPIES)
        return queries, np.arange(len(queries)) // N_COPIES
    if not users:
        return rng.integers(0, n, N_QUERIES), np.arange(N_QUERIES)
    parts = [truth.users[each] for each in rng.integers(0, len(truth.users), N_CLUSTERS)]
    sizes = [len(part) for part in parts]
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), sizes)


def of_kind(kind, truth, levels, repeats):
    """A row for each certificate of a kind."""
    any_forbidden, forbidden = (f"{risk}@{truth.k}" for risk in ("any_forbidden", "forbidden"))
    promises = [
        {any_forbidden: levels[0]},
        {forbidden: levels[1]},
        {any_forbidden: levels[0], forbidden: levels[1]},
    ]
    rows = []
    how, rng = dict(KINDS[kind]), np.random.default_rng(0)
    clusters, among = how.pop("clusters", False), how.pop("among", "all")
    true = {"of": "users" if how.get("users") else "queries", "answered": among == "answered"}
    found = {number: [] for number in range(len(promises))}
    for _ in range(repeats):
        queries, cluster = drawn(truth, rng, **how)
        own, groups = truth.population.draw(queries)
        lists = RankedLists(
            truth.population.gains[own], truth.population.scores[own], groups=groups
        )
        curve = threshold_curve(
            lists.gains, lists.scores, groups=lists.index, measure=truth.population.measure
        )
        steps: dict = {}
        for number, risks in enumerate(promises):
            read = read_risks(risks, among)
            for each in read:
                if each.name not in steps:
                    steps[each.name] = each.steps(lists)
            try:
                certificate = certificate_of(
                    curve,
                    lists,
                    read,
                    [steps[each.name] for each in read],
                    CONFIDENCE,
                    clusters=cluster if clusters else None,
                    unit="user" if clusters else None,
                )
            except ValueError:  # no threshold can be certified
                continue
            t = certificate.threshold
            kept, kept_anywhere = truth.kept_by(risks, certificate, **true)
            low, high = (certificate.facts[f"share_answered_{end}"] for end in ("lower", "upper"))
            answered = truth.weights[true["of"]] @ (truth.best >= t)
            found[number].append(
                (
                    not kept,
                    not kept_anywhere,
                    truth.population.value(t),
                    truth.hidden(t),
                    answered,
                    low <= answered <= high,
                )
            )
    for number, risks in enumerate(promises):
        part = np.array(found[number], dtype=float).reshape(-1, 6)
        value, hidden = truth.best_of(risks, **true)
        mean = part.mean(axis=0) if len(part) else np.full(6, np.nan)
        rows.append(
            {
                "unit": kind, "risk": words(risks),
                "given": len(part), "broken": part[:, 0].sum(), "anywhere": part[:, 1].sum(),
                "ndcg_f": mean[2], "best ndcg_f": value, "hidden": mean[3],
                "best hidden": hidden, "answered": mean[4], "covered": mean[5],
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def words(risks):
    return " and ".join(f"{risk} {level:g}" for risk, level in risks.items())


def truth_of_few():
    """A small population of generated queries."""
    every = generated()
    rows = every.groups < N_POPULATION
    return Truth(Population(every.gains[rows], every.scores[rows], every.groups[rows], every.k))


def tables_of(kinds, make, options, repeats):
    """Tables of several kinds, of which finished ones are kept in a folder."""
    begin, tables = time.process_time(), []
    for kind in kinds:
        kept = Path(options.cache) / f"{kind} {repeats}.pkl"
        if options.cache and kept.exists():
            tables.append(pd.read_pickle(kept))
            continue
        tables.append(make(kind))
        if options.cache:
            tables[-1].to_pickle(kept)
        print(kind, f"{time.process_time() - begin:.0f} s", flush=True)
    return pd.concat(tables)


def allowed_share(error, repeats):
    """Share of draws that may be broken, with two standard errors."""
    return error + 2 * np.sqrt(error * (1 - error) / repeats)


def as_lines(head, rows):
    """Write a table for a page."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *lines]


POPULATION_IN_WORDS = (
    f"draws of calibration queries with replacement from {N_POPULATION:,} queries of "
    "`make_rank_and_filter` with scores of a logistic model of 600 others, so that these are the "
    "population and every true rate is known"
)


def report_units(options):
    """Report on units of certificates."""
    repeats = options.repeats or 500
    warnings.filterwarnings("ignore")
    begin, truth = time.process_time(), truth_of_few()
    table = tables_of(KINDS, lambda kind: of_kind(kind, truth, LEVELS, repeats), options, repeats)
    allowed = allowed_share(1 - CONFIDENCE, repeats)
    valid = ~table["unit"].str.contains("as queries")
    ours, wrong = table[valid], table[~valid]
    text = [
        f"{repeats} {POPULATION_IN_WORDS}: {N_QUERIES} queries, "
        f"{N_CLUSTERS} queries of which each comes {N_COPIES} times, or {N_CLUSTERS} users, whose "
        "1 to 9 queries are alike in how many of their documents "
        f"are forbidden. Confidence {CONFIDENCE:g}. The true rate over users is that of a query "
        'of a random user. "As queries": the same draws without `clusters=`, which the certificate '
        'does not cover. "Given": draws in which some threshold is certified. "Broken": share of '
        'all draws with a true rate above its level at the chosen threshold; "anywhere": in the '
        'certified range. "Best": the best single threshold in hindsight that truly keeps the '
        "risk. Hidden is the share of all documents, with lists that end at k.",
        "",
        f"* With {100 * allowed:.1f} % allowed (1 - confidence plus 2 standard errors), "
        f"{(ours['broken'] / repeats > allowed).sum()} of {len(ours)} lines have more broken "
        f"draws, at most {100 * ours['broken'].max() / repeats:.1f} %; anywhere in the certified "
        f"range {(ours['anywhere'] / repeats > allowed).sum()}, at most "
        f"{100 * ours['anywhere'].max() / repeats:.1f} %.",
        f"* Where each copy counts as a query, {(wrong['broken'] / repeats > allowed).sum()} of "
        f"{len(wrong)} lines have more, up to {100 * wrong['broken'].max() / repeats:.1f} %.",
        f"* Intervals of the share of answered queries hold in "
        f"{100 * ours['covered'].min():.1f} % of the draws or more.",
        "",
    ]
    rows = []
    for row in table.to_dict("records"):
        cells = [row["unit"], row["risk"], f"{row['given']} of {repeats}"]
        cells += [share(row[name], repeats) for name in ("broken", "anywhere")]
        cells += [
            "" if np.isnan(row[name]) else f"{row[name]:.3f}"
            for name in ("ndcg_f", "best ndcg_f", "hidden", "best hidden", "answered")
        ]
        rows.append(cells)
    head = [
        "unit",
        "risk",
        "given",
        "broken",
        "anywhere",
        "nDCG_f",
        "best",
        "hidden",
        "best",
        "answered",
    ]
    text += as_lines(head, rows)
    print(f"{time.process_time() - begin:.0f} s")
    write_report("promise_units", "Certificates among answered queries and over clusters",
                 "\n".join(text))  # fmt: skip


def of_segments(risks, truth, repeats):
    """A row for each certified or single threshold, with the segments in which it is broken."""
    rows, names = [], list(SEGMENTS)
    for way in (*CONFIDENCES, "one threshold"):
        safe = CertifiedThreshold(
            risks, confidence_level=CONFIDENCES.get(way, CONFIDENCE), measure=f"ndcg_f@{truth.k}"
        )
        rng, found = np.random.default_rng(0), []
        for _ in range(repeats):
            queries = rng.integers(0, len(truth.best), N_OF_SEGMENTS)
            own, groups = truth.population.draw(queries)
            scores, labels = truth.population.scores[own], truth.population.gains[own]
            segment = truth.segment[queries][groups]
            parts = [segment == name for name in names] if way in CONFIDENCES else [segment != ""]
            try:
                models = [
                    clone(safe).fit(scores[rows], labels[rows], groups=groups[rows])
                    for rows in parts
                ]
            except InputError:  # no threshold can be certified
                continue
            certificates = [each.certificate_ for each in models]
            if way not in CONFIDENCES:
                certificates *= len(names)
            kept = np.array(
                [truth.kept_by(risks, each, of=name) for name, each in zip(names, certificates)]
            )
            hidden = [
                truth.hidden(each.threshold, truth.segment == name) - 1
                for name, each in zip(names, certificates)
            ]
            found.append([*(~kept).any(axis=0), *~kept[:, 1], 1 + sum(hidden)])
        columns = ["broken", "anywhere", *names, "hidden"]
        part = pd.DataFrame(found, columns=columns).astype(float)
        row = part.sum().to_dict() | {"hidden": part["hidden"].mean(), "given": len(part)}
        rows.append({"risk": words(risks), "way": way, **row})
    return pd.DataFrame(rows)


def report_segments(options):
    """Report on thresholds of segments."""
    repeats = options.repeats or 500
    warnings.filterwarnings("ignore")
    begin, truth = time.process_time(), truth_of_few()
    any_forbidden, forbidden = (f"{risk}@{truth.k}" for risk in ("any_forbidden", "forbidden"))
    promises = [
        {any_forbidden: LEVELS[0]},
        {forbidden: LEVELS[1]},
        {any_forbidden: LEVELS[0], forbidden: LEVELS[1]},
    ]
    table = tables_of(
        [words(risks) for risks in promises],
        lambda kind: of_segments(
            next(risks for risks in promises if words(risks) == kind), truth, repeats
        ),
        options,
        repeats,
    )
    table["allowed"] = [len(SEGMENTS) * (1 - CONFIDENCES.get(way, np.nan)) for way in table["way"]]
    own = table[table["way"].isin(CONFIDENCES)]
    single = table[~table["way"].isin(CONFIDENCES)]
    allowed = allowed_share(own["allowed"], repeats)
    by_segment = [allowed_share(1 - CONFIDENCES[way], repeats) for way in own["way"]]
    shares = own[list(SEGMENTS)].div(repeats)
    rates = "; ".join(
        f"{name} {truth.rate(any_forbidden, -np.inf, of=name):.2f}" for name in SEGMENTS
    )
    text = [
        f"{repeats} {POPULATION_IN_WORDS}: {N_OF_SEGMENTS:,} queries, of which "
        + ", ".join(f"{100 * each:.0f} % are of the {name}" for name, each in SEGMENTS.items())
        + f" segment. Rates of {any_forbidden} where everything is shown: {rates}. Each segment "
        "has a `CertifiedThreshold` of its own, with a confidence of "
        f"{CONFIDENCE:g}, so that any of three may be broken in "
        f"{100 * len(SEGMENTS) * (1 - CONFIDENCE):.0f} % of the draws, or of 1 - 0.05 / 3, so that "
        f"{100 * (1 - CONFIDENCE):.0f} % may be. \"Broken\": share of all draws in which the "
        "true rate of any segment is above its level at the chosen threshold of the segment; "
        "\"anywhere\": in its certified range. The last columns are for each segment, anywhere. "
        "\"One threshold\": a certificate of all queries, which promises nothing for a segment.",
        "",
        f"* Any segment is broken anywhere in more draws than allowed, with two standard errors "
        f"({100 * allowed_share(len(SEGMENTS) * (1 - CONFIDENCE), repeats):.1f} and "
        f"{100 * allowed_share(1 - CONFIDENCE, repeats):.1f} %), in "
        f"{(own['anywhere'] / repeats > allowed).sum()} of {len(own)} lines; at most "
        f"{100 * own.loc[own['way'] == '0.95', 'anywhere'].max() / repeats:.1f} % with 0.95, and "
        f"{100 * own.loc[own['way'] != '0.95', 'anywhere'].max() / repeats:.1f} % with "
        "1 - 0.05 / 3.",
        f"* A single segment is in {(shares.gt(by_segment, axis=0)).to_numpy().sum()} of "
        f"{shares.size} cells, at most {100 * shares.to_numpy().max():.1f} %.",
        f"* With one threshold for all queries, the rate of some segment is above the level in "
        f"{100 * single['broken'].min() / repeats:.1f} % of the draws or more.",
        "",
    ]  # fmt: skip
    rows = [
        [
            row["risk"], row["way"], f"{row['given']} of {repeats}",
            *(share(row[name], repeats) for name in ("broken", "anywhere")),
            share(row["allowed"] * repeats, repeats) if row["allowed"] > 0 else "",
            *(share(row[name], repeats) for name in SEGMENTS), f"{row['hidden']:.3f}",
        ]
        for row in table.to_dict("records")
    ]  # fmt: skip
    head = ["risk", "confidence of each", "given", "broken", "anywhere", "allowed"]
    text += as_lines([*head, *SEGMENTS, "hidden"], rows)
    print(f"{time.process_time() - begin:.0f} s")
    write_report("promise_kinds_segments", "Certificates of segments", "\n".join(text))


FEATURES = ["match", "quality", "rating", "price", "reports", "flag"]
LEVEL, N_PAGES, N_SHOWN, N_AUDIT = 0.05, 1000, 5, 400


def scored(spam_signal):
    """Pages of a marketplace with two scores of models of 2,000 others, learned from behaviour."""
    log = make_marketplace(n_sessions=22_000, spam_signal=spam_signal, random_state=0)
    train = log["session"] < log["session"].unique()[2000]
    rows = log[~train].reset_index(drop=True)
    for name, target in (("score", log["label"] > 0), ("harm", log["label"] < 0)):
        model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
        model.fit(log.loc[train, FEATURES], target[train])
        rows[name] = model.predict_proba(rows[FEATURES])[:, 1]
    rows["page"] = rows.groupby("session").ngroup()
    rows["true"] = rows["label"].where(~rows["spam"], -1.0)
    return rows


def pages_with_spam(model, rows):
    """The share of pages with true spam among the first places shown, and items shown a page."""
    places = model.rank(np.column_stack([rows["score"], rows["harm"]]), groups=rows["page"])
    is_shown = (places > 0) & (places <= N_SHOWN)
    n_pages = rows["page"].nunique()
    return rows.loc[is_shown & rows["spam"], "page"].nunique() / n_pages, is_shown.sum() / n_pages


def fitted(rows, label):
    """A certificate of at most 5 % of pages with what the labels call spam."""
    model = CertifiedThreshold(
        {f"any_forbidden@{N_SHOWN}": LEVEL}, rule="harm", measure=f"ndcg_f@{N_SHOWN}",
        confidence_level=CONFIDENCE,
    )  # fmt: skip
    return model.fit(
        np.column_stack([rows["score"], rows["harm"]]), rows[label], groups=rows["page"]
    )


def report_reports(options):
    """Report on certificates by reports."""
    repeats = options.repeats or 20
    warnings.filterwarnings("ignore")
    begin, lines = time.process_time(), []
    for spam_signal in (1, 3):
        rows = scored(spam_signal)
        pages = rows["page"].to_numpy()
        rest = rows[pages >= 15_000]
        starts = np.searchsorted(pages, np.arange(15_001))
        rng, found = np.random.default_rng(0), []
        for _ in range(repeats):
            drawn = rng.choice(15_000, 2 * N_PAGES, replace=False)
            parts = [
                rows.iloc[np.concatenate([np.arange(starts[p], starts[p + 1]) for p in some])]
                for some in (drawn[:N_PAGES], drawn[N_PAGES:])
            ]
            first = fitted(parts[0], "label")
            # Later nothing that was hidden is reported.
            shown = first.rank(
                np.column_stack([parts[1]["score"], parts[1]["harm"]]), groups=parts[1]["page"]
            )
            is_hidden_spam = (parts[1]["label"] < 0) & (shown == 0)
            later = parts[1].assign(label=parts[1]["label"].where(~is_hidden_spam, 0.0))
            audit = parts[0][parts[0]["page"].isin(drawn[:N_AUDIT])]
            models = [first, fitted(later, "label")]
            models += [fitted(audit, "true"), fitted(parts[0], "true")]
            found.append([pages_with_spam(model, rest) for model in models])
        for number, name in enumerate(
            (
                f"reports on {N_PAGES:,} pages",
                f"reports on {N_PAGES:,} pages behind that threshold",
                f"people judge {N_AUDIT} pages at random",
                f"people judge {N_PAGES:,} pages at random",
            )
        ):
            rates, n_shown = np.array(found)[:, number].T
            low, high = np.quantile(rates, [0.05, 0.95])
            lines.append(
                f"| {spam_signal} | {name} | {100 * rates.mean():.1f} % | {100 * low:.1f} to "
                f"{100 * high:.1f} % | {share((rates > LEVEL).sum(), repeats)} | "
                f"{n_shown.mean():.2f} |"
            )
        print(spam_signal, f"{time.process_time() - begin:.0f} s", flush=True)
    text = [
        f"`make_marketplace`: pages of 20 items, 8 % of the catalog is spam. Spam at place i is "
        "reported with the probability 0.25 + i^-0.8 / 2, and nothing else is reported. Two "
        "logistic models of 2,000 other pages order the items by the chance of a click and hide "
        f"by the chance of a report. {repeats} times, CertifiedThreshold certifies on other pages "
        f"that at most {100 * LEVEL:.0f} % of the pages show forbidden items in the top "
        f"{N_SHOWN}, with a confidence of {CONFIDENCE:g}. The truth is counted on 5,000 further "
        f'pages. "Behind that threshold": new pages on which the items that the first threshold '
        "hides get no reports, and a new certificate is made.",
        "",
        "| spam signal | labels | pages with true spam | from 5 to 95 % of the draws "
        "| above the level | items shown |",
        "|" + " --- |" * 6,
        *lines,
        "",
        f"{time.process_time() - begin:.0f} seconds of processor time.",
    ]
    write_report("promise_reports", "Reports of spam as labels of a certificate", "\n".join(text))


if __name__ == "__main__":
    parts = {
        "units": report_units,
        "segments": report_segments,
        "reports": report_reports,
    }
    run_parts(__doc__, parts, repeats=0, cache="")

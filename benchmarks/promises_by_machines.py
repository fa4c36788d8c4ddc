"""Do certificates from few labels of people and many of a machine hold, and which power have they?

    python benchmarks/promises_by_machines.py [validity] [bets] [fits] [joint] [planned] [draws]
        [judges] [judges_bets] [--data DATA] [--repeats N] [--cache DIR]

`validity`: machines of every kind at a threshold whose risk is the level; 500 draws, writes
results/promises_by_machines.md. `bets`: the same with losses between 0 and 1; 1,000 draws, writes
results/promises_by_bets.md. `fits`: thresholds of a population whose true rates are known, also of
clusters and among answered queries; 200 draws, writes results/promises_by_fits.md. `joint`: two
risks in one certificate; 500 draws, writes results/promises_by_machines_joint.md. `planned`: power
that `queries_needed` plans, and that of draws; 500 draws, writes
results/promises_by_machines_planned.md. `draws`: people's queries that are no random draw; 500
draws, writes results/promises_by_machines_draws.md. `judges`: labels of language models on
trec-dl2019-llm; 2 draws of each, writes results/promises_by_judges.md. `judges_bets`: the same with
the forbidden share and ten times as many queries; 10 draws of each, writes
results/promises_by_judges_bets.md. An hour on one thread; finished cells of `joint` and `draws` are
kept in the folder of `--cache`.
"""

import os
import sys
from itertools import product

os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from _common import run_parts, write_report
from _promises import Population, generated
from scipy.special import bdtr

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.prefixes import shown_at_most
from skfilterrank.exceptions import InputError
from skfilterrank.io import QrelsIndex, align, read_qrels, read_run
from skfilterrank.thresholds import CertifiedThreshold, queries_needed
from skfilterrank.thresholds._control_variates import ControlledBound
from skfilterrank.thresholds._machine_labels import pays
from skfilterrank.thresholds._risks import BettingBound, BinomialBound, read_promises
from skfilterrank.thresholds._stratified_bound import Counts, StratifiedBound, choose_bound

LEVEL, CONFIDENCE, RATE = 0.1, 0.9, 0.06
# Share of the bad queries that the machine flags, and of the good ones that it does not.
MACHINES = {
    "useful": (0.9, 0.97),
    "biased": (0.95, 0.7),
    "useless": (0.3, 0.7),
    "adversarial": (0.1, 0.8),
}
WAYS = ("machine believed", "people alone", "with the machine")
# Queries that people judge, and how many times as many the machine does.
SIZES = ((50, 10), (100, 2), (100, 10), (200, 10), (300, 10))
TO_GAIN = {0: -1, 1: 1, 2: 2, 3: 3}


def shares_ruled_out(n, n_machine, sensitivity, specificity, rate, repeats, rng):
    """Shares of the draws in which the level is ruled out: alone, with the machine, as chosen."""
    share = rate * sensitivity + (1 - rate) * (1 - specificity)
    rates = rate * sensitivity / share, rate * (1 - sensitivity) / (1 - share)
    bound = StratifiedBound(n, n_machine, LEVEL, CONFIDENCE)
    chosen = choose_bound(n, n_machine, LEVEL, CONFIDENCE)
    found = np.zeros((repeats, 3), dtype=bool)
    for row in found:
        flagged = rng.binomial(n, share)
        by_machine = flagged + rng.binomial(n_machine - n, share)
        x1, x0 = rng.binomial(flagged, rates[0]), rng.binomial(n - flagged, rates[1])
        row[0] = bdtr(x1 + x0, n, LEVEL) <= 1 - CONFIDENCE
        row[1] = bound.rules_out(Counts(flagged, x1, x0, by_machine))
        row[2] = row[0] if chosen is None else row[1]
    return (*found.mean(axis=0), chosen is not None)


def validity(repeats):
    """One row for each machine and number of queries."""
    rng, rows = np.random.default_rng(0), []
    for name, (sensitivity, specificity) in MACHINES.items():
        for n, times in SIZES:
            given = n, times * n, sensitivity, specificity
            at_level = shares_ruled_out(*given, LEVEL, repeats, rng)
            below = shares_ruled_out(*given, RATE, repeats, rng)
            rows.append(
                {
                    "machine": name,
                    "people": n,
                    "all": times * n,
                    "broken alone": at_level[0],
                    "broken with": at_level[1],
                    "broken as chosen": at_level[2],
                    "power alone": below[0],
                    "power with": below[1],
                    "power as chosen": below[2],
                    "chosen": "with" if below[3] else "alone",
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def graded(kind, shape, rate, rng):
    """Losses with a mean of `rate`: 0 or 1, thirds, or the level for half that are not answered."""
    if kind == "0 or 1":
        return (rng.random(shape) < rate).astype(float)
    if kind == "half answered":
        losses = graded("thirds", shape, rate, rng)
        return np.where(rng.random(shape) < 0.5, losses, LEVEL)
    if kind == "means of three":
        # Queries of a cluster share a part of their risk.
        own = rng.beta(0.5, 0.5 / rate - 0.5, (*shape, 1))
        return (rng.random((*shape, 3)) < own).mean(axis=-1)
    size = rng.choice([1 / 3, 2 / 3, 1.0], shape, p=[0.6, 0.25, 0.15])
    return np.where(rng.random(shape) < rate / (0.6 / 3 + 0.5 / 3 + 0.15), size, 0.0)


def by_machine(kind, losses, how, rate, rng):
    """Losses by a machine: people's with a probability, else others; below 0 opposite ones."""
    copied, own = how
    others = graded(kind, losses.shape, own, rng)
    told = losses if copied >= 0 else graded(kind, losses.shape, rate, rng) * (losses == 0)
    return np.where(rng.random(losses.shape) < abs(copied), told, others)


# Probability that the loss by people is copied, negative for its opposite, and the mean of others.
BETTORS = {
    "useful": (0.9, 0.06),
    "biased": (0.8, 0.3),
    "useless": (0.0, 0.2),
    "adversarial": (-1, 0.2),
}
KINDS = ("thirds", "means of three", "half answered", "0 or 1")
BET_SIZES = ((50, 10), (100, 2), (100, 10), (200, 10), (400, 10))


def bets_ruled_out(kind, how, n, times, rate, repeats, rng, is_binary=None):
    """Shares of the draws in which the level is ruled out: alone, with the machine, as chosen."""
    losses = graded(kind, (repeats, n), rate, rng)
    flags = by_machine(kind, losses, how, rate, rng)
    others = graded(kind, (repeats, n, times - 1), rate, rng)
    others = by_machine(kind, others, how, rate, rng).mean(axis=-1)
    beside = ControlledBound(n, LEVEL, CONFIDENCE).rules_out(losses, flags - others)
    is_binary = kind == "0 or 1" if is_binary is None else is_binary
    kind_of_bound = BinomialBound if is_binary else BettingBound
    bound = kind_of_bound(n, LEVEL, CONFIDENCE, answered=kind == "half answered")
    alone = np.array([bound.rules_out(row) for row in losses])
    chosen = pays(n, times * n, LEVEL, CONFIDENCE, is_binary, kind == "half answered")
    return alone.mean(), beside.mean(), (beside if chosen else alone).mean(), chosen


def bets(repeats):
    """One row for each kind of loss, machine and number of queries."""
    rng, rows = np.random.default_rng(0), []
    for kind in KINDS:
        for name, how in BETTORS.items():
            for n, times in BET_SIZES:
                given = kind, how, n, times
                at_level = bets_ruled_out(*given, LEVEL, repeats, rng)
                below = bets_ruled_out(*given, RATE, repeats, rng)
                rows.append(
                    {
                        "losses": kind,
                        "machine": name,
                        "people": n,
                        "all": times * n,
                        "broken alone": at_level[0],
                        "broken with": at_level[1],
                        "broken as chosen": at_level[2],
                        "power alone": below[0],
                        "power with": below[1],
                        "power as chosen": below[2],
                        "chosen": "with" if below[3] else "alone",
                    }
                )
    return pd.DataFrame(rows)


# Risks of the fits, with their levels and what else is given.
FITS = {
    "forbidden@3": (0.1, {}),
    "any_forbidden@3": (0.12, {}),
    "false_reject_rate": (0.3, {}),
    "forbidden@3 among answered": (0.1, {"among": "answered"}),
    "any_forbidden@3 among answered": (0.2, {"among": "answered"}),
    "any_forbidden@3 of clusters": (0.12, {}),
}
# Slow ones get this part of the draws.
FEWER = {("any_forbidden@3 among answered", "adversarial"): 5}
N_PEOPLE, N_ALL = 200, 1000
# Share of the forbidden documents that the machine finds, and of the others that it calls so.
FINDERS = {"useful": (0.95, 0.02), "adversarial": (0.1, 0.2)}


class Truth:
    """The true rate of a risk in a population, at any threshold, of lists that end somewhere."""

    def __init__(self, population, risk, among, of_clusters, most=None):
        index = population.index
        self.lists = RankedLists(population.gains, population.scores, groups=population.groups)
        self.lists = shown_at_most(self.lists, most)
        self.answer_at = np.full(index.n_queries, -np.inf)
        np.maximum.at(self.answer_at, population.groups, population.scores)
        (promise,) = read_promises({risk: 0.5})
        self.steps = promise.steps(self.lists, None)
        self.among, self.near = among, np.argsort(self.answer_at) if of_clusters else None

    def rate(self, threshold):
        """Mean loss of the queries, of the answered ones, or of clusters of three near ones."""
        losses = self.steps.at(threshold)
        if self.near is not None:
            return np.convolve(losses[self.near], np.full(3, 1 / 3), "valid")[:-1].mean()
        if self.among == "answered":
            losses = losses[self.answer_at[self.steps.counted] >= threshold]
        return losses.mean()

    def draw(self, n_queries, rng):
        """Queries at random, or clusters of three whose best scores are near."""
        if self.near is None:
            return rng.integers(0, len(self.answer_at), n_queries)
        first = rng.integers(0, len(self.near) - 3, n_queries // 3)
        return self.near[(first[:, np.newaxis] + np.arange(3)).ravel()]


def fits(repeats):
    """One row for each risk and machine: the lowest certified threshold, and its true rate."""
    population, rows = generated(), []
    for text, (level, more) in FITS.items():
        risk, of_clusters = text.split()[0], "clusters" in text
        truth = Truth(population, risk, more.get("among"), of_clusters)
        size = 3 if of_clusters else 1
        for name, (right, invented) in FINDERS.items():
            rng, found = np.random.default_rng(0), []
            n_draws = max(1, repeats // FEWER.get((text, name), 1))
            for _ in range(n_draws):
                row, groups = population.draw(truth.draw(N_ALL * size, rng))
                y, scores = population.gains[row], population.scores[row]
                is_bad = rng.random(len(y)) < np.where(y < 0, right, invented)
                is_people = groups < N_PEOPLE * size
                given = {"groups": groups} | ({"clusters": groups // 3} if of_clusters else {})
                for way in ("alone", "with"):
                    take = is_people | (way == "with")
                    own = {key: each[take] for key, each in given.items()}
                    if way == "with":
                        own["machine_labels"] = np.where(is_bad, -1.0, 1.0)
                    safe = CertifiedThreshold({risk: level}, confidence_level=CONFIDENCE, **more)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        try:
                            safe.fit(scores[take], np.where(is_people, y, np.nan)[take], **own)
                        except InputError:
                            found += [(False, np.nan)]
                            continue
                    limit = safe.certificate_.upper
                    if risk != "false_reject_rate":
                        limit = np.nextafter(safe.certificate_.lower, np.inf)
                    found += [(truth.rate(limit) > level, (population.scores >= limit).mean())]
            broken, shown = np.array(found, dtype=float).reshape(-1, 2, 2).transpose(2, 1, 0)
            row = {"risk": text, "machine": name, "level": f"{level:g}", "draws": n_draws}
            for way, own_broken, own_shown in zip(("alone", "with"), broken, shown):
                row[f"broken {way}"] = own_broken.mean()
                row[f"reached {way}"] = np.nanmean(own_shown)
                row[f"no threshold {way}"] = np.isnan(own_shown).mean()
            rows.append(row)
            print(rows[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


# Two risks, each with the threshold at which it is its level; queries of people, and all; the rest.
JOINT = {
    "any_forbidden@3 and forbidden@3": (
        {"any_forbidden@3": 0.75, "forbidden@3": 0.75}, (200, 1000), {},
    ),
    "forbidden@3 and false_reject_rate": (
        {"forbidden@3": 0.2, "false_reject_rate": 0.6}, (300, 1500), {},
    ),
    "any_forbidden@3 and forbidden@3 of clusters": (
        {"any_forbidden@3": 0.75, "forbidden@3": 0.75}, (200, 1000), {},
    ),
    "forbidden@3 and false_reject_rate among answered": (
        {"forbidden@3": 0.5, "false_reject_rate": 0.95}, (200, 1000), {"among": "answered"},
    ),
    "any_forbidden@3 and forbidden@3 among answered": (
        {"any_forbidden@3": 0.65, "forbidden@3": 0.65}, (200, 1000), {"among": "answered"},
    ),
}  # fmt: skip
# Share of the forbidden documents that the machine finds, and of the others that it calls so.
JOINT_MACHINES = {
    "none": None, "useful": (0.95, 0.02), "adversarial": (0.0, 0.3), "useless": (0.2, 0.2),
}  # fmt: skip
# Risks for which a useless machine is tried, too.
WITH_USELESS = ("any_forbidden@3 and forbidden@3", "any_forbidden@3 and forbidden@3 of clusters")
# Slow ones get this part of the draws.
FEWER_JOINT = {"any_forbidden@3 and forbidden@3 among answered": 5}


def coarse():
    """Queries whose scores are multiples of 0.05, so that few thresholds are tested."""
    fine = generated()
    return Population(fine.gains, np.round(20 * fine.scores) / 20, fine.groups, fine.k)


def kept_in(folder, name, make):
    """A table that is made once if there is a folder."""
    file = Path(folder) / f"{name}.pkl"
    if folder and file.exists():
        return pd.read_pickle(file)
    table = pd.DataFrame([make()])
    if folder:
        table.to_pickle(file)
    print(table.iloc[0].to_dict(), file=sys.stderr, flush=True)
    return table


def joint_of(text, machine, population, repeats):
    """One row: two risks with levels that their true rates have at some thresholds."""
    at, (n_people, n_all), more = JOINT[text]
    of_clusters = "clusters" in text
    size = 3 if of_clusters else 1
    truths = {risk: Truth(population, risk, more.get("among"), of_clusters, most=3) for risk in at}
    # A level is a little below the true rate at its threshold, which breaks the promise.
    levels = {risk: np.floor(1e4 * truths[risk].rate(t)) / 1e4 for risk, t in at.items()}
    (first, *_), rng, found = truths.values(), np.random.default_rng(0), []
    rates = {risk: cache(truth.rate) for risk, truth in truths.items()}
    n_draws = max(1, repeats // FEWER_JOINT.get(text, 1))
    for _ in range(n_draws):
        row, groups = population.draw(first.draw(n_all * size, rng))
        y, scores, chance = population.gains[row], population.scores[row], rng.random(len(row))
        is_people = groups < n_people * size
        given = {"groups": groups} | ({"clusters": groups // 3} if of_clusters else {})
        take = is_people | (machine is not None)
        given = {key: each[take] for key, each in given.items()}
        if machine is not None:
            right, invented = machine
            given["machine_labels"] = np.where(chance < np.where(y < 0, right, invented), -1.0, 1.0)
        safe = CertifiedThreshold(levels, confidence_level=CONFIDENCE, **more)
        # Upper bounds of the risks at the threshold take most of the time, and are not used here.
        no_bound = patch.object(StratifiedBound, "upper", return_value=1.0)
        with no_bound, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                safe.fit(scores[take], np.where(is_people, y, np.nan)[take], **given)
            except InputError:
                found += [(False, np.nan, np.nan)]
                continue
        certificate = safe.certificate_
        ends = np.nextafter(certificate.lower, np.inf), certificate.upper, safe.threshold_
        ends = [end for end in ends if np.isfinite(end)]
        broken = any(rates[risk](end) > level for risk, level in levels.items()
                     for end in ends)  # fmt: skip
        used = np.mean([each.uses_machine for each in certificate.promises.values()])
        found += [(broken, (population.scores >= certificate.lower).mean(), used)]
    broken, reached, used = np.array(found, dtype=float).T
    is_given = ~np.isnan(reached)
    return {
        "risks": text,
        "levels": " and ".join(f"{level:.4g}" for level in levels.values()),
        "people": n_people,
        "all": n_all,
        "draws": n_draws,
        "broken": broken.mean(),
        "reached": reached[is_given].mean() if is_given.any() else np.nan,
        "no threshold": 1 - is_given.mean(),
        "tests beside the machine": used[is_given].mean() if is_given.any() else np.nan,
    }


def joint(repeats, folder):
    """One row for each two risks and machine."""
    population, tables = coarse(), []
    for text in JOINT:
        for name, machine in JOINT_MACHINES.items():
            if name == "useless" and text not in WITH_USELESS:
                continue

            def make(text=text, machine=machine):
                return joint_of(text, machine, population, repeats)

            table = kept_in(folder, f"{text} {name} {repeats}", make)
            table.insert(1, "machine", name)
            tables.append(table)
    return pd.concat(tables)


# Losses, whether tests are binomial, expected risk, power, and the machine that is planned with.
PLANS = [
    ("0 or 1", is_binary, rate, power, machine)
    for is_binary in (True, False)
    for rate, power in ((0.06, 0.8), (0.06, 0.9), (0.04, 0.8))
    for machine in (None, (0.9, 0.97), (0.8, 0.9))
] + [("thirds", False, 0.06, 0.8, machine) for machine in (None, (0.9, 0.97), (0.8, 0.9))]
WORSE, N_TIMES = (0.5, 0.9), 20
# Share of the queries of which losses of thirds with a mean of 1 are not 0.
THIRDS = 0.6 / 3 + 0.5 / 3 + 0.15


def powers(kind, is_binary, n, machine, rate, repeats, rng):
    """Shares of the draws in which the level is ruled out: people alone, and as `fit` chooses."""
    sensitivity, specificity = machine
    if is_binary:
        sizes = n, N_TIMES * n, sensitivity, specificity
        alone, _, chosen, _ = shares_ruled_out(*sizes, rate, repeats, rng)
    else:
        # The machine copies losses with a probability, and draws others else.
        copied = sensitivity + specificity - 1
        other = (1 - specificity) / (1 - copied) * (THIRDS if kind == "thirds" else 1.0)
        given = kind, (copied, other), n, N_TIMES, rate, repeats, rng
        alone, _, chosen, _ = bets_ruled_out(*given, is_binary=False)
    return alone, chosen


def planned(repeats):
    """One row for each plan."""
    rng, rows = np.random.default_rng(0), []
    for kind, is_binary, rate, power, machine in PLANS:
        given = {"confidence_level": CONFIDENCE, "power": power, "is_binary": is_binary}
        if machine is not None:
            given |= {"sensitivity": machine[0], "specificity": machine[1]}
        n = queries_needed(LEVEL, rate, **given)
        alone, chosen = powers(kind, is_binary, n, machine or WORSE, rate, repeats, rng)
        worse = np.nan
        if machine is not None:
            worse = powers(kind, is_binary, n, WORSE, rate, repeats, rng)[1]
        rows.append(
            {
                "losses": kind,
                "tests": "binomial" if is_binary else "bets",
                "machine": "none" if machine is None else "{:g} and {:g}".format(*machine),
                "expected risk": f"{rate:g}",
                "queries": n,
                "planned": power,
                "power": alone if machine is None else chosen,
                "people alone": alone,
                "worse machine": worse,
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


# How many times as often a query is drawn that the machine flags, or whose best score is high.
BIASES = {
    "at random": ("flagged", 1.0),
    "flagged ones 3/4 as often": ("flagged", 0.75),
    "flagged ones 1/2 as often": ("flagged", 0.5),
    "flagged ones 1/4 as often": ("flagged", 0.25),
    "high scores 1/2 as often": ("high", 0.5),
}
DRAWN = (("any_forbidden@3", (60, 400)), ("forbidden@3", (200, 2000)))


def drawn_of(risk, sizes, bias, population, repeats):
    """One row: how often a draw is warned of, refused, or breaks the promise."""
    (n_people, n_all), (kind, factor) = sizes, BIASES[bias]
    truth, rng = Truth(population, risk, None, False, most=3), np.random.default_rng(0)
    level = np.floor(1e4 * truth.rate(0.75)) / 1e4
    right, invented = FINDERS["useful"]
    counts, rate = np.zeros(3), cache(truth.rate)
    for _ in range(repeats):
        row, groups = population.draw(truth.draw(n_all, rng))
        y, scores = population.gains[row], population.scores[row]
        is_bad = rng.random(len(y)) < np.where(y < 0, right, invented)
        preferred = np.bincount(groups, is_bad) > 0
        if kind == "high":
            best = np.full(n_all, -np.inf)
            np.maximum.at(best, groups, scores)
            preferred = best > np.median(best)
        weights = np.where(preferred, factor, 1.0)
        people = rng.choice(n_all, n_people, replace=False, p=weights / weights.sum())
        labels = np.where(np.isin(groups, people), y, np.nan)
        safe = CertifiedThreshold({risk: level}, confidence_level=CONFIDENCE)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                machine = np.where(is_bad, -1.0, 1.0)
                safe.fit(scores, labels, groups=groups, machine_labels=machine)
            except InputError as error:
                counts[1] += "this is not a random sample" in str(error)
                continue
        counts[0] += any("of random draws differ as much" in str(each.message) for each in caught)
        counts[2] += rate(np.nextafter(safe.certificate_.lower, np.inf)) > level
    warned, refused, broken = counts / repeats
    return {
        "risk": risk,
        "people": n_people,
        "all": n_all,
        "drawn": bias,
        "warned of": warned,
        "refused": refused,
        "broken": broken,
    }


def draws(repeats, folder):
    """One row for each risk, number of queries and bias."""
    population, tables = coarse(), []
    for (risk, sizes), bias in product(DRAWN, BIASES):

        def make(risk=risk, sizes=sizes, bias=bias):
            return drawn_of(risk, sizes, bias, population, repeats)

        name = f"{risk} {sizes[0]} {bias.replace('/', ' of ')} {repeats}"
        tables.append(kept_in(folder, name, make))
    return pd.concat(tables)


def judges(folder, repeats):
    """One row for each judge and run: draws whose true rate is above the level."""
    folder = folder / "trec-dl2019-llm"
    names = sorted(path.name for path in (folder / "runs").iterdir())
    people = QrelsIndex(read_qrels(folder / "qrels.txt.gz"))
    rows = []
    level, risk, n_all, n_people = 0.3, "any_forbidden@5", 400, 150
    for judge in sorted((folder / "llm-qrels").iterdir()):
        by_judge = QrelsIndex(read_qrels(judge))
        for name in names[:: len(names) // 3][:3]:
            run = read_run(folder / "runs" / name)
            y, scores, groups = align(people, run, missing="drop")
            other = by_judge.align(run, missing="drop").y_true
            kept = ~np.isnan(y) & (scores > -np.inf)
            y, other = as_gains(y[kept], TO_GAIN), as_gains(other[kept], TO_GAIN)
            scores, codes = scores[kept], pd.factorize(groups[kept])[0]
            (promise,) = read_promises({risk: level})
            truth = promise.steps(RankedLists(y, scores, groups=codes), None)
            of_query = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
            rng, broken, values = np.random.default_rng(0), np.zeros(3), []
            for _ in range(repeats):
                drawn = rng.integers(0, len(of_query), n_all)
                rows_of = np.concatenate([of_query[query] for query in drawn])
                queries = np.repeat(np.arange(n_all), [len(of_query[query]) for query in drawn])
                by_people = np.where(queries < n_people, y[rows_of], np.nan)
                given = {"groups": queries, "machine_labels": other[rows_of]}
                first = queries < n_people
                ways = [
                    ((scores[rows_of], other[rows_of]), {"groups": queries}),
                    ((scores[rows_of][first], y[rows_of][first]), {"groups": queries[first]}),
                    ((scores[rows_of], by_people), given),
                ]
                for way, (arrays, kwargs) in enumerate(ways):
                    safe = CertifiedThreshold({risk: level}, confidence_level=CONFIDENCE)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        safe.fit(*arrays, **kwargs)
                    broken[way] += truth.at(safe.threshold_).mean() > level
                    values.append(truth.at(safe.threshold_).mean())
            highest = np.array(values).reshape(-1, 3)
            rows.append(
                {
                    "judge": judge.name.removesuffix(".txt.gz"),
                    "run": name.removesuffix(".gz").removesuffix(".txt"),
                    "rate, machine believed": highest[:, 0].mean(),
                    "rate, people alone": highest[:, 1].mean(),
                    "rate, with the machine": highest[:, 2].mean(),
                    "broken, machine believed": broken[0] / repeats,
                    "broken, people alone": broken[1] / repeats,
                    "broken, with the machine": broken[2] / repeats,
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def believed_and_bet(folder, repeats):
    """One row for each judge: the last certified thresholds of the forbidden share, by two ways."""
    folder = folder / "trec-dl2019-llm"
    names = sorted(path.name for path in (folder / "runs").iterdir())
    people = QrelsIndex(read_qrels(folder / "qrels.txt.gz"))
    level, risk, n_all, n_people, depth = 0.15, "forbidden@5", 1500, 150, 20
    rows = []
    judges = sorted((folder / "llm-qrels").iterdir())
    for judge, most in product(judges, (0, 1)):
        by_judge, found, alike = QrelsIndex(read_qrels(judge)), [], []
        for name in names[:: len(names) // 3][:3]:
            run = read_run(folder / "runs" / name)
            y, scores, groups = align(people, run, missing="drop")
            other = by_judge.align(run, missing="drop").y_true
            kept = ~np.isnan(y) & (scores > -np.inf)
            place = pd.Series(np.where(kept, scores, -np.inf)).groupby(groups).rank(ascending=False)
            kept &= (place <= depth).to_numpy()
            y, other = as_gains(y[kept], TO_GAIN), np.where(other[kept] <= most, -1.0, 1.0)
            scores, codes = scores[kept], pd.factorize(groups[kept])[0]
            (promise,) = read_promises({risk: level})
            truth, told = (
                promise.steps(RankedLists(each, scores, groups=codes), None) for each in (y, other)
            )
            middle = np.median(scores)
            with np.errstate(invalid="ignore"):
                alike.append(np.corrcoef(truth.at(middle), told.at(middle))[0, 1])
            of_query = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
            rng = np.random.default_rng(0)
            for _ in range(repeats):
                drawn = rng.integers(0, len(of_query), n_all)
                row = np.concatenate([of_query[query] for query in drawn])
                queries = np.repeat(np.arange(n_all), [len(of_query[query]) for query in drawn])
                first = queries < n_people
                ways = [
                    (row[first], queries[first], y[row][first], {}),
                    (row, queries, np.where(first, y[row], np.nan), {"machine_labels": other[row]}),
                ]
                for own, groups_of, labels, given in ways:
                    safe = CertifiedThreshold({risk: level}, confidence_level=CONFIDENCE)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        safe.fit(scores[own], labels, groups=groups_of, **given)
                    limit = np.nextafter(safe.certificate_.lower, np.inf)
                    rate = truth.at(limit).mean()
                    found.append((rate > level, rate, (scores >= limit).mean()))
        broken, rate, reached = np.array(found, dtype=float).reshape(-1, 2, 3).transpose(2, 1, 0)
        row = {"judge": judge.name.removesuffix(".txt.gz"), "forbidden": f"up to label {most}"}
        row["correlation"] = f"{np.nan_to_num(alike).mean():.2f}"
        for number, way in enumerate(("alone", "with")):
            row[f"broken {way}"] = broken[number].mean()
            row[f"rate {way}"] = rate[number].mean()
            row[f"reached {way}"] = reached[number].mean()
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def percent(shares):
    """Write shares in percent."""
    return shares.map(lambda share: "" if np.isnan(share) else f"{100 * share:.1f} %")


def as_lines(table):
    """Write a table for a page."""
    shown = table.apply(lambda column: percent(column) if column.dtype == float else column)
    head = f"| {' | '.join(shown)} |"
    rows = [f"| {' | '.join(map(str, row))} |" for row in shown.itertuples(index=False)]
    return [head, f"|{' --- |' * len(shown.columns)}", *rows]


def _of_level(repeats):
    """Say how thresholds at the level were drawn, and how often they may be broken."""
    allowed = 1 - CONFIDENCE + 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / repeats)
    return (
        f"A threshold whose risk is exactly the level, {LEVEL:g}; confidence {CONFIDENCE:g}, "
        f"{repeats:,} draws. `broken`: share of the draws in which the level is ruled out all the "
        f"same; {100 * (1 - CONFIDENCE):.0f} % are allowed, and {100 * allowed:.1f} % with two "
        "standard errors."
    )


def report_validity(options):
    """Report on machines of every kind."""
    repeats = options.repeats or 500
    table = validity(repeats)
    text = [
        f"{_of_level(repeats)} `power`: the same if the risk is {RATE:g}, which is to be ruled "
        "out. `alone` are people's labels, `with` the machine's labels of all queries beside them, "
        "and `chosen` is what the numbers of queries decide before any label. Machines, by the "
        "shares of bad queries that they flag and of good ones that they do not: "
        + ", ".join(f"{name} {one:g} and {two:g}" for name, (one, two) in MACHINES.items())
        + ".",
        "",
        f"The highest share broken is {100 * table['broken with'].max():.1f} % with the machine "
        f"and {100 * table['broken as chosen'].max():.1f} % as chosen.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_machines", "Certificates with a machine's labels", "\n".join(text))


def report_bets(options):
    """Report on bets beside machines of every kind."""
    repeats = options.repeats or 1000
    table = bets(repeats)
    known = table[(table["machine"] == "useful") & (table["losses"] != "0 or 1")]
    large = known[known["people"] == 200]
    text = [
        f"{_of_level(repeats)} `power`: the same where the risk is {RATE:g}. `alone` are people's "
        "labels (bets, and the binomial test of losses of 0 or 1), `with` bets on their losses "
        "less a multiple of the machine's, and `chosen` is what the numbers of queries decide "
        "before any label. Losses: thirds, such as the forbidden share of three places; means of "
        "three queries of a cluster; thirds where half of the queries are answered; 0 or 1. "
        "Machines copy people's losses with a probability of 0.9 (useful), 0.8 and otherwise "
        "find far too many (biased) or never (useless), or find losses only where there are none "
        "(adversarial).",
        "",
        f"The highest share broken is {100 * table['broken with'].max():.1f} % with the machine "
        f"and {100 * table['broken as chosen'].max():.1f} % as chosen. With 200 queries of people "
        f"and a useful machine the power is {100 * large['power alone'].min():.1f} to "
        f"{100 * large['power alone'].max():.1f} % alone and "
        f"{100 * large['power with'].min():.1f} to {100 * large['power with'].max():.1f} % with "
        "it.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_bets", "Bets beside a machine's labels", "\n".join(text))


def report_fits(options):
    """Report on fitted thresholds."""
    table = fits(options.repeats or 200)
    spread = 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / table["draws"])
    table.insert(4, "allowed", 1 - CONFIDENCE + spread)
    text = [
        f"Thresholds fitted on draws of a population of 20,000 generated queries; people judged "
        f"{N_PEOPLE} queries, or clusters of three, and a machine {N_ALL:,}; confidence "
        f"{CONFIDENCE:g}. `broken`: share of the draws in which the true rate at the last "
        f"certified threshold is above the level; {100 * (1 - CONFIDENCE):.0f} % may be, and "
        "`allowed` is that with two standard errors of the draws. `reached`: mean share of the "
        "documents whose scores reach that threshold. `no threshold`: share of the draws in which "
        "none is certified. The useful machine finds 0.95 of the forbidden documents and calls "
        "0.02 of the others forbidden, the adversarial one 0.1 and 0.2.",
        "",
        f"The highest share broken is {100 * table['broken with'].max():.1f} % with a machine, and "
        f"{100 * table['broken alone'].max():.1f} % with people alone.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_fits", "Thresholds beside a machine's labels", "\n".join(text))


def report_joint(options):
    """Report on two risks in one certificate."""
    table = joint(options.repeats or 500, options.cache)
    spread = 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / table["draws"])
    table.insert(6, "allowed", 1 - CONFIDENCE + spread)
    is_beside = table["machine"] != "none"
    n_above = (table["broken"] > table["allowed"]).sum()
    text = [
        "Two risks in one certificate, fitted on draws of 20,000 generated queries whose scores "
        "are multiples of 0.05, or of clusters of three queries whose best scores are near. Each "
        "level is the true rate at one of these scores, rounded down to four digits, so that the "
        f"promise is broken where this score is certified; confidence {CONFIDENCE:g}. Losses of "
        "any_forbidden are 0 or 1, others lie between 0 and 1. false_reject_rate is safe where "
        "much is shown, and the others where little is. `broken`: share of the draws in which a "
        "true rate is above its level anywhere in the certified range. `reached`: mean share of "
        "the documents above the lowest certified threshold. `no threshold`: share of the "
        "draws in which none keeps both risks. `tests beside the machine`: share of the two tests "
        "that use its labels. The useful machine finds 0.95 of the forbidden documents and calls "
        "0.02 of the others forbidden, the useless one 0.2 and 0.2, the adversarial one 0 and 0.3; "
        "`none` are people's labels alone.",
        "",
        f"The highest share broken is {100 * table.loc[is_beside, 'broken'].max():.1f} % with a "
        f"machine, and {100 * table.loc[~is_beside, 'broken'].max():.1f} % with people alone; "
        f"{n_above} of {len(table)} lines are above what is allowed.",
        "",
        *as_lines(table),
    ]
    write_report(
        "promises_by_machines_joint", "Two risks beside a machine's labels", "\n".join(text)
    )


def report_planned(options):
    """Report on planned power."""
    repeats = options.repeats or 500
    table = planned(repeats)
    error = 200 * np.sqrt(0.8 * 0.2 / repeats)
    missed = 100 * (table["planned"] - table["power"])
    of_thirds = table["losses"] == "thirds"
    text = [
        f"`queries_needed` says how many queries people must judge, so that a threshold of the "
        f"expected risk is certified at {LEVEL:g} with confidence {CONFIDENCE:g} in the planned "
        f"share of draws (`planned`), with a machine that labels {N_TIMES} times as many queries. "
        "`machine`: the shares of bad queries that it flags and of good ones that it does not. "
        f"`power`: the share of {repeats} draws of so many queries in which it is certified, by "
        "the test that `fit` chooses. `people alone`: the same draws without the machine. `worse "
        f"machine`: as `power`, if the machine flags {WORSE[0]:g} of the bad queries and leaves "
        f"{WORSE[1]:g} of the good ones. Bets are planned for losses of 0 or 1.",
        "",
        f"With losses as planned, the power is {missed[~of_thirds].max():.1f} percent points below "
        f"the planned one at most, and {-missed[~of_thirds].min():.1f} above; two standard errors "
        f"of the draws are {error:.1f}. With losses of thirds it is "
        f"{100 * table.loc[of_thirds, 'power'].min():.1f} to "
        f"{100 * table.loc[of_thirds, 'power'].max():.1f} %, where 80 % are planned. If the "
        f"machine is worse than planned, it is {100 * table['worse machine'].min():.1f} to "
        f"{100 * table['worse machine'].max():.1f} %.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_machines_planned", "Planned power of certificates", "\n".join(text))


def report_draws(options):
    """Report on draws of people's queries that are not random."""
    repeats = options.repeats or 500
    table = draws(repeats, options.cache)
    text = [
        f"People's queries that are drawn without replacement, with other probabilities for some: "
        "those with a document that the machine calls forbidden (it finds 0.95 of these, and calls "
        "0.02 of the others so), or with a best score above the median. One risk, whose level is "
        f"the true rate at a score of 0.75; confidence {CONFIDENCE:g}, {repeats} draws. `warned "
        "of`: share of the draws in which `fit` warns that few random draws differ as much; "
        "`refused`: in which it raises an error. `broken`: share of all draws in which the true "
        "rate is above its level at the last certified threshold, which is promised for random "
        f"draws alone, in at most {100 * (1 - CONFIDENCE):.0f} %.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_machines_draws", "Draws that are not random", "\n".join(text))


def report_judges(options):
    """Report on language models."""
    repeats = options.repeats or 2
    table = judges(options.data, repeats)
    n_broken = [int((table[f"rate, {way}"] > 0.3).sum()) for way in WAYS]
    text = [
        "Seven language models and three runs of trec-dl2019-llm; any_forbidden@5 at most 0.3 "
        f"(label 0 is forbidden), confidence {CONFIDENCE:g}. {repeats} times each, 400 queries are "
        "drawn with replacement from the 43, so that the true rate is known. `machine believed`: "
        "the machine's labels of all queries count as people's. `people alone`: people's labels of "
        "150 queries. `with the machine`: both. `rate`: mean true rate at the threshold; `broken`: "
        "share of the draws in which it is above 0.3.",
        "",
        f"The mean true rate is above 0.3 in {n_broken[0]} of {len(table)} cases where the machine "
        f"is believed, in {n_broken[1]} with people alone, and in {n_broken[2]} with the machine. "
        f"Of all draws {100 * table[f'broken, {WAYS[0]}'].mean():.1f} %, "
        f"{100 * table[f'broken, {WAYS[1]}'].mean():.1f} % and "
        f"{100 * table[f'broken, {WAYS[2]}'].mean():.1f} % are broken. The highest mean true rate "
        f"where the machine is believed is {table[f'rate, {WAYS[0]}'].max():.3f}.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_judges", "Certificates with language models' labels", "\n".join(text))


def report_judges_bets(options):
    """Report on bets beside language models."""
    repeats = options.repeats or 10
    table = believed_and_bet(options.data, repeats)
    alone, beside = (100 * table[f"reached {way}"].mean() for way in ("alone", "with"))
    text = [
        "Language models as judges of three runs of trec-dl2019-llm, the first 20 judged documents "
        "of each; forbidden@5 at most 0.15 (label 0 is forbidden), confidence "
        f"{CONFIDENCE:g}. {repeats} times each, 1,500 queries are drawn with replacement from the "
        "43, so that the true rate is known; people judged 150. `forbidden`: labels of the judge "
        "that are taken for forbidden; any choice is valid. `correlation`: of the losses by "
        "people and by the judge, at the median score; 0 where the judge forbids nothing. "
        "`broken`, `rate`, `reached`: share of the draws above the level, mean true rate, and mean "
        "share of the documents whose scores reach the last certified threshold, by people's "
        "labels alone and with the judge's.",
        "",
        f"With a judge {beside:.1f} % of the documents reach the threshold, and {alone:.1f} % with "
        f"people alone; {100 * table['broken with'].mean():.1f} and "
        f"{100 * table['broken alone'].mean():.1f} % of the draws are broken.",
        "",
        *as_lines(table),
    ]
    write_report("promises_by_judges_bets", "Bets beside language models' labels", "\n".join(text))


if __name__ == "__main__":
    parts = {
        "validity": report_validity,
        "bets": report_bets,
        "fits": report_fits,
        "joint": report_joint,
        "planned": report_planned,
        "draws": report_draws,
        "judges": report_judges,
        "judges_bets": report_judges_bets,
    }
    run_parts(__doc__, parts, repeats=0, cache="")

"""Labels by each strategy at each share, and where an estimate is good enough."""

import numpy as np

from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)

ENOUGH = 0.9


def selector(name, pool, seed=0):
    """A fitted selection strategy; the active ones have been answered by the truth."""
    if name.startswith("MAXREP"):
        threshold = float(name.split()[1])
        return MaxRepSelector(threshold).fit(pool.texts, groups=pool.qids, prior=pool.prior)
    found = {
        "uniform, oracle": RandomSelector(oracle=True, random_state=seed),
        "uniform": RandomSelector(random_state=seed),
        "pooling": PoolingSelector(),
        "statAP": StatAPSelector(random_state=seed),
        "prior": PriorSelector(),
        "move-to-front": MoveToFrontSelector(),
        "MTC": MTCSelector(),
    }[name].fit(pool.table, pool.truth, prior=pool.prior)
    return found.simulate(pool.truth) if name in ("move-to-front", "MTC") else found


class Trial:
    """Labels by each strategy at each share, and labels predicted from them, made once."""

    def __init__(self, pool):
        self.pool, self.selectors, self.predicted = pool, {}, {}

    def labels(self, name, share, seed=0):
        """NaN where nobody judged, and the selector."""
        key = (name, seed)
        if key not in self.selectors:
            self.selectors[key] = selector(name, self.pool, seed)
            if hasattr(self.selectors[key], "simulate"):
                # `ranking_` of active strategies is made anew each time it is asked for.
                places = self.selectors[key].ranking_
                self.selectors[key] = PriorSelector().fit(self.pool.table, prior=1 / places)
        chosen = self.selectors[key]
        return np.where(chosen.select(share), self.pool.truth, np.nan), chosen

    def complete(self, name, share, seed=0):
        """Labels completed by LabelPredictor."""
        key = (name, share, seed)
        if key not in self.predicted:
            labels, _ = self.labels(name, share, seed)
            self.predicted[key] = predicted(self.pool, labels)
        return self.predicted[key]

    def ap(self, name, mitigation, share, seed=0):
        """Estimated AP, (n_systems, n_topics)."""
        if mitigation == "predict-map":
            return self.pool.trec(self.complete(name, share, seed))
        labels, chosen = self.labels(name, share, seed)
        inclusion = chosen.inclusion_probability(share) if mitigation == "statAP" else None
        measure = {
            "trec-map": self.pool.trec,
            "bpref": self.pool.bpref,
            "indAP": self.pool.induced,
            "infAP": self.pool.inferred,
            "statAP": self.pool.stat,
        }[mitigation]
        return measure(labels, inclusion)


def predicted(pool, labels, **options):
    """Labels completed by LabelPredictor with its defaults, or others."""
    return LabelPredictor(**options).fit_transform(pool.table_of(labels))["label"].to_numpy()


def needed(taus, shares):
    """The smallest share from which on tau stays above 0.9, in percent; inf if none."""
    above = np.logical_and.accumulate((np.asarray(taus) > ENOUGH)[::-1])[::-1]
    return 100 * shares[int(above.argmax())] if above.any() else np.inf


def crossing(taus, shares):
    """The same between the shares, by a straight line."""
    first = needed(taus, shares)
    place = len(shares) - 1 if np.isinf(first) else shares.index(first / 100)
    if np.isinf(first) or place == 0:
        return first
    low, high = taus[place - 1], taus[place]
    below = shares[place - 1]
    return 100 * (below + (shares[place] - below) * (ENOUGH - low) / (high - low))


def tau_difference(pool, first, second, n_samples=500, known=None):
    """Mean difference of two tau, and its 95 % interval over topics drawn with replacement."""
    rng = np.random.default_rng(0)
    known, found = np.arange(pool.n_topics) if known is None else known, []
    for _ in range(n_samples):
        topics = rng.choice(known, size=len(known))
        found.append(pool.compare(first, topics)[0] - pool.compare(second, topics)[0])
    low, high = np.percentile(found, [2.5, 97.5])
    observed = pool.compare(first, known)[0] - pool.compare(second, known)[0]
    return f"{observed:+.3f} [{low:+.3f}, {high:+.3f}]"

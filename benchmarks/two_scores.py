"""Order by one score, hide by another: which rule shows most gain at the same certified risk?

Collections where relevance and harm are two properties: a simulated marketplace, where spam is hard
or easy to tell, and CLEF eHealth 2021 with real labels of relevance and credibility, and scores of
stated quality. Collections where one property decides both: TREC 2021 Health Misinformation,
MQ2007 and SemEval-2016.

    python benchmarks/two_scores.py gains appeal deals validity
"""

import time
import warnings
from functools import cache
from unittest import mock

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS, RESULTS, run_parts, write_report
from lightgbm import LGBMClassifier, LGBMRanker
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._lists import content
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import fetch_semeval_cqa, make_marketplace
from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_letor, read_qrels, read_run
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import make_text_features, share_features
from skfilterrank.ranking._make_ranker import SharedFeatures
from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold, _cuts
from skfilterrank.thresholds._cuts import RULES, Worth, fit_worths

K, CONFIDENCE = 10, 0.95
# A forbidden document counts 0 in the gain that is shown, and is known by its sign.
FORBIDDEN = -1e-6
MEASURE, RISK = f"dcg@{K}", f"any_forbidden@{K}"
SHOWN = [MEASURE, RISK, "false_reject_rate"]
PRICES = (0.3, 1, 3, 10, 30)
TREES = {"n_estimators": 60, "num_leaves": 15, "n_jobs": 1, "verbose": -1, "random_state": 0}


def marketplace(options, seed, spam_signal, spam_appeal=0.0):
    """Sessions scored by models of other sessions: a ranker of labels, a classifier of reports."""
    given = {"spam_signal": spam_signal, "spam_appeal": spam_appeal}
    log = make_marketplace(2500, **given, random_state=seed)
    y, g = log["label"].to_numpy(), log["session"].to_numpy()
    X = log.drop(columns=["session", "label", "spam"]).to_numpy()
    fit = g < 1500
    ranker = LGBMRanker(**TREES, label_gain=[0, 1, 2, 3])
    ranker.fit(X[fit], np.maximum(y[fit], 0), group=np.unique(g[fit], return_counts=True)[1])
    harm = LGBMClassifier(**TREES).fit(X[fit], y[fit] < 0)
    X, y, g = X[~fit], y[~fit], g[~fit]
    return ranker.predict(X), harm.predict_proba(X)[:, 1], np.where(y < 0, FORBIDDEN, y), g


@cache
def clef_documents(folder, is_bm25):
    """Documents with labels of relevance and credibility, and those of BM25 with its scores."""
    relevance = read_qrels(folder / "qrels.txt.gz", unjudged_label=None)
    credible = read_qrels(folder / "credibility.txt.gz", unjudged_label=None)
    both = relevance.merge(credible, on=["qid", "docno"], suffixes=("", "_credible"))
    if is_bm25:
        both = both.merge(read_run(folder / "bm25.run.gz"), on=["qid", "docno"])
    return both[both["label_credible"] != 3].reset_index(drop=True)


def clef(options, seed, noise, is_bm25=False):
    """Twenty lists of 100 documents for each query, with scores of stated quality, or BM25."""
    both = clef_documents(options.data / "clef-health-2021", is_bm25)
    rng = np.random.default_rng(seed)
    rows, g = twenty_lists(both, 100, rng)
    grade = both["label"].to_numpy()[rows] / 2
    harm = (both["label_credible"] == 0).to_numpy()[rows]
    order = grade + rng.normal(size=len(rows)) * noise[0] / 2
    if is_bm25:
        order = both["score"].to_numpy(dtype=float)[rows]
    hide = harm + rng.normal(size=len(rows)) * noise[1]
    return order, hide, np.where(harm, FORBIDDEN, grade), g


def twenty_lists(table, size, rng):
    """Draw twenty lists of rows of each query; return the rows and the number of their list."""
    lists = [
        rng.choice(own, min(size, len(own)), replace=False)
        for own in table.groupby("qid").indices.values()
        for _ in range(20)
    ]
    return np.concatenate(lists), np.repeat(np.arange(len(lists)), list(map(len, lists)))


def misinformation(options, seed):
    """Twenty lists of 60 judged documents for each query; harm is the wrong stance."""
    folder = options.data / "trec-misinfo-2021"
    qrels = read_qrels(folder / "qrels.txt.gz", unjudged_label=None).astype({"qid": str})
    table = pd.read_parquet(folder / "features.parquet").rename(columns={"query": "qid"})
    table = table.astype({"qid": str}).merge(qrels, on=["qid", "docno"])
    rng = np.random.default_rng(seed)
    rows, g = twenty_lists(table, 60, rng)
    found = table.iloc[rows]
    y = found["label"].to_numpy(dtype=float)
    order = found["bm25_score"].to_numpy(dtype=float)
    hide = -found["p_correct"].to_numpy(dtype=float)
    return order, hide, np.where(y < 0, FORBIDDEN, np.minimum(y, 1.0)), g


def mq2007(options, seed):
    """Label 0 is forbidden; both models are fitted on two of the five parts."""
    return mq2007_scores(options.data / "mq2007")


@cache
def mq2007_scores(folder):
    """Scores of both models, labels and queries of the other three parts."""
    parts = [read_letor(folder / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
    X = np.vstack([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    g = np.repeat(np.arange(5), [len(part.y) for part in parts]) * 1_000_000
    g = pd.factorize(g + np.concatenate([pd.factorize(np.asarray(p.groups))[0] for p in parts]))[0]
    fit = np.arange(len(y)) < sum(len(part.y) for part in parts[:2])
    sizes = np.bincount(g[fit])
    order = LGBMRanker(**TREES).fit(X[fit], y[fit].astype(int), group=sizes).predict(X[~fit])
    hide = LGBMClassifier(**TREES).fit(X[fit], y[fit] == 0).predict_proba(X[~fit])[:, 1]
    return order, hide, np.where(y[~fit] == 0, FORBIDDEN, y[~fit]), g[~fit]


def semeval(options, seed):
    """Bad answers are forbidden; both models are linear, and scores are out of five folds."""
    data = fetch_semeval_cqa("train-part2", data_home=options.data)
    y = data.target.to_numpy()
    y = pd.Series(y).map({"Bad": -1.0, "PotentiallyUseful": 1.0, "Good": 2.0}).to_numpy()
    g = pd.factorize(data.target.index.get_level_values(0))[0]
    features = SharedFeatures(make_text_features(**FORUM_COLUMNS))

    def scores(model, target, method):
        model = make_pipeline(features, StandardScaler(with_mean=False), model)
        given = {"groups": g, "cv": GroupKFold(5), "method": method}
        return cross_val_predict(model, data.data, target, **given)

    with share_features():
        order = scores(Ridge(100.0), y, "predict")
        hide = scores(LogisticRegression(C=1e-3), y < 0, "decision_function")
    return order, hide, np.where(y < 0, FORBIDDEN, y), g


COLLECTIONS = {
    "marketplace, spam hard to tell": (lambda o, s: marketplace(o, s, 1.0), 0.05),
    "marketplace, spam easy to tell": (lambda o, s: marketplace(o, s, 3.0), 0.05),
    "CLEF, weaker scores": (lambda o, s: clef(o, s, (1.5, 1.2)), 0.1),
    "CLEF, AUC about .8": (lambda o, s: clef(o, s, (1.0, 0.8)), 0.1),
    "CLEF, stronger scores": (lambda o, s: clef(o, s, (0.7, 0.5)), 0.1),
    "TREC misinformation (control)": (misinformation, 0.3),
    "MQ2007 (control)": (mq2007, 0.3),
    "SemEval-2016 (control)": (semeval, 0.3),
}


def raised(make, appeal):
    """Make a collection whose forbidden documents have raised first scores."""

    def make_raised(options, seed):
        order, hide, y, g = make(options, seed)
        return order + appeal * np.std(order) * (y < 0), hide, y, g

    return make_raised


# Forbidden documents look relevant: their first scores are raised by so many standard deviations,
# or their features are, before the models are fitted.
APPEALS = (0.0, 0.4, 0.8)
RAISED = {
    "CLEF, AUC about .8": (lambda o, s: clef(o, s, (1.0, 0.8)), 0.1),
    "CLEF, stronger scores": (lambda o, s: clef(o, s, (0.7, 0.5)), 0.1),
    "CLEF, first score BM25": (lambda o, s: clef(o, s, (1.0, 0.8), is_bm25=True), 0.1),
    "MQ2007": (mq2007, 0.3),
}
APPEALING = {
    (name, appeal): (raised(make, appeal), level)
    for name, (make, level) in RAISED.items()
    for appeal in APPEALS
} | {
    (f"marketplace, spam {how} to tell", appeal): (
        lambda o, s, signal=signal, appeal=appeal: marketplace(o, s, signal, appeal),
        0.05,
    )
    for how, signal in (("hard", 1.0), ("easy", 3.0))
    for appeal in APPEALS
}


class PricedScore:
    """One score, r - c h, above a certified threshold; c is chosen on one half of the queries."""

    def __init__(self, level, confidence):
        self.level, self.confidence = level, confidence

    def fit(self, X, y, groups):
        """Learn r and h and choose c on one half; certify the threshold on the other."""
        scores, filter_scores = X.T
        first = np.random.RandomState(0).permutation(groups.max() + 1)[: (groups.max() + 1) // 2]
        half = np.isin(groups, first)
        index = GroupIndex.from_groups(groups[half])
        self.worth = Worth.fit(y[half], scores[half], filter_scores[half], index)
        best = -np.inf
        for price in PRICES:
            self.price = price
            own = self._certify(y, groups, half, scores, filter_scores)
            if own.best_score_ > best:
                best, chosen = own.best_score_, price
        self.price = chosen
        self.threshold = self._certify(y, groups, ~half, scores, filter_scores)
        return self

    def _certify(self, y, groups, rows, scores, filter_scores):
        own = CertifiedThreshold(
            {RISK: self.level}, confidence_level=self.confidence, measure=MEASURE
        )
        priced = self._score(scores, groups, filter_scores)
        return own.fit(priced[rows], y[rows], groups=groups[rows])

    def _score(self, scores, groups, filter_scores):
        worth, harm = self.worth.of(scores, filter_scores, GroupIndex.from_groups(groups))
        return worth - self.price * harm

    def predict(self, X, groups):
        """Return r - c h, -inf where hidden."""
        return self.threshold.predict(self._score(X[:, 0], groups, X[:, 1]), groups=groups)


class OneScore:
    """The order score alone, above a certified threshold."""

    def __init__(self, level, confidence):
        self.own = CertifiedThreshold({RISK: level}, confidence_level=confidence, measure=MEASURE)

    def fit(self, X, y, groups):
        """Certify the threshold."""
        self.own.fit(X[:, 0], y, groups=groups)
        return self

    def predict(self, X, groups):
        """Return the score, -inf where hidden."""
        return self.own.predict(X[:, 0], groups=groups)


def rule(name):
    """Make thresholds of a rule."""
    return lambda level, confidence: CertifiedThreshold(
        {RISK: level}, confidence_level=confidence, measure=MEASURE, rule=name
    )


METHODS = {
    "one score": OneScore,
    "one score, price tuned": PricedScore,
    **{name: rule(name) for name in ("harm", "ratio")},
}


def draw(rng, pool, n_lists):
    """Lists drawn with replacement, each a query of its own, and their rows."""
    order, hide, y, g = pool
    starts, sizes = np.unique(g, return_index=True, return_counts=True)[1:]
    lists = rng.integers(len(starts), size=n_lists)
    size = sizes[lists]
    rows = np.repeat(starts[lists] - np.cumsum(size) + size, size) + np.arange(size.sum())
    return order[rows], y[rows], np.repeat(np.arange(n_lists), size), hide[rows]


def sorted_by_list(pool):
    """The pool with the rows of each list side by side."""
    rows = np.argsort(pool[-1], kind="stable")
    return tuple(np.asarray(column)[rows] for column in pool)


def drawn(pool, options):
    """Yield draws of calibration lists."""
    for number in range(options.draws):
        yield draw(np.random.default_rng(number), pool, options.lists)


def shown_by(threshold, some, pool, measures=SHOWN):
    """Fit a threshold on drawn lists; return means over the whole pool."""
    threshold.fit(np.column_stack([some[0], some[3]]), some[1], some[2])
    order, hide, y, g = pool
    shown = threshold.predict(np.column_stack([order, hide]), groups=g)
    means = evaluate(y, shown, measures, groups=g).means
    return [float(means[each]) for each in measures]


def by_filter_alone(*given):
    """Learn r and h, but h by the second score alone."""
    alone = np.array([1.0, 0.0, 0.0])
    return [each._replace(weights=alone) for each in fit_worths(*given)]


def appeal(options):
    """Shown gain where forbidden documents look relevant."""
    rows = []
    for (name, sds), (make, level) in APPEALING.items():
        pool = sorted_by_list(make(options, 0))
        found = {"harm": [], "ratio": [], "h by second score": []}
        for some in drawn(pool, options):
            for method, values in found.items():
                is_alone = method not in RULES
                threshold = rule("ratio" if is_alone else method)(level, CONFIDENCE)
                learn = by_filter_alone if is_alone else fit_worths
                with mock.patch.object(_cuts, "fit_worths", learn):
                    values.append(shown_by(threshold, some, pool))
        found = {method: np.array(values) for method, values in found.items()}
        harm = found.pop("harm")[:, 0]
        rows.append({"collection": name, "raised by": sds, "risk": level, "harm": harm.mean()})
        for method, values in found.items():
            difference = (values[:, 0] - harm) / harm.mean()
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            rows[-1][method] = values[:, 0].mean()
            rows[-1][f"{method}, over harm"] = f"{difference.mean():+.1%} ({error:.1%})"
        rows[-1]["true risk of ratio"] = found["ratio"][:, 1].mean()
        print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(_csv("appeal"), index=False, float_format="%.4f")
    report()


def deals(options):
    """How far results depend on the deal of queries to folds and parts."""
    rows = []
    odd = np.random.default_rng(0).integers(2**62, size=8, dtype=np.uint64) * 2 + 1
    for name in ("marketplace, spam hard to tell", "CLEF, AUC about .8"):
        make, level = COLLECTIONS[name]
        order, hide, y, g = sorted_by_list(make(options, 0))
        for kind, labels, new in (
            ("TunedThreshold", np.where(y < 0, -1.0, y), lambda: TunedThreshold(f"ndcg_f@{K}")),
            ("CertifiedThreshold", y, lambda level=level: rule(None)(level, CONFIDENCE)),
        ):
            pool, measure = (order, hide, labels, g), new().measure
            found = []
            for some in drawn(pool, options):
                found.append([])
                for constant in odd:
                    # Another constant of the hash gives other deals of the same queries.
                    with mock.patch.object(content, "_ODD", constant):
                        found[-1] += shown_by(new(), some, pool, [measure])
            values = np.array(found)
            rows.append(
                {
                    "collection": name,
                    "threshold": kind,
                    "measure": measure,
                    "mean": values.mean(),
                    "spread over deals": np.sqrt(values.var(axis=1, ddof=1).mean()),
                    "spread over draws of queries": values.mean(axis=1).std(ddof=1),
                }
            )
            print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(_csv("deals"), index=False, float_format="%.4f")
    report()


def gains(options):
    """Shown gain at the same certified risk, over draws of calibration lists."""
    rows = []
    for name, (make, level) in COLLECTIONS.items():
        start = time.process_time()
        values = {method: [] for method in METHODS}
        pool = sorted_by_list(make(options, 0))
        order, hide, y, _ = pool
        good = y > 0
        facts = f"{roc_auc_score(good, order):.2f}, {roc_auc_score(y < 0, hide):.2f}"
        for some in drawn(pool, options):
            for method, make_threshold in METHODS.items():
                values[method].append(shown_by(make_threshold(level, CONFIDENCE), some, pool))
        table = {method: np.array(found) for method, found in values.items()}
        for method, found in table.items():
            mean = found.mean(axis=0)
            # Draws are the same for all methods.
            difference = found[:, 0] - table["harm"][:, 0]
            rows.append(
                {
                    "collection": name,
                    "AUC good, harm": facts,
                    "risk": level,
                    "method": method,
                    "shown gain": mean[0],
                    "over harm": f"{difference.mean() / table['harm'][:, 0].mean():+.1%}"
                    if table["harm"][:, 0].mean() > 0
                    else "",
                    "error": difference.std(ddof=1) / np.sqrt(len(difference)),
                    "true risk": mean[1],
                    "good hidden": mean[2],
                    "broken": np.mean(found[:, 1] > level),
                }
            )
            print(
                {k: v if isinstance(v, str) else round(float(v), 4) for k, v in rows[-1].items()},
                flush=True,
            )
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    pd.DataFrame(rows).to_csv(_csv("gains"), index=False, float_format="%.4f")
    report()


def validity(options):
    """How often a certificate is broken, in many draws of lists from a pool that is known."""
    rows = []
    for name in ("marketplace, spam hard to tell", "CLEF, AUC about .8"):
        make, _ = COLLECTIONS[name]
        pool = sorted_by_list(make(options, 1))
        keep = pool[-1] < np.unique(pool[-1])[300]
        if name.startswith("CLEF"):
            rng = np.random.default_rng(1)
            keep = np.isin(pool[-1], rng.choice(np.unique(pool[-1]), 300, replace=False))
            keep &= rng.random(len(keep)) < 0.3
        order, hide, y, g = pool = tuple(column[keep] for column in pool)
        is_clef = name.startswith("CLEF")
        for risks in [{RISK: 0.2} if is_clef else {RISK: 0.2, f"forbidden@{K}": 0.05}]:
            for method in RULES:
                start = time.process_time()
                n_broken = np.zeros(options.validity_draws, dtype=bool)
                shows = np.zeros(options.validity_draws)
                for number in range(options.validity_draws):
                    some = draw(np.random.default_rng(number), pool, 160)
                    fitted = CertifiedThreshold(
                        risks, confidence_level=0.9, measure=MEASURE, rule=method
                    ).fit(np.column_stack([some[0], some[3]]), some[1], groups=some[2])
                    shown = fitted.predict(np.column_stack([order, hide]), groups=g)
                    means = evaluate(y, shown, list(risks), groups=g).means
                    n_broken[number] = any(means[each] > risks[each] + 1e-12 for each in risks)
                    shows[number] = np.mean(shown > -np.inf)
                rows.append(
                    {
                        "collection": name,
                        "risks": ", ".join(f"{each} <= {top:g}" for each, top in risks.items()),
                        "rule": method,
                        "draws": options.validity_draws,
                        "broken": n_broken.mean(),
                        "shows nothing": np.mean(shows == 0),
                    }
                )
                print(rows[-1], round(time.process_time() - start), flush=True)
    pd.DataFrame(rows).to_csv(_csv("validity"), index=False, float_format="%.4f")
    report()


def speed(options):
    """CPU time of one fit on a million rows."""
    rng = np.random.default_rng(0)
    n_rows = 1_000_000
    g = np.repeat(np.arange(n_rows // 40), 40)
    one, two = rng.normal(size=(2, n_rows))
    y = np.where(
        rng.random(n_rows) < 1 / (1 + np.exp(3 - 1.8 * two)),
        -1.0,
        rng.binomial(2, 1 / (1 + np.exp(1.6 - one))),
    )
    scores, hide = one + rng.normal(size=n_rows), two + rng.normal(size=n_rows)
    rows = []
    for name in RULES:
        seconds = []
        for make in (
            TunedThreshold(f"ndcg_f@{K}", rule=name),
            CertifiedThreshold({RISK: 0.2}, measure=f"ndcg_f@{K}", rule=name),
        ):
            start = time.process_time()
            make.fit(np.column_stack([scores, hide]), y, groups=g)
            seconds.append(time.process_time() - start)
        rows.append(
            {"rule": name, "TunedThreshold, s": seconds[0], "CertifiedThreshold, s": seconds[1]}
        )
        print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(_csv("speed"), index=False, float_format="%.2f")
    report()


def _csv(part):
    return RESULTS / f"two_scores_{part}.csv"


def report():
    """Write what has been measured so far."""
    text = FINDINGS
    show = {float: "{:.3f}".format}
    for part, head in HEADS.items():
        if _csv(part).exists():
            table = pd.read_csv(_csv(part))
            lines = [list(table.columns), ["---"] * len(table.columns)]
            lines += [
                [show.get(type(cell), str)(cell) for cell in row] for row in table.values.tolist()
            ]
            text += f"\n{head}\n\n"
            text += "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
    write_report("two_scores", "Order by one score, hide by another", text)


HEADS = {
    "gains": f"""## Shown gain at the same certified risk

Mean over draws of calibration lists, with replacement from a pool, all of which is then measured:
shown gain is DCG@{K} of documents that are not forbidden. At confidence {CONFIDENCE} the share of
lists with a forbidden document in the top {K} is at most "risk"; lists end at {K}. "harm" hides
by h alone, as by hand. "error" is the standard error of the difference in gain from "harm"
over draws. "good hidden" counts the good documents behind place {K}, too. "broken" is the share
of draws whose true risk is above its level.
AUC of the first score for good documents and of the second for forbidden ones.""",
    "appeal": f"""## Forbidden documents that look relevant

The first scores of forbidden documents are raised by so many standard deviations; in the
marketplace `spam_appeal` raises their features before the models are fitted. Shown gain is
DCG@{K} as above; in brackets stands the standard error of the difference from "harm" over draws.
"h by second score" is "ratio" without the first score in h.""",
    "deals": """## Other deals of the same queries

Folds and parts of queries are dealt by a hash of their content. The first spread is the standard
deviation of the measure on the whole pool over eight other deals of the same queries, the second
that over other draws of queries. Both use the rule "ratio".""",
    "validity": """## Certificates that are broken

Share of draws of 160 lists in which a risk of the whole pool of 300 lists is above its level, at
confidence 0.9: at most 0.1 is allowed, and with 500 draws up to 0.122 is within chance. Lists
are drawn independently, so that the pool is the truth.""",
    "speed": f"""## Time

CPU seconds of one fit on a million rows, 25,000 lists of 40, nDCG_f@{K}, in one process.""",
}
FINDINGS = """
* **"ratio" shows 35 % more than "harm" on CLEF at an AUC of about .8**, 31 % more with weaker
  scores and 7 % more with stronger ones; 9 % more where spam is hard to tell.
* Where forbidden documents look relevant "ratio" is above "harm" or within noise of it, by up to
  46 % on CLEF with BM25. With h by the second score alone it would lose 8 % there and 17 % on
  MQ2007, but gain 1 to 6 points more in the marketplace with spam hard to tell.
* Where spam is easy to tell both rules are equal. On the controls "ratio" is 5 % above "harm"
  (TREC, where BM25 says nothing and r orders by harm; 11 % before the first score entered h), 4 %
  above it (SemEval) and 5 % below it (MQ2007, s.e. 2 %).
* One score r - c h with its price tuned is 6 % above "harm" to 7 % below it, but for CLEF (+3 to
  +24 %); the order score alone shows less than half on most collections.
* "harm" is certified on all queries, "ratio" on nine tenths or less, as it learns from a tenth or
  from 1,000 rows. Another deal of the queries changes its shown gain as much as other queries do.
* In 500 draws certificates are broken in at most the share that they allow.
"""

if __name__ == "__main__":
    warnings.simplefilter("ignore", SkfilterrankWarning)
    warnings.simplefilter("ignore", UserWarning)
    run_parts(
        __doc__.splitlines()[0],
        {
            "gains": gains,
            "appeal": appeal,
            "deals": deals,
            "validity": validity,
            "speed": speed,
        },
        draws=14,
        lists=400,
        validity_draws=500,
    )

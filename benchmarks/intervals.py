"""Intervals from a sample of people's labels and machine labels: coverage, width, order.

    python benchmarks/intervals.py [dl2019] [other] [hard] [limits] [few_relevant] [forbidden]
        [--repetitions 10]

`dl2019`: 37 runs of TREC 2019 Deep Learning, 9,260 passages judged by NIST and by seven language
models. Each cell of the tables draws samples, takes NIST's labels of them, and asks how often the
intervals hold the values by all of NIST's labels, how wide they are, and how the order agrees with
the true one. `limits`: how narrow intervals of DCG@10 could be at most with these features.

`other`: TREC-COVID round 1, 143 runs; the machine is none that read a document: `pseudo_qrels` of
the runs themselves, a circular judge. MQ2007: the part S5; the runs are its 46 features and a ridge
regression that learned from S4; the machine is gradient boosting that learned from S1 to S3.

`hard`: where intervals of ratios fail. To the runs of DL 2019 come four made ones: two by chance,
and two by labels of NIST and noise. Samples have 5 and 20 % of the documents.

`few_relevant`: made-up collections of 30 queries with 40 documents each, of which 1, 2, 4 or 8 are
relevant. Six runs rank by the truth and noise. The machine sees the truth and noise, too, or gives
each document one of three labels at random. Each repetition makes a new collection and draws one
sample of it. `forbidden`: the share of forbidden documents, of label 0, of every third run of DL
2019.

Finished cells are kept in results/intervals_*.csv; with `--resume` they are not made again. All
cells get 50 repetitions before one gets more.
"""

import glob
import time
from functools import cache, partial

import numpy as np
import pandas as pd
from _common import RESULTS, run_parts, write_report
from _intervals import KnownLabels, Study, in_rounds, studies_of_deep_learning, true_values
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from skfilterrank.io import read_letor, read_qrels, read_run
from skfilterrank.judgments import LabelPredictor, RankedPool, draw_sample, estimate, pseudo_qrels
from skfilterrank.metrics import evaluate_runs

CELLS = RESULTS / "intervals_dl2019.csv"
KEY = ["judge", "gains", "measures", "design", "share"]
GAINS = {"labels": None, "2 and 3": {0: 0, 1: 0, 2: 1, 3: 1}, "0 is -1": {0: -1, 1: 1, 2: 2, 3: 3}}
OTHERS = (
    ("labels", "ndcg@10 rbp"),
    ("2 and 3", "precision@10 ap"),
    ("0 is -1", "ndcg_f@10"),
)
BEST, WEAK = "llama3-70b_4prompts", "llama3-8b_query-similarity"
# Share of the documents whose labels `LabelPredictor` learns from.
LEARNED = 0.1


def judges(folder, qrels, runs):
    """Labels of every judge by name, and some that no one should trust."""
    found = {}
    for path in sorted(glob.glob(f"{folder}/llm-qrels/*.txt.gz")):
        found[path.rsplit("/", 1)[1].removesuffix(".txt.gz")] = path
    rng = np.random.RandomState(0)
    chance = qrels.assign(label=rng.randint(0, 4, len(qrels)))
    first = RankedPool.read(None, runs[:1], pool=qrels)
    top = np.zeros(len(first))
    top[first.row[first.place <= 10]] = 1.0
    return {
        "people alone": None,
        **found,
        "LabelPredictor": partial(predicted, folder, qrels),
        "all seven": dict(found),
        "chance": chance,
        "top 10 of a run": first.index.to_frame(index=False).assign(label=top),
        "runs' own scores": partial(pseudo_qrels, runs),
    }


def predicted(folder, qrels):
    """Labels from those of a tenth of the documents; of that tenth, from those of another."""
    texts = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=False)
    table = qrels[["qid", "docno", "label"]].astype({"label": float})
    table = table.merge(texts[["docno", "text"]], how="left")
    part = np.random.RandomState(0).permutation(len(table)) / len(table)
    halves, documents = [], (table["text"].fillna(""), table["qid"])
    for mine in (part < LEARNED, part >= 1 - LEARNED):
        predictor = LabelPredictor().fit(documents[0], table["label"].where(mine), documents[1])
        halves.append(pd.Series(predictor.predict_proba(*documents) @ predictor.classes_))
    return table[["qid", "docno"]].assign(label=halves[0].where(part >= LEARNED, halves[1]))


def plan(judges):
    """Cells in the order of their weight: judge, gains, measures, design, share."""
    dcg = "labels", "dcg@10"
    designs = [
        (design, share) for share in (0.1, 0.2, 0.05) for design in ("differences", "uniform")
    ]
    useless = ("chance", "top 10 of a run", "runs' own scores")
    rest = [judge for judge in judges if judge not in (BEST, "people alone", *useless)]
    for judge in (BEST, "people alone"):
        for design in designs[:2]:
            yield judge, *dcg, *design
    for judge in useless:
        yield judge, *dcg, *designs[0]
    for which in OTHERS:
        yield BEST, *which, *designs[0]
    for design in designs[2:]:
        yield BEST, *dcg, *design
    for judge in rest:
        yield judge, *dcg, *designs[0]
    for which in OTHERS:
        for design in designs[1:3]:
            yield BEST, *which, *design
        for judge in ("LabelPredictor", WEAK):
            yield judge, *which, *designs[0]


def dl2019(args):
    """Report on TREC 2019 Deep Learning."""
    folder = args.data / "trec-dl2019-llm"
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    labels = qrels.set_index(["qid", "docno"])["label"]
    machines = judges(folder, qrels, runs)

    @cache
    def pool_of(judge):
        machine = machines[judge]
        return RankedPool.read(machine() if callable(machine) else machine, runs, pool=qrels)

    @cache
    def study(judge, gains, names):
        return Study(pool_of(judge), labels, truth(gains, names))

    @cache
    def truth(gains, names):
        return true_values(runs, qrels, names, GAINS[gains], pool_of(BEST).runs)

    def figures(judge, gains, measures, design, share, seeds):
        names = tuple(measures.split())
        return study(judge, gains, names).figures(names, GAINS[gains], design, share, seeds)

    cells = list(plan(machines))
    in_rounds(CELLS, KEY, cells, args.repetitions, figures, report, resume=args.resume)


def report(done):
    """Write the tables as they stand."""
    columns = [name for name in done if name not in ("gains", "measures", "measure")]
    parts = []
    for (measure, gains), table in done.groupby(["measure", "gains"], sort=False):
        parts.append(f"## {measure}, gains: {gains}\n\n```\n")
        parts.append(table[columns].to_string(index=False, float_format="{:.3f}".format))
        parts.append("\n```\n")
    text = (
        "Means over repetitions and 37 runs (or 666 pairs), nominal 95 %. `no model`: half-width "
        "of people's labels of the same sample, divided by their probabilities, without any "
        "prediction, with quantiles found in the same way, and with the normal one. `tau of "
        "values`: of the unbiased values with the truth. `people alone` draws and estimates "
        "without any machine. `LabelPredictor` learned from a tenth of the labels, none of which "
        "it predicts. `chance`, the `top 10 of a run` and the `runs' own scores` (pseudo-qrels) "
        "are judges to distrust.\n\n" + "\n".join(parts)
    )
    write_report("intervals_dl2019", "Intervals from mostly predicted labels", text)


OTHER_CELLS = RESULTS / "intervals_other_collections.csv"
OTHER_KEY = ["collection", "judge", "share"]
SHARES = {"TREC-COVID": 0.2, "MQ2007": 0.1}
MEASURE = "dcg@10"
ALONE = "people alone"


def trec_covid(data):
    """Runs, labels and machines of TREC-COVID."""
    folder = data / "trec-covid-round1"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    qrels = qrels[qrels["label"] >= 0].drop_duplicates(["qid", "docno"])
    paths = sorted(glob.glob(f"{folder}/runs/*"))
    runs = {path.rsplit("/", 1)[1].removesuffix(".gz"): read_run(path) for path in paths}
    return runs, qrels, {ALONE: None, "pseudo-qrels": pseudo_qrels(runs)}


def mq2007(data):
    """Rankings by single features and by a model, labels, and another model's labels."""
    parts = [read_letor(data / "mq2007" / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
    test = parts[4]
    rows = pd.DataFrame(
        {"qid": test.groups.astype(str), "docno": np.arange(len(test.y)).astype(str)}
    )
    scores = {f"feature {i + 1}": test.X[:, i] for i in range(46)}
    scores["ridge"] = Ridge().fit(parts[3].X, parts[3].y).predict(test.X)
    X, y = (np.concatenate([getattr(part, name) for part in parts[:3]]) for name in "Xy")
    guess = HistGradientBoostingRegressor(random_state=0).fit(X, y).predict(test.X).clip(0)
    runs = {name: rows.assign(score=score) for name, score in scores.items()}
    qrels = rows.assign(label=test.y.astype(int))
    return runs, qrels, {ALONE: None, "boosting": rows.assign(label=guess)}


def speed(study, measures=("dcg@10", "ndcg@10", "ap"), share=0.2):
    """Lines about the time of one estimate and all pairs."""
    for measure in measures:
        sample, _ = study.sample((measure,), None, "differences", share, 0)
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            pairs = estimate(sample, study.pool, measure).compare()
            seconds.append(time.process_time() - begin)
        yield (
            f"* {measure}: {len(sample):,} labels, {len(pairs.first):,} pairs with intervals: "
            f"{min(seconds):.1f} s of one processor, the best of three"
        )


def other(args):
    """Report on TREC-COVID and MQ2007."""
    collections = {"TREC-COVID": trec_covid(args.data), "MQ2007": mq2007(args.data)}
    studies = {}
    for name, (runs, qrels, machines) in collections.items():
        labels = qrels.set_index(["qid", "docno"])["label"]
        for judge, machine in machines.items():
            pool = RankedPool.read(machine, runs, pool=qrels)
            truth = true_values(runs, qrels, (MEASURE,), None, pool.runs)
            studies[name, judge] = Study(pool, labels, truth)
    lines = list(speed(studies["TREC-COVID", "pseudo-qrels"]))

    def figures(name, judge, share, seeds):
        return studies[name, judge].figures((MEASURE,), None, "differences", share, seeds)

    cells = [(name, judge, SHARES[name]) for name, judge in studies]
    in_rounds(
        OTHER_CELLS,
        OTHER_KEY,
        cells,
        args.repetitions,
        figures,
        lambda table: other_report(table, lines),
        resume=args.resume,
    )


def other_report(done, lines):
    """Write what there is."""
    text = "\n".join(
        [
            "## Speed",
            "",
            "TREC-COVID, 143 runs, 20 % of the labels:",
            "",
            *lines,
            "",
            "## Coverage",
            "",
            'DCG@10, samples by `aim="differences"`; columns as in intervals_dl2019.md.',
            "",
            "```",
            done.to_string(index=False, float_format="{:.3f}".format),
            "```",
        ]
    )
    write_report("intervals_other_collections", "Intervals on other collections", text)


HARD_CELLS = RESULTS / "intervals_hard.csv"
HARD_KEY = ["judge", "measure asked", "share"]
HARD_MEASURES = ("dcg@10", "rbp", "precision(rel=2)@10", "ndcg@10", "ndcg_f@10", "ap(rel=2)")
HARD_JUDGES = (BEST, WEAK)
HARD_SHARES = (0.05, 0.2)
# Standard deviation of the noise on labels in the made runs; None is noise alone.
MADE = {"chance 1": None, "chance 2": None, "labels 1": 0.3, "labels 2": 1.0}


def made_runs(qrels):
    """Runs by chance, and by labels and noise."""
    rng = np.random.RandomState(0)
    for name, noise in MADE.items():
        numbers = rng.normal(size=len(qrels))
        scores = numbers if noise is None else qrels["label"] + noise * numbers
        yield name, qrels[["qid", "docno"]].assign(score=scores)


def hard(args):
    """Report on cells where intervals of ratios fail."""
    folder = args.data / "trec-dl2019-llm"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    labels = qrels.set_index(["qid", "docno"])["label"]
    paths = sorted(glob.glob(f"{folder}/runs/*.gz"))
    runs = {path.rsplit("/", 1)[1].removesuffix(".gz"): read_run(path) for path in paths}
    runs |= dict(made_runs(qrels))

    @cache
    def study(judge, measure):
        pool = RankedPool.read(f"{folder}/llm-qrels/{judge}.txt.gz", runs, pool=qrels)
        gains = GAINS["0 is -1"] if measure.startswith("ndcg_f") else None
        return Study(pool, labels, true_values(runs, qrels, (measure,), gains, pool.runs)), gains

    def figures(judge, measure, share, seeds):
        own, gains = study(judge, measure)
        return own.figures((measure,), gains, "differences", share, seeds)

    cells = [
        (judge, measure, share)
        for judge in HARD_JUDGES
        for share in HARD_SHARES[::-1]
        for measure in HARD_MEASURES
    ]
    in_rounds(
        HARD_CELLS, HARD_KEY, cells, args.repetitions, figures, hard_report, resume=args.resume
    )


def hard_report(done):
    """Write what there is."""
    columns = ["judge", "measure", "share", "repetitions", "coverage", "least", "of differences"]
    columns += ["half-width", "bias", "rmse"]
    write_report(
        "intervals_hard",
        "Intervals where ratios fail",
        "TREC 2019 Deep Learning, 37 runs and four made ones: two by chance, two by NIST's labels "
        'and noise. Samples by `aim="differences"`, nominal 95 %. `coverage`: mean over runs and '
        "samples; `least`: of the worst run; `of differences`: of all pairs of runs. The gains of "
        "nDCG_f are labels, with -1 for 0.\n\n```\n"
        + done[columns].to_string(index=False, float_format="{:.3f}".format)
        + "\n```",
    )


LIMIT_SHARES = (0.05, 0.1, 0.2)


def limits(args):
    """Report on standard errors if more were known than a sample tells."""
    folder = args.data / "trec-dl2019-llm"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    labels = qrels.set_index(["qid", "docno"])["label"]
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))
    rows = []
    for judge in (*HARD_JUDGES, ALONE):
        machine = None if judge == ALONE else f"{folder}/llm-qrels/{judge}.txt.gz"
        known = KnownLabels(RankedPool.read(machine, runs, pool=qrels), labels, MEASURE)
        for share in LIMIT_SHARES:
            own = known.errors(known.sizes, share, args.repetitions)
            best = known.errors(known.best_sizes, share, args.repetitions)
            row = {"judge": judge, "share": share, "no model": own["no model"]}
            row["sample"] = own["sample"] / own["no model"]
            row["all labels"] = own["all labels"] / own["no model"]
            row["best design, sample"] = best["sample"] / own["no model"]
            row["best design, all labels"] = best["all labels"] / own["no model"]
            rows.append(row)
    table = pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format)
    write_report(
        "intervals_limits",
        "How narrow intervals could be",
        f"True standard errors of {MEASURE}, {len(runs)} runs of TREC 2019 Deep Learning, by "
        'Deville\'s formula over all documents; samples by `aim="differences"`. `no model`: of '
        "people's labels divided by their probabilities. The others are shares of it, in the same "
        "row: with predictions learned from the sample, as `estimate` learns them, and with "
        "predictions learned from all labels but those of a document's own fold. `best design`: "
        "the documents are drawn by the uncertainty of the latter predictions, which nobody knows "
        f"beforehand.\n\n```\n{table}\n```",
    )


N_QUERIES, N_DOCUMENTS = 30, 40
NOISE = 0.3, 0.7, 0.9, 1.0, 1.5, 3.0
RELEVANT, MACHINES, FEW_SHARES = (1, 2, 4, 8), ("useful", "useless"), (0.1, 0.2, 0.4)
FEW_MEASURES = ["dcg@10", "ndcg@10", "ap"]


def collection(n_relevant, machine, random_state):
    """People's labels of all documents, a machine's labels, and runs."""
    shape = N_QUERIES, N_DOCUMENTS
    quality = random_state.normal(size=shape)
    place = (-quality).argsort(axis=1).argsort(axis=1)
    query, number = np.indices(shape)
    table = pd.DataFrame(
        {
            "qid": [f"q{each}" for each in query.ravel()],
            "docno": [f"d{each}-{other}" for each, other in zip(query.ravel(), number.ravel())],
            "label": (place < n_relevant).ravel().astype(int),
        }
    )
    said = random_state.randint(0, 3, size=shape)
    if machine == "useful":
        seen = quality + random_state.normal(scale=0.5, size=shape)
        rank = (-seen).argsort(axis=1).argsort(axis=1)
        said = (rank < n_relevant).astype(int) + (rank < 3 * n_relevant)
    runs = {
        f"noise {sd}": table[["qid", "docno"]].assign(
            score=(quality + random_state.normal(scale=sd, size=shape)).ravel()
        )
        for sd in NOISE
    }
    return table, table.assign(label=said.ravel()), runs


def held(people, machine, runs, share, seed):
    """Figures of one sample, a row for each measure."""
    true = evaluate_runs(people, runs, FEW_MEASURES).means
    sample = draw_sample(machine, runs, FEW_MEASURES, share=share, random_state=seed)
    sample = sample.drop(columns="label").merge(people, on=["qid", "docno"])
    found = estimate(sample, runs, FEW_MEASURES, machine_qrels=machine)
    rows = []
    for measure in FEW_MEASURES:
        own, pairs = found.to_frame().loc[measure], found.compare(measure, correction=None)
        values = true[measure].reindex(own.index).to_numpy()
        gap = values[pairs.first] - values[pairs.second]
        rows.append(
            {
                "measure": measure,
                "coverage": ((own["low"] <= values) & (values <= own["high"])).mean(),
                "of differences": ((pairs.low <= gap) & (gap <= pairs.high)).mean(),
                "half-width": (own["high"] - own["low"]).mean() / 2,
                "bias": (own["value"] - values).mean(),
            }
        )
    return rows


def few_relevant(args):
    """Report on each number of relevant documents, machine and share."""
    rows = []
    for n_relevant in RELEVANT:
        for machine in MACHINES:
            for share in FEW_SHARES:
                cell = {"relevant": n_relevant, "machine": machine, "judged": share}
                for seed in range(args.repetitions):
                    random_state = np.random.RandomState(seed)
                    people, said, runs = collection(n_relevant, machine, random_state)
                    rows += [cell | row for row in held(people, said, runs, share, seed)]
    table = pd.DataFrame(rows).groupby(["measure", "relevant", "machine", "judged"], sort=False)
    table = table.mean().reset_index().sort_values("measure", kind="stable")
    text = table.to_string(index=False, float_format="{:.3f}".format)
    parts = []
    for name, measures in (("ratios", ["ndcg@10", "ap"]), ("sums", ["dcg@10"])):
        for what in ("coverage", "of differences"):
            cells = table.loc[table["measure"].isin(measures), what]
            parts.append(
                f"* {what} of {name}: {100 * cells.min():.1f} to {100 * cells.max():.1f} %, "
                f"{np.count_nonzero(cells < 0.92)} of {len(cells)} below 92 %"
            )
    write_report(
        "few_relevant",
        "Intervals where queries have few relevant documents",
        f"{N_QUERIES} made-up queries, {N_DOCUMENTS} documents each, {len(NOISE)} runs; "
        f"{args.repetitions} collections and samples for each row. Nominal 95 %, for these "
        "queries. `relevant`: relevant documents of each query; `judged`: share of the documents; "
        "`coverage`: share of the true values in their intervals; `bias`: mean error of the "
        "values.\n\n" + "\n".join(parts) + f"\n\n```\n{text}\n```",
    )


FORBIDDEN_GAINS = {0: -1, 1: 1, 2: 2, 3: 3}
FORBIDDEN_SHARES = (0.05, 0.1, 0.2, 0.4)


def forbidden(args):
    """Report on the share of forbidden documents."""
    folder, measure = args.data / "trec-dl2019-llm", "forbidden@5"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))[::3]
    rows = []
    for judge, _, study, _ in studies_of_deep_learning(args.data, HARD_JUDGES, ("dcg@10",)):
        true = true_values(runs, qrels, (measure,), FORBIDDEN_GAINS, study.pool.runs)(measure)
        labels = qrels.set_index(["qid", "docno"])["label"]
        study = Study(study.pool, labels, {measure: true}.get)
        for share in FORBIDDEN_SHARES:
            seeds = range(args.repetitions)
            (row,) = study.figures((measure,), FORBIDDEN_GAINS, "differences", share, seeds)
            shown = ("labels", "coverage", "least", "of differences", "half-width", "bias")
            rows.append({"judge": judge, "share": share} | {name: row[name] for name in shown})
            print(rows[-1], flush=True)
    text = (
        f"TREC 2019 Deep Learning, {len(runs)} runs, {args.repetitions} samples of documents, "
        f"nominal 95 %. Documents of label 0 are forbidden; true values are {true.min():.3f} to "
        f"{true.max():.3f}. `least`: coverage of the worst run.\n\n"
    )
    table = pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format)
    text += f"```\n{table}\n```"
    write_report("forbidden_documents", "Intervals of the share of forbidden documents", text)


if __name__ == "__main__":
    parts = {"dl2019": dl2019, "other": other, "hard": hard, "limits": limits}
    parts |= {"few_relevant": few_relevant, "forbidden": forbidden}
    run_parts(__doc__, parts, repetitions=10, resume=False)

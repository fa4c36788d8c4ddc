"""Candidates for fewer labels: selection rules and predictors, chosen on half of the topics."""

import numpy as np
from _labels_needed_models import SharedModel, unsure_of_predictor
from _labels_needed_trial import crossing, predicted, tau_difference

FINE = (0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3, 0.4)

BASELINES = ("prior; SVM", "prior; indAP", "pooling; indAP", "MTC; indAP")


def search(trial):
    """Taus by candidate and half of the topics: {name: (2, n_shares, 2)}."""
    pool, model = trial.pool, SharedModel(trial.pool)
    halves = [np.arange(0, pool.n_topics, 2), np.arange(1, pool.n_topics, 2)]
    known = [np.isin(pool.topics, half) for half in halves]
    found, arrays = {}, {}

    def keep(name, aps):
        """One AP array for each half and share."""
        arrays[name] = [[ap.astype(np.float32) for ap in own] for own in aps]
        found[name] = np.array(
            [[pool.compare(ap, half) for ap in own] for own, half in zip(aps, halves, strict=True)]
        )

    def without_model(labels, name):
        keep(f"{name}; none", [[pool.trec(own[s]) for s in FINE] for own in labels])
        keep(f"{name}; indAP", [[pool.induced(own[s]) for s in FINE] for own in labels])

    def by_model(labels_of, name):
        for features, likeness in (("ranks", True), ("runs", False), ("runs", True)):
            if not likeness and name not in ("prior", "MTC", "active likely"):
                continue
            chances = [
                [
                    model.chances(
                        np.where(own, labels_of[half][s], np.nan), own, features, likeness
                    )
                    for s in FINE
                ]
                for half, own in enumerate(known)
            ]
            kind = f"shared {features}{' + text' if likeness else ''}"
            keep(f"{name}; {kind}, expected AP", [[pool.expected(c) for c in h] for h in chances])
            if features == "runs" and likeness:
                keep(f"{name}; {kind}, hard", [[pool.trec(c > 0.5) for c in h] for h in chances])

    for name in ("prior", "pooling", "MTC", "MAXREP 0.8", "MAXREP 0.4", "MAXREP 0.2", "MAXREP 0.1"):
        labels = {share: trial.labels(name, share)[0] for share in FINE}
        without_model([labels, labels], name)
        keep(f"{name}; SVM", [[pool.trec(trial.complete(name, s)) for s in FINE]] * 2)
        if name not in ("MAXREP 0.8", "MAXREP 0.1"):
            by_model([labels, labels], name)
    for options in ({"one_class": "pool"}, {"one_class": "pool", "output": "soft"}):
        soft = "output" in options
        aps = []
        for share in FINE:
            labels = predicted(pool, trial.labels("prior", share)[0], **options)
            aps.append(pool.expected(labels) if soft else pool.trec(labels))
        keep(f"prior; SVM one_class=pool{', soft, expected AP' if soft else ''}", [aps] * 2)
    unsure = unsure_of_predictor(pool, FINE)
    without_model([unsure, unsure], "LabelPredictor unsure")
    aps = [pool.trec(predicted(pool, unsure[s])) for s in FINE]
    keep("LabelPredictor unsure; SVM", [aps] * 2)
    for across in (False, True):
        # Few chances are above 1/2: across topics, the likeliest are the most unsure.
        for rule in ("likely", "effect") if across else ("likely", "unsure", "effect"):
            labels = [model.ask(rule, FINE, own, across=across) for own in known]
            name = f"active {rule}{', across topics' if across else ''}"
            without_model(labels, name)
            by_model(labels, name)
    return found, arrays, halves


def search_table(pool, found, arrays, halves):
    """Candidates by the share they need, on each half; the winner of each on the other."""
    need = {
        name: [crossing(own[half, :, 0], FINE) for half in (0, 1)] for name, own in found.items()
    }
    # Fewest labels, then the highest tau.
    winners = [
        min(found, key=lambda name: (need[name][half], -found[name][half, :, 0].mean()))
        for half in (0, 1)
    ]
    places = [FINE.index(share) for share in (0.05, 0.1, 0.15, 0.2) if share in FINE]
    order = sorted(found, key=lambda name: (np.mean(need[name]), -found[name][..., 0].mean()))
    lines = [
        "| selection; prediction | % needed, half A | half B | tau at 5 / 10 / 15 / 20 % | RMSE |"
    ]
    lines.append("| --- | ---: | ---: | --- | --- |")
    for name in order:
        mean = found[name].mean(axis=0)
        taus = " / ".join(f"{mean[p, 0]:.3f}" for p in places)
        errors = " / ".join(f"{mean[p, 1]:.3f}" for p in places)
        cells = [f"{n:.1f}" if np.isfinite(n) else "> 40" for n in need[name]]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {taus} | {errors} |")
    chosen = []
    for half, name in enumerate(winners):
        other = 1 - half
        text = (
            f"* Chosen on half {'AB'[half]}: **{name}** ({need[name][half]:.1f} %). On the other "
            f"half it needs {need[name][other]:.1f} %"
        )
        for baseline in BASELINES:
            text += f"; `{baseline}` {need[baseline][other]:.1f} %"
        for share in (0.1, 0.15):
            text += f". Tau at {share:.0%} there, less that of"
            place = FINE.index(share)
            text += ",".join(
                f" `{baseline}` "
                + tau_difference(
                    pool,
                    arrays[name][other][place],
                    arrays[baseline][other][place],
                    200,
                    halves[other],
                )
                for baseline in BASELINES
            )
        chosen.append(text + ".")
    return "\n".join(lines), "\n".join(chosen)

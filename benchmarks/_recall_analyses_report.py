"""Report of recall_analyses: tables, and verdicts that are computed from them."""

from textwrap import fill

OTHERS = ("R@1000", "R-precision", "AP", "nDCG", "nDCG@10", "RR")
# Shares this near are called alike.
MARGIN = 0.005
FULL = {
    "agreement": "agreement (9)",
    "tied": "tied (10)",
    "holm": "sign or t test, Holm (11a)",
    "hsd": "Tukey HSD (11b)",
    "sign": "sign test for all, Holm",
    "hsd of ranks": "HSD of mid-ranks for all",
}
LESS = {
    "fraction_tied": "tied",
    "agreement": "agreement",
    "kept": "kept",
}
SHOWN = (0.3, 0.6, 0.9)


def verdict(values, small_is_better):
    """Names of the measures that lexirecall is better than, like, and worse than."""
    sign = 1 if small_is_better else -1
    lead = {name: sign * (values[name] - values["lexirecall"]) for name in OTHERS}
    groups = (
        [name for name, each in lead.items() if each > MARGIN],
        [name for name, each in lead.items() if abs(each) <= MARGIN],
        [name for name, each in lead.items() if each < -MARGIN],
    )
    return " | ".join(", ".join(names) or "none" for names in groups)


def over_shares(table):
    """Means of a measure over all shares of labels removed, without the full labels."""
    removed = table[table.index.get_level_values("share") > 0]
    return removed.groupby("measure", sort=False)[list(LESS)].mean()


def _facts(facts):
    rows = ["| data | depth | runs | topics | relevant | returned per topic |", "| --- " * 6 + "|"]
    for (data, depth), (n_runs, n_topics, n_relevant, returned) in facts.items():
        rows.append(
            f"| {data} | {depth} | {n_runs} | {n_topics} | {n_relevant:,} | {returned:.0f} |"
        )
    return "\n".join(rows)


def _full(table):
    rows = ["| measure | " + " | ".join(FULL.values()) + " |", "| --- " * (len(FULL) + 1) + "|"]
    for name, row in table.iterrows():
        cells = [f"{row[column]:.3f}" for column in FULL]
        if name == "lexirecall":
            cells[0] = ""
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _less(table):
    heads = [f"{title}, {share:g}" for title in LESS.values() for share in SHOWN]
    rows = ["| measure | " + " | ".join(heads) + " |", "| --- " * (len(heads) + 1) + "|"]
    for name in table.index.unique("measure"):
        cells = [f"{table.loc[(name, share), column]:.3f}" for column in LESS for share in SHOWN]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _verdicts(head, tables, column, small_is_better):
    rows = [f"| {head} | better than | like | worse than |", "| --- " * 4 + "|"]
    for key, table in tables.items():
        name = ", ".join(str(part) for part in key)
        rows.append(f"| {name} | {verdict(table[column], small_is_better)} |")
    return "\n".join(rows)


def _answer(full, less, means):
    """What the numbers say; what the sentences claim is checked."""
    covid, robust = "trec-covid-round1", "trec-robust2003"
    depth = 1000
    recall = ("R@1000", "R-precision")
    both = [full[data, depth] for data in (covid, robust)]

    def pair(measure, column):
        return " and ".join(f"{table.loc[measure, column]:.3f}" for table in both)

    for table in full.values():
        # Whoever returns fewer relevant documents has more of them at the very end.
        assert table.loc["R@1000", "agreement"] == 1
        tied = table["tied"]
        assert all(tied[name] > 2 * tied["lexirecall"] for name in recall)
        assert all(abs(tied[name] - tied["lexirecall"]) < 0.012 for name in ("AP", "nDCG"))
        hsd = table["hsd"]
        assert all(hsd[name] < hsd["lexirecall"] for name in recall)
    for table in both:
        assert all(table.loc[name, "hsd"] < table.loc["lexirecall", "hsd"] for name in OTHERS)
    at = full[covid, depth]["holm"]
    assert sorted(at.index, key=at.get)[:2] == ["RR", "lexirecall"]
    at = full[robust, depth]["holm"]
    assert at["lexirecall"] == at.max()
    at = full[robust, 10]["holm"]
    assert at["lexirecall"] < min(at["R@1000"], at["AP"], at["nDCG"])
    ranks = "hsd of ranks"
    for key, table in full.items():
        lead = table.loc["lexirecall", ranks] - table.loc["R@1000", ranks]
        assert (lead > 0.01) == (key == (robust, 1000)), (key, lead)
    for key, table in means.items():
        ours = table.loc["lexirecall"]
        for name in recall:
            assert ours["fraction_tied"] < table.loc[name, "fraction_tied"] - 0.05
            assert ours["kept"] > table.loc[name, "kept"], (key, name)
        assert ours["agreement"] < table.loc["R@1000", "agreement"], key
        for name in ("R-precision", "AP", "nDCG", "nDCG@10", "RR"):
            assert ours["agreement"] > table.loc[name, "agreement"], (key, name)
        for name in ("AP", "nDCG"):
            assert abs(ours["fraction_tied"] - table.loc[name, "fraction_tied"]) < MARGIN
            assert ours["kept"] > table.loc[name, "kept"], (key, name)

    def at_most(data, sampling, measure, column):
        return f"{less[data, depth, sampling].loc[(measure, 0.9), column]:.3f}"

    def degraded(measure, column):
        return " and ".join(at_most(data, "uniform", measure, column) for data in (covid, robust))

    shallow = " and ".join(
        f"{means[data, 100, 'frequency'].loc['lexirecall', 'fraction_tied']:.3f}"
        for data in (covid, robust)
    )
    n_pairs = 17 * 16 // 2
    ties = f"""- **Fewer ties: yes**, beside the recall measures, on both and at every depth: of
        all comparisons lexirecall leaves {pair("lexirecall", "tied")} tied, R@1000
        {pair("R@1000", "tied")}, R-precision {pair("R-precision", "tied")}. AP
        ({pair("AP", "tied")}) and nDCG ({pair("nDCG", "tied")}) leave as few."""
    power = f"""- **More discriminative power: by Tukey's HSD yes, by the sign test only on Robust,
        and mostly because ranks are tested.** HSD tells {pair("lexirecall", "hsd")} of the pairs
        apart by lexirecall, more than by any other measure (R@1000 {pair("R@1000", "hsd")}, nDCG
        {pair("nDCG", "hsd")}), and more than by both recall measures at every depth. The sign test
        with Holm's correction tells {pair("lexirecall", "holm")} apart, the t test
        {pair("R@1000", "holm")} by R@1000 and {pair("nDCG", "holm")} by nDCG: on TREC-COVID
        lexirecall is last but for RR, on Robust first, and there at depth 10 behind R@1000, AP and
        nDCG. Where HSD compares mid-ranks by all measures, R@1000 has {pair("R@1000", ranks)}: a
        lead of lexirecall over it by more than 0.01 is left for whole runs on Robust alone, and
        none at other depths. One pair of the {n_pairs} on Robust is {1 / n_pairs:.3f}."""
    labels = f"""- **More robust to missing labels: yes in ties; in preferences it depends on what
        is counted.** With 0.9 of the labels gone uniformly
        {degraded("lexirecall", "fraction_tied")} of lexirecall's comparisons are tied
        (AP {degraded("AP", "fraction_tied")}, R@1000
        {degraded("R@1000", "fraction_tied")}, R-precision
        {degraded("R-precision", "fraction_tied")}). Of the preferences that are left,
        {degraded("lexirecall", "agreement")} are those of all labels: more than by AP
        ({degraded("AP", "agreement")}), nDCG ({degraded("nDCG", "agreement")}) and R-precision
        ({degraded("R-precision", "agreement")}), but **fewer than by R@1000**
        ({degraded("R@1000", "agreement")}), which leaves more undecided. Of the preferences by all
        labels lexirecall keeps {degraded("lexirecall", "kept")}, R@1000
        {degraded("R@1000", "kept")}, nDCG {degraded("nDCG", "kept")}. The order of these is the
        same by frequency and at depth 100, in the means over all shares; but at depth 100 and by
        frequency lexirecall, too, has {shallow} ties in the mean."""
    paper = """In the paper ties and preferences of lexirecall degrade as those of AP and nDCG do,
        and those of R@1000 and R-precision more. Here that holds of ties; preferences of lexirecall
        degrade a little less than those of AP and nDCG, and R@1000 is worse only where its ties
        count. Where R@1000 prefers one of two runs, lexirecall always agrees: runs are no longer
        than a thousand documents, and who returns fewer relevant ones has more of them at the
        end."""
    head = "TREC-COVID and Robust, in this order; whole runs where no depth is named."
    return "## The answer\n\n" + "\n\n".join(map(_filled, (head, ties, power, labels, paper)))


def _filled(text):
    """A paragraph, or an item of a list, in lines of one width."""
    indent = "  " if text.startswith("- ") else ""
    return fill(" ".join(text.split()), 100, subsequent_indent=indent, break_on_hyphens=False)


def report_text(facts, full, less):
    """The whole report."""
    means = {key: over_shares(table) for key, table in less.items()}
    full_tables = "\n\n".join(
        f"### {data}, depth {depth}\n\n{_full(table)}" for (data, depth), table in full.items()
    )
    less_tables = "\n\n".join(
        f"### {data}, depth {depth}, {sampling}\n\n{_less(table)}"
        for (data, depth, sampling), table in less.items()
    )
    robust = {
        column: _verdicts("data, depth, removal", means, column, column == "fraction_tied")
        for column in LESS
    }
    return f"""
{_facts(facts)}

The analyses of figures 9 to 13 of Diaz and Mitra, "Recall, robustness, and lexicographic
evaluation", on two collections that the paper does not have. Runs are cut at a depth; the paper
has collections of several depths instead, of which "deep" (more than a thousand documents) is not
here. Lexirecall's preferences are exact; relevant documents that are not returned come last. A
topic that a run lacks is an empty list. nDCG takes the labels as gains.

{_answer(full, less, means)}

## Verdicts

Measures that lexirecall is better than, like (shares within {MARGIN}), and worse than. Computed.

{_verdicts("fewer ties: data, depth", full, "tied", True)}

{_verdicts("power, sign or t test and Holm: data, depth", full, "holm", False)}

{_verdicts("power, Tukey HSD: data, depth", full, "hsd", False)}

{_verdicts("power, sign test for all, Holm: data, depth", full, "sign", False)}

{_verdicts("power, HSD of mid-ranks for all: data, depth", full, "hsd of ranks", False)}

Fewer labels, means over the shares removed from 0.1 to 0.9. "Agreement" is the share of the
preferences that are left which all labels share; "kept" is the share of the preferences by all
labels that are still there, so that a preference which becomes a tie counts against a measure.

Fewer ties:

{robust["fraction_tied"]}

More agreement:

{robust["agreement"]}

More kept:

{robust["kept"]}

## All labels: figures 9 to 11

![All labels](recall_analyses.png)

Agreement is the share of a measure's preferences that lexirecall shares. Power is the share of
pairs of runs that differ significantly at 0.05: by the sign test for lexirecall and the t test for
the others, with Holm's correction; by Tukey's HSD with topics as blocks, of mid-ranks for
lexirecall and of values for the others. The last two columns give every measure what lexirecall
has, the sign test, and HSD of mid-ranks.

{full_tables}

## Fewer labels: figures 12 and 13

![Fewer labels](recall_degradation.png)

Relevant documents lose their label uniformly, or by how many runs return them; mean of ten samples,
for shares {", ".join(f"{share:g}" for share in SHOWN)} of them. In the first two columns of the
figure the curves of AP, nDCG and lexirecall are one.

{less_tables}
"""

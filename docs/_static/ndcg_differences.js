/* The nDCG of other tools on pasted rows, and what each rule changes: explain_differences. */
"use strict";

const ndcgDifferences = {
  /* Names that a header may have, in small letters and without blanks and signs. */
  columns: {
    query: ["query", "queryid", "qid"],
    document: ["document", "documentid", "doc", "docid", "docno"],
    label: ["label", "relevance", "rel"],
    score: ["score"],
  },

  /* The columns in the order of a header's cells. */
  header(cells, place) {
    const names = cells.map((cell) => cell.toLowerCase().replace(/[\s_.-]/g, ""));
    const columns = Object.entries(ndcgDifferences.columns);
    const found = names.map((name) => columns.find(([, known]) => known.includes(name))?.[0]);
    const unknown = cells.find((cell, index) => !found[index]);
    if (unknown !== undefined || found.length !== columns.length || new Set(found).size !== columns.length) {
      const got = unknown === undefined ? cells.join(", ") : unknown;
      throw new Error(
        `${place}: expected the names query, document, label and score, each once and in any order, got "${got}". ` +
          "Rename columns or remove them."
      );
    }
    return found;
  },

  /* Rows "query, document, label, score"; a first line without numbers names the columns in its order. */
  read(text) {
    const number = (cell) => (/^-inf(inity)?$/i.test(cell) ? -Infinity : /^nan$/i.test(cell) ? NaN : Number(cell));
    const isNumber = (cell) => cell && (!isNaN(number(cell)) || /^nan$/i.test(cell));
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    const [queries, names] = [new Map(), new Set()];
    let columns = null;
    lines.forEach((line, index) => {
      if (!line) return;
      const place = `Line ${index + 1}`;
      // Names may have blanks where another sign stands between the cells.
      const cells = line.split(/[,;\t]/.test(line) ? /\s*[,;\t]\s*/ : /\s+/);
      if (!columns && !cells.some(isNumber)) {
        columns = ndcgDifferences.header(cells, place);
        return;
      }
      columns ??= Object.keys(ndcgDifferences.columns);
      const { query, document: docno, label, score } = Object.fromEntries(columns.map((name, at) => [name, cells[at]]));
      const row = { docno, label: number(label), score: number(score), own: docno === query };
      const isWhole = cells.length === columns.length && cells.every((cell) => cell);
      const isRow = isWhole && isNumber(label) && Math.abs(row.label) !== Infinity && row.score < Infinity;
      if (!isRow) {
        throw new Error(`${place}: expected "${columns.join(", ")}" with two numbers, got "${line}".`);
      }
      if (!queries.has(query)) queries.set(query, []);
      if (names.has(`${query}\t${docno}`)) {
        throw new Error(`${place}: document "${docno}" is twice in query "${query}". Keep one row of each document.`);
      }
      names.add(`${query}\t${docno}`);
      queries.get(query).push(row);
    });
    if (!queries.size) throw new Error("There are no rows. Paste lines such as \"query 1, doc 7, 2, 0.93\", one for each document.");
    return [...queries.values()];
  },

  gains: { label: (label) => label, exp2: (label) => 2 ** label - 1, whole: Math.trunc },

  /* Order of two documents with equal scores. */
  ties: {
    average: () => 0,
    stable: () => 0,
    worst: (a, b) => a.gain - b.gain,
    best: (a, b) => b.gain - a.gain,
    docno: (a, b) => (a.docno < b.docno) - (a.docno > b.docno),
  },

  isShown: (row) => row.score > -Infinity,
  isCounted: (rows) => rows.some((row) => !isNaN(row.label)) && rows.some(ndcgDifferences.isShown),

  /* Mean nDCG@k by our rules, but for those of `rules`; k is null for the whole list. */
  mean(queries, k, rules) {
    const depth = k ?? rules.no_cutoff ?? Infinity;
    const dcg = (gains, places) => gains.slice(0, places).reduce((sum, gain, place) => sum + gain / Math.log2(place + 2), 0);
    const counted = rules.missing_queries ? queries.filter(ndcgDifferences.isCounted) : queries;
    const values = counted.map((rows) => {
      const documents = rows.map(({ docno, label, score, own }) => {
        const counts = rules.negative_labels ? Math.max(label, 0) : label;
        const left = rules.own_document && own ? -Infinity : score;
        return {
          docno,
          isJudged: !isNaN(label),
          gain: isNaN(label) ? 0 : ndcgDifferences.gains[rules.gain ?? "label"](counts),
          score: rules.single_precision ? Math.fround(left) : left,
        };
      });
      const tie = rules.ties ?? "average";
      const list = documents.filter((row) => rules.hidden_documents || ndcgDifferences.isShown(row));
      list.sort((a, b) => (a.score === b.score ? ndcgDifferences.ties[tie](a, b) : b.score - a.score));
      const tied = new Map();
      if (tie === "average") {
        list.forEach(({ score, gain }) => {
          if (!tied.has(score)) tied.set(score, []);
          tied.get(score).push(gain);
        });
      }
      const mean = (some) => some.reduce((sum, gain) => sum + gain, 0) / some.length;
      const means = new Map([...tied].map(([score, some]) => [score, mean(some)]));
      const gains = list.map(({ score, gain }) => means.get(score) ?? gain);
      const pool = documents.filter((row) => row.isJudged).map((row) => row.gain).sort((a, b) => b - a);
      const ideal = dcg(pool, rules.ideal ? Infinity : depth);
      return ideal > 0 ? dcg(gains, depth) / ideal : rules.nothing_relevant ?? 0;
    });
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  },

  /* Lists that ranx sorts in no order of ties. */
  hasLongTies: (queries) => queries.some((rows) => {
    const scores = rows.filter(ndcgDifferences.isShown).map((row) => row.score);
    return scores.length > 15 && new Set(scores).size < scores.length;
  }),

  /* Tests of data that some tool refuses, by the reason that is given. */
  refused: {
    "takes whole labels": (queries) => queries.flat().some((row) => row.label % 1),
    "refuses labels below 0": (queries) => queries.flat().some((row) => row.label < 0),
    "refuses labels above 30": (queries) => queries.flat().some((row) => row.label > 30),
    "refuses labels above 31": (queries) => queries.flat().some((row) => row.label > 31),
    "takes no unjudged documents": (queries) => queries.flat().some((row) => isNaN(row.label)),
    "refuses the score -inf": (queries) => !queries.flat().every(ndcgDifferences.isShown),
    "refuses a query of one document": (queries) => queries.some((rows) => rows.length === 1),
    "refuses a query with nothing judged or nothing shown": (queries) => !queries.every(ndcgDifferences.isCounted),
    "counts no query": (queries) => !queries.some(ndcgDifferences.isCounted),
    "keeps no order of ties in lists of more than 15 documents": (queries, k, rules) =>
      ndcgDifferences.hasLongTies(queries) &&
      ndcgDifferences.mean(queries, k, { ...rules, ties: "best" }) -
        ndcgDifferences.mean(queries, k, { ...rules, ties: "worst" }) > 1e-12,
  },

  /* Rules of each tool that differ from ours, and what it refuses. */
  tools() {
    const trec = { ties: "docno", negative_labels: true, missing_queries: true };
    const pytrec = { ...trec, single_precision: true };
    const catboost = { ties: "worst", nothing_relevant: 1, hidden_documents: true };
    const lightgbm = { ...catboost, gain: "exp2", ties: "stable" };
    const runs = ["takes whole labels", "counts no query"];
    const boosted = ["refuses labels below 0", "takes whole labels"];
    return {
      "skfilterrank": [{}, []],
      "trec_eval": [trec, runs],
      "pytrec_eval": [pytrec, runs],
      "pytrec_eval, run of k": [{ ...pytrec, ideal: true }, runs],
      "scikit-learn": [{}, [
        "refuses labels below 0", "takes no unjudged documents", "refuses the score -inf", "refuses a query of one document",
      ]],
      "LightGBM": [lightgbm, [...boosted, "refuses labels above 30"]],
      "XGBoost": [
        { ...lightgbm, single_precision: true, no_cutoff: 32 },
        [...boosted, "refuses labels above 31", "takes no unjudged documents"],
      ],
      "CatBoost": [catboost, ["takes no unjudged documents"]],
      "ranx": [{ gain: "whole", ties: "stable", negative_labels: true }, [
        "refuses a query with nothing judged or nothing shown", "keeps no order of ties in lists of more than 15 documents",
      ]],
      "BEIR": [{ ...pytrec, own_document: true }, runs],
    };
  },

  rules: [
    "gain", "ties", "nothing_relevant", "ideal", "negative_labels", "own_document", "no_cutoff", "single_precision",
    "hidden_documents", "missing_queries",
  ],

  /* Value, difference, part of each rule, what is left, and the reason of no value, by tool. */
  explain(text, k) {
    const queries = ndcgDifferences.read(text);
    const ours = ndcgDifferences.mean(queries, k, {});
    return Object.entries(ndcgDifferences.tools()).map(([tool, [rules, refuses]]) => {
      const reason = refuses.find((each) => ndcgDifferences.refused[each](queries, k, rules)) ?? "";
      if (reason) return { tool, reason, value: null, difference: null, parts: {}, together: null };
      const value = ndcgDifferences.mean(queries, k, rules);
      const parts = {};
      ndcgDifferences.rules.forEach((rule) => {
        parts[rule] = rule in rules ? ndcgDifferences.mean(queries, k, { [rule]: rules[rule] }) - ours : 0;
      });
      const together = value - ours - Object.values(parts).reduce((sum, part) => sum + part, 0);
      return { tool, reason, value, difference: value - ours, parts, together };
    });
  },

  words(found) {
    const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(4)}`;
    const made = ({ parts, together }) =>
      Object.entries({ ...parts, "several together": together })
        .filter(([, part]) => Math.abs(part) >= 0.00005)
        .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))
        .map(([rule, part]) => `${rule.replaceAll("_", " ")} ${signed(part)}`)
        .join("<br>");
    const row = (each) =>
      `<tr><th scope="row">${each.tool}</th>` +
      (each.reason
        ? `<td colspan="3">no value: ${each.reason}</td></tr>`
        : `<td>${each.value.toFixed(4)}</td><td>${Math.abs(each.difference) < 0.00005 ? "0" : signed(each.difference)}</td>` +
          `<td>${made(each)}</td></tr>`);
    return '<div class="pst-scrollable-table-container"><table class="table"><thead><tr><th>tool</th><th>mean nDCG</th>' +
      `<th>minus ours</th><th>made by</th></tr></thead><tbody>${found.map(row).join("")}</tbody></table></div>`;
  },

  start(form) {
    const output = document.getElementById("ndcg-differences-output");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const k = form.elements.k.value ? Number(form.elements.k.value) : null;
      try {
        output.innerHTML = ndcgDifferences.words(ndcgDifferences.explain(form.elements.rows.value, k));
      } catch (error) {
        output.textContent = error.message;
      }
    });
    // The rows that the page begins with have their answer at once.
    form.requestSubmit();
  },
};

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("ndcg-differences");
  if (form) ndcgDifferences.start(form);
});

/* Threshold and certificate of pasted rows: CertifiedThreshold({"any_forbidden@k": level}, measure="ndcg_f@k"). */
"use strict";

const calculator = {
  /* Names that a header may have, in small letters and without blanks and signs. */
  columns: { query: ["query", "queryid", "qid"], label: ["label", "relevance", "rel"], score: ["score"] },

  /* The columns in the order of a header's cells. */
  header(cells, place) {
    const names = cells.map((cell) => cell.toLowerCase().replace(/[\s_.-]/g, ""));
    const columns = Object.entries(calculator.columns);
    const found = names.map((name) => columns.find(([, known]) => known.includes(name))?.[0]);
    if (found.length !== columns.length || new Set(found).size !== columns.length || !found.every((name) => name)) {
      throw new Error(
        `${place}: expected the names query, label and score, each once and in any order, got "${cells.join(", ")}". ` +
          "Rename columns or remove them."
      );
    }
    return found;
  },

  /* Rows "query, label, score"; a first line without numbers names the columns in its order. */
  read(text) {
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    const queries = new Map();
    let columns = null;
    lines.forEach((line, index) => {
      if (!line) return;
      const place = `Line ${index + 1}`;
      // Names may have blanks where another sign stands between the cells.
      const cells = line.split(/[,;\t]/.test(line) ? /\s*[,;\t]\s*/ : /\s+/);
      if (!columns && cells.every((cell) => isNaN(Number(cell)))) {
        columns = calculator.header(cells, place);
        return;
      }
      columns ??= Object.keys(calculator.columns);
      const row = Object.fromEntries(columns.map((name, at) => [name, cells[at]]));
      const [label, score] = [Number(row.label), Number(row.score)];
      if (cells.length !== columns.length || !cells.every((cell) => cell) || ![label, score].every(Number.isFinite)) {
        throw new Error(`${place}: expected "${columns.join(", ")}" with two numbers, got "${line}".`);
      }
      if (!queries.has(row.query)) queries.set(row.query, []);
      queries.get(row.query).push({ label, score });
    });
    if (!queries.size) throw new Error("There are no rows. Paste lines such as \"query 1, 2, 0.93\".");
    return [...queries.values()];
  },

  dcg: (labels, k) => labels.slice(0, k).reduce((sum, label, place) => sum + label / Math.log2(place + 2), 0),

  /* A query: its documents best first (of ties the worst first), and the ends of nDCG_f. */
  query(rows, k) {
    const documents = [...rows].sort((a, b) => b.score - a.score || a.label - b.label).slice(0, k);
    const labels = rows.map((row) => row.label);
    const best = calculator.dcg(labels.filter((label) => label > 0).sort((a, b) => b - a), k);
    const worst = calculator.dcg(labels.filter((label) => label < 0).sort((a, b) => a - b), k);
    const bad = documents.find((document) => document.label < 0);
    return { documents, best, worst, badFrom: bad ? bad.score : -Infinity };
  },

  value({ documents, best, worst }, threshold, k) {
    if (best === worst) return 0;
    const shown = documents.filter((document) => document.score >= threshold);
    return (calculator.dcg(shown.map((document) => document.label), k) - worst) / (best - worst);
  },

  /* Probability of at most `count` of n at rate p. */
  binomial(count, n, p) {
    if (p <= 0 || count >= n) return 1;
    if (p >= 1) return 0;
    let log = n * Math.log1p(-p);
    let sum = Math.exp(log);
    for (let i = 1; i <= count; i++) {
      log += Math.log((n - i + 1) / i) + Math.log(p) - Math.log1p(-p);
      sum += Math.exp(log);
    }
    return Math.min(sum, 1);
  },

  upper(count, n, error) {
    if (count >= n) return 1;
    let [low, high] = [count / n, 1];
    for (let i = 0; i < 100; i++) {
      const middle = (low + high) / 2;
      if (calculator.binomial(count, n, middle) > error) low = middle;
      else high = middle;
    }
    return high;
  },

  compute(text, { k, level, confidence }) {
    const read = calculator.read(text);
    const queries = read.map((rows) => calculator.query(rows, k));
    const n = queries.length;
    const error = (1 - confidence) * (1 + 1e-12);
    const scores = [...new Set(queries.flatMap((query) => query.documents.map((d) => d.score)))];
    scores.sort((a, b) => b - a);
    const points = [Infinity, ...scores].map((score) => ({
      score,
      value: queries.reduce((sum, query) => sum + calculator.value(query, score, k), 0) / n,
      bad: queries.filter((query) => query.badFrom >= score).length,
      shown: queries.reduce((sum, q) => sum + q.documents.filter((d) => d.score >= score).length, 0),
      empty: queries.filter((query) => !(query.documents[0].score >= score)).length,
    }));
    const end = points.findIndex((point) => calculator.binomial(point.bad, n, level) > error);
    const certified = end < 0 ? points : points.slice(0, end);
    const best = (few) => few.reduce((top, point) => (point.value >= top.value - 1e-12 ? point : top));
    const chosen = certified.length ? best(certified) : null;
    /* The threshold lies just above the document that would enter a list next. */
    const next = chosen ? scores[scores.indexOf(chosen.score) + 1] : undefined;
    const above = read.flat().map((row) => row.score).filter((score) => score > next);
    const threshold = next === undefined ? chosen?.score : (next + Math.min(...above)) / 2;
    return {
      n, k, level, confidence, points, certified: certified.length, chosen, tuned: best(points), all: points.at(-1),
      threshold,
      upper: chosen && calculator.upper(chosen.bad, n, error),
      needed: Math.ceil(Math.log(error) / Math.log1p(-level)),
    };
  },

  words({ n, k, level, confidence, chosen, tuned, all, threshold, upper, needed }) {
    const share = (number) => `${(100 * number).toFixed(1)} %`;
    const row = (name, point) =>
      `<tr><th scope="row">${name}</th><td>${point.score === Infinity ? "nothing" : point.score}</td>` +
      `<td>${point.value.toFixed(3)}</td><td>${share(point.bad / n)}</td><td>${share(point.empty / n)}</td></tr>`;
    const statement = chosen
      ? `With confidence ${confidence}, the share of queries with a forbidden document in the shown top ${k} is at ` +
        `most ${level} on new queries, at threshold ${chosen.score === Infinity ? "that hides all" : Number(threshold.toPrecision(6))}: on ` +
        `${n} calibration queries it is ${(chosen.bad / n).toFixed(4)}, with an upper bound of ${upper.toFixed(4)}.`
      : `${n} queries are too few for a risk of at most ${level} with confidence ${confidence}: ${needed} are needed ` +
        "where none shows a forbidden document.";
    return `<p role="status"><strong>${statement}</strong></p><div class="pst-scrollable-table-container">` +
      '<table class="table"><thead><tr><th></th><th>lowest score shown</th>' +
      `<th>nDCG_f@${k}</th><th>queries with a forbidden document</th><th>queries shown nothing</th></tr></thead>` +
      `<tbody>${row("everything is shown", all)}${row("best value, no certificate", tuned)}` +
      `${chosen ? row("best value with the certificate", chosen) : ""}</tbody></table></div>`;
  },

  picture({ points, chosen, n, k, level }) {
    const [width, height, left, bottom] = [700, 280, 50, 40];
    const x = (index) => left + ((width - left - 10) * index) / Math.max(points.length - 1, 1);
    const y = (value) => 10 + (height - bottom - 10) * (1 - value);
    const line = (of, color) =>
      `<polyline fill="none" stroke="${color}" stroke-width="2" points="` +
      points.map((point, index) => `${x(index).toFixed(1)},${y(of(point)).toFixed(1)}`).join(" ") + '"/>';
    const text = (left, top, words, more = "") => `<text x="${left}" y="${top}" font-size="13" ${more}>${words}</text>`;
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => text(left - 8, y(value) + 4, value, 'text-anchor="end"'));
    const mark = chosen ? `<path d="M${x(points.indexOf(chosen))} 10V${y(0)}" stroke="#66717d" stroke-dasharray="4 3"/>` : "";
    return `<svg viewBox="0 0 ${width} ${height}" role="img" fill="currentColor" aria-label="nDCG_f and the share of queries ` +
      `with a forbidden document, from nothing shown on the left to everything shown on the right">` +
      `<path d="M${left} ${y(level)}H${width - 10}" stroke="#c0362c" stroke-dasharray="2 4"/>` +
      `<path d="M${left} 10V${y(0)}H${width - 10}" fill="none" stroke="currentColor"/>` +
      line((point) => point.value, "#1f77b4") + line((point) => point.bad / n, "#c0362c") + mark + ticks.join("") +
      text(left + 10, height - 22, "nothing is shown") + text(width - 12, height - 22, "everything is shown", 'text-anchor="end"') +
      text(left + 10, height - 4, `— nDCG_f@${k}`, 'fill="#1f77b4"') +
      text(left + 130, height - 4, "— queries with a forbidden document; dotted: the level", 'fill="#c0362c"') + "</svg>";
  },

  start(form) {
    const output = document.getElementById("calculator-output");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [k, level, confidence] = ["k", "level", "confidence"].map((name) => Number(form.elements[name].value));
      try {
        const found = calculator.compute(form.elements.rows.value, { k, level, confidence });
        output.innerHTML = calculator.words(found) + calculator.picture(found);
      } catch (error) {
        output.textContent = error.message;
      }
    });
    // The rows that the page begins with have their answer at once.
    form.requestSubmit();
  },
};

document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("calculator");
  if (form) calculator.start(form);
});

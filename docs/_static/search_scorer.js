/* Order of search results: guide pages first, then measures and the API, tables of results last. */
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    if (/^(benchmarks|citing|changelog)(\/|$)/.test(docname)) return score - 30;
    if (kind === "object" || kind === "title") return score + 30;
    if (/^(api|gallery|measures)\//.test(docname)) return score;
    return score + 20;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const table = JSON.parse($("table").textContent);
  const items = table.rows.map((row) => Object.fromEntries(table.columns.map((name, i) => [name, row[i]])));
  // A copy of the page under another name has labels of its own, those of a second assessor.
  const page = decodeURIComponent(location.pathname.split("/").pop());
  const slot = `${table.key}:${page}`;
  // Labels by the number of the row; what was there before each change; the row that is shown.
  let state = { labels: {}, undo: [], at: 0 }, keeps = true;

  function load(text) {
    state = JSON.parse(text) || state;
  }
  function keep() {
    try {
      localStorage.setItem(slot, JSON.stringify(state));
      keeps = true;
    } catch {
      keeps = false;
    }
  }
  const labelOf = (place) => state.labels[place] ?? items[place].label;
  const isOpen = (place) => labelOf(place) === "";

  function show(text = "") {
    const item = items[state.at], n = items.length;
    for (const name of ["qid", "docno", "query", "text"]) $(name).textContent = item[name] || "";
    $("place").textContent = `Document ${state.at + 1} of ${n}`;
    for (const button of $("labels").children) {
      button.setAttribute("aria-pressed", String(button.value === labelOf(state.at)));
    }
    const judged = items.filter((_, place) => !isOpen(place)).length;
    $("bar").max = n;
    $("bar").value = judged;
    $("progress").textContent = `${judged} of ${n} judged`;
    $("undo").disabled = !state.undo.length;
    const warning = keeps ? "" : " This browser keeps no labels: save them before you leave.";
    $("status").textContent = text + warning;
  }
  function go(place, text) {
    state.at = place;
    keep();
    show(text);
    $("document").focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  function move(step) {
    const place = state.at + step;
    if (place in items) go(place);
    else show(step > 0 ? "This is the last document." : "This is the first document.");
  }
  function give(label) {
    const { at } = state;
    state.undo.push([at, state.labels[at]]);
    state.labels[at] = label;
    // The next document without a label, going round at the end.
    const places = items.map((_, i) => (at + 1 + i) % items.length);
    const next = places.find(isOpen);
    go(next ?? at, `Label ${label}.${next === undefined ? " All is judged. Save the labels." : ""}`);
  }
  function undo() {
    if (!state.undo.length) return;
    const [place, before] = state.undo.pop();
    state.labels[place] = before;
    go(place, "The last label is taken back.");
  }

  // No text of the table may be a formula for a spreadsheet.
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const cell = (text) => quoted(text.replace(/^(?='*[=+\-@\t\r])/, "'"));
  function save() {
    const rows = items.map((item, place) =>
      table.columns.map((name) => (name === "label" ? quoted(labelOf(place)) : cell(item[name]))));
    const text = [table.columns, ...rows].map((row) => `${row.join(",")}\n`).join("");
    const link = document.createElement("a");
    const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.href = url;
    link.download = `${page.replace(/\.html?$/i, "") || "judged"}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    show(`${$("progress").textContent}, saved in ${link.download}.`);
  }

  const press = { ArrowRight: () => move(1), ArrowLeft: () => move(-1), u: undo };
  for (const [label, key] of table.labels) {
    const button = document.createElement("button");
    const shortcut = document.createElement("kbd"), name = document.createElement("bdi");
    button.type = "button";
    button.value = label;
    shortcut.textContent = key;
    name.textContent = label;
    button.append(shortcut, " ", name);
    button.setAttribute("aria-keyshortcuts", key);
    button.addEventListener("click", () => give(label));
    $("labels").append(button);
    press[key] = () => give(label);
  }
  $("next").addEventListener("click", press.ArrowRight);
  $("previous").addEventListener("click", press.ArrowLeft);
  $("undo").addEventListener("click", undo);
  $("save").addEventListener("click", save);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (Object.hasOwn(press, event.key)) {
      event.preventDefault();
      press[event.key]();
    }
  });
  // Another tab of this page may have gone on meanwhile.
  addEventListener("storage", (event) => {
    if (event.key === slot && event.newValue) {
      const { at } = state;
      load(event.newValue);
      state.at = at;
      show();
    }
  });
  addEventListener("beforeunload", (event) => {
    if (!keeps) event.preventDefault();
  });

  try {
    load(localStorage.getItem(slot));
  } catch {
    keeps = false;
  }
  show();
})();

"use strict";
(() => {
  const pool = JSON.parse(document.getElementById("pool").textContent);
  const $ = (id) => document.getElementById(id);
  const items = pool.items.map(([query, doc], place) => ({
    query: pool.queries[query], doc: pool.documents[doc], machine: pool.machine && pool.machine[place],
    key: JSON.stringify([pool.queries[query].id, pool.documents[doc].id]),
  }));
  const MOST_UNDOS = 1000;
  let at = 0, state, keeps = true;

  // Answers, by query and document, under a name of their own for each pool and assessor.
  const empty = () => ({ answers: {}, undo: [], count: 0, at: items[0].key });
  const slot = (name) => `${pool.key}:${name}`;
  function stored(name) {
    try {
      const text = localStorage.getItem(name);
      return text === null ? null : JSON.parse(text);
    } catch {
      return null;
    }
  }
  function store(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
      keeps = true;
    } catch {
      keeps = false;
    }
  }
  const assessor = () => $("assessor").value.trim();
  function keep() {
    state.at = items[at].key;
    if (assessor()) {
      store(slot(assessor()), state);
      store(pool.key, assessor());
    }
  }
  function load() {
    state = (assessor() && stored(slot(assessor()))) || empty();
    state.named = Boolean(assessor());
    at = Math.max(0, items.findIndex((item) => item.key === state.at));
  }

  const answerOf = (item) => state.answers[item.key] || {};
  const isJudged = (item) => answerOf(item).label !== undefined;
  function say(text) {
    const warning = keeps ? "" : " This browser keeps no answers: save them before you leave.";
    $("status").textContent = text + warning;
  }
  function paragraphs(box, texts) {
    box.replaceChildren(...texts.map((text) => {
      const p = document.createElement("p");
      p.dir = "auto";
      p.textContent = text;
      return p;
    }));
  }

  function show() {
    const item = items[at], answer = answerOf(item);
    $("qid").textContent = item.query.id;
    $("docno").textContent = item.doc.id;
    $("place").textContent = `Document ${at + 1} of ${items.length}`;
    paragraphs($("query"), item.query.texts);
    paragraphs($("text"), item.doc.texts);
    $("queries").value = item.query.id;
    $("note").value = answer.note || "";
    $("mark").checked = Boolean(answer.review);
    for (const button of $("grades").children) {
      button.setAttribute("aria-pressed", String(Number(button.value) === answer.label));
    }
    const machine = isJudged(item) && item.machine !== null && item.machine !== undefined;
    $("machine").hidden = !machine;
    $("machine").querySelector("bdi").textContent = machine ? item.machine : "";
    const judged = items.filter(isJudged).length;
    const marked = items.filter((each) => answerOf(each).review).length;
    $("bar").max = items.length;
    $("bar").value = judged;
    $("progress").textContent = `${judged} of ${items.length} judged, ${marked} marked`;
    $("undo").disabled = !state.undo.length;
  }
  function go(place, text) {
    at = place;
    keep();
    show();
    say(text || "");
    $("document").focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  // The next place in a direction that fits, going round at the end; -1 where there is none.
  function seek(step, fits) {
    for (let n = 1; n <= items.length; n += 1) {
      const place = (at + step * n + n * items.length) % items.length;
      if (fits(items[place])) return place;
    }
    return -1;
  }
  function move(step) {
    const only = $("marked").checked;
    const place = only ? seek(step, (item) => answerOf(item).review) : at + step;
    if (place < 0 || place >= items.length) {
      say(only ? "No document is marked." : step > 0 ? "This is the last document." : "This is the first document.");
    } else {
      go(place);
    }
  }
  function nextOpen(text) {
    const place = seek(1, (item) => !isJudged(item));
    if (place < 0) {
      go(at, `${text} All is judged. Save your answers.`);
    } else {
      go(place, `${text} Document ${place + 1} of ${items.length}.`);
    }
  }

  function named() {
    if (assessor()) return true;
    say("Write your name first: answers are kept under it.");
    $("assessor").focus();
    return false;
  }
  function change(fields) {
    const key = items[at].key;
    state.undo.push([key, state.answers[key] || null]);
    state.undo.splice(0, state.undo.length - MOST_UNDOS);
    state.count += 1;
    const time = `${new Date().toISOString().slice(0, 19)}+00:00`;
    state.answers[key] = { ...state.answers[key], ...fields, time, number: state.count };
    keep();
  }
  function grade(grade) {
    if (!named()) return;
    change({ label: grade.label });
    const text = `Graded ${grade.name || grade.label}.`;
    if (pool.machine) {
      go(at, text);
    } else if ($("marked").checked) {
      const place = seek(1, (item) => answerOf(item).review);
      go(place < 0 ? at : place, text);
    } else {
      nextOpen(text);
    }
  }
  function undo() {
    const last = state.undo.pop();
    if (last === undefined) return say("There is nothing to undo.");
    const [key, before] = last;
    if (before === null) delete state.answers[key];
    else state.answers[key] = before;
    go(items.findIndex((item) => item.key === key), "The last change is taken back.");
  }
  function mark() {
    if (!named()) return show();
    const review = !answerOf(items[at]).review;
    change({ review });
    show();
    say(review ? "Marked for a second look." : "No longer marked.");
  }

  // The log that the command judge reads and goes on with: its first line, then a line an answer.
  function log() {
    const lines = items
      .map((item) => [item, answerOf(item)])
      .filter(([, answer]) => answer.label !== undefined || answer.note || answer.review)
      .sort(([, a], [, b]) => a.number - b.number)
      .map(([item, answer]) => {
        const [qid, docno] = JSON.parse(item.key);
        const record = { time: answer.time, assessor: assessor(), qid, docno };
        if (answer.label === undefined) record.skip = true;
        else record.label = answer.label;
        if (answer.note) record.note = answer.note;
        if (answer.review) record.review = true;
        return JSON.stringify(record);
      });
    return [pool.header, ...lines, ""].join("\n");
  }
  function save() {
    if (!named()) return;
    const link = document.createElement("a");
    const url = URL.createObjectURL(new Blob([log()], { type: "text/plain" }));
    link.href = url;
    link.download = `${assessor().replace(/[^\p{L}\p{N}_.@-]+/gu, "_").replace(/^\.+/, "_")}.txt.log`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    say(`${items.filter(isJudged).length} grades saved in ${link.download}.`);
  }

  for (const each of pool.grades) {
    const button = document.createElement("button");
    const key = document.createElement("kbd"), name = document.createElement("bdi");
    button.type = "button";
    button.value = each.label;
    key.textContent = each.key;
    name.textContent = each.name ? `${each.label} ${each.name}` : each.label;
    button.append(key, " ", name);
    button.setAttribute("aria-keyshortcuts", each.key);
    button.addEventListener("click", () => grade(each));
    $("grades").append(button);
    $("gradekeys").append(key.cloneNode(true), " ");
  }
  for (const query of pool.queries) {
    const option = document.createElement("option");
    option.value = query.id;
    option.textContent = query.texts.length ? `${query.id}: ${query.texts[0].slice(0, 80)}` : query.id;
    $("queries").append(option);
  }
  $("queries").addEventListener("change", () => {
    const all = items.filter((item) => item.query.id === $("queries").value);
    go(items.indexOf(all.find((item) => !isJudged(item)) || all[0]));
  });
  $("assessor").addEventListener("change", () => {
    // A note that was written before the name stays on the screen.
    const note = $("note").value, isUnnamed = !state.named;
    load();
    keep();
    show();
    if (note && isUnnamed) {
      $("note").value = note;
      keepNote();
    }
    say(`${items.filter(isJudged).length} answers of ${assessor() || "nobody"} are here.`);
  });
  function keepNote() {
    const note = $("note").value.replace(/\p{Surrogate}/gu, "\ufffd").trim();
    if (note !== (answerOf(items[at]).note || "") && named()) change({ note });
  }
  $("note").addEventListener("change", keepNote);
  // A page that is closed while a note is written.
  addEventListener("pagehide", keepNote);
  $("answer").addEventListener("submit", (event) => event.preventDefault());
  $("mark").addEventListener("change", mark);
  $("marked").addEventListener("change", () => {
    if ($("marked").checked && !answerOf(items[at]).review) move(1);
  });
  const press = { n: () => move(1), p: () => move(-1), o: () => nextOpen(""), u: undo, m: mark };
  Object.assign(press, {
    ArrowRight: press.n, ArrowLeft: press.p, v: () => $("marked").click(),
    e: () => $("note").focus(), g: () => $("queries").focus(),
  });
  for (const each of pool.grades) if (each.key) press[each.key] = () => grade(each);
  for (const [id, key] of [["next", "n"], ["previous", "p"], ["open", "o"], ["undo", "u"]]) {
    $(id).addEventListener("click", press[key]);
  }
  $("save").addEventListener("click", save);
  addEventListener("keydown", (event) => {
    const field = event.target.closest("textarea, select, input:not([type=checkbox])");
    if (field) {
      if (event.key === "Escape") $("document").focus();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || !$("shortcuts").checked) return;
    if (Object.hasOwn(press, event.key)) {
      event.preventDefault();
      press[event.key]();
    }
  });
  // Another tab of this page may have gone on meanwhile.
  addEventListener("storage", (event) => {
    if (event.key === slot(assessor()) && event.newValue) {
      const here = items[at].key;
      load();
      at = items.findIndex((item) => item.key === here);
      show();
    }
  });
  addEventListener("beforeunload", (event) => {
    if (!keeps) event.preventDefault();
  });

  $("assessor").value = pool.assessor || stored(pool.key) || "";
  load();
  show();
})();

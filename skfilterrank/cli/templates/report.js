"use strict";
// Tables whose headings sort them.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => row.cells[column].dataset.v ?? row.cells[column].textContent;
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const numeric = head.classList.contains("number");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numeric;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = (a, b) => numeric
        ? Number(key(a, column)) - Number(key(b, column))
        : key(a, column).localeCompare(key(b, column), undefined, { numeric: true });
      body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b)));
    });
  });
}
// Of the pairs of a measure one is shown; without scripts all of them are.
for (const pairs of document.querySelectorAll(".pairs")) {
  const parts = [...pairs.querySelectorAll(":scope > .pair")];
  if (parts.length < 2) continue;
  const label = document.createElement("label");
  label.className = "choice";
  label.append("Two runs: ");
  const select = document.createElement("select");
  // Options hold no elements: Unicode's marks keep names of either direction apart there.
  const text = (node) => node.nodeName === "BDI" ? `\u2068${node.textContent}\u2069` : node.textContent;
  const title = (part) => [...part.querySelector("h4").childNodes].map(text).join("");
  parts.forEach((part) => select.add(new Option(title(part), part.id)));
  const show = () => parts.forEach((part) => { part.hidden = part.id !== select.value; });
  select.addEventListener("change", show);
  label.append(select);
  pairs.prepend(label);
  show();
}
// Any two runs, query by query, from the values that the page holds.
const holder = document.getElementById("data");
for (const box of document.querySelectorAll(".any")) {
  const found = JSON.parse(holder.dataset.report).measures.find((each) => each.name === box.dataset.measure);
  const { systems, queries, values, means, first, second, p } = found;
  const tested = new Map(first.map((number, place) => [`${number},${second[place]}`, p[place]]));
  const make = (tag, text, kind) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };
  const choose = (text, begin) => {
    const label = make("label", text, "choice");
    const select = make("select");
    systems.forEach((name, number) => select.add(new Option(name, number)));
    select.value = begin;
    label.append(select);
    box.append(label);
    return select;
  };
  const best = [...means.keys()].sort((a, b) => (found.greater_is_better ? 1 : -1) * (means[b] - means[a]));
  const [one, other] = [choose("Any two runs: ", best[0]), choose("against ", best[1])];
  const place = make("div");
  box.append(place);
  const show = () => {
    const [a, b] = [Number(one.value), Number(other.value)];
    const sign = found.greater_is_better ? 1 : -1;
    const rows = queries.map((query, q) => [query, values[a][q], values[b][q], sign * (values[a][q] - values[b][q])]);
    rows.sort((x, y) => Math.abs(y[3]) - Math.abs(x[3]));
    const greatest = Math.abs(rows[0]?.[3]) || 1;
    const chance = tested.get(`${a},${b}`) ?? tested.get(`${b},${a}`);
    const said = `Means ${means[a].toFixed(4)} and ${means[b].toFixed(4)}`;
    const note = make("p", chance == null ? `${said}; the two were not tested.` : `${said}; p ${chance}.`);
    const table = make("table");
    const head = table.createTHead().insertRow();
    ["query", systems[a], systems[b], "advantage", ""].forEach((text, column) => {
      const cell = make("th", undefined, column > 0 && column < 4 ? "number" : "");
      cell.append(make("bdi", text));
      cell.scope = "col";
      head.append(cell);
    });
    const body = table.createTBody();
    for (const [query, ...numbers] of rows) {
      const row = body.insertRow();
      const name = make("th");
      name.append(make("bdi", query));
      name.scope = "row";
      row.append(name);
      numbers.forEach((value) => row.append(make("td", value.toFixed(4), "number")));
      const bar = make("span", undefined, "bar");
      const part = make("i", undefined, numbers[2] > 0 ? "first" : "second");
      part.style.width = `${(50 * Math.abs(numbers[2])) / greatest}%`;
      bar.append(part);
      row.insertCell().append(bar);
    }
    const scroll = make("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.append(table);
    place.replaceChildren(note, scroll);
  };
  [one, other].forEach((select) => select.addEventListener("change", show));
  show();
}

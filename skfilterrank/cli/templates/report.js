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

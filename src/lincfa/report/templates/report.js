"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const sortKeys = JSON.parse(byId("sort-keys").textContent);
  const table = byId("group-table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row, place) => ({ row, place }));
  // Rows laid out as grids are not table rows to some screen readers.
  for (const { row } of rows) {
    row.setAttribute("role", "row");
    for (const cell of row.cells) cell.setAttribute("role", "cell");
  }
  const collator = new Intl.Collator(undefined, { numeric: true });

  // Search. Names are read from the page when first needed.
  const search = byId("search");
  const found = byId("found");
  const nothing = byId("nothing");
  let names = null;

  const nameOf = (row) => row.cells[0].querySelector(".n").textContent;

  // 170–120°W is also found as 170-120W, 170°W or 120W.
  const withDegrees = (name) => {
    if (!name.includes("°")) return name;
    const ends = name.replace(/([\d.]+)–([\d.]+)°([NSEW])/g, "$1°$3 $2°$3");
    return `${name} ${ends} ${`${name} ${ends}`.replaceAll("°", "").replaceAll("–", "-")}`;
  };

  const namesOf = (row) => {
    const all = [withDegrees(nameOf(row))];
    for (const name of row.querySelectorAll(".name")) all.push(name.textContent);
    const members = row.querySelector("table");
    if (members) {
      for (const member of members.tBodies[0].rows) all.push(member.cells[0].textContent);
    }
    for (const others of row.querySelectorAll(".others")) all.push(...others.textContent.split(",\n"));
    return all.map((name) => name.trim()).filter(Boolean).join("\n");
  };

  const filterGroups = () => {
    names ??= rows.map(({ row }) => {
      const shown = namesOf(row);
      return { shown, lower: shown.toLowerCase() };
    });
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    rows.forEach(({ row }, k) => {
      const { shown, lower } = names[k];
      const at = wanted ? lower.indexOf(wanted) : 0;
      row.hidden = at < 0;
      count += at >= 0;
      // Show which member matched, unless the name of the group does.
      const start = lower.lastIndexOf("\n", at);
      if (at > 0 && start > 0 && lower.length === shown.length) {
        const end = shown.indexOf("\n", start + 1);
        row.cells[0].dataset.hit = shown.slice(start + 1, end < 0 ? undefined : end);
      } else {
        delete row.cells[0].dataset.hit;
      }
    });
    nothing.hidden = count > 0;
    table.hidden = count === 0;
    found.textContent = wanted
      ? `${count} of ${rows.length} groups ${count === 1 ? "matches" : "match"}`
      : `${rows.length} ${rows.length === 1 ? "group" : "groups"}`;
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filterGroups, rows.length > 500 ? 120 : 0);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && search.value) {
      search.value = "";
      filterGroups();
    }
  });

  // Sorting, by buttons that exist only with scripts.
  const heads = Array.from(table.tHead.rows[0].cells);

  const sortBy = (column, direction) => {
    const key = column === 0 ? rows.map(({ row }) => nameOf(row)) : sortKeys[column - 1];
    const order = rows.map(({ place }) => place).sort((a, b) => {
      const [one, other] = [key[a], key[b]];
      if (one === null || other === null) return (one === null) - (other === null) || a - b;
      const sign = column === 0 ? collator.compare(one, other) : one - other;
      return direction * sign || a - b;
    });
    const sorted = document.createDocumentFragment();
    for (const place of order) sorted.append(rows[place].row);
    body.append(sorted);
    heads.forEach((head, place) => {
      if (place === column) {
        head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      } else {
        head.removeAttribute("aria-sort");
      }
    });
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      // Numbers from the largest, names from A; a second click reverses the order.
      const first = column === 0 ? 1 : -1;
      const same = now === (first > 0 ? "ascending" : "descending");
      sortBy(column, now && same ? -first : first);
    });
  });

  // Copying, also where a local file has no access to the clipboard.
  byId("copy").addEventListener("click", async () => {
    const recipe = byId("recipe");
    let done = false;
    try {
      await navigator.clipboard.writeText(recipe.textContent);
      done = true;
    } catch {
      getSelection().selectAllChildren(recipe);
      done = document.execCommand("copy");
    }
    byId("copied").textContent = done ? "Copied." : "Text selected: press Ctrl+C or ⌘C to copy.";
  });

  if (search.value) filterGroups(); // kept by the browser over a reload
})();

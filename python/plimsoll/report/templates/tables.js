// Tables that are sorted by a click or a key on a column's name, and copied as CSV.
(() => {
  const cellsOf = (row) => [...row.cells];
  const order = new Intl.Collator("en", { numeric: true });

  function sort(table, column, header) {
    const isNumeric = header.hasAttribute("data-numeric");
    const before = header.getAttribute("aria-sort");
    const down = before ? before === "ascending" : isNumeric;
    const body = table.tBodies[0];
    const sign = down ? -1 : 1;
    const compared = (a, b) => {
      const [one, other] = [a.cells[column], b.cells[column]];
      if (!isNumeric) return sign * order.compare(one.textContent, other.textContent);
      const [x, y] = [one.dataset.n, other.dataset.n];
      if (!x || !y) return (x ? 0 : 1) - (y ? 0 : 1); // what has no number is last, either way
      return sign * (Number(x) - Number(y));
    };
    body.append(...[...body.rows].sort(compared));
    for (const one of cellsOf(table.tHead.rows[0])) one.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  // A spreadsheet takes a text that begins so for a formula.
  const harmless = (text) => (/^[=+\-@\t]/.test(text) ? `'${text}` : text);
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  function csvOf(table) {
    const head = cellsOf(table.tHead.rows[0]).map((cell) => quoted(cell.dataset.csv));
    const lines = [...table.tBodies[0].rows].map((row) =>
      cellsOf(row).map((cell) => cell.dataset.n ?? quoted(harmless(cell.textContent.trim().replace(/\s+/g, " ")))));
    return [head, ...lines].map((cells) => cells.join(",")).join("\n") + "\n";
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const place = document.createElement("textarea"); // without permission, as in a frame
      place.value = text;
      document.body.append(place);
      place.select();
      const isDone = document.execCommand("copy");
      place.remove();
      return isDone;
    }
  }

  for (const table of document.querySelectorAll("table.sorted")) {
    cellsOf(table.tHead.rows[0]).forEach((header, column) => {
      if (!header.hasAttribute("data-sorts")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sort(table, column, header));
    });
    const tools = table.closest(".with-tools").querySelector(".table-tools");
    const [button, told] = [tools.querySelector("button"), tools.querySelector("[role=status]")];
    tools.hidden = false;
    button.addEventListener("click", async () => {
      const rows = table.tBodies[0].rows.length;
      const isDone = await copy(csvOf(table));
      told.textContent = isDone ? `Copied ${rows} ${rows === 1 ? "row" : "rows"}.` : "The browser does not let this page copy.";
    });
  }
})();

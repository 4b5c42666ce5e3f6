// The charts over time share one zoom and one moment: drawing over one of them, or a button, changes all.
(() => {
  const root = document.getElementById("time-tools");
  if (!root) return;
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const [slider, at, range, whole] = ["moment", "at", "range", "whole"].map(part);
  const unit = root.dataset.unit;
  const end = Number(root.dataset.end);
  const leastSpan = end / 300;
  const leastDrawnPx = 6;
  const charts = new Map();
  const three = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
  // Three digits; whole digits are never rounded away.
  const number = (value) => (Math.abs(value) < 1000 ? three.format(value) : Math.round(value).toLocaleString("en-US"));
  const time = (value) => {
    const decimals = shown[1] - shown[0] < 20 ? 1 : 0;
    return `${value.toLocaleString("en-US", { maximumFractionDigits: decimals })} ${unit}`;
  };
  let shown = [0, end];
  let brush = null;
  let moment = null;
  let isWaiting = false;

  // What stands in a chart at a moment, as words; each specification has its rows in one of three forms.
  function readerOf(specification) {
    const layers = specification.layer.filter((one) => one.data);
    const cells = layers.find((one) => typeof one.data.values === "string");
    if (cells) return spreadReader(cells.data.values, specification.params);
    const rows = layers.flatMap((one) => one.data.values).filter((row) => "value" in row);
    return rows.some((row) => "row" in row) ? eventReader(rows) : lineReader(rows);
  }

  function lineReader(rows) {
    const lines = new Map();
    for (const row of rows) lines.set(row.series, [...(lines.get(row.series) || []), row]);
    return (moment) =>
      [...lines].map(([name, line]) => {
        const found = line.findLast((row) => row.t <= moment);
        return found && found.value !== null ? `${name} ${number(found.value)}` : `${name} –`;
      }).join(" · ");
  }

  function eventReader(rows) {
    return (moment) => {
      const near = rows.filter((row) => Math.abs(row.t - moment) <= (shown[1] - shown[0]) / 60);
      return near.map((row) => `${row.row}: ${row.value}`).join(" · ");
    };
  }

  function spreadReader(text, params) {
    const value = (name) => params.find((one) => one.name === name).value;
    const [starts, edges, counted] = ["starts", "edges", "counted"].map(value);
    const columns = starts.map(() => []);
    for (const line of text.split("\n").slice(1)) {
      const [column, row, count] = line.split(",").map(Number);
      columns[column].push([row, count]);
    }
    return (moment) => {
      const place = Math.min(starts.findLastIndex((start) => start <= moment), starts.length - 2);
      const cells = columns[place] || [];
      if (!cells.length) return `no ${counted}`;
      const total = cells.reduce((sum, [, count]) => sum + count, 0);
      const [row, most] = cells.reduce((best, one) => (one[1] > best[1] ? one : best));
      const from = number(row ? edges[row] : 0); // the lowest row has all that is below it too
      return `${total.toLocaleString("en-US")} ${counted}, ${most.toLocaleString("en-US")} of them ${from} to ${number(edges[row + 1])} ms`;
    };
  }

  function timeOf(view, clientX) {
    const padding = view.padding();
    const left = view.container().querySelector("svg").getBoundingClientRect().left;
    const plot = left + view.origin()[0] + (padding.left ?? padding);
    return Math.min(shown[1], Math.max(shown[0], view.scale("x").invert(clientX - plot)));
  }

  function tell() {
    isWaiting = false;
    for (const chart of charts.values()) {
      chart.view.signal("zoom", shown).signal("brush", brush).signal("moment", moment).runAsync();
      chart.values.textContent = moment === null ? "" : chart.read(moment);
    }
    const isWhole = shown[0] === 0 && shown[1] === end;
    slider.min = shown[0];
    slider.max = shown[1];
    slider.step = (shown[1] - shown[0]) / 200;
    if (moment !== null) slider.value = moment;
    slider.setAttribute("aria-valuetext", time(Number(slider.value)));
    at.textContent = moment === null ? "" : time(moment);
    range.textContent = isWhole ? "the whole run" : `${time(shown[0])} to ${time(shown[1])}`;
    for (const button of root.querySelectorAll("button")) button.disabled = isWhole && button.dataset.part !== "in";
    part("in").disabled = shown[1] - shown[0] <= leastSpan * 1.01;
  }

  function soon() {
    if (!isWaiting) requestAnimationFrame(tell);
    isWaiting = true;
  }

  function show(from, to) {
    const span = Math.min(end, Math.max(leastSpan, to - from));
    const start = Math.min(end - span, Math.max(0, from + (to - from - span) / 2));
    shown = [start, start + span];
    if (moment !== null && (moment < shown[0] || moment > shown[1])) moment = null;
    soon();
  }

  function zoom(factor) {
    const middle = moment ?? (shown[0] + shown[1]) / 2;
    const half = (factor * (shown[1] - shown[0])) / 2;
    show(middle - half, middle + half);
  }

  function move(share) {
    const step = share * (shown[1] - shown[0]);
    show(shown[0] + step, shown[1] + step);
  }

  function listen(key, place) {
    let begun = null;
    const view = () => charts.get(key).view;
    place.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      begun = { x: event.clientX, t: timeOf(view(), event.clientX) };
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      moment = timeOf(view(), event.clientX);
      if (begun && Math.abs(event.clientX - begun.x) >= leastDrawnPx) brush = [begun.t, moment].sort((a, b) => a - b);
      soon();
    });
    const finish = (isDone) => {
      const drawn = brush;
      begun = brush = null;
      if (isDone && drawn) show(...drawn);
      soon();
    };
    place.addEventListener("pointerup", () => finish(true));
    place.addEventListener("pointercancel", () => finish(false));
    place.addEventListener("pointerleave", () => {
      if (begun) return;
      moment = null;
      soon();
    });
    place.addEventListener("dblclick", () => show(0, end));
    document.addEventListener("keydown", (event) => event.key === "Escape" && begun && finish(false));
  }

  document.addEventListener("chart-drawn", ({ detail: { key, view, specification } }) => {
    if (!(specification.params || []).some((one) => one.name === "zoom")) return;
    const place = document.getElementById(key);
    const values = place.closest("figure").querySelector(".values");
    const isNew = !charts.has(key);
    charts.set(key, { view, values, read: isNew ? readerOf(specification) : charts.get(key).read });
    if (isNew) listen(key, place);
    soon();
  });
  slider.addEventListener("input", () => {
    moment = Number(slider.value);
    soon();
  });
  part("in").addEventListener("click", () => zoom(0.5));
  part("out").addEventListener("click", () => zoom(2));
  part("earlier").addEventListener("click", () => move(-0.5));
  part("later").addEventListener("click", () => move(0.5));
  whole.addEventListener("click", () => show(0, end));
})();

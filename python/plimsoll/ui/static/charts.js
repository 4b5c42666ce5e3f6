// Charts of the live page: uPlot in the colours of the page, which it takes from the style sheet.
"use strict";

const Charts = (() => {
  const HEIGHT = 220;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const short = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString("en", { maximumFractionDigits: digits });
  };
  const seconds = (value) => {
    if (value < 120) return `${short(value)} s`;
    const whole = Math.round(value);
    const hours = Math.floor(whole / 3600);
    const minutes = String(Math.floor((whole % 3600) / 60)).padStart(hours ? 2 : 1, "0");
    const rest = String(whole % 60).padStart(2, "0");
    return hours ? `${hours}:${minutes}:${rest}` : `${minutes}:${rest}`;
  };

  const milliseconds = (value) => (Math.abs(value) >= 1000 ? `${short(value / 1000)} s` : `${short(value)} ms`);

  // A line of a chart: `colour` is a variable of the style sheet; dash or points repeat what colour says.
  const line = ({ label, colour: name, dash, points, width = 2 }, format) => ({
    label,
    stroke: () => colour(name),
    width: points ? 0 : width,
    dash,
    spanGaps: false,
    points: points ? { show: true, size: 9, fill: () => colour(name), stroke: () => colour(name) } : { show: false },
    value: (plot, value) => (value === null || value === undefined ? "–" : format(value)),
  });
  const axis = (format, size) => ({
    stroke: () => colour("faint"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { stroke: () => colour("line"), width: 1, size: 4 },
    font: "12px system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    size,
    values: (plot, values) => values.map((value) => (value === null ? "" : format(value))),
  });

  function isWide(series) {
    const values = series.flat().filter((value) => value > 0).sort((a, b) => a - b);
    return values.length > 3 && values[values.length - 1] > 20 * values[Math.floor(values.length / 4)];
  }

  class Chart {
    // `place` is the element; `marks()` and `noted()` give places on the x axis; `spread`: of times, which may be
    // a thousand times longer than others.
    constructor(place, { x, lines, unit = "", spread = false, live = true, marks = () => [], noted = () => [] }) {
      this.format = unit === " ms" ? milliseconds : (value) => short(value) + unit;
      Object.assign(this, { place, x, lines, unit, spread, live, marks, noted, log: false, plot: null });
      new ResizeObserver(() => this.fit()).observe(place);
      dark.addEventListener("change", () => this.plot && this.plot.redraw());
    }
    fit() {
      const width = this.place.clientWidth;
      if (this.plot && width && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
    }
    make(data) {
      const legend = (plot) => this.live && plot.setLegend({ idx: plot.data[0].length - 1 });
      this.plot = new window.uPlot(
        {
          width: Math.max(200, this.place.clientWidth),
          height: HEIGHT,
          padding: [10, 12, 0, 0],
          scales: { x: { time: false, range: this.x.range }, y: { distr: this.log ? 3 : 1, range: this.log ? undefined : (plot, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
          axes: [axis(this.x.format, 30), axis(this.format, 62)],
          series: [{ label: this.x.label, value: (plot, value) => (value === null || value === undefined ? "–" : this.x.format(value)) }, ...this.lines.map((one) => line(one, this.format))],
          cursor: { y: false, drag: { x: false, y: false } },
          legend: { live: this.live },
          hooks: {
            ready: [legend],
            setData: [(plot) => plot.cursor.idx === null || plot.cursor.left < 0 ? legend(plot) : undefined],
            setCursor: [(plot) => plot.cursor.left < 0 && legend(plot)],
            draw: [(plot) => this.drawMarks(plot)],
          },
        },
        data,
        this.place,
      );
      const canvas = this.place.querySelector("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", this.place.closest("figure").getAttribute("aria-label"));
      this.lines.forEach((one, at) => one.silent && this.place.querySelectorAll(".u-legend tr")[at + (this.live ? 1 : 0)].classList.add("silent"));
    }
    // A dotted line where the level changed, a flag where somebody made a note.
    drawMarks(plot) {
      const { ctx, bbox } = plot;
      const inside = (places) => places
        .map((at) => Math.round(plot.valToPos(at, "x", true)) + 0.5)
        .filter((left) => left >= bbox.left && left <= bbox.left + bbox.width);
      const line = (left) => {
        ctx.beginPath();
        ctx.moveTo(left, bbox.top);
        ctx.lineTo(left, bbox.top + bbox.height);
        ctx.stroke();
      };
      ctx.save();
      ctx.lineWidth = 1;
      ctx.strokeStyle = colour("faint");
      ctx.setLineDash([2, 4]);
      inside(this.marks()).forEach(line);
      ctx.setLineDash([]);
      ctx.strokeStyle = ctx.fillStyle = colour("expected");
      for (const left of inside(this.noted())) {
        line(left);
        ctx.fillRect(left, bbox.top, 9, 7);
      }
      ctx.restore();
    }
    show(given) {
      if (!given[0].length) return;
      // Of an overload all else would be a flat line: then the scale is logarithmic, and has no zero.
      const log = this.spread && isWide(given.slice(1));
      const data = log ? [given[0], ...given.slice(1).map((values) => values.map((value) => (value > 0 ? value : null)))] : given;
      if (this.plot && log !== this.log) {
        this.plot.destroy();
        this.plot = null;
      }
      this.log = log;
      if (this.plot) this.plot.setData(data);
      else this.make(data);
    }
  }
  return { Chart, short, seconds };
})();

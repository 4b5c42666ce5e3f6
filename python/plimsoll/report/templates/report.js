// Draws every chart in the theme that the reader prefers, and again when the preference changes.
(() => {
  if (!window.vegaEmbed) return;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const specifications = read("chart-specifications");
  const configuration = read("chart-configuration");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  let drawn = [];

  // Names that a chart has no room for are shortened by Vega; below it they stand in full.
  function nameInFull() {
    for (const figure of document.querySelectorAll("figure.chart")) {
      const names = new Set();
      for (const text of figure.querySelectorAll(".live svg text")) {
        const whole = text.__data__ && text.__data__.text; // Vega keeps there what it draws
        if (typeof whole === "string" && whole !== text.textContent && text.textContent.endsWith("…")) names.add(whole);
      }
      const place = figure.querySelector(".in-full");
      place.textContent = names.size ? "In full: " + [...names].join("; ") : "";
      place.hidden = names.size === 0;
    }
  }

  async function draw() {
    const config = dark.matches ? configuration.dark : configuration.light;
    drawn.splice(0).forEach((result) => result.finalize());
    root.classList.remove("no-script");
    root.classList.add("drawn");
    try {
      for (const [key, specification] of Object.entries(specifications)) {
        const options = { config, actions: false, renderer: "svg" };
        const result = await window.vegaEmbed("#" + key, specification, options);
        drawn.push(result);
        document.dispatchEvent(new CustomEvent("chart-drawn", { detail: { key, view: result.view, specification } }));
      }
      nameInFull();
    } catch (error) {
      // The static drawings say the same; show them rather than half a page.
      console.error(error);
      root.classList.remove("drawn");
      root.classList.add("no-script");
    }
  }

  dark.addEventListener("change", draw);
  // Vega draws anew in the next frame or two.
  window.addEventListener("resize", () => setTimeout(nameInFull, 200));
  // On paper nothing is folded.
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  // Charts that were folded away or narrow measure their column again.
  window.addEventListener("afterprint", () => window.dispatchEvent(new Event("resize")));
  draw();
})();

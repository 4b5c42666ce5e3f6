// The live page of a run, and small helps of the other pages. Nothing of a run is ever put in as HTML.
"use strict";

(() => {
  const get = (id) => document.getElementById(id);
  const put = (id, text) => {
    const place = get(id);
    if (place && place.textContent !== text) place.textContent = text;
  };
  const made = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // the list: two runs are chosen to compare
  const choosing = document.querySelector("[data-compare]");
  if (choosing) {
    const boxes = [...choosing.querySelectorAll("input[type=checkbox]")];
    const button = choosing.querySelector("[data-needs]");
    const hint = choosing.querySelector("[data-hint]");
    const look = () => {
      const count = boxes.filter((box) => box.checked).length;
      button.disabled = count !== 2;
      hint.textContent = count === 2 ? "" : `Choose two runs; ${count} chosen.`;
    };
    choosing.addEventListener("change", look);
    look();
  }

  // two runs, over each other
  const courses = get("courses");
  if (courses) {
    const [a, b] = JSON.parse(courses.textContent).map((course) => course.columns);
    for (const place of document.querySelectorAll("[data-compared]")) {
      const name = place.dataset.compared;
      const chart = new Charts.Chart(place, {
        x: { label: "Second", format: Charts.seconds },
        unit: name === "p95" ? " ms" : "",
        lines: [{ label: "A", colour: "accent" }, { label: "B", colour: "bad", dash: [6, 3] }],
      });
      const joined = window.uPlot.join([[a.second, a[name]], [b.second, b[name]]]);
      chart.show(joined);
    }
  }

  const live = get("live");
  if (!live) return;
  const base = live.dataset.base;
  const time = { label: "Second", format: Charts.seconds };
  let course = null;
  let notes = [];
  let paused = false;
  let shownLevel = null;
  let hasEnded = false;
  const isBeside = "beside" in live.dataset;

  const changes = () => {
    const found = [];
    if (!course) return found;
    const { second, level } = course.columns;
    for (let place = 1; place < level.length; place += 1) {
      if (level[place] !== level[place - 1]) found.push(second[place] - course.each_s / 2);
    }
    return found;
  };
  const noted = () => notes.filter((note) => note.kind === "note" && note.second !== null).map((note) => note.second);
  const chart = (key, options) => get(`plot-${key}`) && new Charts.Chart(get(`plot-${key}`), options);
  const rate = chart("rate", {
    x: time, marks: changes, noted,
    lines: [{ label: "done/s", colour: "accent" }, { label: "planned/s", colour: "faint", dash: [6, 3], width: 1.5 }, { label: "failed/s", colour: "bad", dash: [2, 2] }],
  });
  const times = chart("times", {
    x: time, unit: " ms", marks: changes, noted, spread: true,
    lines: [{ label: "p95", colour: "accent" }, { label: "median", colour: "expected", dash: [6, 3] }],
  });
  const busy = chart("busy", {
    x: time, marks: changes, noted,
    lines: [{ label: "target, cores", colour: "accent" }, { label: "generator, share of a core", colour: "expected", dash: [6, 3] }],
  });
  const signs = [["good", "carried"], ["bad", "not carried"], ["between", "not decided"], ["faint", "probe"]];
  const byLevel = () => ({
    live: false,
    x: { label: "Level", format: Charts.short, range: (plot, low, high) => [0, (high || 1) * 1.05] },
    lines: [{ label: "all", colour: "line", width: 1.5, silent: true }, ...signs.map(([colour, label]) => ({ label, colour, points: true }))],
  });
  const levelRate = chart("levels-rate", byLevel());
  const levelTimes = chart("levels-times", { ...byLevel(), unit: " ms", spread: true });

  function showCourse() {
    const { second, done, planned, failed, p50, p95, target, generator } = course.columns;
    rate.show([second, done, planned, failed]);
    times.show([second, p95, p50]);
    busy.show([second, target, generator]);
  }
  function append(more) {
    if (!course || more.each_s !== course.each_s) return;
    for (const name of Object.keys(course.columns)) course.columns[name].push(...more.columns[name]);
    showCourse();
  }

  function showRows(rows, unit) {
    const isShown = rows.length > 1 && rows[0].level !== null;
    for (const id of ["figure-levels-rate", "figure-levels-times"]) get(id).hidden = !isShown;
    get("levels").hidden = !rows.length;
    const body = get("levels-rows");
    body.replaceChildren(...rows.map((row) => {
      const line = made("tr", row.sign);
      const name = made("th", "", row.name);
      name.scope = "row";
      line.append(name, made("td", "", row.done), made("td", "", row.p95), made("td", "words", row.words));
      return line;
    }));
    if (!isShown) return;
    const kinds = ["good", "bad", "open", "other"];
    const of = (value) => [rows.map(value), ...kinds.map((kind) => rows.map((row) => (row.sign === kind ? value(row) : null)))];
    const levels = rows.map((row) => row.level);
    levelRate.show([levels, ...of((row) => row.done_per_s)]);
    levelTimes.show([levels, ...of((row) => row.p95_ms)]);
  }

  function showBracket(bracket) {
    get("bracket").hidden = !bracket;
    if (!bracket) return;
    get("bar-carried").style.width = `${100 * bracket.good_share}%`;
    get("bar-between").style.width = `${100 * (bracket.bad_share - bracket.good_share)}%`;
    const mark = get("mark-held");
    mark.hidden = bracket.held_share === null;
    if (bracket.held_share !== null) mark.style.left = `${100 * bracket.held_share}%`;
    const words = [["area carried", bracket.good], ["area beyond", bracket.bad], ["", bracket.held && `▲ ${bracket.held}`]];
    get("bracket-words").replaceChildren(...words.filter(([, text]) => text).map(([name, text]) => made("span", name, text)));
  }

  function showNow(now) {
    put("phase", now.phase);
    put("held", now.name);
    put("why", now.why);
    put("clock", [now.second, now.left && `${now.left} left`, now.quiet].filter(Boolean).join(" · "));
    const tiles = get("tiles");
    const text = JSON.stringify([now.tiles, now.failing]);
    if (tiles.dataset.shown !== text) {
      tiles.dataset.shown = text;
      tiles.replaceChildren(...now.tiles.map((tile) => {
        const box = made("div", tile.key === "failed" && now.failing ? "failing" : "");
        const value = made("dd");
        value.append(made("span", "value", tile.value), made("span", "more", tile.more));
        box.append(made("dt", "", tile.label), value);
        return box;
      }));
    }
    showBracket(now.bracket);
    get("limits").hidden = !now.limits.length;
    get("limits-rows").replaceChildren(...now.limits.map((limit) => {
      const line = made("tr", limit.key);
      const subject = made("th", "", limit.subject);
      subject.scope = "row";
      line.append(subject, made("td", "words", limit.limit), made("td", "value", limit.value));
      return line;
    }));
    if (now.target.length) get("target").replaceChildren(...now.target.map((line) => made("li", "", line)));
    if (now.generator.words) {
      put("generator", now.generator.well ? now.generator.words : `${now.generator.words}: it may limit this load`);
      get("generator").classList.toggle("ill", !now.generator.well);
    }
    paused = now.paused;
    const level = get("level");
    if (level && !paused && document.activeElement !== level && now.level !== shownLevel) {
      shownLevel = now.level; // set by whomever
      if (now.level !== null) level.value = now.level;
    }
    const pause = get("pause");
    if (pause) {
      pause.textContent = paused ? "Resume" : "Pause";
      pause.dataset.verb = paused ? "resume" : "pause";
    }
  }

  function showNotes() {
    get("notes").replaceChildren(...notes.map((note) => {
      const item = made("li", note.kind === "note" ? "own" : "");
      item.append(made("span", "at", note.at || "–"), made("span", "", note.text));
      return item;
    }));
    const place = get("notes");
    place.scrollTop = place.scrollHeight;
  }

  function showEnd(end) {
    hasEnded = true;
    put("ended-words", `The run has ended: ${end.status}`);
    put("ended-answer", end.answer);
    put("ended-command", end.command);
    get("ended").hidden = false;
    const badge = made("span", `badge ${end.key}`, end.status);
    get("status").replaceChildren(badge);
    document.querySelectorAll(".controls button, .controls input").forEach((one) => { one.disabled = true; });
    put("connection", "");
    live.classList.remove("stale");
    for (const id of ["now", "limits", "last-second"]) get(id).hidden = true; // of the last second alone
  }

  const said = (words, isBad) => {
    put("answer", words);
    const place = get("answer");
    if (place) place.classList.toggle("ill", Boolean(isBad));
  };
  async function tell(what, fields) {
    said("…");
    try {
      const response = await fetch(`${base}/${what}`, {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ csrf: document.querySelector("meta[name=csrf]").content, ...fields }),
      });
      const told = await response.json();
      said(told.answer || told.error, !response.ok);
      return response.ok;
    } catch (error) {
      said("The page's process did not answer. It may have ended with the run.", true);
      return false;
    }
  }
  document.querySelectorAll("button[data-verb]").forEach((button) => {
    button.addEventListener("click", () => {
      const verb = button.dataset.verb;
      if (verb === "stop" && !window.confirm("Stop this run? What was measured is kept.")) return;
      tell("control", { verb });
    });
  });
  const onSubmit = (id, act) => get(id) && get(id).addEventListener("submit", (event) => { event.preventDefault(); act(event.target); });
  onSubmit("level-form", (form) => tell("control", { verb: "level", level: form.elements.level.value }));
  onSubmit("note-form", async (form) => {
    if (await tell("note", { text: form.elements.text.value })) form.reset();
  });

  const source = new EventSource(`${base}/events`);
  const shown = (told) => {
    put("connection", "live");
    live.classList.remove("stale");
    showNow(told.now);
    if (told.rows) showRows(told.rows, told.unit);
    if (told.notes) { notes = told.notes; showNotes(); }
  };
  source.addEventListener("whole", (event) => {
    const told = JSON.parse(event.data);
    course = told.course;
    shown(told);
    if (course.columns.second.length) showCourse();
  });
  source.addEventListener("second", (event) => {
    const told = JSON.parse(event.data);
    shown(told);
    append(told.course);
  });
  source.addEventListener("ended", (event) => showEnd(JSON.parse(event.data)));
  source.addEventListener("next", () => { get("next").hidden = false; });
  source.addEventListener("bye", () => {
    source.close();
    if (!hasEnded) put("connection", "The process that serves this page has ended. Reload this page when it is back.");
    // Beside a verb it ends with that: what it served is no link any more.
    if (isBeside && get("next").hidden) for (const one of [get("keeping"), document.querySelector("nav")]) one.hidden = true;
  });
  source.addEventListener("error", () => {
    if (hasEnded) return;
    live.classList.add("stale");
    put("connection", source.readyState === EventSource.CLOSED ? "The connection is closed. Reload this page." : "The connection is lost; trying again …");
  });
})();

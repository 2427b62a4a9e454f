// Draws the report from the JSON in #data.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const state = { hidden: new Set(), log: false, smoothing: 0 };
  const charts = [];

  const color = (index) => `var(--run${index % 6})`;
  const colorOf = (series) => color(series.color ?? series.run);
  // Train and validation, or classes, are told apart by their dashes too.
  const dashes = [null, "6 3", "2 2", "8 3 2 3", "1 4", "10 4"];
  const dashOf = (series) => (series.dash ? "5 3" : dashes[(series.color ?? 0) % 6]);
  const swatch = (run) => h("span", { class: "swatch", style: `background:${color(run)}`, "aria-hidden": "true" });
  const several = data.runs.length > 1;
  const letter = (run) => (several ? data.runs[run].letter + " " : "");

  // The ends of an axis, `pad` more to both sides where they differ by no more than a rounding error.
  const axis = (low, high, pad) => (high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)) ? [low, high] : [low - pad, high + pad]);
  // Round numbers within the ends of an axis, `least` apart or more: about `count` of them, or powers of ten.
  function ticks(low, high, count, least = 0) {
    const step = Math.max((high - low) / count || 1, least);
    const power = Math.pow(10, Math.floor(Math.log10(step)));
    const unit = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= step);
    const values = [];
    for (let i = Math.ceil(low / unit - 1e-9); i * unit <= high + unit * 1e-9; i++) values.push(i * unit);
    return values;
  }
  function logTicks(low, high) {
    const values = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
      for (const factor of high - low < 2 ? [1, 2, 5] : [1]) {
        const value = power + Math.log10(factor);
        if (value >= low - 1e-9 && value <= high + 1e-9) values.push(value);
      }
    }
    return values.length > 1 ? values : ticks(low, high, 4);
  }

  // An exponential moving average that counts from the first value on.
  function smooth(values, factor) {
    if (factor === 0) return values;
    let mean = 0;
    let weight = 0;
    return values.map((value) => {
      if (value === null) return null;
      mean = factor * mean + (1 - factor) * value;
      weight = factor * weight + (1 - factor);
      return mean / weight;
    });
  }

  class Chart {
    constructor(spec) {
      this.spec = spec;
      this.at = null;  // x of the cursor
      this.svg = s("svg", { role: "img", "aria-label": this.summary() });
      this.tip = h("div", { class: "tip", hidden: true });
      this.live = h("div", { class: "hidden", "aria-live": "polite" });
      this.node = h("figure", { class: "chart", tabindex: "0", "aria-label": `${spec.title}: left and right arrows read the values`,
        style: "margin:0", "data-chart": spec.title, on: { keydown: (event) => this.key(event) } },
        h("h3", {}, spec.title), this.svg, this.tip, this.live, this.legend());
      this.svg.addEventListener("pointermove", (event) => this.point(event));
      this.svg.addEventListener("pointerleave", () => this.moveTo(null));
      charts.push(this);
    }

    summary() {
      const parts = this.spec.series.filter((series) => !series.faint).map((series) => {
        const values = series.y.filter((value) => value !== null);
        if (values.length === 0) return `${letter(series.run)}${series.name}: no values`;
        return `${letter(series.run)}${series.name} from ${number(values[0])} to ${number(values[values.length - 1])}`;
      });
      return `${this.spec.title}. ${parts.join("; ")}`;
    }

    legend() {
      const entries = this.spec.series.filter((series) => !series.faint);
      return h("div", { class: "legend" }, entries.map((series) => h("span", {},
        s("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, s("line", { x1: 0, x2: 26, y1: 4, y2: 4,
          stroke: colorOf(series), "stroke-width": 2, "stroke-dasharray": dashOf(series) })),
        letter(series.run) + series.name)),
      this.spec.shares ? [h("span", {}, s("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" },
        s("rect", { class: "share", x: 9, y: 0, width: 8, height: 8 })), "share of the rows")] : []);
    }

    shown() {
      return this.spec.series.filter((series) => !state.hidden.has(series.run));
    }

    draw(wanted) {
      const width = wanted || Math.max(260, this.svg.clientWidth || 430);
      const height = 240;
      const box = { left: 56, right: width - (several ? 20 : 8), top: 8, bottom: height - 26 };
      const isCurve = !this.spec.fixed && !this.spec.still;  // over the epochs
      const isLog = isCurve && state.log && this.spec.positive;
      const lines = this.shown().map((series) => ({ series,
        y: isCurve ? smooth(series.y, state.smoothing) : series.y }));
      let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
      for (const { series, y } of lines) {
        series.x.forEach((x, i) => {
          const value = y[i] === null ? null : isLog ? (y[i] > 0 ? Math.log10(y[i]) : null) : y[i];
          if (value === null) return;
          [x0, x1] = [Math.min(x0, x), Math.max(x1, x)];
          if (!series.faint) [y0, y1] = [Math.min(y0, value), Math.max(y1, value)];
        });
      }
      if (this.spec.fixed) [x0, x1, y0, y1] = [0, 1, 0, 1];
      const isEmpty = !Number.isFinite(x0);
      [x0, x1] = isEmpty ? [0, 1] : axis(x0, x1, Math.max(0.5, Math.abs(x0) * 1e-6));
      [y0, y1] = Number.isFinite(y0) ? axis(y0, y1, Math.abs(y0 || 1) * 0.05) : [0, 1];
      const px = (x) => box.left + ((x - x0) / (x1 - x0)) * (box.right - box.left);
      const py = (y) => box.bottom - ((y - y0) / (y1 - y0)) * (box.bottom - box.top);
      this.map = { px, x0, x1, width, box };
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      const parts = [];
      for (const value of isEmpty ? [] : isLog ? logTicks(y0, y1) : ticks(y0, y1, 5)) {
        parts.push(s("line", { class: "grid", x1: box.left, x2: box.right, y1: py(value), y2: py(value) }),
          s("text", { x: box.left - 6, y: py(value) + 4, "text-anchor": "end" }, number(isLog ? Math.pow(10, value) : value)));
      }
      for (const value of isEmpty ? [] : ticks(x0, x1, Math.max(3, Math.floor(width / 80)), isCurve ? 1 : 0)) {
        parts.push(s("text", { x: px(value), y: box.bottom + 16, "text-anchor": "middle" }, number(value)));
      }
      parts.push(s("text", { x: box.right, y: height, "text-anchor": "end" }, this.spec.x));
      if (this.spec.diagonal) {
        const [low, high] = [Math.max(x0, y0), Math.min(x1, y1)];
        parts.push(s("line", { class: "grid", "stroke-dasharray": "2 3", x1: px(low), y1: py(low), x2: px(high), y2: py(high) }));
      }
      for (const mark of (this.spec.marks || []).filter((candidate) => !state.hidden.has(candidate.run) && !isEmpty)) {
        const x = px(mark.x);
        const isRight = x > (box.left + box.right) / 2;
        parts.push(s("line", { class: "mark", x1: x, x2: x, y1: box.top, y2: box.bottom }),
          s("text", { x: x + (isRight ? -4 : 4), y: box.top + 8, "text-anchor": isRight ? "end" : "start" }, `${letter(mark.run)}best`));
      }
      if (isEmpty && lines.length > 0) {
        parts.push(s("text", { x: (box.left + box.right) / 2, y: height / 2, "text-anchor": "middle" }, "no finite values"));
      }
      if (this.spec.shares) {  // of the rows, at each x
        const x = this.spec.series[0].x;
        const barWidth = Math.max(3, Math.min(14, (box.right - box.left) / (2 * x.length)));
        const tallest = Math.max(...this.spec.shares, 1e-12);
        this.spec.shares.forEach((share, i) => {
          const barHeight = (share / tallest) * 44;
          parts.push(s("rect", { class: "share", x: px(x[i]) - barWidth / 2, y: box.bottom - barHeight, width: barWidth, height: barHeight }));
        });
      }
      for (const { series, y } of lines) {
        let path = "";
        let pen = "M";
        let last = null;
        series.x.forEach((x, i) => {
          const value = y[i] === null ? null : isLog ? (y[i] > 0 ? Math.log10(y[i]) : null) : y[i];
          if (value === null) { pen = "M"; return; }
          const clamped = Math.min(Math.max(py(value), box.top - 4), box.bottom + 4);
          path += `${pen}${px(x).toFixed(1)} ${clamped.toFixed(1)}`;
          pen = "L";
          last = [px(x), clamped];
        });
        if (last === null) continue;
        const isPoint = !path.includes("L");
        if (!series.no_line) {
          parts.push(s("path", { class: series.faint ? "series faint" : "series", d: path, stroke: colorOf(series),
            "stroke-dasharray": dashOf(series) }));
        }
        if (isPoint || series.dots) {
          for (const [, dx, dy] of path.matchAll(/[ML](\S+) (\S+?)(?=[ML]|$)/g)) {
            parts.push(s("circle", { cx: dx, cy: dy, r: series.no_line ? 2 : 3, fill: colorOf(series),
              "fill-opacity": series.no_line ? 0.5 : 1 }));
          }
        }
        if (series.faint || series.no_line) continue;
        if (isPoint && isCurve) {  // it has no dashes to be told apart by
          const isLeft = last[0] < width / 2;
          parts.push(s("text", { x: last[0] + (isLeft ? 7 : -7), y: last[1] + 4, "text-anchor": isLeft ? "start" : "end" },
            letter(series.run) + series.name));
        } else if (several) {
          parts.push(s("text", { x: last[0] + 4, y: last[1] + 4, style: `fill:${color(series.run)};font-weight:600` },
            data.runs[series.run].letter));
        }
      }
      this.cursor = s("line", { class: "cursor", y1: box.top, y2: box.bottom, visibility: "hidden" });
      this.svg.replaceChildren(...parts, this.cursor);
      this.moveTo(this.at);
    }

    point(event) {
      const { x0, x1, box, width } = this.map;
      const bounds = this.svg.getBoundingClientRect();
      const at = ((event.clientX - bounds.left) / bounds.width) * width;
      this.moveTo(x0 + ((at - box.left) / (box.right - box.left)) * (x1 - x0));
    }

    key(event) {
      const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") this.moveTo(null);
      if (!direction) return;
      event.preventDefault();
      const places = [...new Set(this.shown().flatMap((series) => series.x))].sort((a, b) => a - b);
      if (places.length === 0) return;
      const now = this.at === null ? (direction > 0 ? -1 : places.length) :
        places.findIndex((x) => x >= this.at - 1e-9);
      this.moveTo(places[Math.min(Math.max(now + direction, 0), places.length - 1)]);
      this.live.textContent = this.tip.textContent;
    }

    // The value of each series that is nearest to x.
    moveTo(x) {
      this.at = x;
      this.tip.hidden = x === null;
      this.cursor.setAttribute("visibility", x === null ? "hidden" : "visible");
      if (x === null) return;
      const rows = [];
      let nearest = null;
      for (const series of this.shown()) {
        if (series.faint && state.smoothing === 0 && this.shown().length > 6) continue;
        let best = -1;
        series.x.forEach((candidate, i) => {
          if (series.y[i] !== null && (best < 0 || Math.abs(candidate - x) < Math.abs(series.x[best] - x))) best = i;
        });
        if (best < 0) continue;
        if (nearest === null || Math.abs(series.x[best] - x) < Math.abs(nearest - x)) nearest = series.x[best];
        rows.push(h("div", {}, swatch(series.color ?? series.run), `${letter(series.run)}${series.name} `, h("b", {}, number(series.y[best]))));
      }
      if (nearest === null) { this.tip.hidden = true; return; }
      if (this.spec.shares) {
        const share = this.spec.shares[this.spec.series[0].x.indexOf(nearest)];
        rows.push(h("div", { class: "soft" }, `rows ${(100 * share).toFixed(1)} %`));
      }
      this.cursor.setAttribute("x1", this.map.px(nearest));
      this.cursor.setAttribute("x2", this.map.px(nearest));
      this.tip.replaceChildren(h("div", { class: "soft" }, `${this.spec.x} ${number(nearest)}`), ...rows);
      const isRight = this.map.px(nearest) > this.map.width / 2;
      this.tip.style.left = isRight ? "4rem" : "auto";
      this.tip.style.right = isRight ? "auto" : "1rem";
    }
  }

  const drawAll = (width) => charts.forEach((chart) => chart.draw(width));

  function table(head, rows, attributes) {
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `table: ${(attributes || {}).label}` },
      h("table", {}, h("thead", {}, h("tr", {}, head.map((cell, i) => (cell === "" ? h("td", {}) :
        h("th", { scope: "col", class: (attributes || {}).text && i > 0 ? "text" : null }, cell))))),
        h("tbody", {}, rows)));
  }
  const row = (cells, attributes) => h("tr", {}, cells.map((cell, i) =>
    i === 0 ? h("th", { scope: "row", class: "text" }, cell) : h("td", (attributes || [])[i] || {}, cell)));

  // Columns of numbers to the right, columns of texts to the left.
  function plainTable(found, label) {
    const isNumber = (text) => text === "missing" || /^[-+\u2212\d.,e%\s]*$/.test(text);
    const left = found.head.map((_, i) => i > 0 && !found.rows.every((cells) => isNumber(cells[i])));
    const node = table(found.head, found.rows.map((cells) => row(cells, cells.map((_, i) => (left[i] ? { class: "left" } : {})))), { label });
    node.querySelectorAll("thead th").forEach((cell, i) => cell.classList.toggle("left", left[i]));
    return node;
  }

  function section(title, ...content) {
    const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
    return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...content);
  }

  function drawHeader() {
    const title = several ? `${data.runs.length} runs` : data.runs[0].name;
    const items = data.runs.map((run, i) => h("li", {},
      several ? h("button", { "aria-pressed": "true", "data-run": i, on: { click: (event) => toggle(i, event.currentTarget) } },
        swatch(i), h("b", {}, run.letter), " ", run.name) : null,
      h("span", {}, run.state + (run.reason ? `: ${run.reason}` : "")),
      h("span", { class: "soft" }, [`${run.epochs} ${run.unit}`, run.time, run.started, run.device].filter((text) => text).join(" · ")),
      run.note ? h("em", {}, run.note) : null));
    document.getElementById("header").append(h("h1", {}, title), h("ul", { class: "runs" }, items));
  }

  function toggle(run, button) {
    if (state.hidden.has(run)) state.hidden.delete(run); else state.hidden.add(run);
    button.setAttribute("aria-pressed", String(!state.hidden.has(run)));
    drawAll();
  }

  function controls() {
    const log = h("input", { type: "checkbox", id: "log", on: { change: (event) => { state.log = event.target.checked; drawAll(); } } });
    const smoothing = h("input", { type: "range", id: "smoothing", min: 0, max: 0.98, step: 0.02, value: 0,
      on: { input: (event) => { state.smoothing = Number(event.target.value); drawAll(); } } });
    return h("div", { class: "controls" }, h("label", { for: "log" }, log, "logarithmic"), h("label", { for: "smoothing" }, "smoothing", smoothing));
  }

  function metricsTable() {
    const rows = data.metrics.map((metric) => row([metric.name, ...metric.values],
      [null, ...metric.values.map((_, i) => (metric.best === i ? { class: "best" } : {}))]));
    return table(["", ...data.runs.map((run) => (several ? run.letter : "value"))], rows, { label: "metrics" });
  }

  function confusion(matrix, of) {
    const totals = matrix.counts.map((counts) => counts.reduce((sum, count) => sum + count, 0));
    const rows = matrix.labels.map((label, t) => h("tr", {}, h("th", { scope: "row" }, label),
      matrix.counts[t].map((count, p) => {
        const share = totals[t] > 0 ? count / totals[t] : 0;
        return h("td", { style: `background:rgba(var(--heat),calc(var(--most) * ${share.toFixed(3)}))`,
          title: `${matrix.labels[t]} predicted as ${matrix.labels[p]}: ${count} of ${totals[t]}` }, String(count));
      })));
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `confusion matrix${of}` },
      h("table", { class: "confusion" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "true \\ predicted"), matrix.labels.map((label) => h("th", { scope: "col" }, label)))), h("tbody", {}, rows)));
  }

  // A bar from 0 to the value, and a line over it that is as long as twice the spread.
  function bars(entries, label) {
    const most = Math.max(...entries.map((entry) => entry.value + entry.spread), 1e-12);
    const percent = (value) => `${(100 * Math.min(Math.max(value / most, 0), 1)).toFixed(1)}%`;
    const rows = entries.map((entry) => {
      const [low, high] = [Math.max(entry.value - entry.spread, 0), entry.value + entry.spread];
      return h("tr", {}, h("th", { scope: "row", class: "text" }, entry.name),
        h("td", { class: "bars", "aria-hidden": "true" }, h("div", {}, h("div", { class: "bar", style: `width:${percent(entry.value)}` }),
          high > 0 ? h("div", { class: "spread", style: `left:${percent(low)};width:${percent(high - low)}` }) : null)),
        h("td", {}, entry.text), h("td", { class: "soft" }, `\u00b1 ${entry.std}`), h("td", { class: "soft" }, entry.noise ? "within the noise" : ""));
    });
    return table(["column", "", "importance", "std", ""], rows, { label });
  }

  // Over the numbers of a column as a chart, with all values as a table.
  function effect(found, label) {
    const values = table(found.head, found.rows.map((cells) => row(cells)), { label: `${found.title}${label}` });
    const text = h("p", { class: "soft" }, found.text);
    return found.chart ? h("div", {}, new Chart(found.chart).node, text, h("details", {}, h("summary", {}, "Values"), values)) :
      h("div", { class: "chart" }, h("h3", {}, found.title), text, values);
  }

  function importance(found, label) {
    const parts = [h("h3", { style: "margin-top:1rem" }, "Importance of the columns")];
    if (found.entries) parts.push(bars(found.entries, `importance of the columns${label}`));
    if (found.more > 0) parts.push(h("p", { class: "soft" }, `and ${found.more} less important columns`));
    parts.push(h("p", { class: "soft" }, found.note));
    const effects = (found.effects || []).map((one) => effect(one, label));
    if (effects.length > 0) parts.push(h("div", { class: "charts", style: "margin-top:1rem;align-items:start" }, effects));
    return parts;
  }

  // What the model is, whether it is good, and all its metrics.
  function verdict(found) {
    const parts = [];
    if (found.facts.length > 0) {
      const facts = [...found.facts, ...(data.runs[found.run].warnings.length === 0 ? [["warnings", "none"]] : [])];
      parts.push(h("dl", { class: "facts" }, facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])));
    }
    if (found.verdict) {
      parts.push(h("div", { class: found.verdict.good ? "verdict" : "verdict bad" },
        h("b", {}, found.verdict.title), h("p", {}, found.verdict.text)));
    }
    parts.push(plainTable(found.scores, `metrics${several ? ` of ${data.runs[found.run].letter}` : ""}`));
    return parts;
  }

  function evaluation(found) {
    const run = data.runs[found.run];
    const parts = several ? verdict(found) : [];
    if (found.classes) {
      parts.push(table(["class", "precision", "recall", "F1", "rows"], found.classes.map((entry) =>
        row([entry.label, ...["precision", "recall", "f1"].map((name) => `${(100 * entry[name]).toFixed(2)} %`), String(entry.rows)])), { label: `classes, ${found.split} split${several ? ` of ${run.letter}` : ""}` }));
    }
    if (found.confusion) parts.push(h("h3", { style: "margin-top:1rem" }, "Confusion matrix"), confusion(found.confusion, several ? ` of ${run.letter}` : ""));
    if (found.confusion_note) parts.push(h("p", { class: "soft" }, found.confusion_note));
    if (found.note) parts.push(h("p", { class: "soft" }, found.note));
    const drawn = (found.charts || []).map((spec) => new Chart(spec).node);
    if (drawn.length > 0) parts.push(h("div", { class: "charts", style: "margin-top:1rem" }, drawn));
    if (found.importance) parts.push(...importance(found.importance, several ? ` of ${run.letter}` : ""));
    if (found.worst) {
      parts.push(h("h3", { style: "margin-top:1rem" }, "Worst rows"), plainTable(found.worst, `worst rows${several ? ` of ${run.letter}` : ""}`));
    }
    return section(`Evaluation${several ? ` of ${run.letter}` : ""}: ${found.split}${found.split === "out-of-fold" ? "" : " split"}, ${found.rows.toLocaleString("en-US")} rows`, ...parts);
  }

  // Names and texts; of many, only the first are shown at once.
  function texts(head, entries, label) {
    const most = 25;
    const all = (part) => table(head, part.map((cells) => row(cells, cells.map(() => ({ class: "text" })))), { label, text: true });
    if (entries.length <= most) return all(entries);
    return h("details", {}, h("summary", {}, `${entries.length} ${label}`), all(entries));
  }

  // Takes the charts that all evaluations have with one line each, to draw these lines in one chart.
  function takeSharedCharts() {
    const lines = (spec) => spec.series.filter((series) => series.x.length > 1 && !series.no_line);
    const all = data.evaluations.flatMap((found) => found.charts || []).filter((spec) => lines(spec).length === 1);
    const titles = [...new Set(all.map((spec) => spec.title))];
    return titles.map((title) => all.filter((spec) => spec.title === title)).filter((same) => same.length > 1).map((same) => {
      for (const found of data.evaluations) found.charts = (found.charts || []).filter((spec) => !same.includes(spec));
      const series = same.flatMap(lines).map((one) => ({ ...one, color: one.run }));
      return { ...same[0], shares: undefined, series };
    });
  }

  function drawMain() {
    const main = document.getElementById("main");
    const add = (...nodes) => main.append(...nodes);
    const first = several ? undefined : data.evaluations[0];
    if (first) add(section("Is it good?", ...verdict(first)));
    const warnings = data.runs.flatMap((run) => run.warnings.map((text) => h("li", {}, (several ? run.letter + ": " : "") + text)));
    if (warnings.length > 0) add(section("Warnings", h("ul", { class: "warnings" }, warnings)));
    if (data.leaderboard) add(section("Which is best?", plainTable(data.leaderboard, "leaderboard")));
    if (several) {
      add(section("Is it noise?", data.noise.rows ? table(data.noise.head, data.noise.rows.map((cells) => row(cells)), { label: "differences" }) : null,
        h("p", {}, data.noise.text)));
      const shared = takeSharedCharts();
      if (shared.length > 0) add(section("Side by side", h("div", { class: "charts" }, shared.map((spec) => new Chart(spec).node))));
      if (data.differences.length > 0) {
        add(section("What differs", texts(["key", ...data.runs.map((run) => run.letter)], data.differences, "settings that differ")));
      }
    }
    if (!first && data.metrics.length > 0) add(section("Metrics", metricsTable()));
    for (const found of data.evaluations) add(evaluation(found));
    for (const folds of data.folds) add(section(folds.title, table(folds.head, folds.rows.map((cells) => row(cells)), { label: folds.title })));
    if (data.charts.length > 0) {
      add(section("Curves", controls(), h("div", { class: "charts" }, data.charts.map((spec) => new Chart(spec).node))));
    }
    if (data.columns) {
      add(section("Columns", texts(["column", "kind", "treatment"], data.columns, "columns")));
    }
    data.runs.forEach((run, i) => {
      const title = several ? `Run ${run.letter}` : "Settings that are not the defaults";
      add(section(title, several ? h("p", {}, swatch(i), run.folder) : null,
        run.settings.length > 0 ? texts(["key", "value", "default"], run.settings, `settings${several ? ` of ${run.letter}` : ""}`) : h("p", {}, "none"),
        run.command ? h("p", {}, "Repeat it with") : null, run.command ? h("pre", { tabindex: "0" }, h("code", {}, run.command)) : null,
        h("details", { open: !several }, h("summary", {}, "Machine, versions and data"), texts(["what", "value"], run.system, `machine${several ? ` of ${run.letter}` : ""}`))));
    });
    document.getElementById("footer").append(h("p", {}, data.footer));
  }

  if (data.refresh) setTimeout(() => location.reload(), 1000 * data.refresh);
  drawHeader();
  drawMain();
  drawAll();
  new ResizeObserver(() => drawAll()).observe(document.getElementById("main"));
  const printedWidth = 340;  // two columns on A4
  addEventListener("beforeprint", () => drawAll(printedWidth));
  addEventListener("afterprint", () => drawAll());
})();

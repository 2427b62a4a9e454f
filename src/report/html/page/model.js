// Draws the page of a model: a form of its columns, and what predict.js makes of it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const model = makeModel(data);
  const isRegression = data.labels.length === 0;
  const MAX_ROWS = 12;  // of a table

  const percent = (p) => (p > 0 && p < 0.001 ? "< 0.1 %" : p < 1 && p > 0.999 ? "> 99.9 %" : `${(100 * p).toFixed(1)} %`);
  const coverage = data.interval ? `With a probability of ${Number((100 * data.interval.coverage).toPrecision(6))} %` : "";
  const signed = (value) => (value > 0 ? "+" : "") + number(value);

  // The input of a field, and how it is read.
  const inputs = data.fields.map((field, index) => {
    const [part] = field.parts;
    const attributes = { id: `field${index}`, name: field.name, "aria-describedby": `hint${index}`, autocomplete: "off" };
    if (part.categories) {
      const options = part.categories.map((text, i) => [i, text]);
      if (part.missing_indicator) options.push(["", "(missing)"]);
      if (data.accepts_unknown) options.push([-1, part.missing_indicator ? "(another)" : "(missing or another)"]);
      const node = h("select", attributes, options.map(([value, text]) => h("option", { value }, text)));
      return { field, node, start: String(part.start), hint: "", read: () => (node.value === "" ? null : Number(node.value)) };
    }
    const required = field.parts.some((one) => one.fill === undefined);
    if (part.date_part) {
      const of = Object.fromEntries(field.parts.map((one) => [one.date_part, one]));
      const [step, length] = of.hour ? [60, 16] : [86400, 10];  // seconds of the profile are float32
      const date = (seconds) => new Date(1000 * step * Math.round(seconds / step)).toISOString().slice(0, length);
      const node = h("input", { ...attributes, type: of.hour ? "datetime-local" : "date" });
      const start = of.seconds ? of.seconds.start
        : Date.UTC(of.year ? of.year.start : 2000, of.month ? of.month.start - 1 : 0, 1, of.hour ? of.hour.start : 0) / 1000;
      const range = of.seconds ? (of.seconds.range || []).map(date) : (of.year && of.year.range) || [];
      return { field, node, required, start: date(start), hint: range.join(" to "), read: () => node.valueAsNumber / 1000 };
    }
    const node = h("input", { ...attributes, type: "number", step: "any" });
    const hint = part.range ? `${part.range[0]} to ${part.range[1]}` : "";
    return { field, node, required, range: part.range, start: String(part.start), hint, read: () => node.valueAsNumber };
  });

  // What is wrong with a field, or worth knowing.
  function check(input, cell) {
    const isMissing = Number.isNaN(cell);
    const isBad = input.node.validity.badInput || (isMissing && input.required);
    const isOutside = !isBad && input.range && (cell < input.range[0] || cell > input.range[1]);
    const hint = isBad ? "needs a value" : isMissing ? "missing" : isOutside ? `outside ${input.hint}, the range in training` : input.hint;
    input.note.textContent = hint;
    input.note.classList.toggle("outside", Boolean(isBad || isOutside));
    input.node.setAttribute("aria-invalid", String(Boolean(isBad)));
    return isBad;
  }
  const form = h("form", { class: data.fields.length > 30 ? "fields many" : "fields", "aria-label": "Columns" },
    inputs.map((input, index) => {
      const [before, after] = (input.field.parts[0].unit || "#").split("#");
      input.note = h("span", { id: `hint${index}`, class: "hint" });
      return h("div", {}, h("label", { for: `field${index}` }, input.field.name,
        before || after ? h("span", { class: "soft" }, ` (${before}${after})`) : null), input.node, input.note);
    }));

  const answer = h("output", { class: "answer" });
  const details = h("div", {});
  const target = h("select", { id: "target", on: { change: () => explain() } },
    data.targets.map((name, i) => h("option", { value: i }, name)));
  const why = h("div", {});

  function barRow(name, text, bar) {
    return h("tr", {}, h("th", { scope: "row", class: "text" }, name), h("td", {}, text), h("td", { class: "bars" }, bar));
  }
  const bar = (style, isNegative) => h("div", {}, h("div", { class: isNegative ? "bar negative" : "bar", style }));

  function showClasses({ values, label, set }) {
    answer.replaceChildren(h("b", {}, data.labels[label]), ` with probability ${percent(values[label])}`);
    let order = values.map((_, i) => i);
    if (order.length > MAX_ROWS) order = order.sort((a, b) => values[b] - values[a]).slice(0, MAX_ROWS);
    details.replaceChildren(h("table", {}, h("caption", { class: "hidden" }, "Probabilities of the classes"), h("tbody", {},
      order.map((i) => barRow(data.labels[i], percent(values[i]), bar(`width:${100 * values[i]}%`))))),
    set ? h("p", {}, `${coverage} it is ${set.length > 1 ? "one of " : ""}${set.map((i) => data.labels[i]).join(", ")}.`) : "",
    data.labels.length === 2 && data.threshold !== 0.5
      ? h("p", { class: "soft" }, `${data.labels[1]} is predicted if its probability is above ${percent(data.threshold)}.`) : "");
  }
  function showValues({ values, interval }) {
    answer.replaceChildren(...values.map((value, i) => h("div", {}, values.length > 1 ? `${data.targets[i]} ` : "", h("b", {}, number(value)))));
    details.replaceChildren(...(interval || []).map(([low, high], i) => h("p", {},
      `${coverage} ${data.targets[i]} is between ${number(low)} and ${number(high)}.`)));
  }

  let cells = null;  // null: some field needs a value
  function explain() {
    why.removeAttribute("aria-busy");
    if (!cells) return why.replaceChildren();
    const index = isRegression ? Number(target.value) : model.predict(cells).label;
    const { contributions, atBaseline, atRow, addsUp } = model.explain(cells, index);
    const order = contributions.map((_, i) => i).sort((a, b) => Math.abs(contributions[b]) - Math.abs(contributions[a]));
    const others = order.length > MAX_ROWS + 1 ? order.splice(MAX_ROWS) : [];
    const rows = order.map((i) => [data.fields[i].name, contributions[i]]);
    if (others.length) rows.push([`${others.length} others`, others.reduce((total, i) => total + contributions[i], 0)]);
    const largest = Math.max(...rows.map((row) => Math.abs(row[1]))) || 1;
    const of = isRegression ? data.targets[index] : `the log-odds of ${data.labels[index]}`;
    why.replaceChildren(h("p", { class: "soft" }, `How each column moves ${of} from ${number(atBaseline)} to ${number(atRow)}.`),
      h("table", { class: "both" }, h("caption", { class: "hidden" }, "Contributions of the columns"), h("tbody", {},
        rows.map(([name, value]) => barRow(name, signed(value),
          bar(`${value < 0 ? "right" : "left"}:50%;width:${(50 * Math.abs(value)) / largest}%`, value < 0))))),
      h("p", { class: "soft" }, `Integrated gradients. It begins where ${data.baseline_text}.${addsUp ? "" : " The contributions do not add up exactly."}`));
  }
  let timer = 0;
  function update() {
    const read = inputs.map((input) => input.read());
    const bad = inputs.filter((input, i) => check(input, read[i]));
    cells = bad.length ? null : read;
    if (cells) {
      (isRegression ? showValues : showClasses)(model.predict(cells));
    } else {
      answer.replaceChildren(`Needs a value: ${bad.map((input) => input.field.name).join(", ")}`);
      details.replaceChildren();
    }
    why.setAttribute("aria-busy", "true");
    clearTimeout(timer);
    timer = setTimeout(explain, 120);  // it takes longer than a prediction
  }
  function reset() {
    for (const { node, start } of inputs) node.value = start;
    update();
  }
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());

  document.getElementById("header").append(h("h1", {}, document.title),
    h("p", { class: "soft" }, "The values are typical ones of the training data. Change them, and the prediction follows. All is computed in this page."));
  document.getElementById("main").append(h("div", { class: "model" },
    h("section", { "aria-labelledby": "columns" }, h("h2", { id: "columns" }, "Columns ", h("button", { type: "button", on: { click: reset } }, "Typical values")), form),
    h("aside", {},
      h("section", { class: "result", "aria-labelledby": "prediction" }, h("h2", { id: "prediction" }, "Prediction"), answer),
      details,
      h("section", { class: "why", "aria-labelledby": "contributions" }, h("h2", { id: "contributions" }, "Contributions"),
        isRegression && data.targets.length > 1 ? h("p", {}, h("label", { for: "target" }, "Target "), target) : null, why))));
  document.getElementById("footer").append(h("p", {}, data.footer));
  reset();
})();

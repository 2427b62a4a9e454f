// SPDX-License-Identifier: Apache-2.0
// Computes with the script of exported pages, without a browser.
// node run_page.js JOBS            JOBS: a file, {"page", "rows": cells of each field; texts are
//                                  categories or dates, null is missing; "explain"} a line. Prints
//                                  {"values", "label", "set", "interval", "explained"} a row
// node run_page.js time PAGE       prints the time of a prediction and of its contributions
'use strict';
const fs = require('fs');

function load(page) {
  const html = fs.readFileSync(page, 'utf8');
  const data = JSON.parse(html.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]);
  const script = html.match(/\n<script>\n(.*?)\/\/ Draws the page/s)[1];
  return [data, new Function(`${script}; return makeModel;`)()(data)];
}

function cell(field, given) {
  const [part] = field.parts;
  if (part.categories) return given === null ? null : part.categories.indexOf(given);
  if (given === null) return NaN;
  return part.date_part ? Date.parse(given + 'Z') / 1000 : given;
}

function run(job) {
  const [data, model] = load(job.page);
  return job.rows.map((row) => {
    const cells = row.map((given, i) => cell(data.fields[i], given));
    const found = model.predict(cells);
    if (job.explain) found.explained = model.explain(cells, found.label ?? 0);
    return found;
  });
}

function time(page) {
  const [data, model] = load(page);
  const cells = data.fields.map((field) => field.parts[0].start);
  const measure = (what, count, call) => {
    const times = [];
    for (let i = 0; i < 1.2 * count; i++) {
      const begin = process.hrtime.bigint();
      call();
      if (i >= 0.2 * count) times.push(Number(process.hrtime.bigint() - begin) / 1000);
    }
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.floor(share * count)].toPrecision(3);
    console.log(`${what}: median ${at(0.5)} us, 99 % below ${at(0.99)} us`);
  };
  measure('prediction', 2000, () => model.predict(cells));
  measure('contributions', 200, () => model.explain(cells, 0));
}

if (process.argv[2] === 'time') {
  time(process.argv[3]);
} else {
  const jobs = fs.readFileSync(process.argv[2], 'utf8').trim().split('\n');
  console.log(JSON.stringify(jobs.flatMap((line) => run(JSON.parse(line)))));
}

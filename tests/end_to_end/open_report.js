// SPDX-License-Identifier: Apache-2.0
// Opens a report in a headless Chromium (CHROMIUM, else chromium) and prints what it sees as JSON.
// node open_report.js probe        ends with 0 when browser and packages are there (NODE_PATH)
// node open_report.js FILE         {"problems", "requests", "violations", "title", "runs", "charts",
//                                   "hovered", "read", "after_switch", "text", "width"}
'use strict';
const puppeteer = require('puppeteer-core');
const axePath = require.resolve('axe-core');
const fs = require('fs');
const path = require('path');

function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const places = (process.env.PATH || '').split(':').map((folder) => path.join(folder, 'chromium'));
  return places.find((place) => fs.existsSync(place));
}

async function look(browser, file) {
  const page = await browser.newPage();
  const seen = { problems: [], requests: [] };
  page.on('console', (message) => seen.problems.push(message.text()));
  page.on('pageerror', (error) => seen.problems.push(String(error)));
  page.on('dialog', (dialog) => { seen.problems.push('dialog: ' + dialog.message()); dialog.dismiss(); });
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) seen.requests.push(request.url());
  });
  await page.setViewport({ width: 1000, height: 800 });
  await page.goto('file://' + path.resolve(file), { waitUntil: 'load' });
  await page.waitForSelector('footer p');
  seen.title = await page.title();
  seen.text = await page.$eval('body', (body) => body.innerText);
  seen.runs = await page.$$eval('button[data-run]', (buttons) => buttons.length);
  seen.charts = await page.$$eval('figure.chart', (figures) => figures.map((f) => f.dataset.chart));
  // The curves of runs have their own controls; a cross-validation has none.
  const hasCurves = (await page.$('#log')) !== null;
  const chart = hasCurves ? 'figure.chart[data-chart^="loss"]' : 'figure.chart';
  const paths = () => page.$eval(`${chart} svg`, (svg) => svg.querySelectorAll('path').length);

  const svg = await page.$(`${chart} svg`);
  await svg.evaluate((node) => node.scrollIntoView({ block: 'center' }));
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  seen.hovered = await page.$eval(`${chart} .tip`, (tip) => (tip.hidden ? '' : tip.innerText));
  await page.mouse.move(2, 2);
  await page.focus(chart);
  await page.keyboard.press('ArrowRight');
  seen.read = await page.$eval(`${chart} [aria-live]`, (live) => live.textContent);
  if (seen.runs > 0) {
    const before = await paths();
    await page.click('button[data-run]');
    seen.after_switch = { before, after: await paths() };
    await page.click('button[data-run]');
  }
  if (hasCurves) {
    await page.click('#log');
    await page.focus('#smoothing');
    await page.keyboard.press('ArrowRight');
  }

  // Colors in both schemes, and a phone.
  seen.violations = [];
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(fs.readFileSync(axePath, 'utf8'));
    const found = await page.evaluate(async () => (await globalThis.axe.run()).violations);
    for (const violation of found) {
      seen.violations.push(`${scheme}: ${violation.impact} ${violation.id}: ${violation.nodes[0].html}`);
    }
  }
  await page.setViewport({ width: 390, height: 800, isMobile: true });
  seen.width = await page.evaluate(() => document.documentElement.scrollWidth);
  return seen;
}

(async () => {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('no chromium');
  if (process.argv[2] === 'probe') return;
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    console.log(JSON.stringify(await look(browser, process.argv[2])));
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});

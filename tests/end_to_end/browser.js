// SPDX-License-Identifier: Apache-2.0
// Opens a page in a headless Chromium (CHROMIUM, else chromium) for open_report.js and
// open_model.js, and prints what they see as JSON.
// node open_....js probe           ends with 0 when browser and packages are there (NODE_PATH)
// node open_....js FILE ...        "problems", "requests", "violations", "width" of a phone, and more
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

async function open(browser, file, look) {
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
  await look(page, seen);

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

module.exports = async (look) => {
  try {
    const executablePath = findBrowser();
    if (!executablePath) throw new Error('no chromium');
    if (process.argv[2] === 'probe') return;
    const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    try {
      console.log(JSON.stringify(await open(browser, process.argv[2], look)));
    } finally {
      await browser.close();
    }
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
};

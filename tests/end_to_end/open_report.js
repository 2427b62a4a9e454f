// SPDX-License-Identifier: Apache-2.0
// Opens a report in a browser (browser.js) and prints also
// {"title", "runs", "charts", "hovered", "read", "after_switch", "text"}
'use strict';
require('./browser.js')(async (page, seen) => {
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
});

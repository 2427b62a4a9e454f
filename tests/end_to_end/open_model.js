// SPDX-License-Identifier: Apache-2.0
// Opens an exported page in a browser (browser.js), types by the keyboard into the form, and prints
// also {"labels", "steps": [what the page says before, and
// after each row], "values" and "hints" of the fields}
// node open_model.js FILE ROWS     ROWS: a file, JSON, a list of {label of a field: text or category}
'use strict';
const fs = require('fs');
require('./browser.js')(async (page, seen) => {
  const explained = () => page.waitForFunction(
    () => !document.querySelector('[aria-busy="true"]'), { timeout: 60000 });
  const labels = await page.$$eval('form label', (all) => all.map((label) => [label.firstChild.textContent, label.htmlFor]));
  seen.labels = labels.map((label) => label[0]);
  seen.steps = [];
  for (const row of [{}, ...JSON.parse(fs.readFileSync(process.argv[3], 'utf8'))]) {
    for (const [name, text] of Object.entries(row)) {
      const id = '#' + labels.find((label) => label[0] === name)[1];
      if ((await page.$eval(id, (node) => node.tagName)) === 'SELECT') {
        const option = await page.$eval(id, (node, wanted) =>
          [...node.options].find((one) => one.textContent === wanted).value, text);
        await page.select(id, option);
      } else {
        await page.focus(id);
        await page.$eval(id, (node) => node.select());
        await page.keyboard.press('Backspace');
        await page.keyboard.type(text);
      }
    }
    await page.evaluate(() => document.querySelector('form').dispatchEvent(new Event('input')));
    await explained();
    seen.steps.push(await page.$eval('aside', (aside) => aside.innerText));
    seen.values = await page.$$eval('form input, form select', (all) => all.map((node) => node.value));
    seen.hints = await page.$$eval('.hint', (all) => all.map((hint) => hint.textContent));
  }
});

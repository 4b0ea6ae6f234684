// The page of analyze, compare and sweep: the built template filled with documents of docs/formats/paper.md.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkAccess, looksAt } from './lib/axe.mjs';
import { chromiumMissing, openReport, samples, startBrowser } from './lib/browser.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const template = join(resolve(process.env.AACO_BUILD_DIR || join(top, 'build/release')), 'share/aaco/web/paper.html');

const points = [1, 2, 4, 8].map((batch) => ({ label: `batch ${batch}`, items_per_second: (batch / (4 + batch)) * 1000, latency_ns: (4 + batch) * 1e6, ci95: [(4 + batch) * 0.98e6, (4 + batch) * 1.02e6], tail_ns: (4 + batch) * 1.1e6 }));
const sweep = {
  schema: 'aaco.paper', schema_version: 1, title: 'Sweep of </script><b>mlp', curves: [{ name: 'cpu, 1 thread', points, knee: 2 }, { name: 'cpu, 2 threads', points: points.map((one) => ({ ...one, latency_ns: one.latency_ns * 0.6 })) }],
  sections: [{ title: '', facts: [['knee of cpu', 'batch 4: 8.00 ms'], ['points', '8 of 8 measured']], lines: ['The knee is the point with the highest throughput per latency.'] },
    { title: 'Points', facts: [], lines: [], table: { header: ['backend', 'batch', 'median', 'session'], numeric: [false, true, true, false], rows: [['cpu', '8', '12.0 ms', 'a'], ['cpu', '1', '900 µs', '<img src=x onerror=alert(1)>'], ['cpu', '4', '-', 'out of memory']] } }],
};
const analysis = { schema: 'aaco.paper', schema_version: 1, title: 'resnet50 on MI300X', curves: [], sections: [{ title: '', facts: [['latency', '738 µs  (266 µs to 2.07 ms, 90 %)'], ['', 'continued']], lines: [] },
  { title: 'Nodes', facts: [], lines: [], table: { header: ['NODE', 'TIME'], numeric: [false, true], rows: [...Array(60)].map((_, at) => [`node_${at}_${'x'.repeat(80)}`, `${60 - at} µs`]) } }] };

const bars = { schema: 'aaco.paper', schema_version: 1, title: 'bars', curves: [], sections: [{ title: 'Memory', facts: [], lines: [], table: { header: ['CLASS', 'GFLOP', 'J/ITEM', ''], numeric: [false, true, true, false], rows: [['gemm', '2', '0.5', '\u2588\u2588'], ['pool', '1', '0.2', '\u2588']] } }] };

// A table of many columns, two of which have the same words in every row.
const wide = { schema: 'aaco.paper', schema_version: 1, title: 'wide', curves: [], sections: [{ title: 'Nodes', facts: [], lines: [], table: { header: ['NODE', 'LEVEL', 'SHAPE', 'TIME', 'RANGE', 'LIMIT', 'MEMORY', 'COMPUTE', 'FLOOR', 'TILE', 'WAVE', 'EFFIC.'], numeric: [false, false, false, true, true, false, true, true, true, true, true, true],
  rows: [...Array(5)].map((_, at) => [`/layer3/${at}/conv2/Conv`, 'INTERPOLATED', `8x1024x14x14, ${at + 256} of 1x1`, '13.4 µs', '4.89 µs to 36.6 µs', 'floor', '523 ns', '1.42 µs', '12.2 µs', '0.98', '0.99', '1.00']) } }] };

function write(name, data) {
  const page = readFileSync(template, 'utf8').replace('__AACO_REPORT_DATA__', () => data.replace(/</g, '\\u003c')).replace('__AACO_REPORT_TEXT__', 'text');
  writeFileSync(join(samples, `${name}.html`), page);
}

describe('the page of a prediction or a sweep', { skip: chromiumMissing }, () => {
  let browser;
  before(async () => {
    for (const [name, document] of [['paper_sweep', JSON.stringify(sweep)], ['paper_analysis', JSON.stringify(analysis)], ['paper_bars', JSON.stringify(bars)], ['paper_wide', JSON.stringify(wide)], ['paper_damaged', '{"schema":'], ['paper_newer', '{"schema": "aaco.paper", "schema_version": 9}']]) write(name, document);
    browser = await startBrowser();
  });
  after(() => browser?.stop());
  const on = (what, name, options, body) => test(what, async () => {
    const { page, trouble } = await openReport(browser, name, options);
    try {
      await body(page);
      if (process.env.AACO_WEB_PICTURES) await page.screenshot({ path: join(process.env.AACO_WEB_PICTURES, `${what.replace(/\W+/g, '_')}.png`), fullPage: true });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth) <= 0, 'overflow');
      assert.deepEqual(trouble, []);
    } finally {
      await page.close();
    }
  });
  on('a sweep draws its curves and names the knee', 'paper_sweep', {}, async (page) => {
    assert.equal(await page.locator('.sweep-line').count(), 4); // two curves, two samples of the key
    assert.match(await page.locator('.load-curve').innerText(), /knee: batch 4[\s\S]*cpu, 2 threads/);
    assert.match(await page.locator('h1').innerText(), /Sweep of <\/script><b>mlp/);
  });
  on('headings keep their units, and bars of a terminal are drawn', 'paper_bars', {}, async (page) => {
    assert.deepEqual(await page.locator('th').allInnerTexts(), ['class', 'GFLOP', 'J/item', '']);
    const widths = await page.evaluate(() => [...document.querySelectorAll('.paper-bar .bar')].map((one) => one.getBoundingClientRect().width));
    assert.ok(widths[0] > 50 && Math.abs(widths[1] / widths[0] - 0.5) < 0.02, String(widths));
    assert.doesNotMatch(await page.locator('main').innerText(), /\u2588/);
    await checkAccess(page);
  });
  on('a table of many columns fits, and says once what is the same in every row', 'paper_wide', { width: 1400 }, async (page) => {
    assert.equal((await page.locator('#part-0 .lead').innerText()).replace(/\s/g, ' '), 'In every row: level INTERPOLATED; limit floor');
    assert.deepEqual(await page.locator('th').allInnerTexts(), ['node', 'shape', 'time', 'range', 'memory', 'compute', 'floor', 'tile', 'wave', 'effic.']);
    const [table, room] = await page.locator('table').evaluate((one) => [one.scrollWidth, one.parentElement.clientWidth]);
    assert.ok(table <= room, `${table} px in ${room} px`);
  });
  on('cells sort by their quantity', 'paper_sweep', {}, async (page) => {
    await page.getByRole('button', { name: 'median' }).click();
    assert.deepEqual(await page.locator('#part-0 tbody td:nth-child(3), #part-1 tbody td:nth-child(3)').allInnerTexts(), ['12.0\u00a0ms', '900\u00a0µs', '-']);
  });
  on('a long table is filtered and shown in pages', 'paper_analysis', {}, async (page) => {
    assert.equal(await page.locator('tbody tr').count(), 40);
    await page.getByRole('searchbox').fill('node_59');
    assert.equal(await page.locator('tbody tr').count(), 1);
    assert.match(await page.locator('#summary').innerText(), /738.µs[\s\S]*continued/);
  });
  on('damaged data is said', 'paper_damaged', {}, async (page) => assert.match(await page.locator('main').innerText(), /no data/));
  on('a newer document is refused', 'paper_newer', {}, async (page) => assert.match(await page.locator('main').innerText(), /schema version 9/));
  for (const name of ['paper_sweep', 'paper_analysis'])
    for (const width of [375, 1400, 2560])
      for (const colorScheme of ['light', 'dark'])
        on(`${name} fits ${width} px, ${colorScheme}`, name, { width, colorScheme }, async (page) => { if (looksAt(width, colorScheme)) await checkAccess(page); });
});

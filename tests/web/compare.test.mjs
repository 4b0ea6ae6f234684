// The page of a comparison: the built template filled with verdict documents of docs/formats/verdict.md.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkAccess, looksAt } from './lib/axe.mjs';
import { chromiumMissing, openReport, samples, startBrowser } from './lib/browser.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const template = join(resolve(process.env.AACO_BUILD_DIR || join(top, 'build/release')), 'share/aaco/web/compare.html');

const metric = (id, unit, change, verdict, more = {}) => ({
  metric: id, unit, scope: 'iteration', method: 'bootstrap', verdict, threshold_ratio: 0.05, baseline: 1e7, candidate: 1e7 * (1 + change), delta_ratio: change,
  interval: [change - 0.03, change + 0.03], smallest_detectable_ratio: 0.04, confidence: 0.99, explanation: `${verdict}: by its interval`, ...more,
});
const regression = {
  schema_version: 1, verdict: 'regression', regression: true, severity: 'major', confidence: 0.993, latency_delta_pct: 20, suspected_cause: 'more launches', recommendation: 'revert the change',
  comparable: true, forced: false, baseline: ['s1'], candidate: ['s2', 's3'], threshold_ratio: 0.05, level: 0.95, decided_by: 'latency.p50_ns',
  evidence: { rows: [{ signal: 'kernel.launch_count', unit: 'count', baseline: 40, candidate: 65, delta_ratio: 0.625 }] },
  differences: [{ key: 'graph_level', baseline: 'all', candidate: '</script><b>disabled', forbids: false, severity: 'changed', meaning: 'different graph optimisation level' }],
  statistics: [metric('latency.p50_ns', 'ns', 0.2, 'regression'), metric('gpu.idle_ns', 'ns', -0.3, 'improvement', { device: 1 }), metric('latency.p99_ns', 'ns', 5, 'inconclusive', { interval: [-9, 40] }),
    { metric: 'latency.p90_ns', unit: 'ns', scope: 'iteration', method: 'none', verdict: 'inconclusive', reason: 'too few values', threshold_ratio: 0.05 }],
  root_cause: {
    causes: [{ cause: 'more_launches', title: 'more launches', probability_ratio: 0.8, share_ratio: 0.9, evidence: ['+25 launches'] }],
    decomposition: { baseline_ns: 1e7, candidate_ns: 1.2e7, delta_ns: 2e6, parts: [{ part: 'launch', title: 'launches', delta_ns: 2.5e6, share_ratio: 1.25 }, { part: 'node:Conv', title: 'nodes of type Conv', delta_ns: -7e5, share_ratio: -0.35 }], unexplained_ns: 2e5 },
  },
  kernels: { delta_ns: 1000, kernel_count: 2, kernels: [
    { kernel: 'gone_kernel', change: 'gone', verdict: 'unknown', delta_ns: -500, baseline: { calls_per_step: 1, mean_ns: 500, per_step_ns: 500 }, candidate: { calls_per_step: 0, mean_ns: 0, per_step_ns: 0 } },
    { kernel: 'slow_kernel', change: 'slower', verdict: 'slower', delta_ns: 1500, baseline: { calls_per_step: 1, mean_ns: 1000, per_step_ns: 1000 }, candidate: { calls_per_step: 1, mean_ns: 2500, per_step_ns: 2500 } }] },
  nodes: { baseline_session: 's1', candidate_session: 's2', delta_ns: 1700, between_nodes_ns: 150, around_nodes_ns: -50, node_count: 4, nodes: [
    { node: 'conv_new', former_name: 'conv_old', change: 'slower', delta_ns: 2000, baseline: { op_type: 'Conv', provider: 'CPU', executions: 1, time_ns: 4000 }, candidate: { op_type: 'FusedConv', provider: 'CPU', executions: 1, time_ns: 6000 } },
    { node: 'relu', change: 'gone', delta_ns: -500, baseline: { op_type: 'Relu', provider: 'CPU', executions: 1, time_ns: 500 }, candidate: null }] },
  ab: { ended: 'decided', wall_ns: 9e9, rounds: [{ change_ratio: 0.2, pairs: 8, b_first: true, a_median_ns: 1e7, b_median_ns: 1.2e7 }] },
  distributions: { scope: 'iteration', low_ns: 9e6, high_ns: 1.4e7,
    baseline: { total: 100, p50_ns: 1e7, p90_ns: 1.1e7, p99_ns: 1.2e7, count: [20, 60, 15, 5] }, candidate: { total: 50, p50_ns: 1.2e7, p90_ns: 1.3e7, p99_ns: 2e7, count: [0, 5, 25, 20] } },
  notes: ['a note with 3 ms'],
};
const refused = { ...regression, distributions: undefined, verdict: 'not-comparable', comparable: false, confidence: 0, statistics: [], root_cause: undefined, kernels: undefined, nodes: undefined, ab: undefined, evidence: undefined, notes: [] };

function write(name, data) {
  const page = readFileSync(template, 'utf8').replace('__AACO_REPORT_DATA__', () => data.replace(/</g, '\\u003c')).replace('__AACO_REPORT_TEXT__', 'text');
  writeFileSync(join(samples, `${name}.html`), page);
}

describe('the page of a comparison', { skip: chromiumMissing }, () => {
  let browser;
  before(async () => {
    write('compared', JSON.stringify(regression));
    write('refused_pair', JSON.stringify(refused));
    write('no_verdict', '[1');
    browser = await startBrowser();
  });
  after(async () => { await browser?.stop(); });
  const on = (what, name, options, body) => test(what, async () => {
    const { page, trouble } = await openReport(browser, name, options);
    try {
      await body(page);
      assert.deepEqual(trouble, []);
    } finally {
      await page.close();
    }
  });

  on('states the verdict, its cause and the next step', 'compared', {}, async (page) => {
    const head = (await page.locator('.headline').innerText()).replace(/\u00a0/g, ' ');
    for (const part of ['Regression: Latency P50 +20.0 %', 'more launches', 'revert the change', 's2, s3']) assert.ok(head.includes(part), `${part} in ${head}`);
  });
  on('draws each compared metric once, cut where its interval is far wider than the others', 'compared', {}, async (page) => {
    assert.equal(await page.locator('.forest-row').count(), 3);
    assert.equal(await page.locator('.forest-row.is-regression').count(), 1);
    assert.match(await page.locator('#metrics table').innerText(), /not compared: too few values/);
  });
  on('places the parts end to end up to the difference', 'compared', {}, async (page) => {
    const boxes = await page.evaluate(() => [...document.querySelectorAll('.waterfall-more, .waterfall-less, .waterfall-whole')].map((one) => [Number(one.getAttribute('x')), Number(one.getAttribute('x')) + Number(one.getAttribute('width'))]));
    assert.equal(boxes.length, 4); // two parts, unexplained, difference
    const close = (a, b) => assert.ok(Math.abs(a - b) < 1, `${a} and ${b}`);
    close(boxes[0][1], boxes[1][1]);
    close(boxes[1][0], boxes[2][0]);
    close(boxes[2][1], boxes[3][1]);
    close(boxes[0][0], boxes[3][0]);
  });
  on('lists kernels by the size of their difference, without a verdict where there is none', 'compared', {}, async (page) => {
    const rows = await page.locator('#kernels tbody tr').allInnerTexts();
    assert.match(rows[0], /slow_kernel/);
    assert.doesNotMatch(rows[1], /unknown/);
  });
  on('adds the kernels up to the whole', 'compared', {}, async (page) => {
    const sum = (await page.locator('.kernel-sum').innerText()).replace(/\u00a0/g, ' ');
    assert.match(sum, /\+1\.00 µs of the listed kernels = \+1\.00 µs per step/);
  });
  on('lists nodes by the size of their difference and adds them up to the iteration', 'compared', {}, async (page) => {
    const rows = (await page.locator('#nodes tbody tr').allInnerTexts()).map((row) => row.replace(/\u00a0/g, ' '));
    assert.match(rows[0], /conv_new \(A: conv_old\) FusedConv[^]*4\.00 µs[^]*6\.00 µs[^]*\+2\.00 µs[^]*slower/);
    assert.match(rows[1], /relu[^]*500 ns[^]*–[^]*gone/);
    const sum = (await page.locator('.node-sum').innerText()).replace(/\u00a0/g, ' ');
    assert.match(sum, /\+1\.50 µs of the listed nodes \+100 ns of 2 other nodes \+150 ns between nodes −50 ns around them = \+1\.70 µs per profiled iteration/);
  });
  on('lays both distributions over each other', 'compared', {}, async (page) => {
    assert.equal(await page.locator('.overlay-a, .overlay-b').count(), 2);
    assert.equal(await page.locator('.overlay-hit').count(), 4);
    assert.match(await page.locator('.overlay figcaption').innerText(), /100\siterations[^]*50\siterations/);
  });
  on('shows markup in values as text', 'compared', {}, async (page) => {
    assert.match(await page.locator('#changed').innerText(), /<\/script><b>disabled/);
  });
  on('shows no numbers of sides that cannot be compared', 'refused_pair', {}, async (page) => {
    assert.match(await page.locator('h1').innerText(), /Not comparable/);
    assert.equal(await page.locator('#metrics, .forest-plot').count(), 0);
  });
  on('says what is wrong with a page without data', 'no_verdict', {}, async (page) => assert.match(await page.locator('main').innerText(), /aaco diff A B --html/));
  for (const width of [375, 1400, 2560])
    for (const colorScheme of ['light', 'dark'])
      on(`fits ${width} pixels, ${colorScheme}`, 'compared', { width, colorScheme }, async (page) => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
        if (looksAt(width, colorScheme)) await checkAccess(page);
      });
});

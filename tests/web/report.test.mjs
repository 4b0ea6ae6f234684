import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { checkAccess, looksAt } from './lib/axe.mjs';
import { chromiumMissing, openReport, samples, startBrowser } from './lib/browser.mjs';

const json = (name) => JSON.parse(readFileSync(join(samples, `${name}.json`), 'utf8'));
const kNames = ['cpu', 'gpu', 'sweep', 'imported', 'empty', 'hostile', 'large'];

// Scrolling has ended and the page is drawn.
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))));

describe('the report page', { skip: chromiumMissing }, () => {
  let browser;
  before(async () => { browser = await startBrowser(); });
  after(async () => { await browser?.stop(); });

  const on = (what, name, options, body, expected = /^$/) => test(what, async () => {
    const { page, trouble } = await openReport(browser, name, options);
    try {
      await body(page);
      assert.deepEqual(trouble.filter((one) => !expected.test(one)), []);
    } finally {
      await page.close();
    }
  });
  const text = (page, selector) => page.locator(selector).first().innerText();

  // The first screen.
  on('says the verdict and its confidence', 'cpu', {}, async (page) => {
    assert.equal((await text(page, 'h1')).replace(/\u00a0/g, ' '), json('cpu').verdict.text);
    assert.match(await text(page, '.confidence'), /High confidence/);
  });
  on('shows the numbers with their intervals, and the hardware efficiency', 'cpu', {}, async (page) => {
    assert.deepEqual((await page.locator('.tile-value').allInnerTexts()).map((one) => one.replace(/\s/g, ' ')), ['22.6 ms', '27.9 ms', '44.0 items/s', '64.0 %']);
    assert.match((await page.locator('.tile-interval').allInnerTexts())[0], /22\.57.*22\.65.*ms/s);
  });
  on('warns before anything else', 'cpu', {}, async (page) => {
    assert.equal(await page.locator('.warnings li').count(), 3);
    const order = await page.evaluate(() => [...document.querySelectorAll('.headline, .warnings, section')].map((one) => one.id));
    assert.deepEqual(order, ['verdict', 'warnings', 'time', 'why', 'advice', 'hardware', 'timeline', 'latency', 'telemetry', 'environment', 'sources', 'metrics']);
  });
  on('fits verdict, numbers, warnings, time and fixes on one screen', 'cpu', { width: 1400, height: 900 }, async (page) => {
    const box = await page.locator('.glance').boundingBox();
    assert.equal(await page.locator('.glance-fixes li').count(), 3);
    assert.ok(box.y + box.height <= 900, `the first screen ends at ${box.y + box.height}`);
  });
  on('leaves sections without data out', 'empty', {}, async (page) => {
    assert.equal(await page.locator('section').count(), 0);
    assert.match(await text(page, 'h1'), /No verdict/);
  });

  // Where the time went.
  on('draws the times as a flame graph that can be searched and zoomed', 'gpu', {}, async (page) => {
    assert.equal(await page.locator('#time .flame-frame').count(), 0); // drawn when it is opened
    await page.locator('#time .flame-fold summary').click();
    const frames = page.locator('#time .flame-frame');
    await frames.first().waitFor(); // a fold tells that it was opened in a task of its own
    const all = await frames.count();
    assert.ok(all > 4, `${all} frames`);
    const names = await frames.allInnerTexts();
    const leaf = names.filter(Boolean).at(-1);
    await page.locator('#time .flame input').fill(leaf.toUpperCase());
    assert.match(await text(page, '#time .flame [role=status]'), /\d+\sframes?, [\d.]+\s%\sof/);
    assert.ok(await page.locator('#time .flame-frame.dim').count() > 0);
    await page.locator('#time .flame input').fill('nothing is called this');
    assert.match(await text(page, '#time .flame [role=status]'), /^0\sframes, 0/);
    await page.locator('#time .flame input').fill('');
    await frames.nth(1).focus();
    await page.keyboard.press('Enter');
    const [root, chosen] = [await frames.nth(0).boundingBox(), await frames.nth(1).boundingBox()];
    assert.ok(Math.abs(root.width - chosen.width) < 2, 'the chosen frame has the whole width');
    await page.getByRole('button', { name: 'Show all', exact: true }).click();
    assert.equal(await frames.count(), all);
  });
  on('opens the bar level by level and closes it again', 'gpu', {}, async (page) => {
    assert.equal(await page.locator('.stack').count(), 2);
    await page.locator('.stack').nth(1).locator('button').first().click();
    assert.equal(await page.locator('.stack').count(), 3);
    await page.locator('.stack').nth(2).locator('button').first().click();
    assert.equal(await page.locator('.stack').count(), 4);
    assert.match(await text(page, '.legend thead'), /kernel/i);
    await page.locator('.stack').nth(0).locator('button').first().click();
    assert.equal(await page.locator('.stack').count(), 1);
  });
  on('opens a trace down to its kernels', 'imported', {}, async (page) => {
    assert.match(await text(page, '.legend tbody'), /GPU compute[^]*late launch/);
    await page.locator('.stack button').first().click();
    assert.equal(await page.locator('.stack').count(), 2);
    assert.match(await text(page, '.legend tbody'), /gemm[^]*relu/);
  });
  on('folds what is left of a long list of values', 'imported', {}, async (page) => {
    const rest = page.locator('#environment details.fold');
    assert.equal(await rest.locator('summary').innerText(), 'and 176 more');
    assert.doesNotMatch(await rest.innerText(), /COUNTER_199/);
    await rest.locator('summary').click();
    assert.match(await rest.innerText(), /COUNTER_199/);
  });
  on('shows a time since 1970 as a date', 'imported', {}, async (page) => {
    assert.match(await text(page, '#environment'), /2025-09-26 22:57:46\.581 UTC/);
  });
  on('opens the bar by keyboard', 'gpu', {}, async (page) => {
    await page.locator('.stack').nth(1).locator('button').first().focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.stack').count(), 3);
    assert.equal(await page.locator('.stack').nth(1).locator('button').first().getAttribute('aria-expanded'), 'true');
  });
  on('sorts and filters the table of nodes', 'gpu', {}, async (page) => {
    await page.locator('#time details:not(.flame-fold) > summary').click();
    await page.getByRole('tab', { name: /Nodes/ }).click();
    const table = page.locator('#share-panel');
    await table.getByRole('searchbox').fill('layers.7/');
    assert.equal(await table.locator('tbody tr').count(), 7);
    await table.getByRole('button', { name: 'Name' }).click();
    assert.equal(await table.locator('th').first().getAttribute('aria-sort'), 'ascending');
    assert.match(await text(table, 'tbody tr .name'), /input_layernorm/);
  });
  on('shows a whole kernel name in the row that is opened', 'gpu', {}, async (page) => {
    await page.locator('#time details:not(.flame-fold) > summary').click();
    await page.getByRole('tab', { name: /kernels/ }).click();
    await page.locator('#share-panel .row-open').first().click();
    assert.equal(await text(page, '#share-panel .full-name'), json('gpu').time.kernels[0].name);
  });
  on('shows a whole name in a tip, on hover and on focus', 'gpu', {}, async (page) => {
    await page.locator('.stack').first().locator('button').first().focus();
    await page.waitForSelector('[role=tooltip]');
    assert.match(await text(page, '[role=tooltip]'), /^GPU kernels\n/);
    await page.keyboard.press('Escape');
    await page.waitForSelector('[role=tooltip]', { state: 'detached' });
    await page.evaluate(() => window.dispatchEvent(new Event('scroll')));
    await page.waitForTimeout(50);
    assert.equal(await page.locator('[role=tooltip]').count(), 0, 'a tip that was sent away does not come back by scrolling');
  });

  // Why and what to do.
  on('ranks advice by what it saves', 'cpu', {}, async (page) => {
    assert.deepEqual((await page.locator('.gain-number').allInnerTexts()).map((one) => one.replace(/\s/g, ' ')), ['\u221242 %', '\u22123.0 %', '\u22122.1 %']);
  });

  // Measured beside predicted.
  on('tells of each node what was predicted, and on which level', 'cpu', {}, async (page) => {
    const table = page.locator('#hardware details[open] table');
    assert.deepEqual((await table.locator('thead th').allInnerTexts()).map((one) => one.replace(/[^\w %()]/g, '').trim()),
      ['Node and reason', 'Measured', 'Attainable', 'Gap', 'Predicted (90 %)', 'Confidence']);
    assert.deepEqual(await table.locator('tbody td:nth-child(6)').allInnerTexts(), ['THEORETICAL', 'CALIBRATED']);
    assert.match(await table.locator('tbody td').first().innerText(), /\/fc\/Gemm[^]*Surprise: the kernel reaches little/);
    assert.match((await table.locator('tbody td:nth-child(5)').first().innerText()).replace(/\s/g, ' '), /^150 .s \(120 .s to 180 .s\)$/);
  });

  // Timeline and charts.
  on('zooms the timeline by keyboard and shows all again', 'cpu', {}, async (page) => {
    const note = page.locator('#timeline .zoom-note');
    const all = await note.innerText();
    await page.locator('#timeline .zoom-focus').focus();
    await page.keyboard.press('+');
    assert.notEqual(await note.innerText(), all);
    await page.keyboard.press('0');
    assert.equal(await note.innerText(), all);
  });
  on('zooms the timeline by dragging', 'cpu', {}, async (page) => {
    const surface = page.locator('#timeline .surface');
    await surface.scrollIntoViewIfNeeded();
    await settled(page);
    const box = await surface.boundingBox();
    const before = await page.locator('#timeline .zoom-note').innerText();
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
    await page.mouse.up();
    assert.notEqual(await page.locator('#timeline .zoom-note').innerText(), before);
    await page.mouse.dblclick(box.x + 200, box.y + 60);
    assert.equal(await page.locator('#timeline .zoom-note').innerText(), before);
  });
  on('names the span under the pointer', 'cpu', {}, async (page) => {
    const surface = page.locator('#timeline .surface');
    await surface.scrollIntoViewIfNeeded();
    await settled(page);
    const box = await surface.boundingBox();
    await page.mouse.move(box.x + 40, box.y + 30);
    assert.match(await text(page, '[role=tooltip]'), /iteration 0/);
  });
  on('marks warm-up, outliers and disturbed iterations', 'cpu', {}, async (page) => {
    const document = json('cpu');
    assert.equal(await page.locator('#latency .outlier').count() > 0, true);
    assert.equal(await page.locator('#latency .disturbed').count(), document.iterations.disturbances.length);
    assert.equal(await page.locator('#latency .band.warm').count(), 1);
  });
  on('marks the quantiles on the histogram and on the curve', 'cpu', {}, async (page) => {
    const names = () => page.locator('#latency .quantile-mark .mark-name').allTextContents();
    assert.deepEqual(await names(), ['P50', 'P90', 'P95', 'P99']);
    await page.getByRole('button', { name: 'Cumulative' }).click();
    assert.deepEqual(await names(), ['P50', 'P90', 'P95', 'P99']);
    assert.equal(await page.locator('#latency .hist').count(), 0);
  });
  on('draws intervals of several latencies', 'cpu', {}, async (page) => {
    assert.equal(await page.locator('#latency .forest-line').count(), 5);
  });
  on('leaves a gap where telemetry was not measured', 'gpu', {}, async (page) => {
    const path = await page.locator('#telemetry path.line').first().getAttribute('d');
    assert.equal(path.split('M').length - 1, 2);
  });

  // The ground.
  on('accounts for every source', 'cpu', {}, async (page) => {
    assert.match(await text(page, '#sources'), /event without an end/);
    assert.equal(await page.locator('#sources tbody tr').count(), 4);
  });
  on('gives the formula of a metric', 'cpu', {}, async (page) => {
    await page.locator('#metrics .row-open').first().click();
    assert.match(await text(page, '#metrics .detail'), /order statistic/);
  });

  // Security.
  on('shows hostile names as text and runs nothing of them', 'hostile', {}, async (page) => {
    assert.match(await page.title(), /^<\/script><script>/);
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.locator('script').count(), 2);
    assert.match(await text(page, 'h1'), /<img src=x/);
  });
  on('forbids every connection by its policy', 'cpu', {}, async (page) => {
    const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content');
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    const blocked = await page.evaluate(() => new Promise((done) => {
      document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'document.title = "broken"';
      document.body.append(script);
    }));
    assert.match(blocked, /script-src/);
    assert.doesNotMatch(await page.title(), /broken/);
  }, /Content Security Policy/);

  on('shows how a sweep scales, and the point that failed', 'sweep', {}, async (page) => {
    const rows = page.locator('#scaling tbody tr');
    assert.equal(await rows.count(), 5);
    assert.match(await rows.nth(3).innerText(), /batch 8, 2 threads\s+402\sitems\/s\s+394\s.\s410\sitems\/s\s+4\.17\s×\s+2\.49\sms/);
    assert.match(await rows.nth(4).innerText(), /does not fit in memory/);
    assert.equal(await page.locator('#extra-scaling').count(), 0);
  });

  // Forms of the page.
  for (const name of kNames) {
    on(`opens ${name} without a request, a message or an error`, name, {}, async (page) => { await page.mouse.wheel(0, 4000); });
    on(`shows ${name} at phone width without a horizontal scroll`, name, { width: 375, height: 740 }, async (page) => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 375);
    });
  }
  // A section that goes on in the other column stands beside parts of others as if it were one of them.
  for (const name of ['cpu', 'gpu', 'full', 'imported', 'traced', 'large'])
    on(`two columns break between sections only: ${name}`, name, { width: 2560, height: 1300 }, async (page) => {
      await settled(page);
      const broken = await page.evaluate(() => [...document.querySelectorAll('main > div > section')].filter((one) => one.getClientRects().length > 1).map((one) => one.id));
      assert.deepEqual(broken, []);
      const lefts = await page.evaluate(() => [...new Set([...document.querySelectorAll('main > div > section')].map((one) => Math.round(one.getBoundingClientRect().left)))]);
      assert.equal(lefts.length, Math.min(2, await page.locator('main > div > section').count()), `columns at ${lefts}`);
    });
  on('the axes of the roofline have round values with units, and enough of them', 'cpu', {}, async (page) => {
    for (const width of [375, 1400, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
      const [rates, intensities] = await page.evaluate(() => [...document.querySelectorAll('#hardware .chart .axis')].map((axis) => [...axis.querySelectorAll('text:not(.axis-title)')].map((one) => ({ text: one.textContent, box: one.getBoundingClientRect().toJSON() }))));
      assert.ok(rates.length >= 3 && intensities.length >= 3, `${rates.length} and ${intensities.length} ticks at ${width} px`);
      for (const { text } of rates) assert.match(text, /^[125]0{0,2}\u00a0[kMGTP]?FLOP\/s$|^30{0,2}\u00a0[kMGTP]?FLOP\/s$/);
      for (const { text } of intensities) assert.match(text.replace(/,/g, ''), /^0?\.?0*[1235]0*$/);
      const chart = await page.locator('#hardware .chart svg').first().boundingBox();
      for (const list of [rates, intensities])
        list.forEach(({ box, text }, index) => {
          assert.ok(box.left >= chart.x - 1 && box.right <= chart.x + chart.width + 1, `${text} at ${width} px leaves the chart`);
          const next = list[index + 1]?.box;
          assert.ok(!next || next.left >= box.right + 4 || next.bottom <= box.top + 2 || next.top >= box.bottom - 2, `${text} at ${width} px touches the next`);
        });
    }
    assert.match(await text(page, '#hardware .chart'), /FLOP per byte/);
  });
  for (const name of ['cpu', 'gpu'])
    for (const width of [375, 1400, 2560])
      for (const colorScheme of ['light', 'dark'])
        if (looksAt(width, colorScheme)) on(`axe finds nothing serious on ${name} at ${width} px, ${colorScheme}`, name, { width, colorScheme }, checkAccess);
  on('is dark where the system is, and light when asked', 'cpu', { colorScheme: 'dark' }, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await paper();
    await page.getByRole('radio', { name: 'Light' }).check();
    const light = await paper();
    const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0);
    assert.ok(brightness(dark) < 150 && brightness(light) > 600, `${dark} ${light}`);
    await page.getByRole('radio', { name: 'Auto' }).check();
    assert.equal(await paper(), dark);
  });
  for (const colorScheme of ['light', 'dark'])
    on(`has text of enough contrast in ${colorScheme}`, 'cpu', { colorScheme }, async (page) => { assert.deepEqual(await page.evaluate(lowContrast), []); });
  on('reaches everything by keyboard, in the order of the page', 'cpu', {}, async (page) => {
    const places = [];
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press('Tab');
      places.push(await page.evaluate(() => {
        const one = document.activeElement;
        const outline = getComputedStyle(one).outlineStyle;
        return { what: one.className || one.tagName, outline, where: one.closest('section')?.id ?? '' };
      }));
    }
    assert.equal(places[0].what, 'skip');
    const sections = [...new Set(places.map((one) => one.where).filter((one) => one !== ''))];
    assert.deepEqual(sections.slice(0, 3), ['time', 'hardware', 'timeline']);
    assert.ok(places.some((one) => one.what.startsWith('segment')));
    assert.ok(places.filter((one) => one.what.startsWith('segment')).every((one) => one.outline !== 'none'));
  });
  on('names every control, figure and picture', 'cpu', {}, async (page) => {
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('button, input, svg[role=img], [role=group], nav, section')]
      .filter((one) => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim() || one.closest('label'))).map((one) => one.outerHTML.slice(0, 120))), []);
  });
  on('has one heading of the first level and no gap between levels', 'cpu', {}, async (page) => {
    const levels = await page.evaluate(() => [...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1])));
    assert.equal(levels.filter((one) => one === 1).length, 1);
    levels.forEach((level, index) => assert.ok(index === 0 || level - levels[index - 1] <= 1));
  });
  on('prints on few pages with every fold open', 'cpu', {}, async (page) => {
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    const pages = pdf.toString('latin1').match(/\/Type\s*\/Page[^s]/g)?.length ?? 0;
    assert.ok(pages >= 3 && pages <= 9, `${pages} pages`);
  });
  on('draws a large report within bounds', 'large', {}, async (page) => {
    assert.ok(await page.evaluate(() => document.querySelectorAll('*').length) < 6000);
    assert.match(await text(page, '#latency .zoom-note'), /of 100,000 drawn/);
  });
  test('shows the text report where no script runs', () => {
    const html = readFileSync(join(samples, 'cpu.html'), 'utf8');
    assert.match(html, /<noscript>[\s\S]*Where the time went[\s\S]*<\/noscript>/);
  });
});

// Texts whose colour is too near their background (WCAG 2.1 AA: 4.5, large text 3). Runs in the page.
function lowContrast() {
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((one) => (one / 255 <= 0.03928 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const background = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg, noscript, script, .unseen, .skip, :disabled') || ![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [luminance(parse(style.color)), luminance(background(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) bad.push(`${element.className || element.tagName} "${element.textContent.slice(0, 20)}" ${ratio.toFixed(2)}`);
  }
  return bad;
}

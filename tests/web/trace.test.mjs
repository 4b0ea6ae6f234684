// The timeline of a trace: zoom, search, selection, arrows.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromiumMissing, openReport, startBrowser } from './lib/browser.mjs';

describe('the timeline of a trace', { skip: chromiumMissing }, () => {
  let browser;
  before(async () => { browser = await startBrowser(); });
  after(async () => { await browser?.stop(); });

  const on = (what, options, body) => test(what, async () => {
    const { page, trouble } = await openReport(browser, 'traced', options);
    try {
      await page.locator('.trace').scrollIntoViewIfNeeded();
      await body(page);
      assert.deepEqual(trouble, []);
    } finally {
      await page.close();
    }
  });
  const note = async (page) => (await page.locator('.trace-note').innerText()).replace(/\s+/g, ' ');
  const panel = async (page) => (await page.locator('.trace-panel').innerText()).replace(/\s+/g, ' ');
  const focus = (page) => page.locator('.trace-focus').focus();
  const search = (page) => page.locator('.trace-search input');

  on('says what is merged', {}, async (page) => {
    assert.match(await note(page), /41\.0 ms shown of 41\.0 ms 123 events, events shorter than 1\.00 ms merged/);
  });
  on('zooms and moves by the keys and shows all again', {}, async (page) => {
    const all = await note(page);
    await focus(page);
    for (const key of ['w', 'w', 'd']) await page.keyboard.press(key);
    const near = await note(page);
    assert.notEqual(near, all);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('s');
    assert.notEqual(await note(page), near);
    await page.keyboard.press('0');
    assert.equal(await note(page), all);
  });
  on('zooms by dragging and by the wheel', {}, async (page) => {
    const all = await note(page);
    const box = await page.locator('.trace-area canvas').boundingBox();
    await page.mouse.move(box.x + 200, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 40, { steps: 4 });
    await page.mouse.up();
    const dragged = await note(page);
    assert.notEqual(dragged, all);
    await focus(page);
    await page.mouse.wheel(0, -200);
    await page.waitForFunction((before) => document.querySelector('.trace-note').innerText.replace(/\s+/g, ' ') !== before, dragged);
  });
  on('leaves the wheel to the page until it is in use', {}, async (page) => {
    const all = await note(page);
    const box = await page.locator('.trace-area canvas').boundingBox();
    await page.mouse.move(box.x + 200, box.y + 40);
    await page.mouse.wheel(0, 60);
    await page.waitForTimeout(100);
    assert.equal(await note(page), all);
  });
  on('moves by the minimap', {}, async (page) => {
    await focus(page);
    for (const key of ['w', 'w', 'w']) await page.keyboard.press(key);
    const before = await page.locator('.trace-axis').innerText();
    const box = await page.locator('.trace-minimap canvas').boundingBox();
    await page.mouse.click(box.x + box.width * 0.9, box.y + 10);
    assert.notEqual(await page.locator('.trace-axis').innerText(), before);
  });
  on('finds events by a part of their name and jumps to them', {}, async (page) => {
    await search(page).fill('gemm_KERNEL');
    assert.match(await page.locator('.trace-hits').innerText(), /^38 hits/);
    await search(page).press('Enter');
    assert.match(await page.locator('.trace-hits').innerText(), /^1 of 38 hits/);
    assert.match(await page.locator('.trace').getAttribute('data-selected'), /^void gemm_kernel</);
    await page.getByRole('button', { name: 'Next hit' }).click();
    assert.match(await page.locator('.trace-hits').innerText(), /^2 of 38 hits/);
  });
  on('finds events by a regular expression', {}, async (page) => {
    await search(page).fill('/^aten::(mm|bmm)$/');
    assert.match(await page.locator('.trace-hits').innerText(), /^38 hits/);
  });
  on('refuses an invalid regular expression', {}, async (page) => {
    await search(page).fill('/(/');
    assert.match(await page.locator('.trace-hits').innerText(), /^Invalid regular expression/);
  });
  on('says that nothing was found', {}, async (page) => {
    await search(page).fill('no such kernel');
    assert.match(await page.locator('.trace-hits').innerText(), /^0 hits/);
    assert.equal(await page.locator('.trace-hit-list').count(), 0);
  });

  // An event with its launch: one of the stretch that has every event.
  const selectKernel = async (page) => {
    await search(page).fill('hipLaunchKernel');
    await page.locator('.trace-hit-list button', { hasNotText: 'more' }).first().click();
    await page.locator('.trace-panel .trace-link', { hasText: 'gemm_kernel 128x64' }).click();
  };
  on('draws an arrow from a launch to its kernel, and tells of both', {}, async (page) => {
    await selectKernel(page);
    assert.equal(await page.locator('.trace').getAttribute('data-arrows'), '1');
    const text = await panel(page);
    for (const part of [/void gemm_kernel<float, 128, 64, \(Layout\)1>\(Params<float>\)/, /Duration 100 .s/, /GPU 0, stream 3/, /grid 4 x 1 x 1, block 256 x 1 x 1/, /Launched by hipLaunchKernel/, /Launch delay 130 .s/, /Operator aten::mm/, /Shapes \[\[2,3\],\[3,4\]\]/, /Frame train\.py\(12\): step/])
      assert.match(text, part);
  });
  on('defines the terms of the panel', {}, async (page) => {
    await selectKernel(page);
    assert.match(await page.locator('.trace-panel dt', { hasText: 'Launch delay' }).getAttribute('title'), /queue of the stream/);
  });
  on('copies the whole name', {}, async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: { writeText: (text) => { window.copied = text; return Promise.resolve(); } } }));
    await selectKernel(page);
    await page.getByRole('button', { name: 'Copy name' }).click();
    assert.equal(await page.evaluate(() => window.copied), 'void gemm_kernel<float, 128, 64, (Layout)1>(Params<float>)');
  });
  on('selects what is clicked, and nothing beside it', {}, async (page) => {
    await selectKernel(page);
    const box = await page.locator('.trace-area canvas').boundingBox();
    await page.mouse.click(box.x + 5, box.y + box.height - 2);
    assert.equal(await page.locator('.trace-panel').count(), 0);
  });
  on('says what the host did in a gap', {}, async (page) => {
    await page.getByRole('button', { name: 'Next gap' }).click();
    const text = await panel(page);
    for (const part of [/GPU 0 idle for 2\.90 ms: late launch/, /Evidence DataLoader\.__next__/, /Confidence 90\.0 %/, /Thread 8 in this gap/, /DataLoader\.__next__ python 2\.40 ms 82\.8 %/]) assert.match(text, part);
  });
  on('steps from event to event by the keys', {}, async (page) => {
    await selectKernel(page);
    const first = await panel(page);
    await focus(page);
    await page.keyboard.press('.');
    assert.notEqual(await panel(page), first);
    await page.keyboard.press(',');
    assert.equal(await panel(page), first);
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await page.locator('.trace').getAttribute('data-selected'), 'void gemm_kernel<float, 128, 64, (Layout)1>(Params<float>)');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.trace-panel').count(), 0);
  });
  on('folds a group of tracks', {}, async (page) => {
    const blocks = await page.locator('.trace-block').count();
    await page.locator('.trace-group', { hasText: 'GPU 0' }).click();
    assert.ok((await page.locator('.trace-block').count()) < blocks);
    await page.locator('.trace-group', { hasText: 'GPU 0' }).click();
    assert.equal(await page.locator('.trace-block').count(), blocks);
  });
  on('finds kernels by the short name that it shows', {}, async (page) => {
    await search(page).fill('gemm_kernel 128x64');
    assert.match(await page.locator('.trace-hits').innerText(), /^38 hits/);
  });
  on('has the whole name of a search hit in its tip', {}, async (page) => {
    await search(page).fill('gemm');
    assert.match(await page.locator('.trace-hit-list button').first().getAttribute('data-tip'), /^void gemm_kernel</);
  });
  for (const options of [{ width: 380 }, { colorScheme: 'dark' }])
    on(`draws without trouble (${JSON.stringify(options)})`, options, async (page) => {
      await focus(page);
      await page.keyboard.press('w');
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
    });
});

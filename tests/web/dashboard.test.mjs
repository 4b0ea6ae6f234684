// The dashboard against a server with made-up answers of the API (docs/how_to/serve.md).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describeDashboard, fits, page, policy } from './lib/dashboard.mjs';

const line = (number, more = {}) => ({
  id: `20261123T10${String(number).padStart(4, '0')}Z-abcdef`, path: '/s', created: '2026-11-23T10:00:00Z', kind: 'run', state: 'complete', tag: number % 2 ? 'nightly' : '', what: 'resnet50, cpu, batch 1', p50_ns: 1.5e7 + number, ...more,
});
const all = [...Array(250)].map((_, number) => line(number));
all[249].what = '</script><img src=x onerror=alert(1)>';
all[248].p50_ns = null;
all[247].kind = 'record';
all[246].kind = 'of a later version';
const history = { schema_version: 1, metric: 'p50', notes: [], series: [{ name: 'latency.p50_ns', unit: 'ns', of: 'resnet50', count: 4, points: [1e7, 1e7, 2e7, 2e7].map((value, at) => ({ value, label: all[at].id, time: '2026-11-23T10:00:00Z' })),
  interrupted: [{ value: 9e7, label: all[1].id, time: '2026-11-22T10:00:00Z' }],
  trend: { changes: [{ index: 2, label: all[2].id, before: 1e7, after: 2e7, delta_ratio: 1, meaning: 'worse', alarm: true }], alarms: ['worse by 100 % at index 2'] } }] };

let mode = 'full';
function answer(request, response) {
  const url = new URL(request.url, 'http://x');
  const json = (status, value) => { response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'self'" }); response.end(JSON.stringify(value)); };
  if (url.pathname === '/') { response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': `${policy}; frame-ancestors 'self'` }); return response.end(page); }
  if (mode === 'signed out') return json(401, { error: { status: 401, message: 'missing token' } });
  if (url.pathname === '/api/v1/sessions') {
    const [search, tag, limit, offset] = ['search', 'tag', 'limit', 'offset'].map((name) => url.searchParams.get(name) ?? '');
    if (mode === 'long tag') return json(200, { schema_version: 1, root: '/lake', found: 1, offset: 0, sessions: [{ ...all[0], tag: 'a'.repeat(300) }], tags: [{ tag: 'a'.repeat(300), count: 1 }] });
    const found = mode === 'empty' ? [] : [...all].reverse().filter((one) => one.what.includes(search) && (!tag || one.tag === tag));
    return json(200, { schema_version: 1, root: '/lake', found: found.length, offset: Number(offset), sessions: found.slice(Number(offset), Number(offset) + (Number(limit) || 100)), tags: mode === 'empty' ? [] : [{ tag: 'nightly', count: 125 }] });
  }
  if (url.pathname.endsWith('/notes')) return url.pathname.includes('missing') ? json(404, { error: { status: 404, message: 'no session' } }) : json(200, { session: 'x', text: '', tags: [], changed: null });
  if (url.pathname === '/api/v1/history') return mode === 'empty' ? json(404, { error: { status: 404, message: 'no session has p50' } }) : json(200, history);
  if (url.pathname.endsWith('.html') && !url.pathname.includes('missing')) {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'self'" });
    return response.end(`<!doctype html><title>t</title><main><h1>page of ${url.pathname.replace(/[<&]/g, '')} ${url.searchParams.get('a') ?? ''}</h1><table><caption>Kernels of the page</caption><tr><td>gemm</td><td>7</td></tr></table></main>`);
  }
  return json(404, { error: { status: 404, message: "no session 'missing'", hint: 'use an id, latest or tag:NAME' } });
}

describeDashboard('the dashboard', { answer, begin: (options) => { mode = options.mode ?? 'full'; }, width: 1280 }, (on) => {
  const rows = (tab) => tab.locator('tbody tr');

  on('lists sessions, newest first, and the others as one scrolls', '', {}, async (tab) => {
    assert.equal(await tab.locator('tbody').first().locator('tr').count(), 100);
    assert.match(await rows(tab).first().innerText(), /<img src=x onerror/);
    assert.match(await rows(tab).nth(1).innerText(), /–/);
    assert.ok(await rows(tab).count() < 200, 'far rows are not asked for');
    const height = await tab.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height > 250 * 30, 'the scroll bar is that of all sessions');
    await tab.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await tab.waitForFunction((id) => document.querySelector('main').textContent.includes(id), all[0].id);
  });
  on('says what a session is in words', '', {}, async (tab) => {
    const kinds = await tab.evaluate(() => [...document.querySelectorAll('tbody tr')].slice(0, 5).map((row) => row.cells[4].innerText));
    assert.deepEqual(kinds, ['Model run', 'Model run', 'Recorded program', 'of a later version', 'Model run']);
  });
  // What a page shows stands in a frame: it is what can be saved.
  on('saves the tables of the page in the frame', `#/session/${all[7].id}`, {}, async (tab) => {
    await tab.frameLocator('iframe').locator('table').waitFor();
    await tab.getByText('Save as CSV or PNG', { exact: true }).click();
    const [file] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('button', { name: 'Kernels of the page' }).click()]);
    assert.equal(readFileSync(await file.path(), 'utf8'), 'gemm,7\r\n');
  });
  on('searches and filters by tag in the link', '#/sessions?tag=nightly', {}, async (tab) => {
    assert.match(await tab.locator('.tools').innerText(), /125.sessions/);
    await tab.getByLabel('Search sessions').fill('nothing like it');
    await tab.waitForSelector('text=No session matches');
    assert.match(await tab.evaluate(() => location.hash), /search=nothing/);
  });
  on('compares two ticked sessions', '', {}, async (tab) => {
    for (const at of [5, 3, 4]) await rows(tab).nth(at).locator('input').check();
    await tab.getByRole('link', { name: 'Compare A and B' }).click();
    const frame = tab.frameLocator('iframe');
    assert.match(await frame.locator('h1').innerText(), new RegExp(`diff.html ${all[245].id}`));
    await tab.goBack();
    await tab.waitForSelector('tbody tr');
  });
  on('compares what is not comparable where one asks for it', `#/compare?a=${all[3].id}&b=${all[4].id}`, {}, async (tab) => {
    await tab.getByLabel('even if they are not comparable').check();
    await tab.waitForFunction(() => location.hash.includes('force=true'));
    assert.match(await tab.locator('iframe').getAttribute('src'), /force=true/);
    await tab.getByRole('link', { name: 'Swap sides' }).click();
    await tab.waitForFunction((id) => location.hash.includes(`a=${id}`), all[4].id);
    assert.match(await tab.evaluate(() => location.hash), /force=true/);
  });
  on('long tags do not widen the list, and ids stand in one line', '', { mode: 'long tag' }, async (tab) => {
    const sizes = await tab.evaluate(() => ({ tag: document.querySelector('td.tags a').getBoundingClientRect().toJSON(), select: document.querySelector('select').getBoundingClientRect().width, id: document.querySelector('td a.mono').getClientRects().length }));
    assert.ok(sizes.tag.width < 300 && sizes.tag.height < 30 && sizes.select < 340 && sizes.id === 1, JSON.stringify(sizes));
  });
  on('shows a report in place by a link', `#/session/${all[7].id}`, {}, async (tab) => {
    assert.match(await tab.frameLocator('iframe').locator('h1').innerText(), new RegExp(`${all[7].id}/report.html`));
    assert.match(await tab.title(), new RegExp(all[7].id));
  });
  on('states why a report is not available', '#/session/missing', { refuses: true }, async (tab) => {
    await tab.waitForSelector('text=Not available');
    assert.match(await tab.locator('main').innerText(), /no session 'missing'[\s\S]*Hint: use an id/);
  });
  on('a page in a frame scrolls alone', `#/session/${all[7].id}`, {}, async (tab) => {
    const sides = await tab.evaluate(() => [document.querySelector('.frame').getBoundingClientRect().bottom, innerHeight, document.documentElement.scrollHeight]);
    assert.ok(sides[0] <= sides[1] && sides[2] <= sides[1], `one scroll bar: ${sides}`);
  });
  on('a phone shows each session as a block', '', { width: 375 }, async (tab) => {
    const heights = await tab.evaluate(() => [...document.querySelectorAll('tbody tr')].slice(0, 50).map((row) => row.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) < 110, `${Math.max(...heights)} px`);
  });
  on('two columns from 1,800 px', '#/history?metric=p50&model=resnet50', { width: 1800 }, async (tab) => {
    await tab.waitForSelector('.history-line');
    assert.equal(await tab.evaluate(() => getComputedStyle(document.querySelector('.history-columns')).gridTemplateColumns.split(' ').length), 2);
    await tab.setViewportSize({ width: 1780, height: 900 });
    assert.equal(await tab.evaluate(() => getComputedStyle(document.querySelector('.history-columns')).display), 'block');
  });
  on('draws a history with its changes', '#/history?metric=p50&model=resnet50', {}, async (tab) => {
    await tab.waitForSelector('.history-line');
    assert.equal(await tab.locator('.history-alarm').count(), 1);
    assert.match(await tab.locator('main').innerText(), /worse by 100/);
    assert.match(await tab.locator('main').innerText(), /1.interrupted session, not part of the trend[\s\S]*90\.0.ms/);
    assert.equal(await tab.locator('.history-plot .history-stopped').count(), 1);
    assert.equal(await tab.locator('.history-plot .history-point').count(), 4, 'no point of the line');
    const places = await tab.evaluate(() => ['.history-stopped', '.history-point'].map((one) => Number(document.querySelector(`.history-plot ${one}`).getAttribute('cx'))));
    assert.ok(places[0] < places[1], 'it was before the others');
    const heights = await tab.evaluate(() => [...document.querySelectorAll('.history-plot .history-point')].map((one) => Number(one.getAttribute('cy'))));
    assert.ok(Math.max(...heights) - Math.min(...heights) > 100, 'it does not flatten the others');
  });
  on('an empty root names the command', '', { mode: 'empty' }, async (tab) => assert.match(await tab.locator('main').innerText(), /No sessions yet[\s\S]*aaco run --model/));
  on('an empty history names the command', '#/history', { mode: 'empty', refuses: true }, async (tab) => {
    await tab.waitForSelector('text=No history');
    assert.match(await tab.locator('main').innerText(), /aaco run/);
  });
  on('compare without sides names the command', '#/compare', {}, async (tab) => assert.match(await tab.locator('main').innerText(), /aaco diff A B/));
  on('asks to sign in without a token', '', { mode: 'signed out', refuses: true }, async (tab) => assert.match(await tab.locator('main').innerText(), /Not signed in[\s\S]*aaco dashboard/));
  on('an unknown page leads back', '#/nothing', {}, async (tab) => assert.match(await tab.locator('main').innerText(), /No such page/));
  on('a damaged link does not break the page', '#/session/%zz', {}, async (tab) => assert.match(await tab.locator('main').innerText(), /No such page/));
  for (const [name, hash, ready] of [['sessions of a large lake', '', 'tbody tr'], ['history', '#/history?metric=p50&model=resnet50', '.history-line'], ['compare', `#/compare?a=${all[3].id}&b=${all[4].id}`, 'iframe']])
    fits(on, name, hash, ready);
});

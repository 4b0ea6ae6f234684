// The dashboard's Hardware, LLM and Fleet pages, notes, uploads, downloads and keys, against a server with made-up answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describeDashboard, fits, page, policy } from './lib/dashboard.mjs';

const kId = '20261123T100000Z-abcdef';
const line = { id: kId, path: '/s', created: '2026-11-23T10:00:00Z', kind: 'llm', state: 'complete', tag: 'nightly', what: 'tiny, http://127.0.0.1:8000', p50_ns: 1.5e7, tags: ['golden', 'nightly'], note: 'driver <b>6.3</b>\nsecond line' };
const devices = [...Array(30)].map((_, at) => ({ id: `amd_instinct_mi${300 + at}x`, name: `Instinct MI${300 + at}X`, kind: 'gpu', own: at === 1 }));
const roof = (name, kind, reached) => ({ kind, name, unit: kind === 'compute' ? 'flop/s' : 'bytes/s', stated: 1e15, run_count: 9, point_count: 40, ...(reached ? { reached: { value: reached, ci95: { low: reached * 0.9, high: reached * 1.1 } }, of_stated_ratio: reached / 1e15 } : { reason: 'too few runs' }) });
const roofs = { device: devices[0].id, device_name: devices[0].name, fitted: true, sessions: [kId], point_count: 80, roofs: [roof('float16', 'compute', 6e14), roof('main memory', 'memory')] };
const estimate = { value: 7.4e5, lower: 3e5, upper: 2e6, confidence: 'INTERPOLATED' };
const points = [{ model: 'resnet50', hardware: devices[0].id, batch: 8, rank: 1, fits: true, items_per_s: 10800, joules_per_item: 0.031, estimate: { latency: estimate } }, { model: 'resnet50', hardware: devices[1].id, error: 'no peak rate of float16' }];
const level = (load, rate, ttft) => ({ load, requests: 100, complete: 100, metrics: { 'llm.requests_per_second': { value: rate, unit: '1/s' }, 'llm.ttft_p50_ns': { value: ttft, unit: 'ns', ci95: [ttft * 0.9, ttft * 1.1] }, 'llm.ttft_p99_ns': { value: ttft * 3, unit: 'ns' } } });
const report = { schema: 'aaco.report', schema_version: 1, title: 'tiny', session: { id: kId, kind: 'llm', state: 'complete', tool_version: '', command: [], phases: [], home_clock: 'monotonic' }, headline: [], warnings: [], metrics: { 'llm.ttft_p50_ns': { value: 2e7, unit: 'ns' } }, definitions: {}, accounts: [],
  extra: { llm: { summary: '', knee: 'concurrency 4', counts: 'concurrency 4', levels: [level('concurrency 1', 5, 1e7), level('concurrency 4', 18, 1.2e7), level('concurrency 16', 20, 9e7)] } } };
const parameters = (properties) => ({ post: { summary: 'x', requestBody: { content: { 'application/json': { schema: { properties } } } } } });

const kBegin = 1767225600e9;
const finding = { kind: 'slow_gpu', title: 'slow GPU', node: 'node0001', device: 3, job: 'train-1', since: '2026-01-01T06:00:00Z', since_unix_ns: kBegin, until_unix_ns: kBegin + 3600e9, lasting: true, severity: 4.2, q: 1e-9, hint: 'move the rank to another device',
  evidence: [{ metric: 'clock_hz', effect_ratio: -0.12, value: 1.5e9, peer_value: 1.7e9, peers: 7, bins: 20, q: 1e-9, rows: "SELECT clock_hz FROM fleet_minutes WHERE node = 'node0001'" }] };
const kMetrics = [{ metric: 'power_watts', metric_group: 'gpu', meaning: 'mean power, W' }, { metric: 'clock_hz', metric_group: 'gpu', meaning: 'mean clock of the compute units, Hz' }];
const fleet = {
  overview: { schema_version: 1, nodes: 40, status: { rows: 1e6, nodes: 40, devices: 320, jobs: 3, first_unix_ns: kBegin, until_unix_ns: kBegin + 86400e9 }, findings: [finding, { ...finding, kind: 'thermal', title: 'thermal limit', node: 'node0009', device: undefined, lasting: false, severity: 1.1 }],
    stragglers: [{ job: 'train-1', ranks: 8, verdict: 'straggler', node: 'node0001', devices: [3], cause: 'compute', late_ratio: 0.07 }, { job: 'train-2', ranks: 4, verdict: 'cannot_tell', reason: 'clocks' }],
    metrics: kMetrics },
  heat: (metric, nodes, judged = true) => ({ schema_version: 1, metric, metrics: kMetrics, judged, meaning: metric === 'clock_hz' ? 'mean clock of the compute units, Hz' : 'mean power, W', first_unix_ns: kBegin, bin_ns: 1800e9, bins: 48,
    nodes: [...Array(nodes)].map((_, at) => `node${String(at).padStart(4, '0')}`), severity: [...Array(nodes)].map((_, at) => (judged && at < 2 ? 3 - at : 0)),
    values: [...Array(nodes)].map((_, node) => [...Array(48)].map((_, bin) => ((node * 7 + bin) % 31 === 0 ? null : (metric === 'clock_hz' ? 5e6 : 1) * (200 + 100 * Math.sin(bin / 7 + node / 40) ** 2 + (node === 1 ? 150 : 0))))) }),
  node: { schema_version: 1, node: 'node0001', judged: true, first_unix_ns: kBegin, bin_ns: 1800e9, bins: 4, findings: [finding], sessions: [{ id: kId, kind: 'run', tag: 'nightly', state: 'complete' }],
    series: [{ metric: 'clock_hz', device: 0, job: 'train-1', values: [1.7e9, 1.7e9, null, 1.69e9] }, { metric: 'clock_hz', device: 3, values: [1.5e9, 1.4e9, 1.5e9, 1.5e9] }, { metric: 'power_watts', device: 3, values: [500, 510, 480, 490] }] },
};

const kLoads = ['concurrency 1', 'concurrency 4', "it's 16"];
let mode = '';
let asked = [];
let held = []; // answers of the analysis of a fleet, until release()
const release = () => { for (const one of held.splice(0)) one(); };
function answer(request, response) {
  const url = new URL(request.url, 'http://x');
  const json = (status, value) => { response.writeHead(status, { 'Content-Type': 'application/json' }); response.end(JSON.stringify(value)); };
  if (url.pathname === '/') { response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': `${policy}; frame-ancestors 'self'` }); return response.end(page); }
  if (request.method !== 'GET') {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    return request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      asked.push([request.method, url.pathname + url.search, body]);
      if (url.pathname === '/api/v1/query' && JSON.parse(body).sql.startsWith('SELECT load')) return json(200, { truncated: false, rows: kLoads.map((load) => ({ load })) });
      if (url.pathname === '/api/v1/query') return json(200, { truncated: false, rows: [...Array(200)].map((_, at) => ({ ns: 1e7 + at * 1e5 })) });
      if (url.pathname === '/api/v1/uploads') return mode === 'full' ? json(429, { error: { status: 429, message: 'too many uploads are stored' } }) : json(201, { schema_version: 1, id: `up${asked.length}`, name: 'a', bytes: 3 });
      if (url.pathname.endsWith('/notes')) return mode === 'bad tag' ? json(400, { error: { status: 400, message: "invalid tag 'a/b'" } }) : json(200, { session: kId, changed: 'now', ...JSON.parse(body) });
      return json(202, {});
    });
  }
  if (url.pathname === '/api/v1/hardware') return json(200, { devices });
  if (url.pathname === '/api/v1/roofline') return mode === 'empty' ? json(404, { error: { status: 404, message: 'no session has work of known size' } }) : json(200, { devices: mode === 'two' ? [roofs, { ...roofs, device: devices[1].id }] : [roofs] });
  if (url.pathname === '/api/v1/predictions') return json(200, { points });
  if (url.pathname === '/api/v1/openapi.json') return json(200, { paths: { ...(mode ? { '/api/v1/fleet': {} } : {}), '/api/v1/jobs/import': parameters({ upload: { type: 'array' }, tag: { type: 'string' } }) } });
  if (url.pathname.startsWith('/api/v1/fleet')) asked.push(url.pathname);
  if (url.pathname === '/api/v1/fleet' && mode === 'working') return held.push(() => json(200, fleet.overview));
  if (url.pathname === '/api/v1/fleet' && mode === 'broken') return json(502, { error: { status: 502, message: 'ClickHouse does not answer' } });
  if (url.pathname.startsWith('/api/v1/fleet') && mode === 'no fleet') return json(404, { error: { status: 404, message: 'this server shows no fleet' } });
  if (url.pathname === '/api/v1/fleet') return json(200, fleet.overview);
  if (url.pathname === '/api/v1/fleet/heat') return json(200, fleet.heat(url.searchParams.get('metric'), mode === 'large' ? 1000 : 40, mode !== 'working'));
  if (url.pathname.startsWith('/api/v1/fleet/nodes/') && mode === 'working') return json(200, { ...fleet.node, judged: false, findings: [] });
  if (url.pathname.startsWith('/api/v1/fleet/nodes/')) return url.pathname.endsWith('/node0001') ? json(200, fleet.node) : json(404, { error: { status: 404, message: 'no telemetry of that node' } });
  if (url.pathname === '/api/v1/jobs') return json(200, { found: 0, jobs: [] });
  if (url.pathname === '/api/v1/sessions') return json(200, { root: '/lake', found: mode === 'empty' ? 0 : 1, offset: 0, sessions: mode === 'empty' ? [] : [line], tags: [{ tag: 'golden', count: 1 }] });
  if (url.pathname.endsWith('/notes')) return json(200, { session: kId, text: line.note, tags: ['golden'], changed: 'then' });
  if (url.pathname.endsWith('/report')) return json(200, report);
  if (url.pathname.endsWith('.html')) { response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }); return response.end('<!doctype html><html lang="en"><title>t</title><h1>a page</h1></html>'); }
  return json(404, { error: { status: 404, message: 'no such resource' } });
}

describeDashboard('pages', { answer, begin: (options) => { release(); mode = options.mode ?? ''; asked = []; }, width: 1400 }, (on) => {
  const main = (tab) => tab.locator('main').innerText();
  const saved = async (tab, name) => {
    await tab.getByText('Save as CSV or PNG', { exact: true }).click();
    const [file] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('button', { name }).first().click()]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };

  on('hardware: roofs, roofline and devices', '#/hardware', {}, async (tab) => {
    await tab.waitForSelector('iframe');
    assert.match(await main(tab), /Instinct MI300X[\s\S]*float16[\s\S]*600.TFLOP\/s[\s\S]*60\.0.%[\s\S]*main memory[\s\S]*too few runs[\s\S]*Predictions[\s\S]*Devices/);
    assert.match(await tab.locator('iframe').getAttribute('src'), /roofline\.html\?device=amd_instinct_mi300x/);
  });
  on('hardware: several devices link to their roofline', '#/hardware', { mode: 'two' }, async (tab) => {
    await tab.getByRole('link', { name: 'Show the roofline' }).first().click();
    assert.match(await tab.evaluate(() => location.hash), /device=amd_instinct_mi300x/);
  });
  on('hardware: predictions by a link, with what has none', `#/hardware?model=resnet50&on=${devices[0].id}`, {}, async (tab) => {
    await tab.waitForSelector('text=INTERPOLATED');
    assert.match(await main(tab), /740.µs[\s\S]*10,800[\s\S]*31\.0.mJ[\s\S]*no peak rate of float16/);
  });
  on('hardware: a lake without known work names the commands', '#/hardware', { mode: 'empty', refuses: true }, async (tab) => {
    await tab.waitForSelector('text=No session has known work');
    assert.match(await main(tab), /aaco hardware probe/);
  });
  on('llm: load curve with its knee, and distributions', '#/llm', {}, async (tab) => {
    await tab.waitForSelector('.hist');
    assert.match(await main(tab), /Time to first token[\s\S]*200.values/);
    assert.equal(await tab.locator('.median-label').textContent(), 'knee');
    const queries = () => asked.filter(([, path]) => path === '/api/v1/query').map(([, , body]) => JSON.parse(body).sql).filter((sql) => !sql.startsWith('SELECT load'));
    assert.equal(queries().length, 2);
    for (const sql of queries()) assert.match(sql, /load = 'concurrency 4'/, 'the level that counts, not all in one');
    await tab.getByRole('combobox', { name: 'Load' }).selectOption("it's 16");
    await tab.waitForFunction(() => location.hash.includes('load='));
    for (const until = Date.now() + 10_000; queries().length < 4 && Date.now() < until;) await tab.waitForTimeout(20);
    assert.equal(queries().length, 4);
    for (const sql of queries().slice(2)) assert.match(sql, /load = 'it''s 16'/);
  });
  on('llm: none names the command', '#/llm', { mode: 'empty' }, async (tab) => assert.match(await main(tab), /No language-model sessions[\s\S]*aaco llm --url/));
  on('fleet: a server without one names the command and is not asked', '#/fleet', {}, async (tab) => {
    await tab.waitForSelector('text=No fleet');
    assert.match(await main(tab), /aaco dashboard --fleet/);
  });
  on('fleet: a server started without one names the command', '#/fleet', { mode: 'no fleet', refuses: true }, async (tab) => {
    await tab.waitForSelector('text=No fleet');
    assert.match(await main(tab), /aaco agent/);
  });
  on('fleet: heat map, findings and stragglers', '#/fleet', { mode: 'fleet' }, async (tab) => {
    await tab.waitForSelector('.fleet-box canvas');
    assert.match(await main(tab), /40.nodes[\s\S]*Mean power[\s\S]*200.W[\s\S]*slow GPU[\s\S]*node0001[\s\S]*train-1[\s\S]*7.ranks wait for node0001/);
    await tab.locator('.fleet-box canvas').focus();
    await tab.keyboard.press('ArrowDown');
    await tab.keyboard.press('ArrowRight');
    assert.match(await tab.locator('.fleet-cell').innerText(), /node0001, 2026-01-01 00:30: \d+.W/);
    await tab.getByLabel('Metric').selectOption('clock_hz');
    await tab.waitForSelector('text=Mean clock');
    assert.match(await tab.evaluate(() => location.hash), /metric=clock_hz/);
  });
  on('fleet: the heat map is drawn before the findings are worked out', '#/fleet?metric=clock_hz', { mode: 'working' }, async (tab) => {
    await tab.waitForSelector('text=Findings are being worked out');
    assert.deepEqual(asked.slice(0, 2), ['/api/v1/fleet/heat', '/api/v1/fleet']);
    assert.match(await main(tab), /40.nodes; 2026-01-01 00:00 to 2026-01-02 00:00 UTC\.[\s\S]*sorted by name/);
    assert.doesNotMatch(await main(tab), /slow GPU|Stragglers|No node or device differs/);
    const first = () => tab.locator('.fleet-box canvas').focus().then(() => tab.keyboard.press('ArrowDown')).then(() => tab.keyboard.press('ArrowUp')).then(() => tab.locator('.fleet-cell').innerText());
    assert.match(await first(), /^node0000,/);
    release();
    await tab.waitForSelector('text=slow GPU');
    assert.match(await main(tab), /with findings \(\u25cf\) first[\s\S]*Stragglers/);
    assert.match(await first(), /^node0001,/);
    await tab.getByLabel('Window').selectOption('168');
    await tab.waitForSelector('text=Findings are being worked out');
    assert.doesNotMatch(await main(tab), /slow GPU/, 'findings of another window');
  });
  on('fleet: a node is shown before its findings are worked out', '#/fleet?node=node0001', { mode: 'working' }, async (tab) => {
    await tab.waitForSelector('text=Findings are being worked out');
    assert.equal(await tab.locator('.fleet-plot path').count(), 3);
    release();
    await tab.waitForSelector('text=slow GPU');
    assert.doesNotMatch(await main(tab), /thermal limit/, 'of another node');
  });
  on('fleet: an analysis that fails leaves the heat map', '#/fleet', { mode: 'broken', refuses: true }, async (tab) => {
    await tab.waitForSelector('text=ClickHouse does not answer');
    assert.equal(await tab.locator('.fleet-box canvas').count(), 1);
  });
  on('fleet: 1,000 nodes are drawn and a click opens one', '#/fleet', { mode: 'large' }, async (tab) => {
    const canvas = tab.locator('.fleet-box canvas');
    await canvas.waitFor();
    const painted = await canvas.evaluate((element) => new Set(element.getContext('2d').getImageData(Math.round(element.width / 2), 0, 1, element.height - 60).data).size);
    assert.ok(painted > 20, `${painted} colours`);
    const frames = await canvas.evaluate(async (element) => {
      const box = element.getBoundingClientRect();
      let drawn = 0;
      for (let at = 0; at < 20; at += 1) {
        element.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: box.left + 200 + at, clientY: box.top + 20 + at * 5 }));
        await new Promise((next) => requestAnimationFrame(next));
        drawn += 1;
      }
      return drawn;
    });
    assert.equal(frames, 20);
    assert.match(await tab.locator('.fleet-cell').innerText(), /node\d{4}, /);
    await canvas.click({ position: { x: 300, y: 1 } });
    await tab.waitForFunction(() => /node=node\d{4}/.test(location.hash));
  });
  on('fleet: a node has findings with evidence, metrics and sessions', '#/fleet?node=node0001', { mode: 'fleet' }, async (tab) => {
    await tab.waitForSelector('.fleet-plot');
    assert.match(await main(tab), /slow GPU[\s\S]*clock_hz[\s\S]*power_watts[\s\S]*Sessions/);
    assert.equal(await tab.locator('.fleet-plot path').count(), 3);
    await tab.getByRole('link', { name: kId }).click();
    assert.equal(await tab.evaluate(() => location.hash), `#/session/${kId}`);
  });
  on('fleet: an unknown node is told', '#/fleet?node=nobody', { mode: 'fleet', refuses: true }, async (tab) => { await tab.waitForSelector('text=no telemetry of that node'); });
  on('notes are shown as text and changed', `#/session/${kId}`, {}, async (tab) => {
    await tab.waitForSelector('.note-text');
    assert.match(await tab.locator('.note-text').innerText(), /driver <b>6\.3<\/b>/);
    await tab.getByRole('button', { name: 'Edit note and tags' }).click();
    await tab.getByLabel('Tags').fill('golden, release');
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.waitForSelector('.tags >> text=release');
    assert.deepEqual(JSON.parse(asked[0][2]).tags, ['golden', 'release']);
  });
  on('a refused tag is told', `#/session/${kId}`, { mode: 'bad tag', refuses: true }, async (tab) => {
    await tab.getByRole('button', { name: 'Edit note and tags' }).click();
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.waitForSelector('text=invalid tag');
  });
  on('the list has notes and tags', '', {}, async (tab) => {
    await tab.waitForSelector('tbody tr');
    assert.match(await main(tab), /driver <b>6\.3<\/b>/);
    assert.deepEqual(await tab.locator('tbody .tags a').allInnerTexts(), ['nightly', 'golden']);
  });
  on('sends files before the job that reads them', '#/jobs', {}, async (tab) => {
    await tab.getByText('Start a job').click();
    await tab.getByLabel('upload').setInputFiles([{ name: 'rank 0.json', mimeType: 'x', buffer: Buffer.from('{}') }, { name: 'b.json', mimeType: 'x', buffer: Buffer.from('[]') }]);
    await tab.getByRole('button', { name: 'Start' }).click();
    await tab.waitForFunction(() => document.querySelector('.job-form button')?.textContent === 'Start');
    assert.deepEqual(asked.map(([method, path]) => `${method} ${path}`), ['POST /api/v1/uploads?name=rank+0.json', 'POST /api/v1/uploads?name=b.json', 'POST /api/v1/jobs/import']);
    assert.deepEqual(JSON.parse(asked[2][2]), { upload: ['up1', 'up2'] });
  });
  on('a refused file starts no job', '#/jobs', { mode: 'full', refuses: true }, async (tab) => {
    await tab.getByText('Start a job').click();
    await tab.getByLabel('upload').setInputFiles([{ name: 'a', mimeType: 'x', buffer: Buffer.from('{}') }]);
    await tab.getByRole('button', { name: 'Start' }).click();
    await tab.waitForSelector('text=too many uploads');
    assert.equal(asked.length, 1);
  });
  on('tables are saved as CSV', '#/hardware', {}, async (tab) => {
    await tab.waitForSelector('iframe');
    const file = await saved(tab, /Devices of the registry/);
    assert.equal(file.name, 'aaco-devices-of-the-registry.csv');
    assert.match(file.bytes.toString(), /^id,device,kind,entry\r\namd_instinct_mi300x,Instinct MI300X,gpu,shipped\r\n/);
  });
  on('charts are saved as PNG', '#/llm', {}, async (tab) => {
    await tab.waitForSelector('.hist');
    const file = await saved(tab, /Time to first token over throughput/);
    assert.equal(file.bytes.subarray(1, 4).toString(), 'PNG');
    assert.ok(file.bytes.length > 5000, `${file.bytes.length} bytes`);
  });
  on('keys open pages and list themselves', '', {}, async (tab) => {
    await tab.keyboard.press('?');
    assert.match(await tab.locator('dialog').innerText(), /Keys[\s\S]*Sessions[\s\S]*search field/);
    await tab.keyboard.press('Escape');
    await tab.keyboard.press('6');
    await tab.waitForSelector('h1:has-text("Hardware")');
    await tab.keyboard.press('1');
    await tab.waitForSelector('h1:has-text("Sessions")');
    await tab.keyboard.press('/');
    await tab.keyboard.type('6?');
    assert.equal(await tab.getByLabel('Search sessions').inputValue(), '6?');
  });
  for (const [name, hash, ready, kind] of [['hardware', '#/hardware?model=a&on=b', 'text=740'], ['llm', '#/llm', '.hist'], ['fleet', '#/fleet', 'text=No fleet'], ['fleet map', '#/fleet', '.fleet-box canvas', 'fleet'], ['fleet node', '#/fleet?node=node0001', '.fleet-plot', 'fleet'], ['session', `#/session/${kId}`, '.note-text'], ['sessions', '', 'tbody tr']])
    fits(on, name, hash, ready, kind ? { mode: kind } : {});
});

// The dashboard's Live and Jobs pages against a server with made-up answers (docs/formats/live.md, docs/formats/jobs.md).
import assert from 'node:assert/strict';
import { checkAccess } from './lib/axe.mjs';
import { describeDashboard, fits, page, policy } from './lib/dashboard.mjs';

const machine = (time) => ({
  time_ns: time, name: 'node7', cpu_use_ratio: 0.43, cpu_user_ratio: 0.3, cpu_system_ratio: 0.1, cpu_iowait_ratio: 0, core_use_ratios: [0.9, 0.5, 0.1, null], cpu_clock_hz: 3.1e9, cpu_power_watts: null,
  cpu_temperature_celsius: 61, cpu_wait_ratio: 0.12, memory_wait_ratio: 0, io_wait_ratio: 0.01, memory_available_bytes: 8e9, memory_total_bytes: 16e9, load_1min: 1.5,
  gpus: [{ device: 0, use_ratio: 0.97, memory_used_bytes: 40e9, memory_total_bytes: 192e9, power_watts: 640, power_cap_watts: 750, temperature_celsius: 91, clock_hz: 2.1e9, throttled: ['power'] }],
});
const bucket = (number) => ({ number, time_ns: 1e9 * number, count: 80, min_ns: 3e6, p50_ns: 3.2e6 + 1e4 * (number % 5), p90_ns: 3.4e6, p99_ns: null, max_ns: number === 30 ? 9e7 : 3.6e6 });
const session = (time, buckets) => ({
  session: '20261123T100000Z-abcdef', kind: 'run', what: '</script><b>resnet50</b>, cpu, batch 1', tag: '', phase: 'measuring', started: '', started_ns: 0, process_id: 4711, iterations: 1240, median_ns: 3.2e6,
  median_low_ns: 3.2e6 - 1e15 / time, median_high_ns: 3.2e6 + 1e15 / time, done_ratio: 0.62, left_s: 40, buckets,
});
const processes = [{ process_id: 4711, parent: 1, depth: 0, name: 'aaco', cpu_cores: 1.5, wait_ratio: 0.01, resident_bytes: 1e8, threads: 4 }, { process_id: 4712, parent: 4711, depth: 1, name: 'worker', cpu_cores: null, wait_ratio: null, resident_bytes: 9e8, threads: 2 }];
const job = (id, state, more = {}) => ({ schema_version: 1, id, verb: 'run', state, command: ['run', '--json', '--model=resnet50'], measures: true, created: '2026-11-23T10:00:00Z', started: null, ended: null, exit_code: null, session: null, error: null, progress: null, process_id: null, ...more });
const openapi = { openapi: '3.1.0', paths: { '/api/v1/jobs': { get: {} }, '/api/v1/jobs/{job}/cancel': { post: { requestBody: { content: { 'application/json': { schema: {} } } } } },
  '/api/v1/uploads': { post: { requestBody: { content: { 'application/octet-stream': {} } } } }, '/api/v1/jobs/run': { post: { summary: 'Measure a model', requestBody: { content: { 'application/json': { schema: { required: ['model'], properties: { model: { type: 'string', title: 'Model', description: 'A name of configs/models.yaml' }, batch: { type: 'integer', title: 'Batch size', minimum: 1, maximum: 100 }, telemetry: { type: 'boolean', title: 'Telemetry', description: 'Sample clocks, power, memory and load of the machine' }, dim: { type: 'array', title: 'Symbolic dimensions', description: 'NAME=SIZE', items: { type: 'string' } } } } } } } } },
  '/api/v1/jobs/import': { post: { summary: 'Create a session from a profiler\'s files', requestBody: { content: { 'application/json': { schema: { properties: { upload: { type: 'array', title: 'Files', items: { type: 'string' } }, tag: { type: 'string', title: 'Tag' } } } } } } } } } };

let mode = 'busy';
let jobs = [];
const asked = [];
let streams = 0;
function stream(response) {
  ++streams;
  response.on('close', () => { --streams; });
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const send = (name, data) => response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const sessions = (time, buckets) => (mode === 'idle' ? [] : [session(time, buckets)]);
  send('history', { schema_version: 1, cpu_use: [...Array(60)].map((_, at) => ({ time_ns: at * 1e9, count: 10, min: 0.2, mean: 0.4 + at / 200, max: 0.8 })), sessions: sessions(59e9, [...Array(56)].map((_, at) => bucket(at))) });
  for (let at = 60; at < 66; ++at) send('tick', { number: at, time_ms: 0, machine: machine(at * 1e9), sessions: sessions(at * 1e9, [bucket(at - 2), bucket(at - 1)]), processes: mode === 'idle' ? [] : processes, jobs_revision: 1 });
  if (mode === 'slow') send('thinned', { lost: 7 });
  if (mode === 'lost') response.end();
}
function answer(request, response) {
  const url = new URL(request.url, 'http://x');
  const json = (status, value) => { response.writeHead(status, { 'Content-Type': 'application/json' }); response.end(JSON.stringify(value)); };
  if (url.pathname === '/') { response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': `${policy}; frame-ancestors 'self'` }); return response.end(page); }
  if (url.pathname === '/api/v1/live') return mode === 'lost' && asked.includes('live') ? json(503, {}) : (asked.push('live'), stream(response));
  if (url.pathname === '/api/v1/openapi.json') return json(200, openapi);
  if (url.pathname.endsWith('/log')) { response.writeHead(200, { 'Content-Type': 'text/plain' }); return response.end('aaco: <b>no</b> such model\n'); }
  if (request.method === 'POST') {
    let body = '';
    request.on('data', (part) => { body += part; });
    return request.on('end', () => {
      asked.push([url.pathname, JSON.parse(body)]);
      if (url.pathname.endsWith('/cancel')) { jobs = jobs.map((one) => (url.pathname.includes(one.id) ? { ...one, state: 'cancelled' } : one)); return json(200, jobs[0]); }
      if (JSON.parse(body).model === 'bad') return json(403, { error: { status: 403, message: 'jobs of run are disabled', hint: 'see the policy' } });
      jobs = [job('20261123T100005Z-000005', 'queued'), ...jobs];
      return json(202, jobs[0]);
    });
  }
  if (url.pathname === '/api/v1/jobs') return mode === 'refused' ? json(409, { error: { status: 409, message: 'another server runs the jobs of these sessions' } }) : json(200, { schema_version: 1, found: jobs.length, jobs });
  return json(404, { error: { status: 404, message: 'no such resource' } });
}

describeDashboard('live and jobs', { answer, begin: (options) => { mode = options.mode ?? 'busy'; jobs = options.jobs ?? []; asked.length = 0; }, width: 1400 }, (on) => {
  const main = (tab) => tab.locator('main').innerText();
  const some = [job('20261123T100004Z-000004', 'running', { progress: 'measuring resnet50: 1,240 iterations, 62 %' }), job('20261123T100003Z-000003', 'queued'), job('20261123T100002Z-000002', 'done', { session: '20261123T100002Z-abcdef', exit_code: 0 }),
    job('20261123T100001Z-000001', 'failed', { error: { message: 'no model </script>', hint: "'aaco zoo ls' lists them" } }),
    job('20261123T100000Z-000000', 'interrupted', { command: ['import', '--json', '--no-report', `/lake/.jobs/uploads/20261128T100835Z-29ebba/${'a_long_name_of_a_trace_'.repeat(4)}.json.gz`, '--tag=after-the-restart'], error: { message: 'the server ended while the job ran', hint: 'GET /api/v1/sessions lists the sessions; POST /api/v1/jobs/import starts it again' } })];

  on('shows a running session, its blocks and the machine', '#/live', {}, async (tab) => {
    await tab.waitForSelector('.live-line');
    await tab.waitForSelector('text=live');
    const shown = await main(tab);
    assert.match(shown, /<\/script><b>resnet50<\/b>, cpu, batch 1/);
    assert.match(shown, /1,240[\s\S]*3\.20.ms ±[\s\S]*0:40/);
    assert.match(shown, /1.block beyond the scale/);
    assert.match(shown, /95.% CI of the median/);
    assert.match(shown, /CPU 0[\s\S]*CPU 3/);
    assert.match(shown, /Model run, measuring/);
    assert.match(shown, /node7[\s\S]*640.W of 750.W[\s\S]*power/);
    assert.match(shown, /worker[\s\S]*4712/);
    // Ticks repeat blocks: each is drawn once.
    const points = await tab.locator('.live-session .live-line').first().getAttribute('points');
    assert.equal(points.split(' ').length, 63);
  });
  on('an idle machine names the command', '#/live', { mode: 'idle' }, async (tab) => {
    await tab.waitForSelector('text=No session is running');
    assert.match(await main(tab), /aaco run --model resnet50[\s\S]*node7/);
  });
  on('a slow browser is told what it lost', '#/live', { mode: 'slow' }, async (tab) => { await tab.waitForSelector('text=7 updates left out'); });
  on('a lost connection is said', '#/live', { mode: 'lost', refuses: true }, async (tab) => { await tab.waitForSelector('text=connection lost'); });
  // A browser opens six connections to a server: streams that stay open would leave none for the next page.
  on('Jobs answers after Live, time and again', '#/live', { jobs: some }, async (tab) => {
    for (let turn = 0; turn < 8; ++turn) {
      await tab.getByRole('link', { name: 'Live' }).click();
      await tab.waitForSelector('.live-line');
      await tab.getByRole('link', { name: 'Jobs', exact: true }).first().click();
      await tab.waitForSelector('.job-running');
    }
    await tab.waitForFunction(() => document.querySelector('.job-queued') !== null);
    assert.equal(streams, 0);
  });
  on('lists jobs with progress, session and error', '#/jobs', { jobs: some }, async (tab) => {
    const shown = await main(tab);
    assert.match(shown, /running[\s\S]*1,240 iterations[\s\S]*queued[\s\S]*done[\s\S]*20261123T100002Z-abcdef[\s\S]*no model <\/script>[\s\S]*Hint: 'aaco zoo ls'/);
    await tab.getByRole('button', { name: 'Log' }).last().click();
    await tab.waitForSelector('text=aaco: <b>no</b> such model');
  });
  on('cancels a job', '#/jobs', { jobs: some }, async (tab) => {
    await tab.getByRole('button', { name: 'Cancel' }).first().click();
    await tab.waitForSelector('.job-cancelled');
    assert.deepEqual(asked.find((one) => one[0]?.endsWith('/cancel')), ['/api/v1/jobs/20261123T100004Z-000004/cancel', {}]);
  });
  on('starts a job from the form of the interface', '#/jobs', {}, async (tab) => {
    await tab.getByText('Start a job').click();
    await tab.getByLabel('Model').fill('resnet50');
    await tab.getByLabel('Batch size').fill('8');
    await tab.getByLabel('Telemetry').check();
    await tab.getByLabel('Symbolic dimensions').fill('a=1 b=2');
    await tab.getByRole('button', { name: 'Start' }).click();
    await tab.waitForSelector('.job-queued');
    assert.deepEqual(asked.find((one) => one[0] === '/api/v1/jobs/run')[1], { model: 'resnet50', batch: 8, telemetry: true, dim: ['a=1', 'b=2'] });
  });
  on('each control of the form has a label in words and, where that leaves something open, a text beside it', '#/jobs', { jobs: some }, async (tab) => {
    await tab.getByText('Start a job').click();
    for (const verb of ['run', 'import']) {
      await tab.getByLabel('What to do').selectOption(verb);
      const controls = await tab.evaluate(() => [...document.querySelectorAll('.job-form input')].map((one) => ({ label: [...one.labels].map((label) => label.innerText).join(' '), help: document.getElementById(one.getAttribute('aria-describedby') ?? '')?.innerText ?? '' })));
      assert.ok(controls.length >= 2);
      for (const { label } of controls) assert.match(label, /^[A-Z][^_]*$/, `"${label}" is a name of the interface`);
    }
    assert.deepEqual(await tab.evaluate(() => [...document.querySelectorAll('.job-form option')].map((one) => one.innerText)), ['Measure a model', "Create a session from a profiler's files"]);
    await tab.getByLabel('What to do').selectOption('run');
    assert.equal(await tab.getByLabel('Model (required)').getAttribute('required'), '');
    assert.match(await main(tab), /Symbolic dimensions[\s\S]*NAME=SIZE; several separated by spaces/);
    await checkAccess(tab);
  });
  // At 375 px three columns would leave the command a hundred pixels.
  on('a phone shows each job as a block that can be read', '#/jobs', { width: 375, jobs: some }, async (tab) => {
    const rows = await tab.evaluate(() => [...document.querySelectorAll('.job-row')].map((row) => ({
      height: row.getBoundingClientRect().height, text: row.innerText, command: row.querySelector('.job-command').getBoundingClientRect().width,
      beyond: [...row.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > innerWidth).length,
      split: [...row.querySelectorAll('.word')].filter((word) => word.getBoundingClientRect().height > 30 && word.innerText.length < 30).map((word) => word.innerText),
    })));
    assert.equal(rows.length, some.length);
    for (const row of rows) {
      assert.ok(row.command >= 300, `a command has ${row.command} px`);
      assert.ok(row.height < 260, `${row.height} px: ${row.text}`);
      assert.equal(row.beyond, 0);
      assert.deepEqual(row.split, [], 'words are split');
      assert.match(row.text, /2026-11-23 10:00:00/, 'the time is shown');
    }
    await tab.getByRole('button', { name: 'Log' }).first().click();
    await tab.waitForSelector('.job-log >> text=no</b> such model');
  });
  on('hints name pages, not requests', '#/jobs', { jobs: some }, async (tab) => {
    assert.match(await main(tab), /Hint: the page Sessions lists the sessions; a job 'import' starts it again/);
  });
  on('says why a job was refused', '#/jobs', { refuses: true }, async (tab) => {
    await tab.getByText('Start a job').click();
    await tab.getByLabel('Model').fill('bad');
    await tab.getByRole('button', { name: 'Start' }).click();
    await tab.waitForSelector('text=jobs of run are disabled');
  });
  on('a page without jobs names the command', '#/jobs', {}, async (tab) => assert.match(await main(tab), /none yet[\s\S]*aaco run --model/));
  on('a server without jobs says why', '#/jobs', { mode: 'refused', refuses: true }, async (tab) => { await tab.waitForSelector('text=another server runs the jobs'); });
  fits(on, 'live', '#/live', '.live-line');
  fits(on, 'jobs', '#/jobs', '.job-running', { jobs: some });
});

// First contentful paint of the dashboard's list over many sessions beside that of a page with one line, in turns in one Chromium.
//   node tests/web/lib/first_paint.mjs PROGRAM [SESSIONS] [TURNS]
// Ends with 0 when the median of the dashboard is within the target.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startBrowser } from './browser.mjs';

const kTarget_ms = 300;
const [program, sessions = '1000', turns = '10'] = process.argv.slice(2);
const trace = JSON.stringify({ traceEvents: [{ ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 10, dur: 5, args: { device: 0, stream: 7 } }] });
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
};

// One imported session and copies of it with ids of their own.
function fill(lake, folder) {
  writeFileSync(join(folder, 'trace.json'), trace);
  const made = spawnSync(program, ['-q', '--sessions', lake, 'import', join(folder, 'trace.json'), '--no-report'], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  const id = made.stdout.trim();
  const original = join(lake, readdirSync(lake).find((one) => one.startsWith('20')), id);
  const manifest = readFileSync(join(original, 'session.json'), 'utf8');
  mkdirSync(join(lake, '2020-01-01'));
  for (let number = 1; number < Number(sessions); ++number) {
    const name = `20200101T000000Z-${number.toString(16).padStart(6, '0')}`;
    cpSync(original, join(lake, '2020-01-01', name), { recursive: true });
    writeFileSync(join(lake, '2020-01-01', name, 'session.json'), manifest.replaceAll(id, name));
  }
}

async function paint_ms(browser, url, ready) {
  const tab = await browser.context.newPage();
  await tab.goto(url);
  await tab.waitForSelector(ready);
  const time = await tab.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  await tab.close();
  if (time === undefined) throw new Error(`${url} was not painted`);
  return time;
}

const folder = mkdtempSync(join(tmpdir(), 'aaco-paint-'));
const plain = createServer((_, response) => { response.setHeader('Content-Type', 'text/html'); response.end('<!doctype html><title>plain</title><h1>plain</h1>'); });
let server, browser;
try {
  fill(join(folder, 'sessions'), folder);
  server = spawn(program, ['-q', '--sessions', join(folder, 'sessions'), 'dashboard', '--port', '0'], { cwd: folder, env: { ...process.env, XDG_RUNTIME_DIR: folder }, stdio: ['ignore', 'pipe', 'inherit'] });
  const link = await new Promise((done) => { createInterface({ input: server.stdout }).once('line', done); });
  await new Promise((done) => { plain.listen(0, '127.0.0.1', done); });
  browser = await startBrowser();
  const list = `${new URL(link).origin}/#/sessions`;
  await paint_ms(browser, link, 'main tbody tr'); // signs in, and warms the server
  const times = { dashboard: [], plain: [] };
  for (let turn = 0; turn < Number(turns); ++turn) {
    times.dashboard.push(await paint_ms(browser, list, 'main tbody tr'));
    times.plain.push(await paint_ms(browser, `http://127.0.0.1:${plain.address().port}/`, 'h1'));
  }
  const found = median(times.dashboard);
  console.log(`first contentful paint over ${sessions} sessions, median of ${turns}: ${found.toFixed(0)} ms (target ${kTarget_ms} ms); a page with one line in the same run: ${median(times.plain).toFixed(0)} ms`);
  process.exitCode = found <= kTarget_ms ? 0 : 1;
} finally {
  await browser?.stop();
  plain.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}

// How long the Fleet page of a simulated fleet takes on its first opening (nothing is kept by the server): until the heat map is drawn, and until
// the findings are there; then how fluid it is: metrics chosen one after the other, and the pointer moved over the map.
//   node tests/web/lib/fleet_page.mjs PROGRAM TELEMETRY
// Prints one line of JSON; ends with 0 when the map is drawn before the findings, within the target, and half of the frames take at most 33 ms.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startBrowser } from './browser.mjs';

const kTarget_s = 10;
const kFrame_ms = 33;
const kMoves = 200;
const kMetrics = ['clock_hz', 'temperature_celsius', 'ecc_corrected', 'wait_ns', 'cpu_busy_ratio'];
const [program, telemetry] = process.argv.slice(2);
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
const seconds = (since) => (performance.now() - since) / 1000;

async function frames_ms(canvas) {
  const times = await canvas.evaluate(async (element, moves) => {
    const box = element.getBoundingClientRect();
    const out = [];
    let last = await new Promise((next) => requestAnimationFrame(next));
    for (let move = 0; move < moves; move += 1) {
      element.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: box.left + 150 + ((box.width - 160) * move) / moves, clientY: box.top + ((box.height - 40) * ((move * 7) % moves)) / moves }));
      const now = await new Promise((next) => requestAnimationFrame(next));
      out.push(now - last);
      last = now;
    }
    return out;
  }, kMoves);
  return times.sort((a, b) => a - b);
}

const folder = mkdtempSync(join(tmpdir(), 'aaco-fleet-page-'));
let server, browser;
try {
  const environment = { ...process.env, XDG_RUNTIME_DIR: folder, AACO_SESSIONS: join(folder, 'sessions') };
  server = spawn(program, ['-q', 'dashboard', '--port', '0', '--fleet', telemetry], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const link = await new Promise((done) => { createInterface({ input: server.stdout }).once('line', done); });
  browser = await startBrowser();
  const tab = await browser.context.newPage();
  await tab.goto(link);
  await tab.waitForSelector('main h1');
  const opened = performance.now();
  await tab.evaluate(() => { location.hash = '#/fleet'; });
  const canvas = tab.locator('.fleet-box canvas');
  await canvas.waitFor({ timeout: 600_000 });
  const result = { map_s: seconds(opened) };
  result.findings_missing_then = await tab.getByText('Findings are being worked out').count() === 1;
  await tab.getByRole('heading', { name: 'Stragglers' }).waitFor({ timeout: 600_000 });
  result.findings_s = seconds(opened);
  result.nodes = Number((await tab.locator('.lead').innerText()).replace(/,/g, '').match(/^(\d+)/)[1]);
  const changes = [];
  for (const metric of kMetrics) {
    const answered = tab.waitForResponse((one) => one.url().includes(`metric=${metric}`), { timeout: 600_000 });
    const begun = performance.now();
    await tab.getByLabel('Metric').selectOption(metric);
    await (await answered).finished();
    changes.push(seconds(begun));
  }
  result.metric_s = changes;
  const frames = await frames_ms(canvas);
  Object.assign(result, { frame_median_ms: at(frames, 0.5), frame_p95_ms: at(frames, 0.95), frame_longest_ms: at(frames, 1), load: loadavg()[0] });
  console.log(JSON.stringify(result));
  process.exitCode = result.findings_missing_then && result.map_s <= kTarget_s && result.frame_median_ms <= kFrame_ms ? 0 : 1;
} finally {
  await browser?.stop();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}

// Runs the page's tests (node's own runner, Debian's Chromium) over reports made by the real renderer.
//   npm test --prefix web          AACO_BUILD_DIR names the build, default build/release
// Ends with one line: "N passed, N failed, N skipped". Exit code 0 when nothing failed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const build = resolve(process.env.AACO_BUILD_DIR || join(here, '../../build/release'));
const page = join(build, 'share/aaco/web/report.html');
const maker = join(build, 'tests/aaco_web_samples');

function give_up(what, next) {
  console.log(`failed: ${what}\nhint: ${next}\n0 passed, 1 failed, 0 skipped`);
  process.exit(1);
}

for (const file of [page, maker])
  if (!existsSync(file)) give_up(`${file} is not there`, 'scripts/bootstrap.sh, then cmake --preset release && cmake --build --preset release');

const samples = mkdtempSync(join(tmpdir(), 'aaco-web-'));
try {
  const made = spawnSync(maker, [page, samples], { encoding: 'utf8' });
  if (made.status !== 0) give_up(`the sample reports could not be made: ${made.stderr}`, 'see the message above');
  const tests = readdirSync(here).filter((name) => name.endsWith('.test.mjs')).sort().map((name) => join(here, name));
  const ran = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...tests], { encoding: 'utf8', env: { ...process.env, AACO_WEB_SAMPLES: samples }, maxBuffer: 1 << 26 });
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)`, 'm').exec(ran.stdout)?.[1] ?? 0);
  const [passed, failed, skipped] = [count('pass'), count('fail') + count('cancelled'), count('skipped') + count('todo')];
  if (failed > 0 || passed === 0) console.log(ran.stdout, ran.stderr);
  for (const [, name, why] of ran.stdout.matchAll(/^ *ok \d+ - (.*?) # SKIP ?(.*)$/gm)) console.log(`skipped: ${name}: ${why}`);
  console.log(`${passed} passed, ${passed === 0 && failed === 0 ? 1 : failed} failed, ${skipped} skipped`);
  process.exitCode = failed > 0 || passed === 0 || ran.status !== 0 ? 1 : 0;
} finally {
  rmSync(samples, { recursive: true, force: true });
}

// The one-time link of the real `aaco dashboard`, as people open it: it signs in, leads back, and where it does neither a page says why.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkAccess } from './lib/axe.mjs';
import { chromiumMissing, startBrowser } from './lib/browser.mjs';
import { kWidths } from './lib/dashboard.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const program = process.env.AACO_PROGRAM || join(resolve(process.env.AACO_BUILD_DIR || join(top, 'build/release')), 'bin/aaco');
const missing = chromiumMissing || (existsSync(program) ? false : `${program} is not built`);

describe('the sign-in link', { skip: missing }, () => {
  let folder, server, link, base, browser;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aaco-sign-in-'));
    server = spawn(program, ['-q', 'dashboard', '--port', '0'], { cwd: folder, env: { ...process.env, AACO_SESSIONS: join(folder, 'sessions'), XDG_RUNTIME_DIR: folder }, stdio: ['ignore', 'pipe', 'inherit'] });
    link = await new Promise((done) => { createInterface({ input: server.stdout }).once('line', done); });
    base = new URL(link).origin;
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.stop();
    server?.kill();
    await new Promise((done) => { if (!server || server.exitCode !== null) done(); else server.once('exit', done); });
    rmSync(folder, { recursive: true, force: true });
  });

  test('signs in, and leads the same browser to the dashboard again', async () => {
    const tab = await browser.context.newPage();
    for (let turn = 0; turn < 2; ++turn) {
      await tab.goto(link);
      await tab.waitForSelector('text=No sessions yet');
      assert.equal(new URL(tab.url()).pathname, '/');
    }
    await tab.close();
  });
  test('another browser gets a page, not JSON', async () => {
    await browser.context.clearCookies();
    const tab = await browser.context.newPage();
    const trouble = [];
    tab.on('pageerror', (error) => trouble.push(error.message));
    tab.on('console', (message) => { if (!/status of 40[13]/.test(message.text())) trouble.push(message.text()); });
    for (const colorScheme of ['light', 'dark'])
      for (const width of kWidths) {
        await tab.setViewportSize({ width, height: 900 });
        await tab.emulateMedia({ colorScheme });
        const answer = await tab.goto(link);
        assert.equal(answer.status(), 403);
        const shown = await tab.locator('body').innerText();
        assert.match(shown, /Not signed in[\s\S]*used before[\s\S]*restart 'aaco dashboard'/);
        assert.doesNotMatch(shown, /[{}]|schema_version/);
        assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        assert.notEqual(await tab.evaluate(() => getComputedStyle(document.body).marginTop), '8px', 'its style is applied');
        if (process.env.AACO_WEB_PICTURES) await tab.screenshot({ path: join(process.env.AACO_WEB_PICTURES, `used_link_${width}_${colorScheme}.png`) });
      }
    await checkAccess(tab);
    await tab.getByRole('link', { name: 'Open the dashboard' }).click();
    await tab.waitForSelector('text=Not signed in');
    await tab.goto(`${base}/api/v1/sessions`);
    assert.match(await tab.locator('body').innerText(), /Not signed in[\s\S]*This browser is not signed in[\s\S]*aaco dashboard/);
    await tab.goto(`${base}/#/live`);
    await tab.waitForSelector('text=Not signed in');
    assert.deepEqual(trouble, []);
    await tab.close();
  });
  test('a script gets JSON', async () => {
    const answer = await fetch(link, { redirect: 'manual' });
    assert.equal(answer.status, 403);
    assert.match((await answer.json()).error.message, /used before/);
  });
});

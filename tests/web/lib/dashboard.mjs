// The built dashboard, opened in Chromium on a server with made-up answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkAccess, looksAt } from './axe.mjs';
import { chromiumMissing, startBrowser } from './browser.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../../..');
export const page = readFileSync(join(resolve(process.env.AACO_BUILD_DIR || join(top, 'build/release')), 'share/aaco/web/dashboard.html'), 'utf8');
export const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)[1];

export const kWidths = [375, 1400, 2560];

// The page of HASH, once READY is there, at each width in light and dark: no overflow, and nothing serious for axe-core.
export function fits(on, name, hash, ready, options = {}) {
  for (const colorScheme of ['light', 'dark'])
    on(`${name} fits ${kWidths.join(', ')} px, ${colorScheme}`, hash, { ...options, width: kWidths[0], colorScheme }, async (tab) => {
      for (const width of kWidths) {
        await tab.setViewportSize({ width, height: 900 });
        await tab.waitForSelector(ready);
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(overflow <= 0, `overflow of ${overflow} px at ${width} px`);
        if (process.env.AACO_WEB_PICTURES) await tab.screenshot({ path: join(process.env.AACO_WEB_PICTURES, `${name}_${width}_${colorScheme}.png`), fullPage: true });
        if (looksAt(width, colorScheme)) await checkAccess(tab);
      }
    });
}

// describeDashboard(TITLE, {answer, begin, width}, (on) => ...): `answer` handles the requests, begin(options) runs before each test, `width` is
// that of the window. on(WHAT, HASH, OPTIONS, BODY) adds a test: BODY(tab) runs on the page of HASH, and the page must not overflow, log or throw
// anything, open a dialog, or ask another server. OPTIONS: width, colorScheme, `refuses` where the console reports refused requests.
export function describeDashboard(title, { answer, begin, width }, tests) {
  describe(title, { skip: chromiumMissing }, () => {
    let browser;
    let server;
    let origin;
    before(async () => {
      server = createServer(answer);
      await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
      origin = `http://127.0.0.1:${server.address().port}`;
      browser = await startBrowser();
    });
    after(async () => { await browser?.stop(); server?.closeAllConnections(); server?.close(); });
    tests((what, hash, options, body) => test(what, async () => {
      begin(options);
      const tab = await browser.context.newPage();
      const trouble = [];
      tab.on('console', (message) => { if (!options.refuses) trouble.push(`console ${message.type()}: ${message.text()}`); });
      tab.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
      tab.on('dialog', (dialog) => { trouble.push('dialog'); void dialog.dismiss(); });
      tab.on('request', (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) trouble.push(`request: ${request.url()}`); });
      try {
        await tab.setViewportSize({ width: options.width ?? width, height: 900 });
        await tab.emulateMedia({ colorScheme: options.colorScheme ?? 'light', reducedMotion: 'reduce' });
        await tab.goto(`${origin}/${hash}`);
        await tab.waitForSelector('main h1');
        await body(tab);
        if (process.env.AACO_WEB_PICTURES) await tab.screenshot({ path: join(process.env.AACO_WEB_PICTURES, `${what.replace(/\W+/g, '_')}.png`), fullPage: true });
        const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(overflow <= 0, `overflow of ${overflow} px`);
        assert.deepEqual(trouble, []);
      } finally {
        await tab.close();
      }
    }));
  });
}

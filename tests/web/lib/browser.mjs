// Chromium on one report at a time, with everything that must not happen recorded.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(here, '../../../web/package.json'));
const kFlags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const kChromium = process.env.AACO_CHROMIUM || '/usr/bin/chromium';

export const chromiumMissing = existsSync(kChromium) ? false : `${kChromium} is not there (apt-get install chromium)`;
export const samples = process.env.AACO_WEB_SAMPLES ?? '';
export const webRequire = require;

export async function startBrowser() {
  const { chromium } = require('playwright-core');
  const profile = mkdtempSync(join(tmpdir(), 'aaco-chromium-'));
  const context = await chromium.launchPersistentContext(profile, { executablePath: kChromium, headless: true, args: kFlags, viewport: { width: 1280, height: 900 } });
  return { context, async stop() { await context.close(); rmSync(profile, { recursive: true, force: true }); } };
}

// Opens the sample report `name`; `trouble` collects console messages, page errors and requests that leave the file.
export async function openReport(browser, name, { width = 1280, height = 900, colorScheme = 'light' } = {}) {
  const page = await browser.context.newPage();
  const trouble = [];
  page.on('console', (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!(url.startsWith('file:') && url.endsWith(`/${name}.html`)) && !url.startsWith('data:') && !url.startsWith('blob:')) trouble.push(`request: ${url}`);
  });
  page.on('dialog', (dialog) => { trouble.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.goto(`file://${join(samples, `${name}.html`)}`);
  await page.waitForSelector('main');
  return { page, trouble };
}

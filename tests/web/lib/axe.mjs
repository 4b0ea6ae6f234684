// axe-core on an open page: accessibility findings that its makers call serious or critical.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { webRequire } from './browser.mjs';

const source = readFileSync(webRequire.resolve('axe-core/axe.min.js'), 'utf8');
const kGrave = new Set(['serious', 'critical']);
// The whole grid takes minutes: scripts/proofs/pages.sh. The tests look at a phone in light and a desktop in dark.
const kAll = process.env.AACO_WEB_AXE === 'all';

export const looksAt = (width, colorScheme) => kAll || (width === 375 && colorScheme === 'light') || (width === 1400 && colorScheme === 'dark');

export async function checkAccess(tab) {
  await tab.evaluate(source);
  const found = await tab.evaluate(async () => (await globalThis.axe.run(document, { iframes: false, resultTypes: ['violations'] })).violations
    .map((one) => ({ impact: one.impact, rule: one.id, help: one.help, at: one.nodes.slice(0, 4).map((node) => `${node.target.join(' ')}: ${(node.any[0] ?? node.all[0])?.message ?? ''}`) })));
  assert.deepEqual(found.filter((one) => kGrave.has(one.impact)), []);
}

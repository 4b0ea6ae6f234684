// The page's types (web/src/model/report.ts and web/src/sections) against the document that the C++ side writes. The sample "full"
// has every optional member set; tsc refuses it where the types lack a member of it, or have one that it lacks.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const full = JSON.parse(readFileSync(join(process.env.AACO_WEB_SAMPLES, 'full.json'), 'utf8'));
const folder = mkdtempSync(join(process.env.AACO_WEB_SAMPLES, 'types-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

// A list of objects as one with the members of all, so that each need not have every one.
function merged(value) {
  if (Array.isArray(value)) {
    const items = value.map(merged);
    return items.length > 0 && items.every(isObject) ? [Object.assign({}, ...items.reverse())] : items;
  }
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, merged(one)])) : value;
}

function document() {
  const one = merged(full);
  for (const key of ['metrics', 'definitions']) one[key] = { any: Object.assign({}, ...Object.values(one[key]).flat().reverse()) };
  return one;
}

const lacking = document();
delete lacking.extra.gaps.host;
const documents = {
  whole: document(),
  with_more: { ...document(), extra: { ...document().extra, gaps: { ...document().extra.gaps, new_member: 1 } } },
  lacking,
};

// What tsc says of each document: one run for all, for starting it is what takes its time.
function complaints() {
  for (const [name, report] of Object.entries(documents))
    writeFileSync(join(folder, `${name}.ts`), `import type { Report } from '${join(top, 'web/src/model/report.ts')}';
type Whole<T> = T extends [number, number] ? T : T extends (infer One)[] ? Whole<One>[] : T extends object ? { [Key in keyof T]-?: Whole<NonNullable<T[Key]>> } : T;
export const sample: Whole<Omit<Report, 'thinned'>> = ${JSON.stringify(report, null, 1)};
`);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: join(top, 'web/tsconfig.json'), include: [join(top, 'web/src'), folder] }));
  const ran = spawnSync(process.execPath, [join(top, 'web/node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
  const said = (name) => ran.stdout.split('\n').filter((line) => line.includes(`${name}.ts(`)).join('\n');
  return { ...Object.fromEntries(Object.keys(documents).map((name) => [name, said(name)])), source: ran.stdout.split('\n').filter((line) => /web\/src\//.test(line.split('(')[0])).join('\n') };
}

describe('the types of the report', () => {
  const said = complaints();
  test('compile', () => assert.equal(said.source, ''));
  test('declare every member of the document, and no other', () => assert.equal(said.whole, ''));
  test('are refused where they lack a member', () => assert.match(said.with_more, /new_member.* does not exist/));
  test('are refused where the document lacks a member', () => assert.match(said.lacking, /Property 'host' is missing/));
  // What the sample lacks, nothing holds against the types.
  test('are held against all that the sections write', () => {
    const keys = new Set();
    const collect = (value) => {
      if (Array.isArray(value)) value.forEach(collect);
      else if (isObject(value)) for (const [key, one] of Object.entries(value)) keys.add(key) && collect(one);
    };
    collect(full);
    const sources = [...readdirSync(join(top, 'src/report')).filter((name) => /_sections?\.cc$/.test(name)).map((name) => join('src/report', name)), 'src/report/web/render_json.cc'];
    assert.ok(sources.length >= 5);
    for (const source of sources)
      for (const [, key] of readFileSync(join(top, source), 'utf8').matchAll(/(?:\{|set\(|set_if\()"(\w+)",/g)) assert.ok(keys.has(key), `${source} writes ${key}, which tests/support/sample_full.cc has not`);
  });
});

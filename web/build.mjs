// Builds the pages of a report, of a comparison and the dashboard: one HTML file each with its script and style inside. The first two
// have a place for their data; the dashboard asks its server.
//   node build.mjs [--out FOLDER]     FOLDER defaults to dist/
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const outAt = process.argv.indexOf('--out');
const out = outAt > 0 ? process.argv[outAt + 1] : join(here, 'dist');

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: ['es2020', 'chrome100', 'firefox100', 'safari15'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'ascii',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;

async function page({ title, noscript, data, allowed }, script, style) {
  const js = await bundle(script);
  const css = await bundle(style);
  for (const [what, text] of [['script', js], ['style', css]])
    if (/<\/(script|style)/i.test(text) || text.includes('__AACO_REPORT_'))
      throw new Error(`the built ${what} holds a text that would break the page`);
  // Only this script and this style run, by their hashes. Reports fetch nothing; the dashboard talks to its own server.
  const policy = `default-src 'none'; script-src ${hash(js)}; style-src ${hash(css)}; img-src data:; base-uri 'none'; form-action 'none'${allowed}`;
  const fill = { CSP: policy, CSS: css, JS: js, TITLE: title, NOSCRIPT: noscript, DATA: data };
  return readFileSync(join(here, 'page.template.html'), 'utf8').replace(/%(CSP|CSS|JS|TITLE|NOSCRIPT|DATA)%/g, (_, name) => fill[name]);
}

mkdirSync(out, { recursive: true });
const kDocument = {
  title: 'AACO report',
  noscript: '<p>This browser runs no script, so here is the report as text.</p>\n<pre>__AACO_REPORT_TEXT__</pre>',
  data: '<script type="application/json" id="aaco-data">__AACO_REPORT_DATA__</script>\n',
  allowed: '',
};
const kServed = {
  title: 'AACO',
  noscript: '<p>This page requires JavaScript. The command line has everything it shows: aaco ls, aaco report, aaco diff, aaco history.</p>',
  data: '',
  allowed: "; connect-src 'self'; frame-src 'self'",
};
for (const [name, kind] of [['report', kDocument], ['compare', kDocument], ['paper', kDocument], ['dashboard', kServed]]) {
  const html = await page(kind, `src/main_${name}.tsx`, `src/style/${name}.css`);
  writeFileSync(join(out, `${name}.html`), html);
  console.log(`${name}.html: ${(html.length / 1024).toFixed(0)} KiB`);
}

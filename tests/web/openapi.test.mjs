// The OpenAPI document of the real server passes two validators, and the server's answers fit the schemas it documents.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { webRequire } from './lib/browser.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const program = process.env.AACO_PROGRAM || join(resolve(process.env.AACO_BUILD_DIR || join(top, 'build/release')), 'bin/aaco');
const trace = JSON.stringify({ traceEvents: [{ ph: 'X', cat: 'cuda_runtime', name: 'hipLaunchKernel', pid: 1, tid: 1, ts: 1, dur: 4, args: { correlation: 11 } }, { ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 10, dur: 5, args: { device: 0, stream: 7, correlation: 11 } }] });
const kEndless = new Set(['/api/v1/live']);

describe('OpenAPI', { skip: existsSync(program) ? false : `${program} is not built` }, () => {
  let folder, server, base, token, document, validate, job, upload;
  const ask = async (method, path, body, type = 'application/json') => {
    const answer = await fetch(base + path, { method, body, headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': type }) } });
    const text = await answer.text();
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text, json: () => JSON.parse(text) };
  };
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aaco-openapi-'));
    const environment = { ...process.env, AACO_SESSIONS: join(folder, 'sessions'), XDG_RUNTIME_DIR: folder };
    for (const name of ['a.json', 'b.json']) {
      writeFileSync(join(folder, name), trace);
      assert.equal(spawnSync(program, ['-q', 'import', join(folder, name), '--no-report', '--tag', name[0]], { cwd: folder, env: environment }).status, 0);
    }
    mkdirSync(join(folder, 'telemetry'));
    writeFileSync(join(folder, 'telemetry/a.csv'), `node,device,metric_group,minute_unix_ns,power_watts\n${[...Array(120)].map((_, minute) => `n1,0,gpu,${minute}0000000000,${minute}`).join('\n')}\n`);
    server = spawn(program, ['-q', 'serve', '--fleet', join(folder, 'telemetry'), '--port', '0', '--token-file', join(folder, 'token')], { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    base = await new Promise((done) => { createInterface({ input: server.stdout }).once('line', done); });
    token = readFileSync(join(folder, 'token'), 'utf8').trim();
    document = (await ask('GET', '/api/v1/openapi.json')).json();
    const Ajv = webRequire('ajv/dist/2020.js').default;
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', ...document });
    validate = (name, value) => {
      const check = ajv.getSchema(`doc#/components/schemas/${name}`);
      assert.ok(check(value), `${name}: ${ajv.errorsText(check.errors)}`);
    };
    upload = (await ask('POST', '/api/v1/uploads?name=c.json', trace, 'application/octet-stream')).json();
    job = (await ask('POST', '/api/v1/jobs/import', JSON.stringify({ upload: [upload.id] }))).json();
    for (let turn = 0; turn < 600 && ['queued', 'running'].includes(job.state); ++turn) {
      await new Promise((done) => { setTimeout(done, 100); });
      job = (await ask('GET', `/api/v1/jobs/${job.id}`)).json();
    }
  });
  after(async () => {
    server?.kill();
    await new Promise((done) => { if (!server || server.exitCode !== null) done(); else server.once('exit', done); });
    rmSync(folder, { recursive: true, force: true });
  });

  test('passes the schema of OpenAPI (@seriousme/openapi-schema-validator)', async () => {
    const { Validator } = await import(pathToFileURL(join(top, 'web/node_modules/@seriousme/openapi-schema-validator/index.js')).href);
    const result = await new Validator().validate(document);
    assert.deepEqual(result.errors ?? [], []);
    assert.ok(result.valid);
  });
  test('passes the rules of Redocly (@redocly/openapi-core)', async () => {
    const { createConfig, lintFromString } = webRequire('@redocly/openapi-core');
    const problems = await lintFromString({ source: JSON.stringify(document), config: await createConfig({ extends: ['recommended'] }) });
    assert.deepEqual(problems.filter((one) => one.severity === 'error').map((one) => `${one.ruleId}: ${one.message}`), []);
  });
  test('the upload and its job fit their schemas', () => {
    validate('Upload', upload);
    validate('Job', job);
    assert.equal(job.state, 'done');
  });
  test('every documented answer to GET fits its schema', async () => {
    const query = { '/api/v1/diff': '?a=tag:a&b=tag:b', '/api/v1/diff.html': '?a=tag:a&b=tag:b', '/api/v1/history': '?metric=gpu.busy_ns', '/api/v1/predictions': '?model=mlp&hardware=MI300X', '/api/v1/fleet/heat': '?metric=power_watts' };
    const place = { session: 'tag:a', job: job.id, device: 'MI300X', node: 'n1' };
    let fitting = 0;
    for (const [path, { get }] of Object.entries(document.paths)) {
      if (!get || kEndless.has(path)) continue;
      const answer = await ask('GET', path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(place[name])) + (query[path] ?? ''));
      const [[type, content]] = Object.entries(get.responses['200'].content);
      if (answer.status !== 200) {
        assert.ok([404, 422, 501].includes(answer.status), `${path}: ${answer.status} ${answer.text}`);
        validate('Error', answer.json());
        continue;
      }
      assert.ok(answer.type.startsWith(type), `${path}: ${answer.type}`);
      if (type !== 'application/json') continue;
      validate(content.schema.$ref.split('/').pop(), answer.json());
      ++fitting;
    }
    assert.ok(fitting >= 18, `${fitting} answers`);
  });
  test('changes fit their schemas, and refusals that of errors', async () => {
    validate('Notes', (await ask('PUT', '/api/v1/sessions/tag:a/notes', '{"text": "x", "tags": ["y"]}')).json());
    validate('QueryRows', (await ask('POST', '/api/v1/query', '{"sql": "SELECT 1 AS one"}')).json());
    for (const [method, path, body] of [['GET', '/api/v1/sessions/missing'], ['GET', '/nowhere'], ['POST', '/api/v1/query', '{}'], ['PUT', '/api/v1/sessions/tag:a/notes', '[]'], ['GET', '/api/v1/sessions?limit=x']]) {
      const answer = await ask(method, path, body);
      assert.ok(answer.status >= 400 && answer.status < 500, path);
      validate('Error', answer.json());
    }
  });
});

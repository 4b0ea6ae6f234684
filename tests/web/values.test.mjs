// The page's pure parts: numbers, names, scales, the tree of the time.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { webRequire } from './lib/browser.mjs';

const source = join(dirname(fileURLToPath(import.meta.url)), '../../web/src');
const folder = mkdtempSync(join(tmpdir(), 'aaco-values-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const entry = ['format/quantity', 'format/name', 'charts/scale', 'charts/path', 'charts/palette', 'charts/roof', 'model/report', 'model/time_tree', 'model/lanes', 'model/iterations', 'model/trace', 'model/trace_layout', 'compare/forest.tsx', 'dashboard/fleet_heat.tsx', 'dashboard/fleet_data', 'dashboard/history.tsx', 'sections/at_a_glance.tsx', 'sections/hardware.tsx', 'model/session_kind', 'dashboard/states.tsx']
  .map((name) => `export * from ${JSON.stringify(join(source, name.endsWith('x') ? name : `${name}.ts`))};`).join('\n');
await webRequire('esbuild').build({ stdin: { contents: entry, resolveDir: source, loader: 'ts' }, bundle: true, format: 'esm', outfile: join(folder, 'values.mjs'), logLevel: 'error' });
const page = await import(pathToFileURL(join(folder, 'values.mjs')));
const plain = (text) => text.replace(/\u00a0/g, ' ');

test('ticks of a logarithmic axis are round and stand apart', () => {
  const at = (low, high, pixels, apart) => page.spacedLogTicks(page.logarithmic({ low, high }, 0, pixels), apart);
  assert.deepEqual(at(8, 1200, 600, 40), [10, 20, 50, 100, 200, 500, 1000]);
  assert.deepEqual(at(8, 1200, 120, 40), [10, 100, 1000]);
  assert.deepEqual(at(8, 1200, 240, 40), [10, 30, 100, 300, 1000]);
  assert.deepEqual(at(1, 1e12, 300, 60), [1, 1000, 1e6, 1e9, 1e12]);
  assert.deepEqual(at(0.002, 0.09, 400, 40), [0.002, 0.005, 0.01, 0.02, 0.05]);
  assert.deepEqual(at(8, 1200, -600, 40), [10, 20, 50, 100, 200, 500, 1000], 'an axis that goes up');
});
test('ticks of the roofline have units', () => {
  assert.equal(plain(page.rateTick(2e14)), '200 TFLOP/s');
  assert.equal(plain(page.rateTick(1e15)), '1 PFLOP/s');
  assert.deepEqual([0.05, 2, 10000, 1e6].map(page.intensityTick), ['0.05', '2', '10,000', '1e6']);
});
test('rates of a load are never powers of ten', () => {
  assert.deepEqual([57890.4, 452.31, 4.2857, 0.0125, 0, 123456789].map(page.fourDigits), ['57,890', '452.3', '4.286', '0.01250', '0', '123,500,000']);
});
test('kinds of sessions are words', () => {
  assert.equal(page.kindWords('record'), 'Recorded program');
  assert.equal(page.kindWords('constructor'), 'constructor');
});
test('hints name pages', () => {
  assert.equal(page.hintWords('GET /api/v1/sessions/{session}/metrics lists them; POST /api/v1/jobs/run with profile=true'), "the session's report lists them; a job 'run' with profile=true");
  assert.equal(page.hintWords('GET /api/v1/sessions lists the sessions'), 'the page Sessions lists the sessions');
  assert.equal(page.hintWords('use an id, latest or tag:NAME'), 'use an id, latest or tag:NAME');
});
test('durations have three digits and a unit', () => assert.equal(plain(page.duration(22.41e6)), '22.4 ms'));
test('microseconds have their sign', () => assert.equal(plain(page.duration(870e3)), '870 \u00b5s'));
test('what a fix saves is a time where that of the whole is known', () => {
  const report = { metrics: { 'latency.mean_ns': { value: 4e6, unit: 'ns' }, 'gpu.span_ns': [{ value: 1e9, unit: 'ns', device: 0 }, { value: 5e8, unit: 'ns', device: 3 }] }, headline_of: { device: 3, name: 'GPU 3' } };
  assert.equal(plain(page.saved(report, { gain_ratio: 0.45, gain_of: 'the steps' })), '\u22121.80 ms per step');
  assert.equal(plain(page.saved(report, { gain_ratio: 0.1, gain_of: 'the device span' })), '\u221250.0 ms');
  assert.equal(plain(page.saved(report, { gain_ratio: 0.45 })), '\u221245 % of the latency');
  assert.equal(page.saved(report, {}), 'gain unknown');
});
test('the phases of a sweep have the names of its loads, also the one that counts', () => {
  const phases = ['warmup', 'measure', 'measure', 'measure'].map((name, index) => ({ name, start_ns: index, end_ns: index + 1 }));
  const loads = ['concurrency 1', 'concurrency 2', 'concurrency 4'];
  const sweep = { extra: { llm: { counts: 'concurrency 4', levels: loads.map((load) => ({ load })) } } };
  assert.deepEqual(page.phaseTitles(sweep, phases), ['Warm-up', ...loads]);
  assert.equal(page.phaseTitleOf(sweep)('measure'), 'concurrency 4');
  assert.equal(page.phaseTitleOf(sweep)('warmup'), 'Warm-up');
  const one = { extra: { llm: { counts: 'concurrency 1', levels: [{ load: 'concurrency 1' }] } } };
  assert.deepEqual(page.phaseTitles(one, phases.slice(0, 2)), ['Warm-up', 'Measured']);
  assert.deepEqual(page.phaseTitles({}, ['record', 'trace'].map((name, index) => ({ name, start_ns: index, end_ns: index + 1 }))), ['Recorded', 'Trace']);
  assert.equal(page.phaseTitleOf(one)('measure'), 'Measured');
  assert.equal(page.phaseTitleOf({})('measure'), 'Measured');
});
test('the forest is scaled to the metric that decides', () => {
  const decides = { delta_ratio: 0.196, interval: [0.175, 0.218], threshold_ratio: 0.02 };
  const wild = { delta_ratio: 0.94, interval: [-0.999, 2916] };
  const { low, high } = page.reachOf([decides, wild]);
  assert.ok(high < 1.5 && high > 0.94, String(high));
  assert.equal(low, -1);
  assert.ok(page.reachOf([decides]).high < 0.3);
  const unknown = page.reachOf([wild]);
  assert.ok(unknown.high < 2.2 && unknown.high > 1, `an interval to +2,916 is cut: ${unknown.high}`);
  assert.ok(page.reachOf([{ delta_ratio: 30, interval: [29, 31], threshold_ratio: 0.05 }]).high > 30, 'a value is never cut');
});
test('a history does not stretch a difference of a thousandth to its whole height', () => {
  const { low, high } = page.shownOf([36.38, 36.44]);
  assert.ok(high - low > 0.04 * 36 && low < 36.38 && high > 36.44, `${low} to ${high}`);
  assert.ok(page.shownOf([10, 20]).low > 9);
  assert.ok(page.shownOf([0, 0]).high > page.shownOf([0, 0]).low);
});
test('nodes are sorted by their worst finding where the server has not done it', () => {
  const heat = { judged: false, nodes: ['a', 'b', 'c'], severity: [0, 0, 0], values: [[1], [2], [3]] };
  const sorted = page.judged(heat, [{ node: 'c', severity: 1 }, { node: 'b', severity: 3 }, { node: 'c', severity: 2 }]);
  assert.deepEqual([sorted.nodes, sorted.severity, sorted.values, sorted.judged], [['b', 'c', 'a'], [3, 2, 0], [[2], [3], [1]], true]);
  assert.equal(page.judged(sorted, []), sorted);
});
test('two minutes are minutes', () => assert.equal(plain(page.duration(120e9)), '2.00 min'));
test('bandwidth is decimal, memory binary', () => assert.deepEqual([plain(page.text(5.3e12, 'bytes/s')), plain(page.text(1536, 'bytes'))], ['5.30 TB/s', '1.50 KiB']));
test('what is not a number says so', () => assert.equal(page.text(NaN, 'ns'), 'not a number'));
test('an unknown unit stays', () => assert.equal(plain(page.text(44.03, 'items/s')), '44.0 items/s'));
test('a unit of thousands of letters is cut', () => assert.ok(page.text(1, 'k'.repeat(5108)).length < 40));
test('a unit named like a property of objects is only a unit', () => assert.equal(plain(page.text(1, 'constructor')), '1 constructor'));
test('small numbers have three digits too', () => assert.deepEqual([0.0294, 0.00142, 0.57].map((one) => plain(page.text(one, 'ms/iter'))), ['0.0294 ms/iter', '0.00142 ms/iter', '0.570 ms/iter']));
test('intervals have the digits they need', () => assert.equal(plain(page.interval(22.57e6, 22.65e6, 'ns')), '22.57 \u2013 22.65 ms'));
test('what is above zero is not written as zero', () => assert.equal(plain(page.interval(0.187e6, 12.17e6, 'ns')), '0.2 \u2013 12 ms'));
test('intervals across zero have a true minus', () => assert.equal(plain(page.interval(-0.0024, 0.0086, 'ratio')), '\u22120.2 \u2013 0.9 %'));
test('a rounded zero has no sign', () => assert.equal(page.group('-0.00'), '0.00'));
test('sentences keep numbers beside their units', () => assert.equal(page.prose('drifted by -31.4 %, took 5 us or 3 samples'), 'drifted by \u221231.4\u00a0%, took 5\u00a0\u00b5s or 3 samples'));
test('a rate says of what', () => assert.deepEqual([page.unitOf('throughput.items_per_second', '1/s'), page.unitOf('a.b_ns', 'ns')], ['items/s', 'ns']));
test('nothing short of certain is certain', () => { assert.equal(plain(page.roundPercent(0.9999)), '> 99 %'); assert.equal(plain(page.roundPercent(1)), '100 %'); });
test('estimates are whole percents', () => assert.equal(plain(page.roundPercent(0.861)), '86 %'));

test('a long name keeps both ends', () => assert.equal(page.shorten('resnet/stage1/conv1', 9), 'resn\u2026onv1'));
test('a short name stays', () => assert.equal(page.shorten('conv', 9), 'conv'));
test('a name of nothing is said', () => assert.equal(page.orNoName(' '), '(no name)'));

test('ticks are round', () => assert.deepEqual(page.ticks({ low: 0, high: 10 }, 5), [0, 2, 4, 6, 8, 10]));
test('an empty domain has one tick', () => assert.deepEqual(page.ticks({ low: 3, high: 3 }, 5), [3]));
test('the extent ignores gaps', () => assert.deepEqual(page.extent([null, 2, NaN, 1]), { low: 1, high: 2 }));
test('nothing has no extent', () => assert.equal(page.extent([null]), undefined));
test('a scale of no width inverts without dividing by zero', () => assert.ok(Number.isFinite(page.linear({ low: 0, high: 1 }, 5, 5).invert(7))));
test('a line has a gap where a value is missing', () => {
  const x = page.linear({ low: 0, high: 4 }, 0, 4);
  const y = page.linear({ low: 0, high: 1 }, 1, 0);
  assert.equal(page.linePath([0, 1, 2, 3], [0, 0, null, 1], x, y), 'M0 1L0 1L1 1M3 0L3 0');
});
test('lowerBound finds the first not below', () => assert.deepEqual([page.lowerBound([1, 3, 5], 3), page.lowerBound([1, 3, 5], 9), page.lowerBound([], 1)], [1, 3, 0]));
test('the eighth group is grey', () => assert.equal([...page.assignSlots(new Map(Array.from({ length: 9 }, (_, i) => [`g${i}`, 9 - i]))).values()][8], page.kOther));

test('no JSON is refused in words', () => assert.match(page.readReport('__'), /template/));
test('another document is refused', () => assert.match(page.readReport('{"schema":"x"}'), /not an AACO report/));
test('null is refused', () => assert.match(page.readReport('null'), /not an AACO report/));
test('a newer schema is refused by its number', () => assert.match(page.readReport('{"schema":"aaco.report","schema_version":99}'), /99/));

const share = (name, total_ns, more = {}) => ({ name, total_ns, share_ratio: total_ns / 10, count: 1, ...more });
test('the tree has four levels', () => {
  const tree = page.buildTree({ time: { parts: [share('Operators', 9), share('Gaps', 1)], operators: [share('Conv', 9)], nodes: [share('conv1', 9, { group: 'Conv' })], kernels: [share('gemm', 9, { parent: 'conv1' })] } });
  assert.equal(tree[0].children[0].children[0].children[0].name, 'gemm');
});
test('what the children leave is shown as such', () => {
  const tree = page.buildTree({ time: { operators: [share('Conv', 9)], nodes: [share('conv1', 4, { group: 'Conv' })] } });
  assert.deepEqual(tree[0].children.map((one) => [one.total_ns, one.remainder ?? false]), [[4, false], [5, true]]);
});
test('no times make no tree', () => assert.deepEqual(page.buildTree({}), []));
test('a group named __proto__ is a group', () => assert.equal(page.buildTree({ time: { operators: [share('__proto__', 9)], nodes: [share('n', 9, { group: '__proto__' })] } })[0].children.length, 1));
test('kernels of one name are added together', () => assert.deepEqual(page.byName([share('k', 1), share('k', 2)]).map((one) => [one.total_ns, one.count]), [[3, 2]]));

test('overlapping spans go to lanes', () => {
  const tracks = page.buildTracks({ rows: 3, tracks: ['t'], track: [0, 0, 0], names: [''], name: [0, 0, 0], groups: [''], group: [0, 0, 0], start_ns: [0, 1, 20], duration_ns: [10, 2, 5] });
  assert.deepEqual(tracks[0].lanes.map((lane) => lane.rows), [[0, 2], [1]]);
});
test('a crowd of spans says that it is one', () => {
  const rows = 20;
  const zeros = Array(rows).fill(0);
  const tracks = page.buildTracks({ rows, tracks: ['t'], track: zeros, names: [''], name: zeros, groups: [''], group: zeros, start_ns: zeros, duration_ns: Array(rows).fill(5) });
  assert.deepEqual([tracks[0].crowded, tracks[0].lanes.length], [true, 6]);
});

test('the distribution comes from the counts where points were thinned', () => {
  const steps = page.distribution(undefined, { low: [0, 1], high: [1, 2], count: [1, 3] }, true);
  assert.deepEqual(steps.map((one) => one.share), [0, 0.25, 1]);
});
test('the distribution of measured points leaves warm-up out', () => {
  const series = page.inTimeOrder({ rows: 3, phases: ['warmup', 'measure'], phase: [0, 1, 1], iteration: [0, 0, 1], start_ns: [0, 1, 2], duration_ns: [9, 2, 1], outliers: [], disturbances: [] });
  assert.deepEqual(page.distribution(series, undefined, false).map((one) => one.value), [1, 2]);
});

// Roofs of a chart 800 wide: stated, measured and reached ones of one type and of the memory.
const roof = (kind, per_second, basis) => ({ name: `${kind} ${basis}`, kind, per_second, unit: '', source: '', basis });
const kRoofs = [roof('compute', 989e12, 'stated'), roof('compute', 950e12, 'measured'), roof('compute', 940e12, 'reached'),
  roof('memory', 3.35e12, 'stated'), roof('memory', 3.3e12, 'measured'), roof('memory', 33e12, 'stated')];
const kPoint = { name: 'gemm', group: 'gemm', flops: 1e12, bytes: 1e9, time_ns: 2e6, reached_ratio: 0.5 };
const kBox = { left: 76, right: 800, top: 14, bottom: 340 };
const labels = (geometry, kind) => geometry.roofs.filter((one) => one.roof.kind === kind && one.label);
test('names of roofs beside the chart stand apart, each at its roof or below', () => {
  const heights = labels(page.roofGeometry({ text: '', roofs: kRoofs, points: [kPoint] }, kBox, true), 'compute').map((one) => one.label.y).sort((a, b) => a - b);
  assert.equal(heights.length, 3);
  heights.forEach((y, index) => assert.ok(index === 0 || y - heights[index - 1] >= 12));
});
test('inside the chart roofs that nearly coincide have one name, the stated one', () => {
  const geometry = page.roofGeometry({ text: '', roofs: [...kRoofs].reverse(), points: [kPoint, { ...kPoint, flops: 1e9 }] }, kBox);
  assert.deepEqual(labels(geometry, 'compute').map((one) => one.roof.basis), ['stated']);
  assert.deepEqual(labels(geometry, 'memory').map((one) => one.roof.per_second), [33e12, 3.35e12]);
  assert.equal(geometry.roofs.length, kRoofs.length, 'all are drawn');
});
test('a point hangs below the stated roof of its own', () => {
  const geometry = page.roofGeometry({ text: '', roofs: kRoofs, points: [kPoint] }, kBox);
  assert.ok(Math.abs(geometry.points[0].ideal - geometry.y(1e15)) < 1e-6, 'half of what it could reach: 1 PFLOP/s');
  const other = page.roofGeometry({ text: '', roofs: kRoofs, points: [{ ...kPoint, reached_ratio: undefined }] }, kBox);
  assert.ok(Math.abs(other.points[0].ideal - other.y(989e12)) < 1e-6);
});
test('without roofs of both kinds there is no chart', () => assert.equal(page.roofGeometry({ text: '', roofs: kRoofs.slice(0, 3), points: [] }, kBox), undefined));

const counter = (metric, entity, values) => ({ metric, entity, unit: '', time_ns: values.map((_, at) => at * 100), value: values });
const tracks = [{ rank: 0, kind: 'kernel', place: 0, lane: 7, depth: 0 }, { rank: 1, kind: 'kernel', place: 0, lane: 7, depth: 0 },
  { rank: 0, kind: 'operator', place: 1, lane: 1, depth: 0 }, { rank: 1, kind: 'operator', place: 1, lane: 2, depth: 0 }];
const layer = { from_ns: 0, to_ns: 100, resolution_ns: 0, rows: 4, tracks: [0, 1, 2, 3], track_rows: [1, 1, 1, 1], start_ns: [1, 1, 1, 1], duration_ns: [2, 2, 2, 2], name: [0, 0, 0, 0], detail: [0, 0, 0, 0], link: [0, 0, 0, 0], merged: [], merged_event_count: [], merged_busy_ns: [], merged_longest_ns: [] };
const groupsOf = (used, telemetry) => {
  const layers = [{ ...layer, rows: used.length, tracks: used.map((_, at) => at), track_rows: used.map(() => 1), ...Object.fromEntries(['start_ns', 'duration_ns', 'name', 'detail', 'link'].map((key) => [key, layer[key].slice(0, used.length)])) }];
  return page.buildGroups({ telemetry }, page.unpackTrace({ origin_ns: 0, span_ns: 100, event_count: used.length, tracks: used, names: [''], short_names: [''], groups: [''], details: [''], layers }));
};
test('a counter has its last value at a time', () => {
  const series = counter('gpu.power_watts', 'GPU 0 (smi)', [5, 7, null]);
  assert.deepEqual([-1, 0, 99, 100, 250].map((time) => page.counterAt(series, time)), [undefined, 5, 5, 7, undefined]);
});
test('counters of a GPU are below its streams, by rank', () => {
  const groups = groupsOf(tracks, [counter('gpu.power_watts', 'GPU 0 (smi)', [1, 2]), counter('gpu.vram_used_bytes', 'GPU 0, rank 1 (smi)', [1, 2]), counter('gpu.clock_hz', 'GPU 0 (smi)', [3, 3])]);
  const counters = (id) => groups.find((group) => group.id === id).blocks.filter((block) => block.kind === 'counter').map((block) => block.title);
  assert.deepEqual([counters('gpu/0/0'), counters('gpu/1/0')], [['power_watts'], ['vram_used_bytes']]);
});
test('counters of the machine are a group', () => {
  assert.deepEqual(groupsOf(tracks, [counter('cpu.use_ratio', 'cpu0', [0, 1])]).at(-1).blocks.map((block) => block.title), ['cpu.use_ratio cpu0']);
  assert.ok(!groupsOf(tracks, []).some((group) => group.id === 'counters'));
});
test('a thread of each rank is open where no GPU is shown', () => {
  const open = (used) => groupsOf(used, []).filter((group) => group.open && group.place.host).length;
  assert.deepEqual([open(tracks), open(tracks.slice(2))], [1, 2]);
});
test('points above every roof lie inside the chart', () => {
  const geometry = page.roofGeometry({ text: '', roofs: kRoofs, points: [{ ...kPoint, flops: 2e13 }] }, kBox);
  assert.ok(geometry.points[0].py >= kBox.top, `${geometry.points[0].py}`);
});
test('the heat map goes from pale to dark, or from dark to pale, without a turn', () => {
  const light = (rgb) => 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  for (const [line, colour, ink, sign] of [['#dededb', '#2f65ad', '#101216', -1], ['#2a2d33', '#6f9fe3', '#eceef2', 1]]) {
    const ramp = page.rampOf(line, colour, ink).map(light);
    ramp.slice(1).forEach((value, at) => assert.ok(sign * (value - ramp[at]) > -0.5, `${line} at ${at}: ${ramp[at]} to ${value}`));
  }
});

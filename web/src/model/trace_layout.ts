import { lowerBound } from '../charts/path.ts';
import type { Report, Series } from './report.ts';
import type { Trace, TraceTrack } from './trace.ts';

// The rows of the timeline from top to bottom: GPUs first, then host threads, each with its blocks.

export const kRow = 17;
export const kHeader = 24;
const kBlockGap = 5;
const kCounter = 40;
const kFewRows = 8;
const kOpenThreads = 3;

// Something with a time that is no event of the trace: a gap, a step.
export interface Mark {
  kind: 'gap' | 'step';
  index: number; // of its list
  start: number;
  end: number;
  label: string;
}

export interface Block {
  id: string;
  kind: string;
  title: string;
  tracks: number[]; // by row
  marks: Mark[];
  series: Series[];
  folds: boolean; // has more rows than it shows when folded
  outer: number; // rows that hold one event each, which says little: a folded block begins after them
}

export interface Group {
  id: string;
  title: string;
  place: { rank: number; host: boolean; place: number; lane: number };
  blocks: Block[];
  open: boolean; // at first
}

export interface PlacedBlock {
  group: Group;
  block: Block;
  y: number;
  height: number;
  rows: number;
  tracks: number[]; // shown, by row
}

export interface Layout {
  headers: { group: Group; y: number }[];
  blocks: PlacedBlock[];
  height: number;
  yOf: Map<number, number>; // of each track that is shown
}

const kHostKinds: [string, string][] = [['range', 'ranges'], ['launch', 'launches'], ['runtime', 'runtime calls'], ['operator', 'operators'], ['python', 'Python']];
const kDeviceKinds: [string, string][] = [['kernel', 'kernels'], ['copy', 'copies'], ['collective', 'collectives']];
const isHost = (track: TraceTrack): boolean => kHostKinds.some(([kind]) => kind === track.kind);

function blocksOf(trace: Trace, numbers: number[], kinds: [string, string][], prefix: string): Block[] {
  const tracks = trace.source.tracks;
  const blocks: Block[] = [];
  for (const [kind, title] of kinds) {
    const own = numbers.filter((number) => tracks[number]?.kind === kind);
    for (const lane of [...new Set(own.map((number) => tracks[number]?.lane ?? 0))].sort((a, b) => a - b)) {
      const rows: number[] = [];
      for (const number of own) if (tracks[number]?.lane === lane) rows[tracks[number]?.depth ?? 0] = number;
      const shown = Array.from(rows, (number) => number ?? -1);
      const host = kinds === kHostKinds;
      blocks.push({ id: `${prefix}/${kind}/${lane}`, kind, title: host ? title : `stream ${lane}${kind === 'kernel' ? '' : ` ${title}`}`, tracks: shown, marks: [], series: [], folds: shown.length > kFewRows, outer: outerRows(trace, shown) });
    }
  }
  return blocks;
}

function outerRows(trace: Trace, tracks: number[]): number {
  const events = (track: number): number => { const rows = trace.layers[0]?.rowsOf.get(track); return rows ? rows.end - rows.first : 0; };
  const first = tracks.findIndex((track) => events(track) > 1);
  return Math.max(0, Math.min(first, tracks.length - kFewRows));
}

const eventsOf = (trace: Trace, numbers: number[], kind: string): number =>
  numbers.reduce((sum, number) => {
    const rows = trace.source.tracks[number]?.kind === kind ? trace.layers[0]?.rowsOf.get(number) : undefined;
    return sum + (rows ? rows.end - rows.first : 0);
  }, 0);

function gapMarks(report: Report, trace: Trace, rank: number, device: number): Mark[] {
  return (report.extra?.gaps?.longest ?? []).flatMap((gap, index): Mark[] =>
    gap.rank === rank && gap.device === device
      ? [{ kind: 'gap', index, start: gap.start_ns - trace.source.origin_ns, end: gap.start_ns - trace.source.origin_ns + gap.length_ns, label: (gap.host_cause || gap.cause).replace(/[-_]/g, ' ') }]
      : []);
}

const kMaxCounters = 16; // of a group

const changes = (series: Series): boolean => series.value.length > 1 && series.value.some((value) => value !== series.value[0]);
const counterBlock = (series: Series, title: string, prefix: string): Block =>
  ({ id: `${prefix}/${series.metric}/${series.entity ?? ''}`, kind: 'counter', title, tracks: [], marks: [], series: [series], folds: false, outer: 0 });

// Power, clocks, use, memory and temperature of one GPU, as sampled. Entities: "GPU 0 (nvml)", "GPU 0, rank 1 (nvml)".
function gpuCounters(report: Report, rank: number, device: number, prefix: string): Block[] {
  const name = `GPU ${device}${rank > 0 ? `, rank ${rank}` : ''} (`;
  return (report.telemetry ?? []).filter((one) => one.metric.startsWith('gpu.') && (one.entity ?? '').startsWith(name) && changes(one)).slice(0, kMaxCounters)
    .map((one) => counterBlock(one, one.metric.replace(/^gpu\./, ''), prefix));
}

// Of the machine and its processes: most of a run's meaning is in those that change most often.
function hostCounters(report: Report): Group[] {
  const list = (report.telemetry ?? []).filter((one) => !one.metric.startsWith('gpu.') && changes(one));
  if (list.length === 0) return [];
  const blocks = list.slice(0, kMaxCounters).map((one) => counterBlock(one, `${one.metric}${one.entity ? ` ${one.entity}` : ''}`, 'counters'));
  return [{ id: 'counters', title: 'Counters', place: { rank: -1, host: true, place: -1, lane: 0 }, blocks, open: false }];
}

// The sampled value that holds at a time; undefined before the first.
export function counterAt(series: Series, time: number): number | undefined {
  const after = lowerBound(series.time_ns, time + 1);
  return after > 0 ? series.value[after - 1] ?? undefined : undefined;
}

export function buildGroups(report: Report, trace: Trace): Group[] {
  const byPlace = new Map<string, number[]>();
  trace.source.tracks.forEach((track, number) => {
    const key = isHost(track) ? `host/${track.rank}/${track.place}/${track.lane}` : `gpu/${track.rank}/${track.place}`;
    byPlace.set(key, [...(byPlace.get(key) ?? []), number]);
  });
  const ranks = new Set(trace.source.tracks.map((track) => track.rank)).size > 1;
  const groups = [...byPlace.entries()].map(([id, numbers]): Group & { weight: number } => {
    const track = trace.source.tracks[numbers[0] as number] as TraceTrack;
    const host = isHost(track);
    const rank = ranks ? `rank ${track.rank}: ` : '';
    const blocks = blocksOf(trace, numbers, host ? kHostKinds : kDeviceKinds, id);
    if (!host) {
      const marks = gapMarks(report, trace, track.rank, track.place);
      if (marks.length > 0) blocks.unshift({ id: `${id}/gaps`, kind: 'gap', title: 'longest gaps', tracks: [], marks, series: [], folds: false, outer: 0 });
      blocks.push(...gpuCounters(report, track.rank, track.place, id));
    }
    return { id, title: `${rank}${host ? `thread ${track.lane}` : `GPU ${track.place}`}`, place: { rank: track.rank, host, place: track.place, lane: track.lane }, blocks, open: !host, weight: host ? 1e6 * eventsOf(trace, numbers, 'launch') + numbers.reduce((sum, number) => sum + eventsOf(trace, [number], trace.source.tracks[number]?.kind ?? ''), 0) : 0 };
  });
  groups.sort((a, b) => Number(a.place.host) - Number(b.place.host) || a.place.rank - b.place.rank || b.weight - a.weight || a.place.place - b.place.place);
  const hosts = groups.filter((group) => group.place.host);
  const first = hosts.filter((group, index) => hosts.findIndex((other) => other.place.rank === group.place.rank) === index);
  // Of several ranks the busiest thread of each: of all where no GPU is shown, else of the first.
  const opened = ranks ? first.slice(0, hosts.length < groups.length ? 1 : kOpenThreads) : hosts.slice(0, kOpenThreads);
  opened.forEach((group, index) => { group.open = ranks || index === 0 || group.blocks.some((block) => block.kind === 'launch'); });
  const steps = stepMarks(report);
  const top: Group[] = steps.length > 0 ? [{ id: 'steps', title: 'Steps', place: { rank: -1, host: false, place: -1, lane: 0 }, blocks: [{ id: 'steps/all', kind: 'step', title: 'steps', tracks: [], marks: steps, series: [], folds: false, outer: 0 }], open: true }] : [];
  return [...top, ...groups, ...hostCounters(report)];
}

function stepMarks(report: Report): Mark[] {
  const list = report.iterations;
  if (!list) return [];
  const marks: Mark[] = [];
  for (let row = 0; row < list.rows; row += 1)
    if (list.phases[list.phase[row] ?? 0] === 'step') marks.push({ kind: 'step', index: row, start: list.start_ns[row] ?? 0, end: (list.start_ns[row] ?? 0) + (list.duration_ns[row] ?? 0), label: `step ${list.iteration[row] ?? 0}` });
  return marks;
}

// `closed`: groups whose blocks are hidden. `unfolded`: blocks of many rows that show all.
export function placeBlocks(groups: Group[], closed: Set<string>, unfolded: Set<string>): Layout {
  const layout: Layout = { headers: [], blocks: [], height: 0, yOf: new Map() };
  let y = 0;
  for (const group of groups) {
    layout.headers.push({ group, y });
    y += kHeader;
    if (closed.has(group.id)) continue;
    for (const block of group.blocks) {
      const rows = block.kind === 'counter' ? 1 : Math.max(1, block.folds && !unfolded.has(block.id) ? kFewRows : block.tracks.length);
      const height = block.kind === 'counter' ? kCounter : rows * kRow;
      const tracks = rows < block.tracks.length ? block.tracks.slice(block.outer, block.outer + rows) : block.tracks;
      tracks.forEach((track, row) => { if (track >= 0) layout.yOf.set(track, y + row * kRow); });
      layout.blocks.push({ group, block, y, height, rows, tracks });
      y += height + kBlockGap;
    }
  }
  layout.height = y + 4;
  return layout;
}

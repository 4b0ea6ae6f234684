import { lowerBound } from '../charts/path.ts';

// The timeline of a trace as src/report/trace_section.h writes it, and its columns unpacked. Times count from the trace's start.

export interface TraceTrack {
  rank: number;
  kind: string; // python, operator, range, runtime, launch, kernel, copy, collective
  place: number; // process, or GPU
  lane: number; // thread, or stream
  depth: number;
}

interface LayerColumns {
  from_ns: number;
  to_ns: number;
  resolution_ns: number;
  rows: number;
  tracks: number[];
  track_rows: number[];
  start_ns: number[]; // differences within a track
  duration_ns: number[];
  name: number[];
  detail: number[];
  link: number[];
  merged: number[]; // rows of more than one event
  merged_event_count: number[];
  merged_busy_ns: number[];
  merged_longest_ns: number[];
}

export interface TraceTimeline {
  origin_ns: number;
  span_ns: number;
  event_count: number;
  tracks: TraceTrack[];
  names: string[];
  short_names: string[]; // '' where the name is short
  groups: string[]; // family of a kernel
  details: string[];
  layers: LayerColumns[];
}

declare module './report.ts' {
  interface Extra {
    trace?: TraceTimeline;
  }
}

export interface Merged {
  events: number;
  busy: number;
  longest: number;
}

// A stretch of the trace at one resolution. Rows [first, end) of a track ascend in time.
export interface Layer {
  index: number;
  from: number;
  to: number;
  resolution: number;
  start: Float64Array;
  end: Float64Array;
  name: number[];
  detail: number[];
  link: number[];
  track: Uint32Array; // of each row
  rowsOf: Map<number, { first: number; end: number }>;
  merged: Map<number, Merged>;
}

export interface Ref {
  layer: Layer;
  row: number;
}

export interface Trace {
  source: TraceTimeline;
  span: number;
  layers: Layer[]; // the first spans the trace
  links: Map<number, Ref[]>;
}

function unpack(columns: LayerColumns, index: number): Layer {
  const start = new Float64Array(columns.rows);
  const end = new Float64Array(columns.rows);
  const track = new Uint32Array(columns.rows);
  const rowsOf: Layer['rowsOf'] = new Map();
  let row = 0;
  columns.tracks.forEach((number, at) => {
    const first = row;
    let time = 0;
    for (const stop = first + (columns.track_rows[at] ?? 0); row < stop; row += 1) {
      time += columns.start_ns[row] ?? 0;
      start[row] = time;
      end[row] = time + (columns.duration_ns[row] ?? 0);
      track[row] = number;
    }
    rowsOf.set(number, { first, end: row });
  });
  const merged = new Map(columns.merged.map((one, at) => [one, { events: columns.merged_event_count[at] ?? 1, busy: columns.merged_busy_ns[at] ?? 0, longest: columns.merged_longest_ns[at] ?? 0 }]));
  return { index, from: columns.from_ns, to: columns.to_ns, resolution: columns.resolution_ns, start, end, name: columns.name, detail: columns.detail, link: columns.link, track, rowsOf, merged };
}

export function unpackTrace(source: TraceTimeline): Trace {
  const layers = source.layers.map(unpack);
  const links: Trace['links'] = new Map();
  for (const layer of layers)
    layer.link.forEach((link, row) => {
      if (link === 0) return;
      const list = links.get(link);
      // A long event is in several layers: the first has it whole.
      if (!list) links.set(link, [{ layer, row }]);
      else if (!list.some((one) => one.layer.track[one.row] === layer.track[row])) list.push({ layer, row });
    });
  return { source, span: source.span_ns, layers, links };
}

export const startOf = ({ layer, row }: Ref): number => layer.start[row] as number;
export const endOf = ({ layer, row }: Ref): number => layer.end[row] as number;
export const trackOf = (trace: Trace, { layer, row }: Ref): TraceTrack => trace.source.tracks[layer.track[row] as number] as TraceTrack;
export const nameOf = (trace: Trace, { layer, row }: Ref): string => trace.source.names[layer.name[row] ?? 0] ?? '';
export const shortNameOf = (trace: Trace, { layer, row }: Ref): string => trace.source.short_names[layer.name[row] ?? 0] || nameOf(trace, { layer, row });
export const groupOf = (trace: Trace, { layer, row }: Ref): string => trace.source.groups[layer.name[row] ?? 0] ?? '';
export const detailOf = (trace: Trace, { layer, row }: Ref): string => trace.source.details[layer.detail[row] ?? 0] ?? '';
export const sameRow = (a: Ref | undefined, b: Ref | undefined): boolean => a !== undefined && b !== undefined && a.layer === b.layer && a.row === b.row;

// Rows of a track that overlap [low, high), as indexes.
export function visible(layer: Layer, track: number, low: number, high: number): { first: number; end: number } {
  const rows = layer.rowsOf.get(track);
  if (!rows) return { first: 0, end: 0 };
  const starts = layer.start.subarray(rows.first, rows.end);
  let first = lowerBound(starts, low);
  while (first > 0 && (layer.end[rows.first + first - 1] as number) > low) first -= 1;
  return { first: rows.first + first, end: rows.first + lowerBound(starts, high) };
}

export interface Piece {
  layer: Layer;
  low: number;
  high: number;
}

// Which layer shows which part of [low, high): the finest, unless its part is narrower than `least`.
export function pieces(trace: Trace, low: number, high: number, least: number): Piece[] {
  const overview = trace.layers[0] as Layer;
  const near = trace.layers.slice(1).filter((layer) => layer.resolution < overview.resolution && Math.min(high, layer.to) - Math.max(low, layer.from) > least);
  const cuts = [...new Set([low, high, ...near.flatMap((layer) => [layer.from, layer.to])])].filter((cut) => cut >= low && cut <= high).sort((a, b) => a - b);
  const out: Piece[] = [];
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    const [from, to] = [cuts[i] as number, cuts[i + 1] as number];
    const layer = near.filter((one) => one.from <= from && to <= one.to).sort((a, b) => a.resolution - b.resolution)[0] ?? overview;
    const last = out[out.length - 1];
    if (last && last.layer === layer) last.high = to;
    else out.push({ layer, low: from, high: to });
  }
  return out;
}

// The row of a track at a time, in the layer that shows it; `slack` widens thin rows.
export function rowAt(parts: Piece[], track: number, time: number, slack: number): Ref | undefined {
  const piece = parts.find((one) => time >= one.low && time <= one.high);
  if (!piece) return undefined;
  const { first, end } = visible(piece.layer, track, time - slack, time + slack);
  let best: Ref | undefined;
  for (let row = first; row < end; row += 1) {
    const ref = { layer: piece.layer, row };
    const apart = Math.max(startOf(ref) - time, time - endOf(ref), 0);
    if (apart <= slack && (!best || apart < Math.max(startOf(best) - time, time - endOf(best), 0))) best = ref;
  }
  return best;
}

// Every row once: those of the overview that a detailed stretch shows again are left to it.
export function eachRow(trace: Trace, visit: (ref: Ref) => void): void {
  const [overview, ...near] = trace.layers;
  for (const layer of trace.layers)
    for (let row = 0; row < layer.start.length; row += 1) {
      const start = layer.start[row] as number;
      if (layer === overview ? near.some((one) => start >= one.from && start < one.to) : start < layer.from || start >= layer.to) continue;
      if (layer !== overview && near.some((one) => one.index < layer.index && start >= one.from && start < one.to)) continue;
      visit({ layer, row });
    }
}

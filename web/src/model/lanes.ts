import { kOther } from '../charts/palette.ts';
import type { Domain } from '../charts/scale.ts';
import type { TimelineColumns } from './report.ts';

// Spans of one row of the timeline: they do not overlap (but in the last lane of a crowded track) and ascend in time.
export interface Lane {
  rows: number[]; // indexes into the columns
  starts: number[];
  ends: number[];
}

export interface Track {
  name: string;
  lanes: Lane[];
  crowded: boolean; // more overlap than lanes
}

const kMaxLanes = 6;
export const kOverview = 'iterations'; // the track of whole iterations, requests or generations

// Iterations first, then tracks in their given order; overlapping spans (nested calls) go to lanes below each other.
export function buildTracks(columns: TimelineColumns): Track[] {
  const rowsOf: number[][] = columns.tracks.map(() => []);
  for (let row = 0; row < columns.rows; row += 1) rowsOf[columns.track[row] ?? 0]?.push(row);
  return columns.tracks.map((name, index) => {
    const rows = rowsOf[index] ?? [];
    const start = (row: number): number => columns.start_ns[row] ?? 0;
    const end = (row: number): number => start(row) + (columns.duration_ns[row] ?? 0);
    rows.sort((a, b) => start(a) - start(b) || end(b) - end(a));
    const lanes: Lane[] = [];
    let crowded = false;
    for (const row of rows) {
      let lane = lanes.find((one) => (one.ends[one.ends.length - 1] ?? -Infinity) <= start(row));
      if (!lane && lanes.length < kMaxLanes) lanes.push((lane = { rows: [], starts: [], ends: [] }));
      if (!lane) {
        lane = lanes[lanes.length - 1] as Lane;
        crowded = true;
      }
      lane.rows.push(row);
      lane.starts.push(start(row));
      lane.ends.push(Math.max(end(row), lane.ends[lane.ends.length - 1] ?? -Infinity));
    }
    return { name, lanes, crowded };
  })
    .filter((track) => track.lanes.length > 0)
    .sort((a, b) => Number(b.name === kOverview) - Number(a.name === kOverview));
}

// Where the spans with detail lie, if that is a small part of the whole: iterations last as long as the run, a profile of nodes or
// kernels only a few of them.
export function detailExtent(columns: TimelineColumns, full: Domain): Domain | undefined {
  const overview = columns.tracks.indexOf(kOverview);
  let low = Infinity;
  let high = -Infinity;
  for (let row = 0; row < columns.rows; row += 1) {
    if (columns.track[row] === overview) continue;
    low = Math.min(low, columns.start_ns[row] ?? 0);
    high = Math.max(high, (columns.start_ns[row] ?? 0) + (columns.duration_ns[row] ?? 0));
  }
  const span = high - low;
  if (!(span > 0) || span > 0.5 * (full.high - full.low)) return undefined;
  return { low: Math.max(full.low, low - span * 0.02), high: Math.min(full.high, high + span * 0.02) };
}

export function timelineExtent(columns: TimelineColumns): Domain {
  let low = Infinity;
  let high = -Infinity;
  for (let row = 0; row < columns.rows; row += 1) {
    const start = columns.start_ns[row] ?? 0;
    low = Math.min(low, start);
    high = Math.max(high, start + (columns.duration_ns[row] ?? 0));
  }
  return low < high ? { low, high } : { low: Number.isFinite(low) ? low : 0, high: (Number.isFinite(low) ? low : 0) + 1 };
}

// A colour slot for each group of the timeline: the operator types' own, others by order of appearance after them; iterations
// are grey.
export function timelineSlots(columns: TimelineColumns, known: Map<string, number>): number[] {
  let next = known.size;
  const overview = columns.tracks.indexOf(kOverview);
  const detailed = new Set<number>();
  for (let row = 0; row < columns.rows; row += 1) if (columns.track[row] !== overview) detailed.add(columns.group[row] ?? 0);
  return columns.groups.map((group, index) => {
    if (group === '' || !detailed.has(index)) return kOther;
    const slot = known.get(group);
    if (slot !== undefined) return slot;
    const given = Math.min(next, kOther);
    next += 1;
    return given;
  });
}

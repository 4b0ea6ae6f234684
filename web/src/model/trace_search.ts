import { endOf, eachRow, type Ref, startOf, type Trace, type TraceTrack, trackOf, visible } from './trace.ts';

// Names that a search text finds: part of the name, or /a regular expression/. A text for the reader where it is not one.
export function matchNames(names: string[], text: string): Set<number> | string {
  const found = new Set<number>();
  const pattern = /^\/(.*)\/$/.exec(text)?.[1];
  let matches: (name: string) => boolean;
  if (pattern !== undefined) {
    try {
      const expression = new RegExp(pattern, 'i');
      matches = (name) => expression.test(name);
    } catch (problem) {
      return `Invalid regular expression: ${problem instanceof Error ? problem.message : pattern}`;
    }
  } else {
    const wanted = text.toLowerCase();
    matches = (name) => name.toLowerCase().includes(wanted);
  }
  names.forEach((name, index) => { if (matches(name)) found.add(index); });
  return found;
}

// Rows with one of these names, in order of time.
export function findRows(trace: Trace, names: Set<number>): Ref[] {
  const hits: Ref[] = [];
  if (names.size > 0) eachRow(trace, (ref) => { if (names.has(ref.layer.name[ref.row] ?? -1)) hits.push(ref); });
  return hits.sort((a, b) => startOf(a) - startOf(b));
}

const onThread = (track: TraceTrack, kinds: string[], rank: number, place: number, lane: number): boolean =>
  track.rank === rank && track.place === place && track.lane === lane && kinds.includes(track.kind);

// The innermost event of these kinds on a thread at a time, looked for where the page has most detail.
export function enclosing(trace: Trace, kinds: string[], thread: TraceTrack, time: number): Ref | undefined {
  let best: Ref | undefined;
  let deepest = -1;
  for (const layer of trace.layers)
    for (const number of layer.rowsOf.keys()) {
      const track = trace.source.tracks[number] as TraceTrack;
      if (!onThread(track, kinds, thread.rank, thread.place, thread.lane) || track.depth <= deepest) continue;
      const { first, end } = visible(layer, number, time, time + 1);
      for (let row = first; row < end; row += 1)
        if (!layer.merged.has(row) && (layer.start[row] as number) <= time && (layer.end[row] as number) >= time) {
          best = { layer, row };
          deepest = track.depth;
        }
    }
  return best;
}

export interface Activity {
  ref: Ref; // its longest row
  ns: number; // own time, without that of what it called
  kind: string;
}

// What a thread did between two times: own time by name, largest first. The layer that has the most detail there says it.
export function activity(trace: Trace, rank: number, place: number, lane: number, low: number, high: number): Activity[] {
  const layer = trace.layers.filter((one) => one.from <= low && one.to >= high).sort((a, b) => a.resolution - b.resolution)[0] ?? trace.layers[0];
  if (!layer) return [];
  const sums = new Map<string, Activity>();
  const overlap = (row: number): number => Math.max(0, Math.min(high, layer.end[row] as number) - Math.max(low, layer.start[row] as number));
  for (const kind of ['python', 'operator', 'runtime', 'launch']) {
    const byDepth: { first: number; end: number }[] = [];
    for (const number of layer.rowsOf.keys()) {
      const track = trace.source.tracks[number] as TraceTrack;
      if (onThread(track, [kind], rank, place, lane)) byDepth[track.depth] = visible(layer, number, low, high);
    }
    byDepth.forEach((rows, depth) => {
      const below = byDepth[depth + 1];
      let child = below?.first ?? 0;
      for (let row = rows.first; row < rows.end; row += 1) {
        let own = overlap(row);
        while (below && child < below.end && (layer.start[child] as number) < (layer.end[row] as number)) {
          if ((layer.end[child] as number) > (layer.start[row] as number)) own -= overlap(child);
          child += 1;
        }
        if (own <= 0) continue;
        const key = `${kind}/${layer.name[row]}`;
        const sum = sums.get(key);
        if (!sum) sums.set(key, { ref: { layer, row }, ns: own, kind });
        else {
          sum.ns += own;
          if (overlap(row) > overlap(sum.ref.row)) sum.ref = { layer, row };
        }
      }
    });
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

// The thread that launched what ends a gap of a GPU; else the one that did most in it.
export function launchingThread(trace: Trace, rank: number, device: number, low: number, high: number): TraceTrack | undefined {
  let next: Ref | undefined;
  for (const layer of trace.layers)
    for (const number of layer.rowsOf.keys()) {
      const track = trace.source.tracks[number] as TraceTrack;
      if (track.rank !== rank || track.place !== device || (track.kind !== 'kernel' && track.kind !== 'copy')) continue;
      const { first, end } = visible(layer, number, high - 1, high + (high - low));
      for (let row = first; row < end && (!next || (layer.start[row] as number) < startOf(next)); row += 1)
        if ((layer.start[row] as number) >= high - 1 && (layer.link[row] ?? 0) !== 0) next = { layer, row };
    }
  const launch = next && launchOf(trace, next);
  if (launch) return trackOf(trace, launch);
  const threads = new Map<string, TraceTrack>();
  for (const track of trace.source.tracks) if (track.rank === rank && isHostKind(track.kind)) threads.set(`${track.place}/${track.lane}`, track);
  const did = [...threads.values()].map((track) => ({ track, ns: activity(trace, rank, track.place, track.lane, low, high).reduce((sum, one) => sum + one.ns, 0) }));
  return did.sort((a, b) => b.ns - a.ns)[0]?.track;
}

// The event launched by, or launching, this one.
export function partners(trace: Trace, ref: Ref): Ref[] {
  const link = ref.layer.link[ref.row] ?? 0;
  if (link === 0) return [];
  const own = trackOf(trace, ref);
  return (trace.links.get(link) ?? []).filter((one) => trackOf(trace, one) !== own && !(startOf(one) === startOf(ref) && endOf(one) === endOf(ref) && trackOf(trace, one).kind === own.kind));
}

const kMaxArrows = 64;

// From a launch to what it launched; of a graph's launch that is many kernels.
export function arrowsOf(trace: Trace, ref: Ref): [Ref, Ref][] {
  const kind = trackOf(trace, ref).kind;
  const others = partners(trace, ref);
  if (isHostKind(kind)) return kind === 'launch' || kind === 'runtime' ? others.filter((one) => !isHostKind(trackOf(trace, one).kind)).slice(0, kMaxArrows).map((one) => [ref, one]) : [];
  const launch = launchOf(trace, ref);
  return launch ? [[launch, ref]] : [];
}

// What launched device work.
export function launchOf(trace: Trace, ref: Ref): Ref | undefined {
  const hosts = partners(trace, ref).filter((one) => isHostKind(trackOf(trace, one).kind));
  return hosts.find((one) => trackOf(trace, one).kind === 'launch') ?? hosts.find((one) => trackOf(trace, one).kind === 'runtime') ?? hosts[0];
}

export const isHostKind = (kind: string): boolean => ['python', 'operator', 'range', 'runtime', 'launch'].includes(kind);

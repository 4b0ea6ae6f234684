import { useEffect, useState } from 'preact/hooks';
import { type Refusal, refusalOf } from './api.ts';

// The events of /api/v1/live (docs/formats/live.md).
export interface LiveGpu {
  device: number;
  use_ratio: number | null;
  memory_used_bytes: number | null;
  memory_total_bytes: number | null;
  power_watts: number | null;
  power_cap_watts: number | null;
  temperature_celsius: number | null;
  clock_hz: number | null;
  throttled: string[];
}
export interface LiveMachine {
  time_ns: number;
  name: string;
  cpu_use_ratio: number | null;
  core_use_ratios: (number | null)[];
  cpu_clock_hz: number | null;
  cpu_power_watts: number | null;
  cpu_temperature_celsius: number | null;
  cpu_wait_ratio: number | null;
  memory_wait_ratio: number | null;
  io_wait_ratio: number | null;
  memory_available_bytes: number | null;
  memory_total_bytes: number | null;
  load_1min: number | null;
  gpus: LiveGpu[];
}
export interface LiveBucket {
  number: number;
  time_ns: number;
  count: number;
  min_ns: number;
  p50_ns: number;
  p90_ns: number | null;
  p99_ns: number | null;
  max_ns: number;
}
export interface LiveSession {
  session: string;
  kind: string;
  what: string;
  tag: string;
  phase: string;
  started_ns: number;
  process_id: number;
  iterations: number;
  median_ns: number | null;
  median_low_ns: number | null;
  median_high_ns: number | null;
  done_ratio: number | null;
  left_s: number | null;
  buckets: LiveBucket[];
}
export interface LiveProcess {
  process_id: number;
  depth: number;
  name: string;
  cpu_cores: number | null;
  wait_ratio: number | null;
  resident_bytes: number;
  threads: number;
}
interface Tick {
  number: number;
  machine: LiveMachine;
  sessions: LiveSession[];
  processes: LiveProcess[];
  jobs_revision: number | null;
}
interface History {
  cpu_use: Second[];
  sessions: LiveSession[];
}
export interface Second {
  time_ns: number;
  count: number;
  min: number;
  mean: number;
  max: number;
}
// The median's interval as it was at a time.
export interface Width {
  time_ns: number;
  low: number;
  high: number;
}
export interface Watched extends LiveSession {
  widths: Width[];
}
export interface Live {
  state: 'connecting' | 'live' | 'lost';
  machine: LiveMachine | null;
  sessions: Watched[];
  processes: LiveProcess[];
  seconds: Second[];
  lost: number; // events that this reader was too slow for
  refusal?: Refusal | undefined; // why there is no stream
}

export const kNothingYet: Live = { state: 'connecting', machine: null, sessions: [], processes: [], seconds: [], lost: 0 };
const kBuckets = 480;
const kSeconds = 120;

function merged(before: Watched | undefined, now: LiveSession, time: number): Watched {
  const newest = before?.buckets[before.buckets.length - 1]?.number ?? -1;
  const buckets = [...(before?.buckets ?? []), ...now.buckets.filter((one) => one.number > newest)].slice(-kBuckets);
  const widths = before?.widths ?? [];
  const last = widths[widths.length - 1];
  const changed = now.median_low_ns !== null && now.median_high_ns !== null && (last?.low !== now.median_low_ns || last.high !== now.median_high_ns);
  return { ...now, buckets, widths: changed ? [...widths, { time_ns: time, low: now.median_low_ns ?? 0, high: now.median_high_ns ?? 0 }].slice(-kBuckets) : widths };
}

// A second is the summary of its ticks: the lowest, the highest and the mean.
export function withTick(live: Live, tick: Tick): Live {
  const time = tick.machine.time_ns;
  const use = tick.machine.cpu_use_ratio;
  const seconds = [...live.seconds];
  const last = seconds[seconds.length - 1];
  if (use !== null && last && time - last.time_ns < 1e9) seconds[seconds.length - 1] = { ...last, min: Math.min(last.min, use), max: Math.max(last.max, use), mean: (last.mean * last.count + use) / (last.count + 1), count: last.count + 1 };
  else if (use !== null) seconds.push({ time_ns: time, count: 1, min: use, mean: use, max: use });
  return {
    ...live,
    state: 'live',
    machine: tick.machine,
    sessions: tick.sessions.map((now) => merged(live.sessions.find((one) => one.session === now.session), now, time)),
    processes: tick.processes,
    seconds: seconds.slice(-kSeconds),
  };
}

export function withHistory(live: Live, history: History): Live {
  return { ...live, seconds: history.cpu_use, sessions: history.sessions.map((one) => merged(undefined, one, one.started_ns)) };
}

const kAgain_ms = 3000;

// The stream while the page is open. The browser connects again by itself where a connection ends, but not where the server refuses
// one: then it is asked why.
export function useLive(): Live {
  const [live, setLive] = useState<Live>(kNothingYet);
  useEffect(() => {
    let stream: EventSource;
    let timer = 0;
    let asked = new AbortController();
    let over = false;
    const later = () => { timer = window.setTimeout(open, kAgain_ms); };
    const ask = async () => {
      asked = new AbortController();
      const answer = await fetch('/api/v1/live', { credentials: 'same-origin', cache: 'no-store', signal: asked.signal });
      const refusal = answer.ok ? undefined : refusalOf(answer.status, await answer.text());
      asked.abort(); // a stream by now: the one that is opened next is read
      if (over) return;
      setLive((before) => ({ ...before, refusal }));
      if (refusal?.status !== 401) later();
    };
    const open = () => {
      stream = new EventSource('/api/v1/live');
      const on = (name: string, change: (before: Live, data: string) => Live) =>
        stream.addEventListener(name, (event) => { const { data } = event as MessageEvent<string>; setLive((before) => change(before, data)); });
      on('history', (before, data) => withHistory({ ...before, refusal: undefined }, JSON.parse(data) as History));
      on('tick', (before, data) => withTick(before, JSON.parse(data) as Tick));
      on('thinned', (before, data) => ({ ...before, lost: (JSON.parse(data) as { lost: number }).lost }));
      stream.onerror = () => {
        setLive((before) => ({ ...before, state: 'lost' }));
        if (stream.readyState === EventSource.CLOSED) ask().catch(() => { if (!over) later(); });
      };
    };
    open();
    return () => { over = true; asked.abort(); clearTimeout(timer); stream.close(); };
  }, []);
  return live;
}

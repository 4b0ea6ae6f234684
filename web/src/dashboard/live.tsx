import { Meter } from '../components/meter.tsx';
import { duration, percent, plural, text } from '../format/quantity.ts';
import { kindWords } from '../model/session_kind.ts';
import { type LiveBucket, type LiveGpu, type LiveMachine, type LiveProcess, type Second, useLive, type Watched } from './live_data.ts';
import { Refused } from './states.tsx';

const kWidth = 600;
const kHeight = 140;

const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

interface Point {
  at: number;
  low: number;
  middle: number | null;
  high: number;
}

// A band from the lowest to the highest with a line inside. The scale is written beside it.
function Band({ points, low, high, label, unit }: { points: Point[]; low: number; high: number; label: string; unit: string }) {
  const first = points[0]?.at ?? 0;
  const last = points[points.length - 1]?.at ?? 1;
  const span = high - low || 1;
  const x = (at: number) => (((at - first) / (last - first || 1)) * kWidth).toFixed(1);
  const y = (value: number) => (kHeight - 2 - ((value - low) / span) * (kHeight - 4)).toFixed(1);
  const area = [...points.map((one) => `${x(one.at)},${y(one.high)}`), ...[...points].reverse().map((one) => `${x(one.at)},${y(one.low)}`)].join(' ');
  const line = points.flatMap((one) => (one.middle === null ? [] : [`${x(one.at)},${y(one.middle)}`])).join(' ');
  return (
    <figure class="live-plot">
      <figcaption><span>{label}</span> <span class="quiet">{text(low, unit)} to {text(high, unit)}</span></figcaption>
      <svg viewBox={`0 0 ${kWidth} ${kHeight}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${text(low, unit)} to ${text(high, unit)}`}>
        <polygon class="live-band" points={area} />
        {line && <polyline class="live-line" points={line} />}
      </svg>
    </figure>
  );
}

// One stall must not flatten all others: the scale ends at the highest 90th percentile, with some room.
function scaleOf(buckets: LiveBucket[]): [number, number] {
  const low = Math.min(...buckets.map((one) => one.min_ns));
  const usual = Math.max(...buckets.map((one) => one.p90_ns ?? one.max_ns));
  const high = Math.max(...buckets.map((one) => one.max_ns));
  return [low, Math.min(high, usual + (usual - low) * 0.5)];
}

function Latency({ buckets }: { buckets: LiveBucket[] }) {
  const [low, high] = scaleOf(buckets);
  const beyond = buckets.filter((one) => one.max_ns > high).length;
  const points = buckets.map((one) => ({ at: one.time_ns, low: one.min_ns, middle: one.p50_ns, high: Math.min(one.max_ns, high) }));
  return <Band points={points} low={low} high={high} label={`Latency: minimum, median, maximum per block${beyond > 0 ? ` (${plural(beyond, 'block')} beyond the scale)` : ''}`} unit="ns" />;
}

function Narrowing({ session }: { session: Watched }) {
  const points = session.widths.map((one) => ({ at: one.time_ns, low: one.low, middle: null, high: one.high }));
  if (points.length < 2) return null;
  const [low, high] = [Math.min(...points.map((one) => one.low)), Math.max(...points.map((one) => one.high))];
  return <Band points={points} low={low} high={high} label="95 % CI of the median" unit="ns" />;
}

function Session({ session, now }: { session: Watched; now: number }) {
  const { median_ns: median, median_low_ns: low, median_high_ns: high } = session;
  const half = median && low !== null && high !== null ? (high - low) / 2 / median : null;
  const fact = (name: string, value: string) => <div><dt>{name}</dt><dd>{value}</dd></div>;
  return (
    <section class="section live-session">
      <h2>{session.what} <span class="quiet">{kindWords(session.kind)}, {session.phase}, {clock((now - session.started_ns) / 1e9)}</span></h2>
      {session.done_ratio !== null && <Meter ratio={session.done_ratio} label="Done" />}
      <dl class="live-facts">
        {session.iterations > 0 && fact('Iterations', text(session.iterations, 'count'))}
        {median !== null && fact('Median', `${duration(median)}${half === null ? '' : ` ±${percent(half)}`}`)}
        {session.left_s !== null && fact('Time left', clock(session.left_s))}
        {fact('Process', String(session.process_id))}
      </dl>
      <div class="live-plots">
        {session.buckets.length > 1 && <Latency buckets={session.buckets} />}
        <Narrowing session={session} />
      </div>
    </section>
  );
}

const orDash = (value: number | null, unit: string) => (value === null ? '–' : text(value, unit));

function Gpus({ gpus }: { gpus: LiveGpu[] }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="GPUs">
      <table>
        <caption class="unseen">GPUs</caption>
        <thead><tr><th scope="col">GPU</th><th scope="col">Use</th><th scope="col" class="right">Memory</th><th scope="col" class="right">Power</th><th scope="col" class="right">Temperature</th><th scope="col" class="right">Clock</th><th scope="col">Throttled</th></tr></thead>
        <tbody>{gpus.map((gpu) => (
          <tr key={gpu.device}>
            <td>{gpu.device}</td>
            <td>{gpu.use_ratio === null ? '–' : <Meter ratio={gpu.use_ratio} label={`GPU ${gpu.device}`} />}</td>
            <td class="right nowrap">{orDash(gpu.memory_used_bytes, 'bytes')}{gpu.memory_total_bytes !== null && ` of ${text(gpu.memory_total_bytes, 'bytes')}`}</td>
            <td class="right nowrap">{orDash(gpu.power_watts, 'watts')}{gpu.power_cap_watts !== null && ` of ${text(gpu.power_cap_watts, 'watts')}`}</td>
            <td class="right nowrap">{orDash(gpu.temperature_celsius, 'celsius')}</td>
            <td class="right nowrap">{orDash(gpu.clock_hz, 'hz')}</td>
            <td>{gpu.throttled.join(', ')}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

function Machine({ machine, seconds }: { machine: LiveMachine; seconds: Second[] }) {
  const points = seconds.map((one) => ({ at: one.time_ns, low: one.min, middle: one.mean, high: one.max }));
  const fact = (name: string, value: number | null, unit: string) => value !== null && <div><dt>{name}</dt><dd>{text(value, unit)}</dd></div>;
  return (
    <section class="section">
      <h2>Machine {machine.name && <span class="quiet">{machine.name}</span>}</h2>
      <dl class="live-facts">
        {fact('CPU', machine.cpu_use_ratio, 'ratio')}
        {fact('Clock', machine.cpu_clock_hz, 'hz')}
        {fact('Power', machine.cpu_power_watts, 'watts')}
        {fact('Temperature', machine.cpu_temperature_celsius, 'celsius')}
        {fact('Waiting for a CPU', machine.cpu_wait_ratio, 'ratio')}
        {fact('Waiting for memory', machine.memory_wait_ratio, 'ratio')}
        {fact('Waiting for I/O', machine.io_wait_ratio, 'ratio')}
        {fact('Memory available', machine.memory_available_bytes, 'bytes')}
        {fact('Load', machine.load_1min, 'count')}
      </dl>
      {points.length > 1 && <Band points={points} low={0} high={1} label="CPU use: minimum, mean, maximum per second" unit="ratio" />}
      <ul class="live-cores">{machine.core_use_ratios.map((use, core) => <li key={core}><span class="quiet nowrap">CPU {core}</span> {use === null ? '–' : <Meter ratio={use} label={`CPU ${core}`} />}</li>)}</ul>
      {machine.gpus.length > 0 && <Gpus gpus={machine.gpus} />}
    </section>
  );
}

function Processes({ processes }: { processes: LiveProcess[] }) {
  return (
    <section class="section">
      <h2>Processes of the running sessions</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Processes">
        <table>
          <caption class="unseen">Processes</caption>
          <thead><tr><th scope="col">Process</th><th scope="col" class="right">pid</th><th scope="col" class="right">CPU cores</th><th scope="col" class="right">Run-queue wait</th><th scope="col" class="right">Memory</th><th scope="col" class="right">Threads</th></tr></thead>
          <tbody>{processes.map((one) => (
            <tr key={one.process_id}>
              <td class="nowrap">{'\u00a0'.repeat(2 * Math.min(one.depth, 8))}{one.name}</td>
              <td class="right">{one.process_id}</td>
              <td class="right">{one.cpu_cores === null ? '–' : one.cpu_cores.toFixed(2)}</td>
              <td class="right nowrap">{one.wait_ratio === null ? '–' : percent(one.wait_ratio)}</td>
              <td class="right nowrap">{text(one.resident_bytes, 'bytes')}</td>
              <td class="right">{one.threads}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

const kStates = { connecting: 'connecting…', live: 'live', lost: 'connection lost, trying again…' };

export function LivePage() {
  const live = useLive();
  if (live.refusal?.status === 401) return <Refused refusal={live.refusal} />;
  return (
    <>
      <div class="tools">
        <h1>Live</h1>
        <span class={live.state === 'lost' ? 'alarm' : 'quiet'} role="status">{kStates[live.state]}{live.refusal && ` ${live.refusal.message}`}</span>
        {live.lost > 0 && <span class="quiet">{plural(live.lost, 'update')} left out: this browser was too slow</span>}
      </div>
      {live.machine && live.sessions.length === 0 && <p>No session is running. Start one here: <a href="#/jobs">Jobs</a>, or on the command line: <code>aaco run --model resnet50</code></p>}
      <div class="live-columns">
        {live.machine && live.sessions.map((one) => <Session key={one.session} session={one} now={live.machine?.time_ns ?? 0} />)}
        {live.machine && <Machine machine={live.machine} seconds={live.seconds} />}
        {live.processes.length > 0 && <Processes processes={live.processes} />}
      </div>
    </>
  );
}

import { percent, plural } from '../format/quantity.ts';
import { type Loaded, useAnswer } from './api.ts';
import { type FleetHeat, type FleetOverview, timeText } from './fleet_data.ts';
import { Findings } from './fleet_findings.tsx';
import { HeatMap } from './fleet_heat.tsx';
import { NodePage } from './fleet_node.tsx';
import { hashOf, type Place } from './place.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kPath = '/api/v1/fleet';
const kHours: [string, string][] = [['6', '6 hours'], ['24', '1 day'], ['72', '3 days'], ['168', '7 days'], ['720', '30 days']];
const kMetric = 'power_watts';

function Heat({ answer }: { answer: Loaded<FleetHeat> }) {
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  return <HeatMap heat={answer.value} onOpen={(node) => { location.hash = hashOf('fleet', { node, hours: hoursOf() }); }} />;
}

const hoursOf = () => new URLSearchParams(location.hash.split('?')[1] ?? '').get('hours') ?? '24';

function Stragglers({ fleet }: { fleet: FleetOverview }) {
  const late = fleet.stragglers.filter((one) => one.verdict === 'straggler');
  const unknown = fleet.stragglers.filter((one) => one.verdict === 'cannot_tell').length;
  return (
    <section class="section">
      <h2>Stragglers</h2>
      {late.length === 0 && <p class="quiet">No job waits for one of its ranks.</p>}
      <ul>{late.map((one) => <li key={one.job}><b>{one.job}</b>: {plural(one.ranks - (one.devices?.length ?? 0), 'rank')} wait for <a class="mono" href={hashOf('fleet', { node: one.node ?? '' })}>{one.node}</a>{one.devices && one.devices.length > 0 && ` device ${one.devices.join(', ')}`}, {percent(one.late_ratio ?? 0)} of each step{one.cause && ` (${one.cause})`}</li>)}</ul>
      {unknown > 0 && <p class="quiet">{plural(unknown, 'job')} cannot be judged: clocks not joined, or waits not measured.</p>}
    </section>
  );
}

function Nodes({ fleet, place }: { fleet: FleetOverview; place: Place }) {
  const hours = place.query.get('hours') ?? '24';
  const metric = place.query.get('metric') ?? kMetric;
  const heat = useAnswer<FleetHeat>(`${kPath}/heat?${new URLSearchParams({ metric, hours })}`);
  const go = (changed: Record<string, string>) => { location.hash = hashOf('fleet', { metric, hours, ...changed }); };
  return (
    <>
      <div class="tools">
        <h1>Fleet</h1>
        <label>Metric <select value={metric} onChange={(event) => go({ metric: event.currentTarget.value })}>{fleet.metrics.map((one) => <option key={one.metric} value={one.metric} title={one.meaning}>{one.metric}</option>)}</select></label>
        <label>Window <select value={hours} onChange={(event) => go({ hours: event.currentTarget.value })}>{kHours.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
      </div>
      <p class="lead">{plural(fleet.status.nodes, 'node')}, {plural(fleet.status.devices, 'device')}, {plural(fleet.status.jobs, 'job')}; {timeText(fleet.status.first_unix_ns)} to {timeText(fleet.status.until_unix_ns)} UTC. {plural(fleet.findings.length, 'finding')}.</p>
      <Heat answer={heat} />
      <section class="section"><h2>Findings</h2><Findings findings={fleet.findings} hours={hours} /></section>
      <Stragglers fleet={fleet} />
    </>
  );
}

function NoFleet() {
  return (
    <Empty title="No fleet">
      <p>This server shows the sessions of one machine. Start it with the telemetry of a fleet, from a folder or from ClickHouse:</p>
      <pre tabIndex={0}>aaco dashboard --fleet telemetry{'\n'}aaco dashboard --fleet clickhouse://localhost:8123/aaco</pre>
      <p>On each node, <code>aaco agent</code> sends telemetry to ClickHouse; <code>aaco fleet</code> reads it in a terminal.</p>
    </Empty>
  );
}

// Asks only a server that has a fleet, by the document of its interface.
export function Fleet({ place }: { place: Place }) {
  const document = useAnswer<{ paths: Record<string, unknown> }>('/api/v1/openapi.json');
  const there = document.at === 'ready' && kPath in document.value.paths;
  const node = place.query.get('node') ?? '';
  const hours = place.query.get('hours') ?? '24';
  const answer = useAnswer<FleetOverview>(there && !node ? `${kPath}?${new URLSearchParams({ hours })}` : '');
  if (document.at === 'loading') return <Loading />;
  if (document.at === 'failed') return <Refused refusal={document.refusal} />;
  if (!there) return <NoFleet />;
  if (node) return <NodePage key={node} name={node} hours={hours} />;
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return answer.refusal.status === 404 ? <NoFleet /> : <Refused refusal={answer.refusal} />;
  return <Nodes fleet={answer.value} place={place} />;
}

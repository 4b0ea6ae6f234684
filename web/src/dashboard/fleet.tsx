import { useMemo } from 'preact/hooks';
import { percent, plural } from '../format/quantity.ts';
import { type Loaded, useAnswer } from './api.ts';
import { type FleetFinding, type FleetHeat, type FleetOverview, judged, timeText } from './fleet_data.ts';
import { Findings, FoundOrWorking } from './fleet_findings.tsx';
import { HeatMap } from './fleet_heat.tsx';
import { NodePage } from './fleet_node.tsx';
import { hashOf, type Place } from './place.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kPath = '/api/v1/fleet';
const kHours: [string, string][] = [['6', '6 hours'], ['24', '1 day'], ['72', '3 days'], ['168', '7 days'], ['720', '30 days']];
const kMetric = 'power_watts';

function Heat({ answer, findings }: { answer: Loaded<FleetHeat>; findings: FleetFinding[] | null }) {
  const given = answer.at === 'ready' ? answer.value : null;
  const heat = useMemo(() => given && (findings ? judged(given, findings) : given), [given, findings]);
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  if (!heat) return <Loading />;
  return <HeatMap heat={heat} onOpen={(node) => { location.hash = hashOf('fleet', { node, hours: hoursOf() }); }} />;
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

function Lead({ heat, fleet }: { heat: FleetHeat | null; fleet: FleetOverview | null }) {
  if (fleet) return <p class="lead">{plural(fleet.status.nodes, 'node')}, {plural(fleet.status.devices, 'device')}, {plural(fleet.status.jobs, 'job')}; {timeText(fleet.status.first_unix_ns)} to {timeText(fleet.status.until_unix_ns)} UTC. {plural(fleet.findings.length, 'finding')}.</p>;
  return heat && <p class="lead">{plural(heat.nodes.length, 'node')}; {timeText(heat.first_unix_ns)} to {timeText(heat.first_unix_ns + heat.bins * heat.bin_ns)} UTC.</p>;
}

// The heat map is asked for first: the analysis behind the findings takes long for a large fleet, and CPU time.
function Nodes({ place }: { place: Place }) {
  const hours = place.query.get('hours') ?? '24';
  const metric = place.query.get('metric') ?? kMetric;
  const heat = useAnswer<FleetHeat>(`${kPath}/heat?${new URLSearchParams({ metric, hours })}`);
  const wanted = `${kPath}?${new URLSearchParams({ hours })}`;
  const last = useAnswer<FleetOverview>(heat.at === 'loading' ? '' : wanted);
  if (heat.at === 'failed' && heat.refusal.status === 404) return <NoFleet reason={heat.refusal.message} />;
  const answer: Loaded<FleetOverview> = last.at !== 'loading' && last.of === wanted ? last : { at: 'loading' }; // never findings of another window
  const fleet = answer.at === 'ready' ? answer.value : null;
  const map = heat.at === 'ready' ? heat.value : null;
  const go = (changed: Record<string, string>) => { location.hash = hashOf('fleet', { metric, hours, ...changed }); };
  return (
    <>
      <div class="tools">
        <h1>Fleet</h1>
        <label>Metric <select value={metric} onChange={(event) => go({ metric: event.currentTarget.value })}>{(map?.metrics ?? [{ metric, meaning: '' }]).map((one) => <option key={one.metric} value={one.metric} title={one.meaning}>{one.metric}</option>)}</select></label>
        <label>Window <select value={hours} onChange={(event) => go({ hours: event.currentTarget.value })}>{kHours.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
      </div>
      <Lead heat={map} fleet={fleet} />
      <Heat answer={heat} findings={fleet?.findings ?? null} />
      {heat.at !== 'loading' && <section class="section"><h2>Findings</h2><FoundOrWorking answer={answer}>{(found) => <Findings findings={found.findings} hours={hours} />}</FoundOrWorking></section>}
      {fleet && <Stragglers fleet={fleet} />}
    </>
  );
}

function NoFleet({ reason = 'this server shows the sessions of one machine' }: { reason?: string }) {
  return (
    <Empty title="No fleet">
      <p>{reason[0]?.toUpperCase()}{reason.slice(1)}. Start it with the telemetry of a fleet, from a folder or from ClickHouse:</p>
      <pre tabIndex={0}>aaco dashboard --fleet telemetry{'\n'}aaco dashboard --fleet clickhouse://localhost:8123/aaco</pre>
      <p>On each node, <code>aaco agent</code> sends telemetry to ClickHouse; <code>aaco fleet</code> reads it in a terminal.</p>
    </Empty>
  );
}

// Asks only a server that has a fleet, by the document of its interface.
export function Fleet({ place }: { place: Place }) {
  const document = useAnswer<{ paths: Record<string, unknown> }>('/api/v1/openapi.json');
  const node = place.query.get('node') ?? '';
  if (document.at === 'loading') return <Loading />;
  if (document.at === 'failed') return <Refused refusal={document.refusal} />;
  if (!(kPath in document.value.paths)) return <NoFleet />;
  return node ? <NodePage key={node} name={node} hours={place.query.get('hours') ?? '24'} /> : <Nodes place={place} />;
}

import { linePath } from '../charts/path.ts';
import { linear } from '../charts/scale.ts';
import { CopyButton } from '../components/copy_button.tsx';
import { plural, text } from '../format/quantity.ts';
import { kindWords } from '../model/session_kind.ts';
import { useAnswer } from './api.ts';
import { type FleetNode, type FleetOverview, spanOf, timeText, unitOfMetric } from './fleet_data.ts';
import { Findings, FoundOrWorking } from './fleet_findings.tsx';
import { hashOf } from './place.ts';
import { Loading, Refused } from './states.tsx';

const kWidth = 320;
const kHeight = 84;
const kLines = 8; // colours

// One metric of a node: a line per device.
function Plot({ metric, node }: { metric: string; node: FleetNode }) {
  const series = node.series.filter((one) => one.metric === metric);
  const span = spanOf(series.map((one) => one.values));
  const unit = unitOfMetric(metric);
  if (!span) return null;
  const x = linear({ low: 0, high: Math.max(1, node.bins - 1) }, 0, kWidth);
  const y = linear({ low: span.low, high: span.high }, kHeight - 3, 3);
  const label = `${metric}, ${plural(series.length, 'series', 'series')}, from ${text(span.low, unit)} to ${text(span.high, unit)}`;
  return (
    <figure class="fleet-plot">
      <figcaption><span class="mono">{metric}</span><span class="quiet">{text(span.low, unit)} to {text(span.high, unit)}</span></figcaption>
      <svg viewBox={`0 0 ${kWidth} ${kHeight}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {series.map((one, at) => (
          <path key={one.device ?? -1} class="fleet-line" style={{ stroke: `var(--c${at % kLines})` }} d={linePath([...one.values.keys()], one.values, x, y)}><title>{one.device === undefined ? 'host' : `device ${one.device}`}</title></path>
        ))}
      </svg>
    </figure>
  );
}

// One of this root opens; of one that is in the fleet's engine only, the command that explains it.
function SessionItem({ session }: { session: FleetNode['sessions'][number] }) {
  const about = <span class="quiet">{kindWords(session.kind)}{session.tag && `, ${session.tag}`}</span>;
  if (session.command === undefined) return <li><a class="mono" href={hashOf('session', {}, session.id)}>{session.id}</a> {about}</li>;
  return <li><span class="mono">{session.id}</span> {about} <code>{session.command}</code> <CopyButton value={session.command} /></li>;
}

export function NodePage({ name, hours }: { name: string; hours: string }) {
  const answer = useAnswer<FleetNode>(`/api/v1/fleet/nodes/${encodeURIComponent(name)}?${new URLSearchParams({ hours })}`);
  const unjudged = answer.at === 'ready' && !answer.value.judged;
  const fleet = useAnswer<FleetOverview>(unjudged ? `/api/v1/fleet?${new URLSearchParams({ hours })}` : '');
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  const node = answer.value;
  const metrics = [...new Set(node.series.map((one) => one.metric))];
  const jobs = [...new Set(node.series.map((one) => one.job).filter(Boolean))];
  return (
    <>
      <div class="tools"><h1 class="mono">{node.node}</h1><a href={hashOf('fleet', { hours })}>All nodes</a></div>
      <p class="lead">{timeText(node.first_unix_ns)} to {timeText(node.first_unix_ns + node.bins * node.bin_ns)} UTC{jobs.length > 0 && `, ${plural(jobs.length, 'job')}: ${jobs.join(', ')}`}.</p>
      <section class="section">
        <h2>Findings</h2>
        {unjudged
          ? <FoundOrWorking answer={fleet}>{(found) => <Findings findings={found.findings.filter((one) => one.node === name)} hours={hours} />}</FoundOrWorking>
          : <Findings findings={node.findings} hours={hours} />}
      </section>
      <section class="section"><h2>Metrics</h2><div class="fleet-plots">{metrics.map((metric) => <Plot key={metric} metric={metric} node={node} />)}</div></section>
      <section class="section">
        <h2>Sessions</h2>
        {node.sessions.length === 0 ? <p class="quiet">No session here or in the fleet ran on {node.node}.</p> : (
          <ul class="fleet-sessions">{node.sessions.map((one) => <SessionItem key={one.id} session={one} />)}</ul>
        )}
      </section>
    </>
  );
}

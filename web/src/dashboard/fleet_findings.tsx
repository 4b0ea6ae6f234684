import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Column, DataTable } from '../components/data_table.tsx';
import { percent, text } from '../format/quantity.ts';
import { type FleetEvidence, type FleetFinding, unitOfMetric } from './fleet_data.ts';
import type { Loaded } from './api.ts';
import { hashOf } from './place.ts';
import { Refused } from './states.tsx';

const effect = (one: FleetEvidence): string => {
  if (one.effect_ratio !== undefined) return `${one.effect_ratio > 0 ? '+' : ''}${percent(one.effect_ratio)}`;
  return `${(one.effect ?? 0) > 0 ? '+' : ''}${text(one.effect ?? 0, unitOfMetric(one.metric))}`;
};

function Evidence({ finding }: { finding: FleetFinding }) {
  return (
    <div class="fleet-evidence">
      <p>Hint: {finding.hint}.</p>
      <ul>{finding.evidence.map((one) => (
        <li key={one.metric}><span class="mono">{one.metric}</span> {text(one.value, unitOfMetric(one.metric))}, {one.peers} peers {text(one.peer_value, unitOfMetric(one.metric))} ({effect(one)}), q {one.q < 1e-4 ? '< 0.0001' : one.q.toPrecision(2)}<br /><code class="break">{one.rows}</code></li>
      ))}</ul>
    </div>
  );
}

function Working() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return <p class="quiet"><span role="status">Findings are being worked out: every device is compared with its peers.</span>{seconds > 1 && <span aria-hidden="true"> {seconds} s</span>}</p>;
}

// What the analysis found, or that it is under way.
export function FoundOrWorking<T>({ answer, children }: { answer: Loaded<T>; children: (found: T) => ComponentChildren }) {
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  return <>{answer.at === 'loading' ? <Working /> : children(answer.value)}</>;
}

// Most severe first; a row opens its evidence.
export function Findings({ findings, hours }: { findings: FleetFinding[]; hours: string }) {
  if (findings.length === 0) return <p class="quiet">No node or device differs from its peers.</p>;
  const columns: Column<FleetFinding>[] = [
    { key: 'title', title: 'finding', value: (one) => one.title, cell: (one) => <>{one.title}{one.silenced && <span class="quiet"> (silenced: {one.silenced})</span>}</> },
    { key: 'node', title: 'node', value: (one) => one.node, cell: (one) => <a class="mono" href={hashOf('fleet', { node: one.node, hours })}>{one.node}</a> },
    { key: 'device', title: 'device', align: 'right', value: (one) => one.device ?? -1, cell: (one) => one.device ?? '–' },
    { key: 'job', title: 'job', narrow: true, value: (one) => one.job ?? '', cell: (one) => one.job ?? '–' },
    { key: 'since', title: 'since', value: (one) => one.since, cell: (one) => <>{one.since.slice(0, 16).replace('T', ' ')}{!one.lasting && <span class="quiet"> (over)</span>}</> },
    { key: 'effect', title: 'effect', align: 'right', narrow: true, cell: (one) => (one.evidence[0] ? <span title={one.evidence[0].metric}>{effect(one.evidence[0])}</span> : '–') },
    { key: 'severity', title: 'severity', align: 'right', value: (one) => one.severity, cell: (one) => one.severity.toPrecision(2) },
  ];
  return <DataTable caption="Findings" rows={findings} columns={columns} rowKey={(one) => `${one.kind} ${one.node} ${one.device ?? ''} ${one.since}`} noun="finding" sortBy="severity"
    filterText={(one) => `${one.title} ${one.node} ${one.job ?? ''}`} detail={(one) => <Evidence finding={one} />} />;
}

import type { ComponentChildren } from 'preact';
import { Patterns } from '../charts/patterns.tsx';
import { Contents } from '../components/contents.tsx';
import { DataTable } from '../components/data_table.tsx';
import { Meter } from '../components/meter.tsx';
import { inDashboard } from '../components/framed.ts';
import { Section } from '../components/section.tsx';
import { Downloads } from '../components/downloads.tsx';
import { ThemeSwitch } from '../components/theme_switch.tsx';
import { TipLayer } from '../components/tip.tsx';
import { duration, plural, prose, roundPercent, signedPercent, text as quantityText } from '../format/quantity.ts';
import { type Cause, type KernelChange, type MetricVerdict, metricName, type NodeChange, type NodePairs, type RootCause, type Verdict } from '../model/verdict.ts';
import { Forest, valueText } from './forest.tsx';
import { Overlay } from './overlay.tsx';
import { signedDuration, Waterfall } from './parts.tsx';

const kTitles: Record<string, string> = { regression: 'Regression', improvement: 'Improvement', equivalent: 'Equivalent', inconclusive: 'Inconclusive', 'not-comparable': 'Not comparable' };

function sentence(verdict: Verdict): string {
  const decided = verdict.statistics.find((one) => one.metric === verdict.decided_by) ?? verdict.statistics[0];
  const word = kTitles[verdict.verdict] ?? verdict.verdict;
  if (!decided || decided.delta_ratio === undefined) return word;
  return `${word}: ${metricName(decided)} ${signedPercent(decided.delta_ratio)}`;
}

const kUndecided = ['inconclusive', 'not-comparable']; // what was noted may be why
const kFirstNotes = 3;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Sessions({ name, ids }: { name: string; ids: string[] }) {
  return <p class="sides-side"><strong>{name}</strong> <span class="mono">{ids.slice(0, 6).join(', ')}</span>{ids.length > 6 && <span class="quiet"> and {ids.length - 6} more</span>}</p>;
}

function Headline({ verdict }: { verdict: Verdict }) {
  return (
    <header class={`headline is-${verdict.verdict}`} id="verdict">
      <p class="kicker">{verdict.gate ? `Gate: baseline ${verdict.gate.baseline}, ${plural(verdict.gate.attempts, 'comparison')}` : 'Comparison'}{verdict.forced && ' (forced)'}</p>
      <h1>{prose(sentence(verdict))}</h1>
      {verdict.verdict !== 'not-comparable' && <p class="confidence"><span class="sure"><span class="quiet">confidence</span> <Meter ratio={verdict.confidence} label="Confidence" /></span></p>}
      {verdict.opposite && <p>{prose(verdict.opposite)}</p>}
      {verdict.suspected_cause && <p><strong>Suspected cause:</strong> {prose(verdict.suspected_cause)}</p>}
      <p><strong>Next:</strong> {prose(inDashboard() ? verdict.recommendation.replace(/\bwith --force\b/, 'with the box above ticked') : verdict.recommendation)}</p>
      {kUndecided.includes(verdict.verdict) && verdict.notes.slice(0, kFirstNotes).map((note, index) => <p key={index} class="quiet">{capital(prose(note))}.</p>)}
      <div class="sides"><Sessions name="A (baseline)" ids={verdict.baseline} /><Sessions name="B (candidate)" ids={verdict.candidate} /></div>
    </header>
  );
}

const metricCell = (one: MetricVerdict, value: number | undefined) => (value === undefined ? '' : valueText(one, value));

const kFar = 1000;
// "+8.2 % or -7.9 %"; "above 1000 times", and no decrease to less than a thousandth.
function detectable(one: MetricVerdict): string {
  if (one.smallest_detectable_ratio === undefined) return '';
  const up = one.smallest_detectable_ratio >= kFar ? `above ${kFar} times` : signedPercent(one.smallest_detectable_ratio);
  const down = one.smallest_detectable_decrease_ratio ?? 1;
  return 1 - down >= 1 / kFar ? `${up} or ${signedPercent(-down)}` : up;
}

function Metrics({ verdict }: { verdict: Verdict }) {
  const deciding = verdict.statistics[0];
  return (
    <Section id="metrics" title="Metrics" lead={deciding?.explanation && prose(`${metricName(deciding)} decides: ${deciding.explanation}`)}>
      <Forest metrics={verdict.statistics} level={verdict.level} />
      <DataTable caption="Metrics of both sides" rows={verdict.statistics} rowKey={(one) => `${one.metric}/${one.device ?? ''}`} noun="metric"
        filterText={(one) => one.metric}
        columns={[
          { key: 'metric', title: 'metric', cell: (one) => <span title={one.metric}>{metricName(one)}</span> },
          { key: 'a', title: 'A', align: 'right', narrow: true, cell: (one) => <span class="nowrap">{metricCell(one, one.baseline)}</span> },
          { key: 'b', title: 'B', align: 'right', narrow: true, cell: (one) => <span class="nowrap">{metricCell(one, one.candidate)}</span> },
          { key: 'change', title: 'change', align: 'right', value: (one) => one.delta_ratio ?? 0, cell: (one) => (one.delta_ratio === undefined ? '' : signedPercent(one.delta_ratio)) },
          { key: 'interval', title: 'interval', align: 'right', narrow: true, cell: (one) => (one.interval ? <span class="nowrap">{signedPercent(one.interval[0])} to {signedPercent(one.interval[1])}</span> : '') },
          { key: 'detectable', title: 'detectable', align: 'right', narrow: true, cell: (one) => <span class="nowrap">{detectable(one)}</span> },
          { key: 'verdict', title: 'verdict', cell: (one) => (one.delta_ratio === undefined ? <span class="quiet">not compared: {prose(one.reason ?? '')}</span> : <span class={`verdict-word is-${one.verdict}`} title={one.explanation}>{one.verdict}</span>) },
        ]} />
      <p class="quiet">Detectable: the smallest true change that these measurements decide with a power of 80 %, beyond the threshold.</p>
    </Section>
  );
}

function Changed({ verdict }: { verdict: Verdict }) {
  return (
    <Section id="changed" title="What differs between A and B" lead={verdict.comparable ? undefined : 'The sides measure different things, so no numbers are compared.'}>
      <DataTable caption="Differences" rows={verdict.differences} rowKey={(one) => one.key} noun="difference"
        columns={[
          { key: 'meaning', title: 'difference', cell: (one) => <>{one.forbids && <strong>! </strong>}{prose(one.meaning || one.key)}</> },
          { key: 'a', title: 'A', cell: (one) => <span class="mono break">{one.baseline}</span> },
          { key: 'b', title: 'B', cell: (one) => <span class="mono break">{one.candidate}</span> },
          { key: 'severity', title: 'effect', narrow: true, cell: (one) => (one.forbids ? 'forbids the comparison' : one.severity === 'changed' ? 'compared as A and B' : 'noted') },
        ]} />
    </Section>
  );
}

// What a decomposition is of.
const kOf: Record<string, string> = { kernels: 'step in kernels', mean: 'call (mean)', median: 'call (median)' };
// Causes of runs have a probability, those of traces a share of the difference, and single ones of a step that is inconclusive a p-value.
const kOfRuns = ['mean', 'median'];

function Sure({ cause, of }: { cause: Cause; of?: string }) {
  const share = of !== undefined && !kOfRuns.includes(of);
  if (cause.probability_ratio !== undefined) return <span class="sure"><span class="quiet">{share ? 'share' : 'probability'}</span> <Meter ratio={cause.probability_ratio} label={share ? 'Share of the explained difference' : 'Probability'} /></span>;
  return cause.p_holm === undefined ? null : <span class="sure" title="Probability of such a difference by chance, corrected for the number of causes tested"><span class="quiet">p-value (Holm)</span> {quantityText(cause.p_holm, '')}</span>;
}

function Why({ cause, suspected }: { cause: RootCause; suspected?: string | null }) {
  const { decomposition: whole, causes = [], chain = [] } = cause;
  const known = causes.filter((one) => (one.probability_ratio ?? 1) >= 0.01).slice(0, 5);
  return (
    <Section id="why" title="Why" lead={whole && prose(`A takes ${duration(whole.baseline_ns)}, B ${duration(whole.candidate_ns)} per ${kOf[cause.of ?? ''] ?? cause.of ?? 'call'}. The parts add up to the difference.`)}>
      {whole && <Waterfall parts={whole.parts} unexplainedNs={whole.unexplained_ns} deltaNs={whole.delta_ns} />}
      {known.length > 0 && (
        <ol class="statements">
          {known.map((one) => (
            <li key={one.cause}>
              <div class="statement-head">
                <h3>{prose(one.title)}</h3>
                <Sure cause={one} of={cause.of} />
              </div>
              <ul class="evidence" aria-label="Evidence">{(one.evidence ?? (suspected ? [suspected] : [])).map((line, index) => <li key={index}>{prose(line)}</li>)}</ul>
            </li>
          ))}
        </ol>
      )}
      {chain.length > 0 && <><h3>Events leading to the longest gap of B</h3><ol class="evidence">{chain.map((one, index) => <li key={index}>{signedDuration(one.at_ns)} {prose(one.what)}</li>)}</ol></>}
    </Section>
  );
}

const callsText = (side: { calls_per_step: number; mean_ns: number }): string => (side.calls_per_step > 0 ? `${quantityText(side.calls_per_step, 'count')} \u00d7 ${duration(side.mean_ns)}` : '\u2013');

function Kernels({ kernels }: { kernels: NonNullable<Verdict['kernels']> }) {
  const listed = kernels.kernels.reduce((sum, one) => sum + one.delta_ns, 0);
  const others = kernels.kernel_count - kernels.kernels.length;
  return (
    <Section id="kernels" title="Kernels" lead={prose(`Per step, kernels took ${signedDuration(kernels.delta_ns)}; ${plural(kernels.kernel_count, 'kernel')} compared, the largest differences listed.`)}>
      <DataTable<KernelChange> caption="Kernels of both sides" rows={kernels.kernels} rowKey={(one, index) => `${index}${one.kernel}`} noun="kernel" filterText={(one) => one.kernel} sortBy="delta"
        columns={[
          { key: 'kernel', title: 'kernel', cell: (one) => <span class="mono break" title={one.kernel}>{one.kernel.length > 90 ? `${one.kernel.slice(0, 89)}\u2026` : one.kernel}</span> },
          { key: 'a', title: 'A', align: 'right', narrow: true, value: (one) => one.baseline.per_step_ns, cell: (one) => <span class="nowrap">{callsText(one.baseline)}</span> },
          { key: 'b', title: 'B', align: 'right', narrow: true, value: (one) => one.candidate.per_step_ns, cell: (one) => <span class="nowrap">{callsText(one.candidate)}</span> },
          { key: 'delta', title: 'per step', align: 'right', value: (one) => Math.abs(one.delta_ns), cell: (one) => <span class="nowrap">{signedDuration(one.delta_ns)}</span> },
          { key: 'verdict', title: 'change', cell: (one) => <>{one.change.replace(/_/g, ' ')}{one.verdict && one.verdict !== 'unknown' && one.verdict !== one.change && <span class="quiet"> ({one.verdict} per call)</span>}</> },
        ]} />
      <p class="kernel-sum">Sum: {signedDuration(listed)} of the listed kernels{others > 0 && <> {signedDuration(kernels.delta_ns - listed)} of {plural(others, 'other kernel')}</>} = <strong>{signedDuration(kernels.delta_ns)}</strong> per step</p>
    </Section>
  );
}

const nodeText = (side: NodeChange['baseline']): string => (side ? duration(side.time_ns) : '\u2013');

function NodeName({ of }: { of: NodeChange }) {
  const now = of.candidate ?? of.baseline;
  return (
    <span class="mono break" title={of.node}>
      {of.node}
      {of.former_name !== undefined && <span class="quiet"> (A: {of.former_name})</span>} <span class="quiet">{now?.op_type}</span>
    </span>
  );
}

function Nodes({ nodes }: { nodes: NodePairs }) {
  const listed = nodes.nodes.reduce((sum, one) => sum + one.delta_ns, 0);
  const others = nodes.node_count - nodes.nodes.length;
  const inNodes = nodes.delta_ns - nodes.between_nodes_ns - nodes.around_nodes_ns;
  return (
    <Section id="nodes" title="Nodes" lead={prose(`A profiled iteration took ${signedDuration(nodes.delta_ns)}; ${plural(nodes.node_count, 'node')} compared, the largest differences listed. One profiled run per side: ${nodes.baseline_session} and ${nodes.candidate_session}.`)}>
      <DataTable<NodeChange> caption="Nodes of both sides" rows={nodes.nodes} rowKey={(one, index) => `${index}${one.node}`} noun="node" filterText={(one) => `${one.node} ${one.former_name ?? ''} ${one.candidate?.op_type ?? ''} ${one.baseline?.op_type ?? ''}`} sortBy="delta"
        columns={[
          { key: 'node', title: 'node', cell: (one) => <NodeName of={one} /> },
          { key: 'a', title: 'A', align: 'right', narrow: true, value: (one) => one.baseline?.time_ns ?? 0, cell: (one) => <span class="nowrap">{nodeText(one.baseline)}</span> },
          { key: 'b', title: 'B', align: 'right', narrow: true, value: (one) => one.candidate?.time_ns ?? 0, cell: (one) => <span class="nowrap">{nodeText(one.candidate)}</span> },
          { key: 'delta', title: 'per iteration', align: 'right', value: (one) => Math.abs(one.delta_ns), cell: (one) => <span class="nowrap">{signedDuration(one.delta_ns)}</span> },
          { key: 'change', title: 'change', cell: (one) => one.change },
        ]} />
      <p class="node-sum">Sum: {signedDuration(listed)} of the listed nodes{others > 0 && <> {signedDuration(inNodes - listed)} of {plural(others, 'other node')}</>} {signedDuration(nodes.between_nodes_ns)} between nodes {signedDuration(nodes.around_nodes_ns)} around them = <strong>{signedDuration(nodes.delta_ns)}</strong> per profiled iteration</p>
    </Section>
  );
}

function Rounds({ ab }: { ab: NonNullable<Verdict['ab']> }) {
  return (
    <Section id="rounds" title="Rounds" lead={prose(`${plural(ab.rounds?.length ?? 0, 'round')} in ${duration(ab.wall_ns)}; ended: ${ab.ended}.`)}>
      <DataTable caption="Rounds" rows={(ab.rounds ?? []).map((one, index) => ({ ...one, index: index + 1 }))} rowKey={(one) => String(one.index)} noun="round"
        columns={[
          { key: 'index', title: 'round', align: 'right', value: (one) => one.index, cell: (one) => one.index },
          { key: 'first', title: 'first', cell: (one) => (one.b_first ? 'B' : 'A') },
          { key: 'a', title: 'median of A', align: 'right', value: (one) => one.a_median_ns, cell: (one) => duration(one.a_median_ns) },
          { key: 'b', title: 'median of B', align: 'right', value: (one) => one.b_median_ns, cell: (one) => duration(one.b_median_ns) },
          { key: 'change', title: 'change', align: 'right', value: (one) => one.change_ratio, cell: (one) => signedPercent(one.change_ratio) },
        ]} />
    </Section>
  );
}

function Evidence({ rows }: { rows: NonNullable<NonNullable<Verdict['evidence']>['rows']> }) {
  return (
    <Section id="evidence" title="Evidence">
      <DataTable caption="Evidence" rows={rows} rowKey={(one) => one.signal} noun="signal" filterText={(one) => one.signal}
        columns={[
          { key: 'signal', title: 'signal', cell: (one) => <span class="mono">{one.signal}</span> },
          { key: 'a', title: 'A', align: 'right', cell: (one) => quantityText(one.baseline, one.unit) },
          { key: 'b', title: 'B', align: 'right', cell: (one) => quantityText(one.candidate, one.unit) },
          { key: 'change', title: 'change', align: 'right', value: (one) => Math.abs(one.delta_ratio ?? 0), cell: (one) => (one.delta_ratio === null ? '' : signedPercent(one.delta_ratio)) },
        ]} />
    </Section>
  );
}

interface Shown { id: string; title: string; body: ComponentChildren }

function sectionsOf(verdict: Verdict): Shown[] {
  const list: Shown[] = [];
  const add = (id: string, title: string, body: ComponentChildren) => list.push({ id, title, body });
  if (verdict.statistics.length > 0) add('metrics', 'Metrics', <Metrics verdict={verdict} />);
  if (verdict.distributions) add('distributions', 'Distributions', <Section id="distributions" title="Distributions"><Overlay of={verdict.distributions} /></Section>);
  if (verdict.root_cause) add('why', 'Why', <Why cause={verdict.root_cause} suspected={verdict.suspected_cause} />);
  if (verdict.kernels) add('kernels', 'Kernels', <Kernels kernels={verdict.kernels} />);
  if (verdict.nodes) add('nodes', 'Nodes', <Nodes nodes={verdict.nodes} />);
  if (verdict.differences.length > 0) add('changed', 'What differs', <Changed verdict={verdict} />);
  if (verdict.ab?.rounds && verdict.ab.rounds.length > 0) add('rounds', 'Rounds', <Rounds ab={verdict.ab} />);
  if (verdict.evidence?.rows && verdict.evidence.rows.length > 0) add('evidence', 'Evidence', <Evidence rows={verdict.evidence.rows} />);
  if (verdict.notes.length > 0) add('notes', 'Notes', <Section id="notes" title="Notes"><ul class="evidence">{verdict.notes.map((note, index) => <li key={index}>{prose(note)}</li>)}</ul></Section>);
  return list;
}

export function CompareView({ verdict }: { verdict: Verdict }) {
  const sections = sectionsOf(verdict);
  return (
    <>
      <a class="skip" href="#verdict">Skip to the verdict</a>
      <Patterns />
      <div class="masthead">
        <span class="wordmark">AACO<span class="quiet">{verdict.gate ? 'gate' : 'comparison'}</span></span>
        <span class="masthead-session quiet">confidence {roundPercent(verdict.confidence)}</span>
        <span class="masthead-tools">
          <button type="button" class="plain" onClick={() => window.print()}>Print</button>
          <Downloads />
          <ThemeSwitch />
        </span>
      </div>
      <div class="page">
        <Contents sections={[{ id: 'verdict', title: 'Verdict' }, ...sections.map(({ id, title }) => ({ id, title }))]} />
        <main>
          <Headline verdict={verdict} />
          {sections.map((one) => <div key={one.id}>{one.body}</div>)}
          <footer><p>Created by aaco. Verdict schema {verdict.schema_version}. Self-contained: loads nothing from the network.</p></footer>
        </main>
      </div>
      <TipLayer />
    </>
  );
}

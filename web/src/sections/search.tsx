import { XAxis, YAxis } from '../charts/parts.tsx';
import { extent, linear, logarithmic, logTicks, padded, ticks, type Scale } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { hideTip, showTip } from '../components/tip.tsx';
import { ScrollBox } from '../components/scroll_box.tsx';
import { duration, interval, scaleFor, signedPercent, text } from '../format/quantity.ts';
import type { Report } from '../model/report.ts';

const kHeight = 240;
const kNarrow = 640; // pixels below which the plots stand below each other
const kLogRatio = 8; // of the largest to the smallest value from which a scale is logarithmic
const kMarkRoom = 68; // pixels between two marks of the latency axis
const kLeastError = 1e-8; // smaller output errors are drawn here: a logarithm has no zero

// As src/report/search_section.h writes it.
interface Trial {
  label: string;
  outcome: string;
  reason?: string;
  median_ns?: number;
  p99_ns?: number;
  items_per_second?: number;
  rss_peak_bytes?: number;
  output_error_ratio?: number;
  change_ratio?: number;
  pareto: boolean;
}

interface Search {
  objective: string;
  summary: string;
  recommendation: string;
  inputs: string;
  configurations: number;
  tried: number;
  failed: number;
  out_of_tolerance: number;
  proof?: { configuration: string; metric: string; verdict: string; change_ratio: number; rounds: number; low_ratio?: number; high_ratio?: number; smallest_detectable_ratio?: number };
  parts: { change: string; without_ratio: number }[];
  trials: Trial[];
}

declare module '../model/report.ts' {
  interface Extra {
    search?: Search;
  }
}

const searchOf = (report: Report): Search | undefined => (Array.isArray(report.extra?.search?.trials) ? report.extra.search : undefined);

interface Axis {
  title: string;
  unit: string;
  value: (trial: Trial) => number | undefined;
}

const kLatency: Axis = { title: 'median latency', unit: 'ns', value: (trial) => trial.median_ns };
const kOthers: Axis[] = [
  { title: 'throughput (items/s)', unit: 'items/s', value: (trial) => trial.items_per_second },
  { title: 'peak memory', unit: 'bytes', value: (trial) => trial.rss_peak_bytes },
  { title: 'output error (of RMS)', unit: '', value: (trial) => (trial.output_error_ratio === undefined ? undefined : Math.max(trial.output_error_ratio, kLeastError)) },
];

function scaleOf(axis: Axis, trials: Trial[], from: number, to: number): { scale: Scale; marks: number[]; format: (value: number) => string } {
  const found = extent(trials.map((trial) => axis.value(trial) ?? null)) ?? { low: 0, high: 1 };
  const log = found.low > 0 && found.high / found.low >= kLogRatio;
  const domain = log ? { low: found.low / 1.3, high: found.high * 1.3 } : padded(found, 0.12);
  const scale = (log ? logarithmic : linear)(domain, from, to);
  const unit = axis.unit === '' ? { factor: 1, unit: '' } : scaleFor(found.high, axis.unit);
  const marks = log ? logTicks(domain) : ticks({ low: domain.low / unit.factor, high: domain.high / unit.factor }, 4, axis.unit === 'bytes' ? 2 : 10).map((one) => one * unit.factor);
  const format = (value: number): string => (axis.unit === '' ? value.toExponential(0) : axis.unit === 'ns' ? duration(value) : axis.unit === 'items/s' ? text(value, 'count') : text(value, axis.unit));
  return { scale, marks, format };
}

// The marks that have room beside each other.
function spaced(marks: number[], scale: Scale, room: number): number[] {
  const kept: number[] = [];
  for (const mark of marks)
    if (kept.every((other) => Math.abs(scale(other) - scale(mark)) >= room)) kept.push(mark);
  return kept;
}

// Drawn last, and so on top, is what matters most.
const rank = (trial: Trial): number => (trial.outcome === 'winner' ? 3 : trial.outcome === 'baseline' ? 2 : trial.pareto ? 1 : 0);

function Mark({ trial, x, y }: { trial: Trial; x: number; y: number }) {
  const kind = trial.outcome === 'winner' || trial.outcome === 'baseline' ? trial.outcome : trial.outcome !== 'ok' ? 'out' : trial.pareto ? 'pareto' : 'usual';
  const size = kind === 'winner' ? 7 : 5;
  const shape = kind === 'baseline'
    ? <rect x={x - size} y={y - size} width={2 * size} height={2 * size} class={`trial ${kind}`} />
    : kind === 'out'
      ? <path d={`M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x - 4} ${y + 4}L${x + 4} ${y - 4}`} class={`trial ${kind}`} />
      : kind === 'winner'
        ? <path d={`M${x} ${y - size - 1}L${x + size + 1} ${y}L${x} ${y + size + 1}L${x - size - 1} ${y}Z`} class={`trial ${kind}`} />
        : <circle cx={x} cy={y} r={kind === 'pareto' ? 5 : 3} class={`trial ${kind}`} />;
  const tip = [trial.label, trial.median_ns === undefined ? '' : `median latency ${duration(trial.median_ns)}`, trial.rss_peak_bytes === undefined ? '' : `peak memory ${text(trial.rss_peak_bytes, 'bytes')}`,
    trial.output_error_ratio === undefined ? '' : `output error ${trial.output_error_ratio.toExponential(1)} of RMS`, trial.reason ?? ''].filter(Boolean).join('\n');
  return (
    <g onPointerMove={(event) => showTip(event.clientX, event.clientY, tip)} onPointerLeave={hideTip}>
      {shape}
      <circle cx={x} cy={y} r={9} class="surface" />
    </g>
  );
}

function Plot({ axis, trials, width }: { axis: Axis; trials: Trial[]; width: number }) {
  const shown = trials.filter((trial) => kLatency.value(trial) !== undefined && axis.value(trial) !== undefined).sort((a, b) => rank(a) - rank(b));
  if (shown.length < 2) return null;
  const box = { left: 84, right: width - 12, top: 12, bottom: kHeight - 44 };
  const x = scaleOf(kLatency, shown, box.left, box.right);
  const y = scaleOf(axis, shown, box.bottom, box.top);
  return (
    <figure class="trials-plot" style={{ width: `${width}px` }}>
      <figcaption>{axis.title}</figcaption>
      <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`${axis.title} over median latency of ${shown.length} configurations; ${shown.filter((one) => one.pareto).length} are Pareto-optimal.`}>
        <YAxis scale={y.scale} ticks={y.marks} format={y.format} box={box} />
        <XAxis scale={x.scale} ticks={spaced(x.marks, x.scale, kMarkRoom)} format={x.format} y={box.bottom} title={kLatency.title} />
        {shown.map((trial) => <Mark key={trial.label} trial={trial} x={x.scale(kLatency.value(trial) ?? 0)} y={y.scale(axis.value(trial) ?? 0)} />)}
      </svg>
    </figure>
  );
}

function Pareto({ trials }: { trials: Trial[] }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const each = width < kNarrow ? width : Math.floor((width - 32) / 3);
  const has = (outcome: string): boolean => trials.some((trial) => trial.outcome === outcome);
  return (
    <div ref={ref}>
      <div class="trials-plots">{kOthers.map((axis) => <Plot key={axis.title} axis={axis} trials={trials} width={each} />)}</div>
      <ul class="key">
        <li><span class="trial-swatch baseline" />baseline</li>
        {has('winner') && <li><span class="trial-swatch winner" />winner</li>}
        <li><span class="trial-swatch pareto" />Pareto-optimal</li>
        <li><span class="trial-swatch usual" />other</li>
        {trials.some((trial) => trial.median_ns !== undefined && !['ok', 'winner', 'baseline'].includes(trial.outcome)) && <li><span class="trial-swatch out" />out of tolerance, SLO or only offered</li>}
      </ul>
    </div>
  );
}

function SearchSection({ report, id, title }: SectionProps) {
  const search = searchOf(report);
  if (!search) return null;
  const { proof } = search;
  const what = search.objective === 'memory' ? 'peak memory' : search.objective === 'energy' ? 'energy per item' : search.objective === 'throughput' ? 'throughput' : 'median latency';
  return (
    <Section id={id} title={title} lead={`${search.tried} of ${search.configurations} configurations tried, ${search.failed} failed, ${search.out_of_tolerance} out of tolerance; ${search.inputs}.`}>
      {proof && (
        <p>
          <strong>{proof.configuration}</strong>: {what} {signedPercent(proof.change_ratio)}
          {proof.low_ratio !== undefined && proof.high_ratio !== undefined ? ` (95 % CI ${interval(proof.low_ratio, proof.high_ratio, 'ratio')})` : ''} on {proof.rounds} fresh process rounds: {proof.verdict}. Next: {search.recommendation}.
        </p>
      )}
      <Pareto trials={search.trials} />
      {search.parts.length > 0 && (
        <table class="legend">
          <thead><tr><th scope="col">Leave one out</th><th scope="col" class="right">{search.objective === 'memory' ? 'peak memory' : search.objective === 'energy' ? 'energy per item' : 'time per item'} without it</th></tr></thead>
          <tbody>{search.parts.map((part) => <tr key={part.change}><th scope="row"><Name text={part.change} /></th><td class="right">{signedPercent(part.without_ratio)}</td></tr>)}</tbody>
        </table>
      )}
      <ScrollBox label="Trials">
        <table class="legend trials">
          <thead><tr><th scope="col">Configuration</th><th scope="col" class="right">change of {what}</th><th scope="col" class="right">median latency</th><th scope="col" class="right narrow">P99</th><th scope="col" class="right narrow">memory</th><th scope="col" class="right narrow">error</th></tr></thead>
          <tbody>
            {search.trials.map((trial) => (
              <tr key={trial.label}>
                <th scope="row"><Name text={trial.label} />{trial.outcome !== 'ok' && trial.outcome !== 'baseline' ? <span class="quiet"> {trial.outcome}</span> : null}{trial.reason ? <span class="quiet narrow-block">{trial.reason}</span> : null}</th>
                <td class="right strong">{trial.change_ratio === undefined ? '' : signedPercent(trial.change_ratio)}</td>
                <td class="right">{trial.median_ns === undefined ? '' : duration(trial.median_ns)}</td>
                <td class="right narrow">{trial.p99_ns === undefined ? '' : duration(trial.p99_ns)}</td>
                <td class="right narrow">{trial.rss_peak_bytes === undefined ? '' : text(trial.rss_peak_bytes, 'bytes')}</td>
                <td class="right narrow">{trial.output_error_ratio === undefined ? '' : trial.output_error_ratio === 0 ? '0' : trial.output_error_ratio.toExponential(1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Section>
  );
}

export const searchSection: SectionEntry = {
  id: 'search',
  title: 'Search',
  shows: ['search'],
  has: (report) => searchOf(report)?.trials.length,
  view: SearchSection,
};

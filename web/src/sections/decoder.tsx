import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { duration, interval, text } from '../format/quantity.ts';
import { metricTip, type Report } from '../model/report.ts';

// As src/report/decoder_section.h writes it.
interface Value {
  value: number;
  ci95?: number[];
}

interface Predicted {
  value: number;
  lower: number;
  upper: number;
  level: string;
}

interface Level {
  load: string;
  batch: number;
  prompt_tokens: number;
  output_tokens: number;
  complete: number;
  prefill_ns?: Value;
  token_ns?: Value;
  prefill_tokens_per_second?: Value;
  decode_tokens_per_second?: Value;
  predicted_prefill_ns?: Predicted;
  predicted_token_ns?: Predicted;
  cache_bytes?: number;
  predicted_cache_bytes?: number;
  rss_bytes?: number;
}

interface Limit {
  limit: string;
  text: string;
  weight_bytes: number;
  cache_bytes: number;
  evidence: string[];
  bytes_per_second?: number;
  source?: string;
  weight_floor_ns?: number;
  floor_ns?: number;
  weight_floor_ratio?: number;
  floor_ratio?: number;
  batch_growth_ratio?: number;
}

interface PredictedNode {
  phase: string;
  name: string;
  op_type: string;
  limit: string;
  predicted_ns: number;
  share_ratio: number;
}

interface ProfiledNode {
  phase: string;
  name: string;
  op_type: string;
  count: number; // executions per call
  ns: number;
  share_ratio: number;
  predicted_ns?: number;
}

interface Decoder {
  summary: string;
  layout: string;
  levels: Level[];
  limit?: Limit;
  nodes?: PredictedNode[];
  profiled?: ProfiledNode[];
}

declare module '../model/report.ts' {
  interface Extra {
    decoder?: Decoder;
  }
}

const levelsOf = (report: Report): Level[] => (Array.isArray(report.extra?.decoder?.levels) ? report.extra.decoder.levels : []);

const range = (value: Value | undefined, unit: string) => (value?.ci95?.length === 2 ? interval(value.ci95[0]!, value.ci95[1]!, unit) : '');

interface CurvePoint {
  x: number;
  y: number;
  low?: number;
  high?: number;
  predicted?: number;
}

const kWidth = 320;
const kHeight = 150;
const kMargin = { left: 62, right: 14, top: 10, bottom: 34 };

// A time over a number of tokens or sequences: measured as dots with their intervals and a line, predicted as crosses.
function Curve({ points, title, axis }: { points: CurvePoint[]; title: string; axis: string }) {
  if (points.length < 2) return null;
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const most = Math.max(...sorted.map((point) => Math.max(point.y, point.high ?? 0, point.predicted ?? 0)));
  const [first, last] = [sorted[0]!.x, sorted[sorted.length - 1]!.x];
  const x = (value: number) => kMargin.left + ((Math.log(value) - Math.log(first)) / (Math.log(last) - Math.log(first))) * (kWidth - kMargin.left - kMargin.right);
  const y = (value: number) => kHeight - kMargin.bottom - (value / most) * (kHeight - kMargin.top - kMargin.bottom);
  return (
    <figure class="curve">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${kWidth} ${kHeight}`} width="100%" style={{ maxWidth: '30rem' }} role="img" aria-label={`${title}: ${sorted.map((point) => `${point.x}: ${duration(point.y)}`).join(', ')}`}>
        <line x1={kMargin.left} x2={kWidth - kMargin.right} y1={y(0)} y2={y(0)} stroke="currentColor" opacity="0.4" />
        <text x={kMargin.left - 6} y={y(most) + 4} text-anchor="end" font-size="10" fill="currentColor">{duration(most)}</text>
        <text x={kMargin.left - 6} y={y(0)} text-anchor="end" font-size="10" fill="currentColor">0</text>
        <polyline points={sorted.map((point) => `${x(point.x)},${y(point.y)}`).join(' ')} fill="none" stroke="currentColor" stroke-width="1.5" />
        {sorted.map((point) => (
          <g key={point.x}>
            {point.low !== undefined && point.high !== undefined && <line x1={x(point.x)} x2={x(point.x)} y1={y(point.low)} y2={y(point.high)} stroke="currentColor" stroke-width="3" opacity="0.4" />}
            <circle cx={x(point.x)} cy={y(point.y)} r="3" fill="currentColor" />
            {point.predicted !== undefined && <path d={`M${x(point.x) - 4},${y(point.predicted) - 4}l8,8m0,-8l-8,8`} stroke="currentColor" opacity="0.7" />}
            <text x={x(point.x)} y={kHeight - kMargin.bottom + 13} text-anchor="middle" font-size="10" fill="currentColor">{point.x}</text>
          </g>
        ))}
        <text x={(kMargin.left + kWidth - kMargin.right) / 2} y={kHeight - 4} text-anchor="middle" font-size="10" fill="currentColor">{axis}</text>
      </svg>
    </figure>
  );
}

function pointOf(x: number, value: Value | undefined, predicted: Predicted | undefined): CurvePoint[] {
  if (value === undefined) return [];
  return [{ x, y: value.value, low: value.ci95?.[0], high: value.ci95?.[1], predicted: predicted?.value }];
}

function Curves({ levels }: { levels: Level[] }) {
  const main = levels[0]!;
  const lengths = levels.filter((level) => level.batch === main.batch);
  const batches = levels.filter((level) => level.prompt_tokens === main.prompt_tokens);
  return (
    <div class="curves">
      <Curve title="Prefill over prompt length" axis="prompt tokens" points={lengths.flatMap((level) => pointOf(level.prompt_tokens, level.prefill_ns, level.predicted_prefill_ns))} />
      <Curve title="Time per token over context" axis="prompt tokens" points={lengths.flatMap((level) => pointOf(level.prompt_tokens, level.token_ns, level.predicted_token_ns))} />
      <Curve title="Time per token over batch" axis="sequences" points={batches.flatMap((level) => pointOf(level.batch, level.token_ns, level.predicted_token_ns))} />
    </div>
  );
}

function LimitView({ limit }: { limit: Limit }) {
  return (
    <>
      <p class="strong">{limit.text.charAt(0).toUpperCase() + limit.text.slice(1)}.</p>
      <ul>{limit.evidence.map((line, index) => <li key={index}>{line}</li>)}</ul>
    </>
  );
}

function Nodes({ nodes }: { nodes: PredictedNode[] }) {
  return (
    <table class="legend">
      <thead><tr><th scope="col">Longest predicted nodes</th><th scope="col">phase, type, limit</th><th scope="col" class="right">predicted</th><th scope="col" class="right">of the phase</th></tr></thead>
      <tbody>
        {nodes.map((node, index) => (
          <tr key={index}>
            <th scope="row">{node.name}</th>
            <td>{node.phase}, {node.op_type}, {node.limit}</td>
            <td class="right">{duration(node.predicted_ns)}</td>
            <td class="right">{text(node.share_ratio, 'ratio')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ProfiledNodes({ nodes }: { nodes: ProfiledNode[] }) {
  return (
    <table class="legend">
      <thead><tr><th scope="col">Longest nodes, profiled</th><th scope="col">phase, type</th><th scope="col" class="right">per call</th><th scope="col" class="right">of the phase</th><th scope="col" class="right narrow">predicted</th></tr></thead>
      <tbody>
        {nodes.map((node, index) => (
          <tr key={index}>
            <th scope="row">{node.name}</th>
            <td>{node.phase}, {node.op_type}{node.count > 1 ? `, ${node.count} times` : ''}</td>
            <td class="right">{duration(node.ns)}</td>
            <td class="right">{text(node.share_ratio, 'ratio')}</td>
            <td class="right narrow">{node.predicted_ns === undefined ? '' : duration(node.predicted_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DecoderSection({ report, id, title }: SectionProps) {
  const levels = levelsOf(report);
  const decoder = report.extra!.decoder!;
  const rate = (value: Value | undefined) => (value === undefined ? '' : text(value.value, '1/s'));
  return (
    <Section id={id} title={title} lead={`${decoder.layout}. Medians over generations; 95 % confidence intervals below them; crosses in the curves are predictions.`}>
      <table class="legend scaling">
        <thead><tr><th scope="col">Level</th><th scope="col" class="right" title={metricTip(report, 'llm.ttft_p50_ns')}>prefill</th><th scope="col" class="right narrow" title={metricTip(report, 'llm.prefill_tokens_per_second')}>tokens</th><th scope="col" class="right" title={metricTip(report, 'llm.tpot_p50_ns')}>per token</th><th scope="col" class="right narrow" title={metricTip(report, 'llm.decode_tokens_per_second')}>tokens</th><th scope="col" class="right narrow" title={metricTip(report, 'llm.kv_cache_bytes')}>KV cache</th></tr></thead>
        <tbody>
          {levels.map((level, index) => (
            <tr key={index}>
              <th scope="row">{level.load}</th>
              <td class="right">{level.prefill_ns === undefined ? '' : duration(level.prefill_ns.value)}<span class="quiet narrow-block">{range(level.prefill_ns, 'ns')}</span></td>
              <td class="right narrow">{rate(level.prefill_tokens_per_second)}</td>
              <td class="right">{level.token_ns === undefined ? '' : duration(level.token_ns.value)}<span class="quiet narrow-block">{range(level.token_ns, 'ns')}</span></td>
              <td class="right narrow">{rate(level.decode_tokens_per_second)}</td>
              <td class="right narrow">{level.cache_bytes === undefined ? '' : text(level.cache_bytes, 'bytes')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Curves levels={levels} />
      {decoder.limit && <LimitView limit={decoder.limit} />}
      {decoder.profiled !== undefined && decoder.profiled.length > 0 && <ProfiledNodes nodes={decoder.profiled} />}
      {decoder.nodes !== undefined && decoder.nodes.length > 0 && <Nodes nodes={decoder.nodes} />}
    </Section>
  );
}

export const decoderSection: SectionEntry = {
  id: 'decoder',
  title: 'Prefill and decode',
  shows: ['decoder'],
  has: (report) => levelsOf(report).length,
  view: DecoderSection,
};

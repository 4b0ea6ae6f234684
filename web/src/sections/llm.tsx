import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { duration, fourDigits, kNoBreak, text } from '../format/quantity.ts';
import { metricTip, type Report } from '../model/report.ts';
import { ScrollBox } from '../components/scroll_box.tsx';
import { LoadCurve } from './load_curve.tsx';

// As src/report/llm_section.h writes it.
interface Level {
  load: string;
  requests: number;
  complete: number;
  failures?: Record<string, number>;
  retries?: number;
  usage_rejected?: number; // responses whose usage is impossible
  metrics: Record<string, { value: number; unit: string; ci95?: number[] }>;
  client_limit?: string[];
  client_verdict?: string;
  vouched_per_second?: number;
  handshakes?: string; // of TLS
  connection_waits?: string[]; // results that waits of connections moved
  server_causes?: string[];
  slow_tokens?: number;
  slow_causes?: Record<string, number>;
}

interface SlowRequest {
  request: number;
  load: string;
  e2el_ns: number;
  client_queue_ns: number;
  resent?: number;
  first_token_ns?: number;
  longest_gap_ns?: number;
  output_tokens?: number;
  chunk_ns?: number[];
  cause?: string;
}

interface Llm {
  summary: string;
  slo?: string;
  knee?: string;
  counts?: string;
  levels: Level[];
  slow?: SlowRequest[];
}

declare module '../model/report.ts' {
  interface Extra {
    llm?: Llm;
  }
}

const levelsOf = (report: Report): Level[] => (Array.isArray(report.extra?.llm?.levels) ? report.extra.llm.levels : []);
const slowOf = (report: Report): SlowRequest[] => (Array.isArray(report.extra?.llm?.slow) ? report.extra.llm.slow : []);

interface Column {
  name: string;
  metric: string;
  wide?: boolean; // not on a narrow screen
}
const kColumns: Column[] = [
  { name: 'requests/s', metric: 'llm.requests_per_second' },
  { name: 'tokens/s', metric: 'llm.output_tokens_per_second', wide: true },
  { name: 'TTFT P50', metric: 'llm.ttft_p50_ns' },
  { name: 'TTFT P99', metric: 'llm.ttft_p99_ns' },
  { name: 'TPOT P50', metric: 'llm.tpot_p50_ns', wide: true },
  { name: 'good', metric: 'llm.good_ratio', wide: true },
];

function cell(level: Level, id: string) {
  const metric = level.metrics?.[id];
  return metric === undefined ? '' : metric.unit === '1/s' ? fourDigits(metric.value) : text(metric.value, metric.unit);
}

// A request as a line: grey until it was sent, then to its first token, then a tick for each chunk.
function Tokens({ slow, longest }: { slow: SlowRequest; longest: number }) {
  const at = (ns: number) => `${(Math.max(0, ns) / longest) * 100}%`;
  return (
    <svg class="tokens" width="100%" height="14" role="img" aria-label={`chunks of request ${slow.request}`}>
      <rect x="0" y="5" width={at(slow.client_queue_ns)} height="4" fill="currentColor" opacity="0.2" />
      <rect x={at(slow.client_queue_ns)} y="5" width={at(slow.first_token_ns ?? 0)} height="4" fill="currentColor" opacity="0.5" />
      {(slow.chunk_ns ?? []).map((time, index) => <line key={index} x1={at(time)} x2={at(time)} y1="1" y2="13" stroke="currentColor" />)}
    </svg>
  );
}

// What slow tokens waited for, level by level.
function SlowCauses({ levels }: { levels: Level[] }) {
  const slow = levels.filter((level) => (level.slow_tokens ?? 0) > 0);
  const causes = [...new Set(slow.flatMap((level) => Object.keys(level.slow_causes ?? {})))];
  if (causes.length === 0) return null;
  return (
    <>
      <h3 class="load-part">Slow tokens</h3>
      <p class="quiet">First tokens and gaps between tokens of more than three times the usual, by what they waited for.</p>
      <ScrollBox label="Load"><table class="legend scaling load-table">
        <thead><tr><th scope="col">Load</th><th scope="col" class="right">slow</th><th scope="col">waited for</th></tr></thead>
        <tbody>
          {slow.map((level) => (
            <tr key={level.load}>
              <th scope="row">{level.load}</th>
              <td class="right">{level.slow_tokens}</td>
              <td class="causes">{Object.entries(level.slow_causes ?? {}).map(([cause, count]) => <span key={cause} class="cause">{count}{kNoBreak}×{kNoBreak}{cause}</span>)}</td>
            </tr>
          ))}
        </tbody>
      </table></ScrollBox>
    </>
  );
}

function ServerCauses({ levels }: { levels: Level[] }) {
  const slow = levels.filter((level) => level.server_causes?.length);
  if (slow.length === 0) return null;
  return (
    <ul class="server-causes">
      {slow.flatMap((level) => (level.server_causes ?? []).map((cause) => <li key={level.load + cause}><strong>{level.load}</strong>: {cause}</li>))}
    </ul>
  );
}

function LlmSection({ report, id, title }: SectionProps) {
  const levels = levelsOf(report);
  const slow = slowOf(report);
  const longest = Math.max(1, ...slow.map((request) => request.e2el_ns));
  const columns = kColumns.filter(({ metric }) => levels.some((level) => level.metrics?.[metric] !== undefined));
  const someFailed = levels.some((level) => level.requests > level.complete);
  const someRetried = levels.some((level) => (level.retries ?? 0) > 0);
  const place = (column: Column) => (column.wide ? 'right narrow' : 'right');
  return (
    <Section id={id} title={title} lead="Latency counts from when a request was due. Quantiles cover complete responses; failures are counted separately.">
      <LoadCurve levels={levels} knee={report.extra?.llm?.knee} counts={report.extra?.llm?.counts} />
      <ScrollBox label="Load"><table class="legend scaling load-table">
        <thead><tr><th scope="col">Load</th>{columns.map((column) => <th key={column.metric} scope="col" class={place(column)} title={metricTip(report, column.metric)}>{column.name}</th>)}{someFailed && <th scope="col" class="right">failed</th>}{someRetried && <th scope="col" class="right">retries</th>}</tr></thead>
        <tbody>
          {levels.map((level, index) => (
            <tr key={index}>
              <th scope="row">{level.load}{level.client_limit?.length ? <span class="quiet narrow-block" title={level.client_limit[0]}>{level.client_verdict}</span> : null}{level.usage_rejected ? <span class="quiet narrow-block">impossible usage in {level.usage_rejected} responses, not used</span> : null}{(level.connection_waits ?? []).map((wait) => <span key={wait} class="quiet narrow-block">{wait}</span>)}{level.handshakes ? <span class="quiet narrow-block">{level.handshakes}</span> : null}</th>
              {columns.map((column) => <td key={column.metric} class={place(column)}>{cell(level, column.metric)}</td>)}
              {someFailed && <td class="right">{level.requests - level.complete || ''}</td>}
              {someRetried && <td class="right">{level.retries ?? ''}</td>}
            </tr>
          ))}
        </tbody>
      </table></ScrollBox>
      <ServerCauses levels={levels} />
      <SlowCauses levels={levels} />
      {slow.length > 0 && (
        <ScrollBox label="Slowest requests"><table class="legend load-table">
          <thead><tr><th scope="col">Slowest requests</th><th scope="col" class="right">latency</th><th scope="col" class="right">to first token</th><th scope="col" class="narrow">chunks over time</th></tr></thead>
          <tbody>
            {slow.map((request) => (
              <tr key={request.request}>
                <th scope="row">request {request.request}{request.resent ? <span class="quiet narrow-block">sent again after {request.resent} failed {request.resent === 1 ? 'attempt' : 'attempts'}</span> : null}{request.cause ? <span class="quiet narrow-block">{request.cause}</span> : null}</th>
                <td class="right">{duration(request.e2el_ns)}</td>
                <td class="right">{request.first_token_ns === undefined ? '' : duration(request.first_token_ns)}</td>
                <td class="narrow"><Tokens slow={request} longest={longest} /></td>
              </tr>
            ))}
          </tbody>
        </table></ScrollBox>
      )}
    </Section>
  );
}

export const llmSection: SectionEntry = {
  id: 'llm',
  title: 'Load',
  shows: ['llm'],
  has: (report) => levelsOf(report).length,
  view: LlmSection,
};

import { useEffect, useState } from 'preact/hooks';
import { DistributionChart } from '../sections/distribution_chart.tsx';
import { llmSection } from '../sections/llm.tsx';
import { plural } from '../format/quantity.ts';
import { findMetric, type Histogram, type Report } from '../model/report.ts';
import { asRefusal, post, type Refusal, type SessionList, useAnswer } from './api.ts';
import { hashOf, type Place } from './place.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kBins = 48;

// Time to first token, and time between two chunks of a response, of the measured complete requests.
const firstSql = (session: string) => `SELECT first_token_ns - scheduled_ns AS ns FROM llm_requests WHERE session_id = '${session}' AND phase = 'measure' AND outcome = 'ok' AND first_token_ns IS NOT NULL`;
const gapSql = (session: string) => `SELECT ns FROM (SELECT c.time_ns - lag(c.time_ns) OVER (PARTITION BY c.session_id, c.rank, c.request ORDER BY c.chunk) AS ns FROM llm_chunks c JOIN llm_requests r ON r.session_id = c.session_id AND r.rank = c.rank AND r.request = c.request WHERE c.session_id = '${session}' AND r.phase = 'measure' AND r.outcome = 'ok' AND c.kind IN ('content', 'reasoning', 'tool_call')) WHERE ns IS NOT NULL`;

// Bins of the inner 99 %: a single stall must not flatten the rest. The last bin has all beyond.
export function histogramOf(values: number[]): Histogram | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[0], last = sorted[sorted.length - 1];
  if (low === undefined || last === undefined) return undefined;
  const high = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? last;
  const width = (high - low) / kBins || 1;
  const count = Array<number>(kBins).fill(0);
  for (const value of sorted) count[Math.min(kBins - 1, Math.floor((value - low) / width))]! += 1;
  return { unit: 'ns', low: count.map((_, at) => low + at * width), high: count.map((_, at) => low + (at + 1) * width), count };
}

const quantileOf = (sorted: number[], share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

function Distribution({ title, sql }: { title: string; sql: string }) {
  const [values, setValues] = useState<number[] | Refusal | null>(null);
  useEffect(() => {
    let current = true;
    post<{ rows: { ns: number }[]; truncated: boolean }>('/api/v1/query', { sql, max_rows: 100_000 }).then(
      (answer) => { if (current) setValues(answer.rows.map((row) => row.ns).sort((a, b) => a - b)); },
      (problem: unknown) => { if (current) setValues(asRefusal(problem)); });
    return () => { current = false; };
  }, [sql]);
  if (values === null) return <p class="quiet">Loading…</p>;
  if (!Array.isArray(values)) return <p class="quiet">{title}: {values.message}</p>;
  if (values.length < 2) return null;
  const marks = [['P50', 0.5], ['P90', 0.9], ['P99', 0.99]] as const;
  return (
    <figure>
      <figcaption>{title} <span class="quiet">{plural(values.length, 'value')}; the last bar has all beyond the 99th percentile</span></figcaption>
      <DistributionChart histogram={histogramOf(values)} steps={[]} marks={marks.filter(([, share]) => values.length * (1 - share) >= 1).map(([label, share]) => ({ label, value: quantileOf(values, share) }))} curve={false} what="values" />
    </figure>
  );
}

function Shown({ session }: { session: string }) {
  const answer = useAnswer<Report>(`/api/v1/sessions/${encodeURIComponent(session)}/report`);
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  const report = answer.value;
  const View = llmSection.view;
  return (
    <>
      <p><a href={hashOf('session', {}, session)}>Whole report of <span class="mono">{session}</span></a></p>
      {llmSection.has(report) ? <View report={report} id="llm" title="Load" /> : null}
      <section class="section">
        <h2>Distributions</h2>
        <div class="llm-plots">
          <Distribution title="Time to first token" sql={firstSql(report.session.id)} />
          <Distribution title="Time between chunks" sql={gapSql(report.session.id)} />
        </div>
        {findMetric(report, 'llm.ttft_p50_ns') === undefined && <p class="quiet">This session has no complete request.</p>}
      </section>
    </>
  );
}

export function Llm({ place }: { place: Place }) {
  const answer = useAnswer<SessionList>('/api/v1/sessions?kind=llm&limit=200');
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  const sessions = answer.value.sessions;
  if (sessions.length === 0)
    return <Empty title="No language-model sessions"><p>Measure a server, or a model in process:</p><pre>aaco llm --url http://127.0.0.1:8000/v1 --concurrency 1,2,4,8</pre></Empty>;
  const chosen = place.query.get('session') || sessions[0]?.id || '';
  return (
    <>
      <div class="tools">
        <h1>LLM</h1>
        <label>Session <select value={chosen} onChange={(event) => { location.hash = hashOf('llm', { session: event.currentTarget.value }); }}>
          {sessions.map((one) => <option key={one.id} value={one.id}>{one.created.slice(0, 16).replace('T', ' ')} {one.what}{one.tag && ` (${one.tag})`}</option>)}
        </select></label>
      </div>
      <Shown key={chosen} session={chosen} />
    </>
  );
}

import { useEffect, useMemo, useState } from 'preact/hooks';
import { DistributionChart } from '../sections/distribution_chart.tsx';
import { decoderSection } from '../sections/decoder.tsx';
import { llmSection } from '../sections/llm.tsx';
import { plural } from '../format/quantity.ts';
import { type Histogram, type Report } from '../model/report.ts';
import { asRefusal, post, type Refusal, type SessionList, useAnswer } from './api.ts';
import { hashOf, type Place } from './place.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kBins = 48;

const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`;

// The load levels with a measured complete request, in the order they were measured.
const loadsSql = (session: string) => `SELECT load FROM llm_requests WHERE session_id = ${quoted(session)} AND phase = 'measure' AND outcome = 'ok' GROUP BY load ORDER BY min(scheduled_ns)`;
// Time to first token, and time between two chunks of a response, of the measured complete requests of one load level.
const firstSql = (session: string, load: string) => `SELECT first_token_ns - scheduled_ns AS ns FROM llm_requests WHERE session_id = ${quoted(session)} AND load = ${quoted(load)} AND phase = 'measure' AND outcome = 'ok' AND first_token_ns IS NOT NULL`;
const gapSql = (session: string, load: string) => `SELECT ns FROM (SELECT c.time_ns - lag(c.time_ns) OVER (PARTITION BY c.session_id, c.rank, c.request ORDER BY c.chunk) AS ns FROM llm_chunks c JOIN llm_requests r ON r.session_id = c.session_id AND r.rank = c.rank AND r.request = c.request WHERE c.session_id = ${quoted(session)} AND r.load = ${quoted(load)} AND r.phase = 'measure' AND r.outcome = 'ok' AND c.kind IN ('content', 'reasoning', 'tool_call')) WHERE ns IS NOT NULL`;

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

// Rows of a query; null while it runs.
function useRows<Row>(sql: string): Row[] | Refusal | null {
  const [rows, setRows] = useState<Row[] | Refusal | null>(null);
  useEffect(() => {
    let current = true;
    setRows(null);
    post<{ rows: Row[]; truncated: boolean }>('/api/v1/query', { sql, max_rows: 100_000 }).then(
      (answer) => { if (current) setRows(answer.rows); },
      (problem: unknown) => { if (current) setRows(asRefusal(problem)); });
    return () => { current = false; };
  }, [sql]);
  return rows;
}

function Distribution({ title, sql }: { title: string; sql: string }) {
  const rows = useRows<{ ns: number }>(sql);
  const values = useMemo(() => (Array.isArray(rows) ? rows.map((row) => row.ns).sort((a, b) => a - b) : rows), [rows]);
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

// The level whose metrics are the session's.
const mainLoad = (report: Report): string | undefined => report.extra?.llm?.counts ?? report.extra?.decoder?.levels?.[0]?.load;

// One load level at a time: laid into one, the levels of a ramp would look like one workload with several modes.
function Distributions({ session, main, place }: { session: string; main: string | undefined; place: Place }) {
  const rows = useRows<{ load: string }>(loadsSql(session));
  if (rows === null) return <Loading />;
  if (!Array.isArray(rows)) return <Refused refusal={rows} />;
  const loads = rows.map((row) => row.load);
  const asked = [place.query.get('load'), main].find((one) => one && loads.includes(one));
  const load = asked ?? loads[0];
  if (load === undefined) return <p class="quiet">This session has no complete request.</p>;
  return (
    <>
      {loads.length > 1
        ? <p><label>Load <select value={load} onChange={(event) => { location.hash = hashOf('llm', { session, load: event.currentTarget.value }); }}>{loads.map((one) => <option key={one} value={one}>{one}</option>)}</select></label></p>
        : <p class="quiet">{load}</p>}
      <div class="llm-plots">
        <Distribution title="Time to first token" sql={firstSql(session, load)} />
        <Distribution title="Time between chunks" sql={gapSql(session, load)} />
      </div>
    </>
  );
}

function Shown({ session, place }: { session: string; place: Place }) {
  const answer = useAnswer<Report>(`/api/v1/sessions/${encodeURIComponent(session)}/report`);
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  const report = answer.value;
  return (
    <>
      <p><a href={hashOf('session', {}, session)}>Whole report of <span class="mono">{session}</span></a></p>
      {llmSection.has(report) ? <llmSection.view report={report} id="llm" title="Load" /> : null}
      {decoderSection.has(report) ? <decoderSection.view report={report} id="decoder" title="Decoder" /> : null}
      <section class="section">
        <h2>Distributions</h2>
        <Distributions session={report.session.id} main={mainLoad(report)} place={place} />
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
    return <Empty title="No language-model sessions"><p>Measure a server, or a model in process:</p><pre>aaco llm --url http://127.0.0.1:8000/v1 --concurrency 1,2,4,8{'\n'}aaco llm --model gpt2</pre></Empty>;
  const chosen = place.query.get('session') || sessions[0]?.id || '';
  return (
    <>
      <div class="tools">
        <h1>LLM</h1>
        <label>Session <select value={chosen} onChange={(event) => { location.hash = hashOf('llm', { session: event.currentTarget.value }); }}>
          {sessions.map((one) => <option key={one.id} value={one.id}>{one.created.slice(0, 16).replace('T', ' ')} {one.what}{one.tag && ` (${one.tag})`}</option>)}
        </select></label>
      </div>
      <Shown key={chosen} session={chosen} place={place} />
    </>
  );
}

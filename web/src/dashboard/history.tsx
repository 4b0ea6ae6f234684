import { useState } from 'preact/hooks';
import { clamp, linear, padded, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { kNoBreak, plural, prose, scaleFor, text } from '../format/quantity.ts';
import { metricWords } from '../model/verdict.ts';
import { type History as Answer, type HistoryPoint, type HistorySeries, useAnswer } from './api.ts';
import { hashOf, type Place } from './place.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kHeight = 220;
const kEdge = 12;
const kAxis = 84; // px for the values
const kMetrics = ['p50', 'p90', 'p99', 'mean', 'throughput.items_per_second', 'memory.rss_peak_bytes', 'gpu.busy_ns'];

const kLeastSpan = 0.04; // of the values: smaller differences are not stretched to the whole height

const day = (time: string | undefined) => time?.slice(0, 10) ?? '';
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

// "2026-11-27 19:07 – 19:41", "2026-11-20 – 2026-11-27", or the labels of values without a time.
function extentOf(first: HistoryPoint | undefined, last: HistoryPoint | undefined): string {
  const hour = (time: string | undefined) => time?.slice(11, 16) ?? '';
  if (day(first?.time) && day(first?.time) === day(last?.time)) return `${day(first?.time)} ${hour(first?.time)} \u2013 ${hour(last?.time)} UTC`;
  return `${day(first?.time) || first?.label} \u2013 ${day(last?.time) || last?.label}`;
}

// All values, and never less than a small part of them.
export function shownOf(values: number[]): { low: number; high: number } {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const missing = Math.max(0, kLeastSpan * Math.max(Math.abs(low), Math.abs(high)) - (high - low));
  return padded({ low: low - missing / 2, high: high + missing / 2 });
}

// Values of an axis, with as many digits as tell them apart.
function tickTexts(at: number[], unit: string): string[] {
  const { factor, unit: shown } = scaleFor(Math.max(...at.map(Math.abs)), unit);
  const step = Math.abs((at[1] ?? 0) - (at[0] ?? 0)) / factor || 1;
  const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  return at.map((one) => `${(one / factor).toFixed(digits)}${kNoBreak}${shown}`.trimEnd());
}

// Between the complete sessions before and after it, in indices.
const placeOf = (point: HistoryPoint, points: HistoryPoint[]): number => points.filter((one) => (one.time ?? '') <= (point.time ?? '')).length - 0.5;

function Chart({ series }: { series: HistorySeries }) {
  const stopped = series.interrupted ?? [];
  const values = series.points.map((one) => one.value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const [box, width] = useWidth<HTMLElement>();
  const shown = shownOf(values);
  const x = linear({ low: stopped.length > 0 ? -0.5 : 0, high: Math.max(1, values.length - 1) + (stopped.length > 0 ? 0.5 : 0) }, kAxis + kEdge, width - kEdge);
  const y = linear(shown, kHeight - kEdge, kEdge);
  const marks = ticks(shown, 4);
  const texts = tickTexts(marks, series.unit);
  const first = series.points[0];
  const last = series.points[series.points.length - 1];
  return (
    <figure ref={box} class="history-plot">
      <svg width={width} height={kHeight} role="img" aria-label={`${series.name}: ${plural(values.length, 'value')}, ${text(low, series.unit)} to ${text(high, series.unit)}`}>
        {marks.map((at, index) => (
          <g key={at}>
            <line class="history-grid" x1={kAxis} x2={width} y1={y(at)} y2={y(at)} />
            <text class="history-tick" x={kAxis - 8} y={y(at) + 4} text-anchor="end">{texts[index]}</text>
          </g>
        ))}
        {series.trend?.changes.map((one) => <line key={one.index} class={one.alarm ? 'history-alarm' : 'history-change'} x1={x(one.index)} x2={x(one.index)} y1={0} y2={kHeight} />)}
        <polyline class="history-line" points={values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ')} />
        {series.points.map((one, index) => <circle key={index} class="history-point" cx={x(index)} cy={y(one.value)} r={values.length > 200 ? 1.5 : 3}><title>{`${one.label ?? ''} ${text(one.value, series.unit)}`}</title></circle>)}
        {stopped.map((one, index) => <circle key={index} class="history-stopped" cx={x(placeOf(one, series.points))} cy={y(clamp(one.value, shown.low, shown.high))} r={3.5}><title>{`${one.label ?? ''} ${text(one.value, series.unit)}, interrupted`}</title></circle>)}
      </svg>
      <figcaption class="quiet">{extentOf(first, last)}; {text(low, series.unit)} to {text(high, series.unit)}</figcaption>
    </figure>
  );
}

const kNamedStopped = 5;

// Sessions that were stopped early measured less than they were asked to: they are shown, and compared with none.
function Stopped({ points, unit, drawn }: { points: HistoryPoint[]; unit: string; drawn: boolean }) {
  return (
    <p class="quiet">
      {plural(points.length, 'interrupted session')}, not part of the trend{drawn && <> (<svg class="history-key" viewBox="0 0 10 10" aria-hidden="true"><circle class="history-stopped" cx="5" cy="5" r="3.5" /></svg> in the chart, at its edge where beyond)</>}:{' '}
      {points.slice(0, kNamedStopped).map((one, index) => (
        <span key={index}>{index > 0 && ', '}{one.label ? <a class="mono" href={hashOf('session', {}, one.label)}>{one.label}</a> : day(one.time)} {text(one.value, unit)}</span>
      ))}
      {points.length > kNamedStopped && ` and ${points.length - kNamedStopped} more`}
    </p>
  );
}

// `alike`: other series have the same words, but settings that cannot be compared with these.
function Series({ series, alike }: { series: HistorySeries; alike: boolean }) {
  const changes = series.trend?.changes ?? [];
  const alarms = series.trend?.alarms ?? [];
  return (
    <section class="section">
      <h2>{metricWords(series.name)}{series.of && <span class="quiet"> of {series.of}</span>}</h2>
      {alike && series.points[0]?.label && <p class="quiet">Settings of <a class="mono" href={hashOf('session', {}, series.points[0].label)}>{series.points[0].label}</a></p>}
      {series.points.length > 1 ? <Chart series={series} /> : series.points.map((one) => <p key={0}>{prose(text(one.value, series.unit))} <span class="quiet">{day(one.time) || one.label}</span></p>)}
      {series.reason && <p class="quiet">{series.trend ? 'Undecided' : 'No trend'}: {prose(series.reason)}</p>}
      {alarms.map((one) => <p key={one} class="alarm"><strong>!</strong> {prose(one)}</p>)}
      {series.trend && !series.reason && alarms.length === 0 && <p class="quiet">No alarms.</p>}
      {series.interrupted && <Stopped points={series.interrupted} unit={series.unit} drawn={series.points.length > 1} />}
      {changes.length > 0 && (
        <table>
          <caption class="unseen">Changes</caption>
          <thead><tr><th scope="col">Change at</th><th scope="col" class="right">Before</th><th scope="col" class="right">After</th><th scope="col">Meaning</th></tr></thead>
          <tbody>{changes.map((one) => (
            <tr key={one.index}>
              <td>{one.label ? <a class="mono" href={hashOf('session', {}, one.label)}>{one.label}</a> : `value ${one.index + 1}`} <span class="quiet">{day(one.time)}</span></td>
              <td class="right nowrap">{text(one.before, series.unit)}</td><td class="right nowrap">{text(one.after, series.unit)}</td><td>{one.meaning}{one.alarm && ' (alarm)'}</td>
            </tr>
          ))}</tbody>
        </table>
      )}
    </section>
  );
}

export function History({ place }: { place: Place }) {
  const metric = place.query.get('metric') || 'p50';
  const model = place.query.get('model') ?? '';
  const [asked, setAsked] = useState({ metric, model });
  const answer = useAnswer<Answer>(`/api/v1/history?${new URLSearchParams({ metric, ...(model && { where: `model=${model}` }) })}`);
  const submit = (event: Event) => {
    event.preventDefault();
    location.hash = hashOf('history', asked);
  };
  return (
    <>
      <form class="tools" onSubmit={submit}>
        <h1>History</h1>
        <label>Metric <input type="text" list="metrics" spellcheck={false} value={asked.metric} onInput={(event) => setAsked({ ...asked, metric: event.currentTarget.value.trim() })} /></label>
        <datalist id="metrics">{kMetrics.map((one) => <option key={one} value={one} />)}</datalist>
        <label>Model <input type="text" spellcheck={false} placeholder="any" value={asked.model} onInput={(event) => setAsked({ ...asked, model: event.currentTarget.value.trim() })} /></label>
        <button type="submit" class="plain" disabled={!asked.metric}>Show</button>
      </form>
      {answer.at === 'loading' ? <Loading /> : answer.at === 'failed'
        ? (answer.refusal.status === 404 ? <Empty title="No history"><p>{answer.refusal.message}</p><p>Measure the same workload several times:</p><pre>aaco run --model resnet50 --tag nightly</pre></Empty> : <Refused refusal={answer.refusal} />)
        : <><div class="history-columns">{answer.value.series.map((one, index, all) => <Series key={index} series={one} alike={all.filter((other) => other.of === one.of && other.name === one.name).length > 1} />)}</div>{answer.value.notes.map((one) => <p key={one} class="quiet">{capital(prose(one))}.</p>)}</>}
    </>
  );
}

import { useMemo, useState } from 'preact/hooks';
import { linePath, lowerBound } from '../charts/path.ts';
import { Surface, XAxis, YAxis, ZoomFrame } from '../charts/parts.tsx';
import { type Domain, extent, linear, padded, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { useZoom, type Zoom } from '../charts/use_zoom.ts';
import { Section } from '../components/section.tsx';
import { shorten } from '../format/name.ts';
import { duration, interval, plural, scaleFor, text, unitOf } from '../format/quantity.ts';
import { metricTip, metricTitle, type Phase, type Report, type Series } from '../model/report.ts';

const kHeight = 132;
const kNamed = 5; // lines with a label of their own; more are drawn alike
const kCharts = 8;

function mean(values: (number | null)[]): number | undefined {
  let sum = 0;
  let n = 0;
  for (const value of values) if (value !== null) { sum += value; n += 1; }
  return n > 0 ? sum / n : undefined;
}

const kGapSteps = 5; // a step longer than so many usual ones is a stretch without samples

// The series with a gap before each sample that comes after such a stretch.
function withGaps(series: Series): { time: number[]; value: (number | null)[] } {
  const steps = series.time_ns.slice(1).map((time, index) => time - (series.time_ns[index] ?? 0)).sort((a, b) => a - b);
  const usual = steps[steps.length >> 1] ?? 0;
  const time: number[] = [];
  const value: (number | null)[] = [];
  series.time_ns.forEach((at, index) => {
    if (index > 0 && usual > 0 && at - (series.time_ns[index - 1] ?? 0) > kGapSteps * usual) {
      time.push(at);
      value.push(null);
    }
    time.push(at);
    value.push(series.value[index] ?? null);
  });
  return { time, value };
}

// Families in the order in which a reader of an inference looks at them; others after them.
const kFamilies = ['gpu', 'cpu', 'process', 'memory', 'pressure', 'psi', 'cgroup'];

const familyOf = (metric: string): number => {
  const at = kFamilies.indexOf(metric.split('.')[0] ?? '');
  return at < 0 ? kFamilies.length : at;
};

// Metrics with a chart, and those that never changed: of the latter a line says all.
function sortOut(series: Series[]): { charts: Series[][]; unchanged: Series[] } {
  const groups = new Map<string, Series[]>();
  for (const one of series) {
    const list = groups.get(one.metric);
    if (list) list.push(one);
    else groups.set(one.metric, [one]);
  }
  const charts: Series[][] = [];
  const unchanged: Series[] = [];
  for (const list of groups.values()) {
    const changes = list.some((one) => { const range = extent(one.value); return range !== undefined && range.high > range.low; });
    if (changes) charts.push(list);
    else unchanged.push(...list.filter((one) => extent(one.value) !== undefined));
  }
  const order = (a: string, b: string): number => familyOf(a) - familyOf(b);
  return { charts: charts.sort((a, b) => order(a[0]?.metric ?? '', b[0]?.metric ?? '')), unchanged: unchanged.sort((a, b) => order(a.metric, b.metric)) };
}

interface ChartProps {
  title: string; // of the metric, in words
  tip: string; // what it means
  list: Series[];
  phases: Phase[];
  zoom: Zoom;
  hover: number | null;
  onHover: (time: number | null) => void;
}

const valueAt = (series: Series, time: number): number | null | undefined => {
  const at = lowerBound(series.time_ns, time);
  const near = at > 0 && time - (series.time_ns[at - 1] ?? 0) < (series.time_ns[at] ?? Infinity) - time ? at - 1 : at;
  return series.value[near];
};

function SmallChart({ title, tip, list, phases, zoom, hover, onHover }: ChartProps) {
  const [ref, width] = useWidth<HTMLDivElement>(420);
  const unit = list[0]?.unit ?? '';
  const range = useMemo(() => {
    const found = extent(list.flatMap((one) => one.value)) ?? { low: 0, high: 1 };
    const bounded: Domain = unit === 'ratio' && found.low >= 0 && found.high <= 1.0001 && found.high > 0.5 ? { low: 0, high: 1 } : padded(found, 0.1);
    return bounded.low < 0 && found.low >= 0 ? { low: 0, high: bounded.high } : bounded;
  }, [list]);
  const box = { left: 68, right: width - 4, top: 6, bottom: kHeight - 22 };
  const x = linear(zoom.domain, box.left, box.right);
  const y = linear(range, box.bottom, box.top);
  const scale = scaleFor(Math.max(Math.abs(range.low), Math.abs(range.high)), unit);
  const time = scaleFor(zoom.domain.high, 'ns');
  const drawn = useMemo(() => list.map(withGaps), [list]);
  const paths = useMemo(() => drawn.map((one) => linePath(one.time, one.value, x, y)), [drawn, width, zoom.domain.low, zoom.domain.high, range]);
  const named = list.length <= kNamed;
  const read = (one: Series): string => {
    const value = hover === null ? mean(one.value) : valueAt(one, hover);
    return value === null || value === undefined ? 'not measured' : text(value, unitOf(one.metric, unit));
  };
  const all = extent(list.flatMap((one) => one.value));
  return (
    <figure class="small-chart">
      <figcaption>
        <span class="metric-name" title={tip}>{title}</span>
        <span class="readout">
          {named
            ? list.map((one, index) => <span key={index} class="reading"><svg width="16" height="8" aria-hidden="true"><line x1="0" x2="16" y1="4" y2="4" class={`line l${index}`} /></svg>{one.entity ? `${shorten(one.entity, 18)} ` : ''}<b>{read(one)}</b></span>)
            : <span class="reading">{plural(list.length, 'series', 'series')}, {all ? interval(all.low, all.high, unit) : 'no values'}</span>}
        </span>
      </figcaption>
      <div ref={ref} class="chart">
        <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`${title}: ${list.slice(0, kNamed).map((one) => `${one.entity ?? ''} mean ${read(one)}`).join(', ')}`}>
          {phases.map((phase, index) => {
            const [a, b] = [Math.max(box.left, x(phase.start_ns)), Math.min(box.right, x(phase.end_ns))];
            return b > a && <rect key={index} x={a} width={b - a} y={box.top} height={box.bottom - box.top} class={`band ${phase.name === 'measure' ? 'tinted' : 'plain'}`} data-tip={phase.name} />;
          })}
          <YAxis scale={y} ticks={ticks({ low: range.low / scale.factor, high: range.high / scale.factor }, 3).map((tick) => tick * scale.factor)} format={(value) => `${Number((value / scale.factor).toPrecision(4))} ${scale.unit}`} box={box} />
          <XAxis scale={x} ticks={ticks({ low: zoom.domain.low / time.factor, high: zoom.domain.high / time.factor }, Math.max(2, width / 110)).map((tick) => tick * time.factor)} format={(value) => `${Number((value / time.factor).toPrecision(6))} ${time.unit}`} y={box.bottom} />
          {paths.map((path, index) => <path key={index} d={path} class={`line ${named ? `l${index}` : 'lx'}`} />)}
          {hover !== null && hover >= zoom.domain.low && hover <= zoom.domain.high && <line x1={x(hover)} x2={x(hover)} y1={box.top} y2={box.bottom} class="crosshair" />}
          <Surface box={box} x={x} zoom={zoom} onHover={(px) => onHover(x.invert(px))} onLeave={() => onHover(null)} />
        </svg>
      </div>
    </figure>
  );
}

// What the machine did meanwhile: one small chart a metric, all on the same time axis, read together.
export function TelemetrySection({ report, id, title }: { report: Report; id: string; title: string }) {
  const series = report.telemetry ?? [];
  const { charts: groups, unchanged } = useMemo(() => sortOut(series), [series]);
  const full = useMemo(() => {
    const range = extent(series.flatMap((one) => [one.time_ns[0] ?? null, one.time_ns[one.time_ns.length - 1] ?? null]));
    return range && range.high > range.low ? range : { low: range?.low ?? 0, high: (range?.low ?? 0) + 1 };
  }, [series]);
  const zoom = useZoom(full, (full.high - full.low) / 500);
  const [hover, setHover] = useState<number | null>(null);
  const [shown, setShown] = useState(kCharts);
  const base = Math.min(...report.session.phases.map((phase) => phase.start_ns));
  const phases = report.session.phases.map((phase) => ({ ...phase, start_ns: phase.start_ns - base, end_ns: phase.end_ns - base }));
  return (
    <Section id={id} title={title} lead={<>All charts share one time axis; the measured phase is tinted. The figure next to each name is the mean<span class="screen-only">, or the value under the pointer</span>.</>}>
      {groups.length > 0 && <ZoomFrame zoom={zoom} label="Telemetry" note={hover === null ? `${duration(zoom.domain.high - zoom.domain.low)} shown` : `at ${duration(hover)}`}>
        <div class="small-charts">
          {groups.slice(0, shown).map((list) => <SmallChart key={list[0]?.metric} title={metricTitle(report, list[0]?.metric ?? '')} tip={metricTip(report, list[0]?.metric ?? '')} list={list} phases={phases} zoom={zoom} hover={hover} onHover={setHover} />)}
        </div>
      </ZoomFrame>}
      {groups.length > shown && <button type="button" class="more" onClick={() => setShown(groups.length)}>Show {groups.length - shown} more metrics</button>}
      {unchanged.length > 0 && (
        <div class="unchanged">
          <h3>Unchanged throughout</h3>
          <ul>{unchanged.map((one, index) => <li key={index}><span title={metricTip(report, one.metric)}>{metricTitle(report, one.metric)}{one.entity && one.entity !== one.metric.split('.')[0] ? ` ${shorten(one.entity, 20)}` : ''}</span> <b>{text(mean(one.value) ?? 0, unitOf(one.metric, one.unit))}</b></li>)}</ul>
        </div>
      )}
    </Section>
  );
}

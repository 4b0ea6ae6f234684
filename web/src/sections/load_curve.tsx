import { useState } from 'preact/hooks';
import { XAxis, YAxis } from '../charts/parts.tsx';
import { extent, linear, logarithmic, logTicks, padded, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { hideTip, showTip } from '../components/tip.tsx';
import { duration, fourDigits, group, scaleFor } from '../format/quantity.ts';

const kHeight = 280;
const kLogFrom = 12; // ratio of the largest to the smallest latency from which the scale is logarithmic
const kLabelRoom = 26; // pixels between two names of levels

interface Measured {
  value: number;
  ci95?: number[];
}

export interface CurveLevel {
  load: string;
  metrics: Record<string, Measured | undefined>;
  client_limit?: string[];
  client_verdict?: string;
}

interface Point {
  level: CurveLevel;
  rate: number;
  p50: Measured;
  p99: number | undefined;
}

const pointsOf = (levels: CurveLevel[]): Point[] => levels.flatMap((level) => {
  const rate = level.metrics?.['llm.requests_per_second']?.value;
  const p50 = level.metrics?.['llm.ttft_p50_ns'];
  return rate === undefined || p50 === undefined || p50.value <= 0 ? [] : [{ level, rate, p50, p99: level.metrics?.['llm.ttft_p99_ns']?.value }];
});

// "concurrency 8" on the axis of a chart is "8".
const shortName = (load: string): string => load.replace(/^(concurrency|rate) /, '');

// Latency over throughput, level after level: the median time to the first token with its interval, the P99 above it, and the knee.
export function LoadCurve({ levels, knee, counts }: { levels: CurveLevel[]; knee: string | undefined; counts: string | undefined }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hover, setHover] = useState<number | null>(null);
  const points = pointsOf(levels);
  if (points.length < 2) return null;
  const rates = extent(points.map((one) => one.rate)) ?? { low: 0, high: 1 };
  const latencies = extent(points.flatMap((one) => [one.p50.value, one.p99 ?? null, ...(one.p50.ci95 ?? [])])) ?? { low: 1, high: 2 };
  const log = latencies.low > 0 && latencies.high / latencies.low >= kLogFrom;
  const box = { left: 68, right: width - 16, top: 26, bottom: kHeight - 46 };
  const x = linear(padded({ low: Math.max(0, rates.low), high: rates.high }, 0.08), box.left, box.right);
  const range = log ? { low: latencies.low / 1.5, high: latencies.high * 1.5 } : padded({ low: 0, high: latencies.high });
  const y = (log ? logarithmic : linear)(log ? range : { low: 0, high: range.high }, box.bottom, box.top);
  const unit = scaleFor(latencies.high, 'ns');
  const yTicks = log ? logTicks(range) : ticks({ low: 0, high: range.high / unit.factor }, 5).map((one) => one * unit.factor);
  const path = (value: (one: Point) => number | undefined): string => {
    let text = '';
    for (const one of points) {
      const at = value(one);
      if (at !== undefined) text += `${text === '' ? 'M' : 'L'}${x(one.rate).toFixed(1)} ${y(at).toFixed(1)}`;
    }
    return text;
  };
  const kneeAt = points.find((one) => one.level.load === knee);
  const hasP99 = points.some((one) => one.p99 !== undefined);
  const limited = points.some((one) => one.level.client_limit?.length);
  // Names that would overlap are left out; the tip has them.
  const named: Point[] = [];
  for (const one of points)
    if (named.every((other) => Math.hypot(x(one.rate) - x(other.rate), y(one.p50.value) - y(other.p50.value)) > kLabelRoom)) named.push(one);
  const tip = (one: Point, event: PointerEvent) => showTip(event.clientX, event.clientY,
    `${one.level.load}\n${fourDigits(one.rate)} requests/s\nTTFT P50 ${duration(one.p50.value)}${one.p99 === undefined ? '' : `, P99 ${duration(one.p99)}`}${one.level.client_limit?.length ? `\n${one.level.client_verdict}` : ''}`);
  return (
    <figure class="load-curve">
      <figcaption>Time to first token over throughput{log ? <span class="quiet">logarithmic scale</span> : null}</figcaption>
      <div ref={ref} class="chart">
        <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`Median time to first token from ${duration(points[0]?.p50.value ?? 0)} at ${points[0]?.level.load} to ${duration(points[points.length - 1]?.p50.value ?? 0)} at ${points[points.length - 1]?.level.load}${knee ? `; knee at ${knee}` : ''}.`}>
          <YAxis scale={y} ticks={yTicks} format={(value) => duration(value)} box={box} />
          <XAxis scale={x} ticks={ticks(x.domain, Math.max(2, width / 120)).filter((one) => one >= 0)} format={(value) => group(String(Number(value.toPrecision(4))))} y={box.bottom} title="requests/s" />
          {kneeAt && (
            <g>
              <line x1={x(kneeAt.rate)} x2={x(kneeAt.rate)} y1={box.top} y2={box.bottom} class="median" />
              <text x={x(kneeAt.rate)} y={box.top - 8} text-anchor={x(kneeAt.rate) > box.right - 60 ? 'end' : 'middle'} class="median-label">knee</text>
            </g>
          )}
          {hasP99 && <path d={path((one) => one.p99)} class="series second" />}
          <path d={path((one) => one.p50.value)} class="series" />
          {points.map((one, index) => (
            <g key={one.level.load}>
              {one.p50.ci95?.length === 2 && <line x1={x(one.rate)} x2={x(one.rate)} y1={y(Math.max(range.low || 1, one.p50.ci95[0] ?? 0))} y2={y(one.p50.ci95[1] ?? 0)} class="curve-ci" />}
              {one.p99 !== undefined && <circle cx={x(one.rate)} cy={y(one.p99)} r={2.5} class="curve-p99" />}
              <circle cx={x(one.rate)} cy={y(one.p50.value)} r={one.level.load === counts ? 6 : 4} class={one.level.client_limit?.length ? 'curve-point limited' : 'curve-point'} />
              {named.includes(one) && hover !== index && <text x={x(one.rate)} y={y(one.p50.value) - 11} text-anchor={x(one.rate) > box.right - 30 ? 'end' : 'middle'} class="curve-name">{shortName(one.level.load)}</text>}
              <circle cx={x(one.rate)} cy={y(one.p50.value)} r={14} class="surface" onPointerMove={(event) => { setHover(index); tip(one, event); }} onPointerLeave={() => { setHover(null); hideTip(); }} />
            </g>
          ))}
        </svg>
      </div>
      <ul class="key">
        <li><span class="line-swatch p50" />median with its 95&nbsp;% CI</li>
        {hasP99 && <li><span class="line-swatch" />P99</li>}
        {limited && <li><span class="point-swatch limited" />the client may have moved results</li>}
      </ul>
    </figure>
  );
}

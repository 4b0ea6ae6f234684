import { linear, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { percent, quantity, signedPercent, unitOf } from '../format/quantity.ts';
import { metricName, type MetricVerdict } from '../model/verdict.ts';

const kRow = 34;
const kTop = 8;
const kAxis = 26;
const kNameWidth = 206;
const kNumberWidth = 210;
const kNarrow = 640; // below, the numbers are left to the table, and names are above their rows
const kTick = 58;    // pixels from one label of the axis to the next, at least

const kWords: Record<string, string> = { regression: 'worse', improvement: 'better', equivalent: 'equivalent', inconclusive: 'inconclusive' };

export const valueText = (metric: MetricVerdict, value: number): string => {
  const { number, unit } = quantity(value, unitOf(metric.metric, metric.unit));
  return unit ? `${number}\u00a0${unit}` : number;
};

// What reaches farther is cut at the edge: times the extent of the metric that decides, or an increase that says no more than "unknown".
const kWidest = 4;
const kMost = 2;

// Ends of the drawing: all values, the band of the threshold, and the interval of the first metric, which decides. Nothing falls by
// more than 100 %.
export function reachOf(metrics: MetricVerdict[]): { low: number; high: number } {
  const size = (one: MetricVerdict | undefined) => Math.max(Math.abs(one?.delta_ratio ?? 0), ...(one?.interval ?? []).map(Math.abs));
  const points = Math.max(...metrics.map((one) => Math.abs(one.delta_ratio ?? 0)));
  const high = Math.max(points * 1.15, Math.min(Math.max(...metrics.map(size)), kWidest * size(metrics[0]), kMost), 1.5 * (metrics[0]?.threshold_ratio ?? 0.05), 0.01) * 1.05;
  return { low: -Math.min(high, 1), high };
}

// Every metric's change with its interval on one axis; the band is the threshold below which a change counts as equivalent.
export function Forest({ metrics, level }: { metrics: MetricVerdict[]; level: number }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const drawn = metrics.filter((one) => one.delta_ratio !== undefined);
  if (drawn.length === 0) return null;
  const wide = width >= kNarrow;
  const row = wide ? kRow : kRow + 12;
  const from = wide ? kNameWidth : kTick / 2, to = Math.max(from + 80, width - (wide ? kNumberWidth : kTick / 2));
  const reach = reachOf(drawn);
  const x = linear(reach, from, to);
  const bottom = kTop + drawn.length * row;
  const threshold = Math.min(-reach.low, reach.high, drawn[0]?.threshold_ratio ?? 0);
  return (
    <figure ref={box} class="forest-plot">
      <svg width={width} height={bottom + kAxis} role="img" aria-label={`Change of ${drawn.length} metrics from A to B with intervals; the table below has the numbers`}>
        <rect class="forest-band" x={x(-threshold)} y={kTop} width={x(threshold) - x(-threshold)} height={bottom - kTop} />
        {ticks(reach, Math.max(2, Math.floor((to - from) / (1.5 * kTick)))).map((at) => (
          <g key={at}>
            <line class={at === 0 ? 'forest-zero' : 'forest-line'} x1={x(at)} x2={x(at)} y1={kTop} y2={bottom} />
            <text class="forest-tick" x={x(at)} y={bottom + 17} text-anchor="middle">{at === 0 ? '0' : signedPercent(at)}</text>
          </g>
        ))}
        {drawn.map((one, index) => {
          const y = kTop + index * row + (wide ? row / 2 : row - 14);
          const ends = one.interval?.map((end) => Math.max(from, Math.min(to, x(end))));
          return (
            <g key={`${one.metric}${one.device}`} class={`forest-row is-${one.verdict}`}>
              <text class="forest-name" x={0} y={wide ? y + 4 : y - 14}>{metricName(one)}</text>
              {ends && <line class="forest-interval" x1={ends[0]} x2={ends[1]} y1={y} y2={y} />}
              {ends && one.interval?.map((end, at) => (end >= reach.low && end <= reach.high ? <line key={at} class="forest-end" x1={ends[at]} x2={ends[at]} y1={y - 5} y2={y + 5} /> : <path key={at} class="forest-beyond" d={`M${ends[at]} ${y}l${at ? -7 : 7} -5v10z`} />))}
              <circle class="forest-point" cx={x(one.delta_ratio as number)} cy={y} r={5} />
              {wide && <text class="forest-value" x={width} y={y + 4} text-anchor="end">{signedPercent(one.delta_ratio as number)}<tspan class="forest-word"> {kWords[one.verdict] ?? one.verdict}</tspan></text>}
            </g>
          );
        })}
      </svg>
      <figcaption>Change from A to B with its {percent(level)} interval. Shaded: changes below the threshold of {percent(drawn[0]?.threshold_ratio ?? 0)} count as equivalent.</figcaption>
    </figure>
  );
}

import { slotColour } from '../charts/palette.ts';
import { XAxis, YAxis } from '../charts/parts.tsx';
import { extent, linear, logarithmic, logTicks, padded, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { hideTip, showTip } from '../components/tip.tsx';
import { duration, scaleFor, text } from '../format/quantity.ts';
import type { Curve, CurvePoint } from './paper.ts';

const kHeight = 320;
const kLogFrom = 12; // ratio of the largest to the smallest latency from which the scale is logarithmic
const kDashes = ['', '7 4', '2 4', '10 3 2 3', '1 3', '12 5'];

const tipOf = (curve: Curve, point: CurvePoint, knee: boolean) =>
  [`${point.label}${curve.name && `, ${curve.name}`}`, `median ${duration(point.latency_ns)}${point.tail_ns === undefined ? '' : `, P90 ${duration(point.tail_ns)}`}`, `${text(point.items_per_second, 'count')} items/s`, knee ? 'knee: highest throughput per latency' : ''].filter(Boolean).join('\n');

// Latency over throughput: a line per curve, its points named, its knee marked.
export function CurveChart({ curves }: { curves: Curve[] }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const drawn = curves.filter((one) => one.points.length > 0);
  const all = drawn.flatMap((one) => one.points);
  const rates = extent(all.map((one) => one.items_per_second));
  const latencies = extent(all.flatMap((one) => [one.latency_ns, ...(one.ci95 ?? [])]));
  if (!rates || !latencies || all.length < 2) return null;
  const box = { left: 72, right: width - 16, top: 22, bottom: kHeight - 46 };
  const x = linear(padded({ low: 0, high: rates.high }, 0.05), box.left, box.right);
  const log = latencies.low > 0 && latencies.high / latencies.low >= kLogFrom;
  const range = log ? { low: latencies.low / 1.5, high: latencies.high * 1.5 } : { low: 0, high: latencies.high * 1.08 };
  const y = (log ? logarithmic : linear)(range, box.bottom, box.top);
  const unit = scaleFor(latencies.high, 'ns');
  const path = (points: CurvePoint[]) => points.map((one, index) => `${index === 0 ? 'M' : 'L'}${x(one.items_per_second).toFixed(1)} ${y(one.latency_ns).toFixed(1)}`).join('');
  return (
    <figure class="load-curve">
      <figcaption>Latency over throughput{log && <span class="quiet">logarithmic scale</span>}</figcaption>
      <div ref={ref} class="chart">
        <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`Median latency over throughput of ${drawn.length === 1 ? '1 curve' : `${drawn.length} curves`}; the table below lists the points.`}>
          <YAxis scale={y} ticks={log ? logTicks(range) : ticks({ low: 0, high: range.high / unit.factor }, 5).map((one) => one * unit.factor)} format={(value) => duration(value)} box={box} />
          <XAxis scale={x} ticks={ticks({ low: 0, high: rates.high }, Math.max(2, width / 130))} format={(value) => text(value, 'count')} y={box.bottom} title="items/s" />
          {drawn.map((curve, index) => (
            <g key={index} style={{ color: slotColour(index) }}>
              <path d={path(curve.points)} class="sweep-line" stroke-dasharray={kDashes[index % kDashes.length]} />
              {curve.points.map((point, at) => {
                const [px, py] = [x(point.items_per_second), y(point.latency_ns)];
                const knee = curve.knee === at;
                return (
                  <g key={at}>
                    {point.ci95 && <line x1={px} x2={px} y1={y(point.ci95[0])} y2={y(point.ci95[1])} class="curve-ci" />}
                    {knee && <circle cx={px} cy={py} r={9} class="sweep-knee" />}
                    <circle cx={px} cy={py} r={4} class="sweep-point" />
                    <text x={px} y={py - 13} text-anchor={px > box.right - 50 ? 'end' : px < box.left + 40 ? 'start' : 'middle'} class="curve-name">{knee ? `knee: ${point.label}` : point.label.replace('batch ', '')}</text>
                    <circle cx={px} cy={py} r={14} class="surface" onPointerMove={(event) => showTip(event.clientX, event.clientY, tipOf(curve, point, knee))} onPointerLeave={hideTip} />
                  </g>
                );
              })}
            </g>
          ))}
        </svg>
      </div>
      {drawn.length > 1 && <ul class="key">{drawn.map((curve, index) => <li key={index}><svg width="30" height="8" viewBox="0 0 30 8" aria-hidden="true" style={{ color: slotColour(index) }}><path d="M0 4H30" class="sweep-line" stroke-dasharray={kDashes[index % kDashes.length]} /></svg> {curve.name}</li>)}</ul>}
    </figure>
  );
}

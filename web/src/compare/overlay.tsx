import { XAxis, YAxis } from '../charts/parts.tsx';
import { linear, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { count, duration, percent, plural, scaleFor } from '../format/quantity.ts';
import type { Distributions } from '../model/verdict.ts';

const kHeight = 240;
const kTop = 40; // of the marks of both medians

// Both sides over the same bins, each as shares of its own iterations: A as an area, B as an outline.
export function Overlay({ of }: { of: Distributions }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const bins = of.baseline.count.length;
  const shares = [of.baseline, of.candidate].map((side) => side.count.map((one) => (side.total > 0 ? one / side.total : 0)));
  const most = Math.max(1e-9, ...shares.flat());
  const box = { left: 62, right: Math.max(140, width - 4), top: kTop, bottom: kHeight - 30 };
  const x = linear({ low: of.low_ns, high: of.high_ns }, box.left, box.right);
  const y = linear({ low: 0, high: most * 1.05 }, box.bottom, box.top);
  const scale = scaleFor(of.high_ns, 'ns');
  const step = (of.high_ns - of.low_ns) / bins;
  const outline = (side: number[]) => side.map((share, bin) => `${bin === 0 ? `M${x(of.low_ns)} ${box.bottom}` : ''}V${y(share)}H${x(of.low_ns + (bin + 1) * step)}`).join('') + `V${box.bottom}`;
  const sides = [{ name: 'A', side: of.baseline }, { name: 'B', side: of.candidate }];
  const words = sides.map(({ name, side }) => `${name}: ${plural(side.total, of.scope)}, P50 ${duration(side.p50_ns)}, P90 ${duration(side.p90_ns)}, P99 ${duration(side.p99_ns)}`);
  return (
    <figure class="overlay" ref={ref}>
      <svg width={width} height={kHeight} role="img" aria-label={`Distributions of both sides. ${words.join('. ')}`}>
        <YAxis scale={y} ticks={ticks({ low: 0, high: most }, 4)} format={(value) => percent(value)} box={box} />
        <XAxis scale={x} ticks={ticks({ low: of.low_ns / scale.factor, high: of.high_ns / scale.factor }, Math.max(2, width / 120)).map((tick) => tick * scale.factor)} format={(value) => `${Number((value / scale.factor).toPrecision(6))} ${scale.unit}`} y={box.bottom} />
        <path class="overlay-a" d={outline(shares[0] ?? [])} />
        <path class="overlay-b" d={outline(shares[1] ?? [])} />
        {Array.from({ length: bins }, (_, bin) => {
          const from = of.low_ns + bin * step;
          const tip = `${duration(from)} to ${bin === bins - 1 ? 'the slowest' : duration(from + step)}\nA ${count(of.baseline.count[bin] ?? 0)}, ${percent(shares[0]?.[bin] ?? 0)}\nB ${count(of.candidate.count[bin] ?? 0)}, ${percent(shares[1]?.[bin] ?? 0)}`;
          return <rect key={bin} class="overlay-hit" x={x(from)} width={Math.max(0.5, x(from + step) - x(from))} y={box.top} height={box.bottom - box.top} data-tip={tip} />;
        })}
        {sides.map(({ name, side }, index) => {
          const at = Math.max(box.left, Math.min(box.right, x(side.p50_ns)));
          const left = at > (box.left + box.right) / 2;
          return (
            <g key={name}>
              <line class={index === 0 ? 'overlay-median-a' : 'overlay-median-b'} x1={at} x2={at} y1={index * 17 + 4} y2={box.bottom} />
              <text class="forest-tick" x={left ? at - 6 : at + 6} y={index * 17 + 14} text-anchor={left ? 'end' : 'start'}>median {name} {duration(side.p50_ns)}</text>
            </g>
          );
        })}
      </svg>
      <figcaption><span class="overlay-key overlay-key-a" /> A (area), {words[0]?.slice(3)}; <span class="overlay-key overlay-key-b" /> B (outline), {words[1]?.slice(3)}. Shares of each side's {of.scope}s; the last bar has all beyond {duration(of.high_ns)}.</figcaption>
    </figure>
  );
}

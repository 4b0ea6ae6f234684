import { useWidth } from '../charts/use_width.ts';
import { linear } from '../charts/scale.ts';
import { duration, percent } from '../format/quantity.ts';
import type { Part } from '../model/verdict.ts';

const kRow = 26;
const kBar = 14;

export const signedDuration = (ns: number): string => (ns < 0 ? '\u2212' : '+') + duration(Math.abs(ns));

interface Bar {
  title: string;
  ns: number;
  tip: string;
  whole?: boolean;
}

// The parts of a difference one after the other, each beginning where the one above ends: they add up to the last bar.
export function Waterfall({ parts, unexplainedNs, deltaNs }: { parts: Part[]; unexplainedNs: number; deltaNs: number }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const bars: Bar[] = parts.filter((one) => one.delta_ns !== 0).map((one) => ({ title: one.title, ns: one.delta_ns, tip: `${percent(one.share_ratio)} of the difference${one.evidence ? `\n${one.evidence}` : ''}` }));
  if (unexplainedNs !== 0) bars.push({ title: 'unexplained', ns: unexplainedNs, tip: 'what no part accounts for' });
  bars.push({ title: 'difference', ns: deltaNs, tip: 'B \u2212 A', whole: true });
  let at = 0;
  const placed = bars.map((one) => {
    const start = one.whole ? 0 : at;
    if (!one.whole) at += one.ns;
    return { ...one, start, end: start + one.ns };
  });
  const ends = placed.flatMap((one) => [one.start, one.end]);
  const name = Math.min(280, width * 0.4), numbers = 92;
  const x = linear({ low: Math.min(0, ...ends), high: Math.max(0, ...ends) }, name, Math.max(name + 60, width - numbers));
  return (
    <figure ref={box} class="waterfall">
      <svg width={width} height={bars.length * kRow} role="img" aria-label={`The difference of ${signedDuration(deltaNs)} in ${bars.length - 1} parts`}>
        {placed.map((one, index) => {
          const y = index * kRow, [left, right] = [x(Math.min(one.start, one.end)), x(Math.max(one.start, one.end))];
          return (
            <g key={index} data-tip={`${one.title}: ${signedDuration(one.ns)}\n${one.tip}`} tabIndex={0}>
              <rect class="waterfall-hit" x={0} y={y} width={width} height={kRow} />
              <foreignObject x={0} y={y} width={name - 12} height={kRow}><span class={`waterfall-name ${one.whole ? 'strong' : ''}`}>{one.title}</span></foreignObject>
              <rect class={one.whole ? 'waterfall-whole' : one.ns > 0 ? 'waterfall-more' : 'waterfall-less'} x={left} y={y + (kRow - kBar) / 2} width={Math.max(1.5, right - left)} height={kBar} />
              <text class="forest-value" x={width} y={y + kRow / 2 + 4} text-anchor="end">{signedDuration(one.ns)}</text>
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

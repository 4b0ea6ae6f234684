import { XAxis, YAxis } from '../charts/parts.tsx';
import { extent, linear, padded, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { count, duration, interval, percent, scaleFor } from '../format/quantity.ts';
import type { Step } from '../model/iterations.ts';
import type { Histogram } from '../model/report.ts';

export interface Mark {
  label: string;
  value: number;
  ci95?: [number, number];
}

const kHeight = 280;
const kMarkRow = 15;

interface Props {
  histogram: Histogram | undefined;
  steps: Step[];
  marks: Mark[];
  curve: boolean; // cumulative instead of a histogram
  what?: string; // is counted
}

const kLabel = 108; // pixels of a mark's name and value

export function DistributionChart({ histogram, steps, marks, curve, what = 'iterations' }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const values = histogram ? [...histogram.low, ...histogram.high] : steps.map((step) => step.value);
  const range = extent([...values, ...marks.flatMap((mark) => [mark.value, ...(mark.ci95 ?? [])])]);
  if (!range) return null;
  const sorted = [...marks].sort((a, b) => a.value - b.value);
  const top = 12 + sorted.length * kMarkRow;
  const box = { left: 62, right: width - 4, top, bottom: kHeight - 30 };
  const x = linear(padded(range, 0.02), box.left, box.right);
  const most = Math.max(1, ...(histogram?.count ?? []));
  const y = linear({ low: 0, high: curve ? 1 : most * 1.04 }, box.bottom, box.top);
  const scale = scaleFor(range.high, 'ns');
  const total = (histogram?.count ?? []).reduce((sum, one) => sum + one, 0);
  const thin = Math.max(1, Math.floor(steps.length / 2000));
  const path = steps.filter((_, index) => index % thin === 0 || index === steps.length - 1).map((step, index) => (index === 0 ? `M${x(step.value)} ${y(step.share)}` : `H${x(step.value)}V${y(step.share)}`)).join('');
  const label = curve ? 'Cumulative distribution of the latency' : `Histogram of ${count(total)} measured ${what}`;
  return (
    <div ref={ref} class="chart">
      <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`${label}. ${marks.map((mark) => `${mark.label} ${duration(mark.value)}`).join(', ')}.`}>
        <YAxis scale={y} ticks={curve ? [0, 0.25, 0.5, 0.75, 1] : ticks({ low: 0, high: most }, 4).filter(Number.isInteger)} format={(value) => (curve ? percent(value) : count(value))} box={box} />
        <XAxis scale={x} ticks={ticks({ low: range.low / scale.factor, high: range.high / scale.factor }, Math.max(2, width / 120)).map((tick) => tick * scale.factor)} format={(value) => `${Number((value / scale.factor).toPrecision(6))} ${scale.unit}`} y={box.bottom} />
        {!curve && histogram?.count.map((one, index) => {
          if (one === 0) return null;
          const [a, b] = [x(histogram.low[index] as number), x(histogram.high[index] as number)];
          const wide = Math.max(1.5, b - a - 1);
          return <rect key={index} x={a + 0.5} width={wide} y={Math.min(y(one), box.bottom - 1)} height={Math.max(1, box.bottom - y(one))} class="hist" data-tip={`${interval(histogram.low[index] as number, histogram.high[index] as number, 'ns')}\n${count(one)} ${what}, ${percent(one / total)}`} />;
        })}
        {curve && <path d={path} class="series main" />}
        {sorted.map((mark, index) => {
          const y0 = 4 + index * kMarkRow;
          const [from, to] = (mark.ci95 ?? [mark.value, mark.value]).map(x) as [number, number];
          const left = to + 6 + kLabel > width;
          return (
            <g key={mark.label} class="quantile-mark">
              <line x1={x(mark.value)} x2={x(mark.value)} y1={y0} y2={box.bottom} />
              {mark.ci95 && <rect x={from} width={Math.max(2, to - from)} y={y0 + 4} height={6} rx={1} class="mark-band" />}
              <path d={`M${x(mark.value)} ${y0}v14`} class="mark-value" />
              <text x={left ? from - 6 : to + 6} y={y0 + 11} text-anchor={left ? 'end' : 'start'}><tspan class="mark-name">{mark.label}</tspan> {duration(mark.value)}</text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

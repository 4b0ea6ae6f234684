import { useMemo, useState } from 'preact/hooks';
import { linePath, lowerBound } from '../charts/path.ts';
import { Surface, XAxis, YAxis, ZoomFrame } from '../charts/parts.tsx';
import { type Domain, extent, linear, padded, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { useZoom } from '../charts/use_zoom.ts';
import { hideTip, showTip } from '../components/tip.tsx';
import { count, duration, scaleFor } from '../format/quantity.ts';
import { isBeside, isMeasured, isWarmup, type IterationSeries } from '../model/iterations.ts';

const kHeight = 260;
const kTallest = 3; // times the median: what is beyond is marked at the upper edge
const kMaxMarks = 400;

const cut = (text: string, letters: number): string => (text.length <= letters ? text : `${text.slice(0, Math.max(1, letters - 1))}\u2026`);

const phaseOf = (series: IterationSeries, row: number): string => series.phases[series.phase[row] ?? 0] ?? '';

function yDomain(series: IterationSeries, median: number | undefined, all: boolean): Domain {
  const measured = series.duration.filter((_, row) => isMeasured(phaseOf(series, row)) || isBeside(phaseOf(series, row)));
  const range = extent(all || measured.length === 0 ? series.duration : measured) ?? { low: 0, high: 1 };
  if (all || median === undefined) return padded(range);
  return padded({ low: range.low, high: Math.min(range.high, Math.max(median * kTallest, range.low * 1.01)) });
}

// Latency over time: warm-up shaded, outliers as diamonds, disturbed iterations ticked below, blocks with telemetry tinted.
export function LatencyChart({ series, call, titleOf, median, thinnedFrom }: { series: IterationSeries; call: string; titleOf: (phase: string) => string; median: number | undefined; thinnedFrom: number | undefined }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [all, setAll] = useState(false);
  const [hover, setHover] = useState<number | null>(null);
  const last = series.start.length - 1;
  const full = useMemo(() => ({ low: series.start[0] ?? 0, high: Math.max((series.start[last] ?? 0) + (series.duration[last] ?? 0), (series.start[0] ?? 0) + 1) }), [series]);
  const zoom = useZoom(full, (full.high - full.low) / Math.max(4, series.start.length / 12));
  const range = useMemo(() => yDomain(series, median, all), [series, median, all]);
  const box = { left: 62, right: width - (width > 520 && median !== undefined ? 66 : 4), top: 22, bottom: kHeight - 30 };
  const x = linear(zoom.domain, box.left, box.right);
  const y = linear(range, box.bottom, box.top);
  const yScale = scaleFor(range.high, 'ns');
  const xScale = scaleFor(zoom.domain.high, 'ns');

  const [from, to] = [Math.max(0, lowerBound(series.start, zoom.domain.low) - 1), lowerBound(series.start, zoom.domain.high)];
  const lines = useMemo(() => series.phases.map((phase, index) => {
    const shown = series.duration.slice(from, to + 1).map((value, at) => (series.phase[from + at] === index ? value : null));
    return { phase, path: linePath(series.start.slice(from, to + 1), shown, x, y) };
  }), [series, width, zoom.domain.low, zoom.domain.high, range]);

  const visible = (row: number): boolean => (series.start[row] ?? 0) >= zoom.domain.low && (series.start[row] ?? 0) <= zoom.domain.high;
  const outliers = [...series.outlier].filter(visible).slice(0, kMaxMarks);
  const disturbed = [...series.disturbance.keys()].filter(visible).slice(0, kMaxMarks);
  const above = useMemo(() => series.duration.map((value, row) => (value > range.high ? row : -1)).filter((row) => row >= 0), [series, range]);
  const aboveShown = above.filter(visible).slice(0, kMaxMarks);

  const nearest = (px: number): number => {
    const time = x.invert(px);
    const at = Math.min(last, lowerBound(series.start, time));
    return at > 0 && time - (series.start[at - 1] ?? 0) < (series.start[at] ?? 0) - time ? at - 1 : at;
  };
  const onHover = (px: number, _: number, event: PointerEvent) => {
    const row = nearest(px);
    setHover(row);
    const extra = [series.outlier.has(row) ? 'outlier' : '', series.disturbance.get(row) ?? ''].filter((one) => one !== '');
    showTip(event.clientX, event.clientY, `${duration(series.duration[row] ?? 0)}\n${titleOf(series.phases[series.phase[row] ?? 0] ?? '')}, ${call} ${series.iteration[row]}${extra.length > 0 ? `\n${extra.join(', ')}` : ''}`);
  };
  const clampY = (value: number): number => Math.max(box.top, Math.min(box.bottom, y(value)));
  return (
    <ZoomFrame zoom={zoom} label="Latency over time" note={
      <>
        <label class="check"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> include warm-up and outliers in the scale</label>
        {thinnedFrom !== undefined && <span> {count(series.start.length)} of {count(thinnedFrom)} drawn (minima and maxima)</span>}
      </>
    }>
      <div ref={ref} class="chart">
        <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`Latency of ${count(series.start.length)} ${call}s over time, from ${duration(extent(series.duration)?.low ?? 0)} to ${duration(extent(series.duration)?.high ?? 0)}.`}>
          {series.runs.map((run, index) => {
            const [a, b] = [Math.max(box.left, x(series.start[run.from] ?? 0)), Math.min(box.right, x((series.start[run.to - 1] ?? 0) + (series.duration[run.to - 1] ?? 0)))];
            if (b <= a) return null;
            const shade = isWarmup(run.phase) ? 'warm' : isBeside(run.phase) ? 'tinted' : 'plain';
            return (
              <g key={index}>
                <rect x={a} y={box.top} width={b - a} height={box.bottom - box.top} class={`band ${shade}`} />
                {isWarmup(run.phase) && <rect x={a} y={box.top} width={b - a} height={box.bottom - box.top} fill="url(#hatch)" />}
                {b - a > 70 && <text x={a + 4} y={box.top - 7} class="band-name">{cut(titleOf(run.phase), Math.floor((b - a) / 7))}</text>}
              </g>
            );
          })}
          <YAxis scale={y} ticks={ticks({ low: range.low / yScale.factor, high: range.high / yScale.factor }, 5).map((tick) => tick * yScale.factor)} format={(value) => `${Number((value / yScale.factor).toPrecision(6))} ${yScale.unit}`} box={box} />
          <XAxis scale={x} ticks={ticks({ low: zoom.domain.low / xScale.factor, high: zoom.domain.high / xScale.factor }, Math.max(2, width / 130)).map((tick) => tick * xScale.factor)} format={(value) => `${Number((value / xScale.factor).toPrecision(6))} ${xScale.unit}`} y={box.bottom} />
          <clipPath id="latency-clip"><rect x={box.left} y={box.top} width={Math.max(0, box.right - box.left)} height={box.bottom - box.top} /></clipPath>
          <g clip-path="url(#latency-clip)">
            {median !== undefined && <line x1={box.left} x2={box.right} y1={y(median)} y2={y(median)} class="median" />}
            {lines.map((line) => <path key={line.phase} d={line.path} class={`series ${isMeasured(line.phase) ? 'main' : isBeside(line.phase) ? 'second' : 'warm'}`} />)}
          </g>
          {disturbed.map((row) => <path key={row} d={`M${x(series.start[row] ?? 0)} ${box.bottom}v-7`} class="disturbed" />)}
          {aboveShown.map((row) => <path key={row} d={`M${x(series.start[row] ?? 0) - 3.5} ${box.top + 7}l3.5-6 3.5 6z`} class="above" />)}
          {outliers.filter((row) => (series.duration[row] ?? 0) <= range.high).map((row) => <path key={row} d={`M${x(series.start[row] ?? 0)} ${clampY(series.duration[row] ?? 0) - 4.5}l4.5 4.5-4.5 4.5-4.5-4.5z`} class="outlier" />)}
          {hover !== null && visible(hover) && <circle cx={x(series.start[hover] ?? 0)} cy={clampY(series.duration[hover] ?? 0)} r={4} class="cursor" />}
          {median !== undefined && box.right < width - 4 && <text x={box.right + 6} y={y(median) - 3} class="median-label">median<tspan x={box.right + 6} dy={14}>{duration(median)}</tspan></text>}
          <Surface box={box} x={x} zoom={zoom} onHover={onHover} onLeave={() => { setHover(null); hideTip(); }} />
        </svg>
      </div>
      {above.length > 0 && <p class="quiet note">{'\u25b2'} {count(above.length)} beyond the axis range, up to {duration(Math.max(...above.slice(0, 10000).map((row) => series.duration[row] ?? 0)))}</p>}
    </ZoomFrame>
  );
}

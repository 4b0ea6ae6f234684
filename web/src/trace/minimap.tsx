import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { clamp } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import type { Zoom } from '../charts/use_zoom.ts';
import type { Trace } from '../model/trace.ts';
import { densities, paintMinimap, type Theme } from './paint.ts';

const kHeight = 46;
const kBars = 400;

// The whole trace: how busy it is, and where the part shown is. Clicking moves there, dragging selects a part.
export function Minimap({ trace, zoom, theme }: { trace: Trace; zoom: Zoom; theme: Theme }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const from = useRef<number | undefined>();
  const density = useMemo(() => densities(trace, kBars), [trace]);
  useLayoutEffect(() => { if (canvas.current) paintMinimap(canvas.current, trace, density, zoom.domain, width, kHeight, theme); });
  const timeAt = (event: PointerEvent): number => {
    const rect = (event.currentTarget as Element).getBoundingClientRect();
    return (clamp(event.clientX - rect.left, 0, rect.width) / rect.width) * trace.span;
  };
  return (
    <div ref={ref} class="trace-minimap" data-tip="The whole trace: kernels above, host work below. Click to move there, drag to select.">
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${kHeight}px` }}
        onPointerDown={(event) => { (event.currentTarget as Element).setPointerCapture(event.pointerId); from.current = timeAt(event); }}
        onPointerMove={(event) => {
          if (from.current === undefined) return;
          const time = timeAt(event);
          if (Math.abs(time - from.current) > trace.span / 200) zoom.to({ low: Math.min(time, from.current), high: Math.max(time, from.current) });
        }}
        onPointerUp={(event) => {
          const time = timeAt(event);
          const half = (zoom.domain.high - zoom.domain.low) / 2;
          if (from.current !== undefined && Math.abs(time - from.current) <= trace.span / 200 && zoom.zoomed) zoom.to({ low: time - half, high: time + half });
          from.current = undefined;
        }} />
    </div>
  );
}

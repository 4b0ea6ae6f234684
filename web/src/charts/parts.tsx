import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Domain, Scale } from './scale.ts';
import type { Zoom } from './use_zoom.ts';

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// Labels at the ends are moved inside.
export function XAxis({ scale, ticks, format, y, title }: { scale: Scale; ticks: number[]; format: (value: number) => string; y: number; title?: string }) {
  const right = scale(scale.domain.high);
  const anchor = (px: number, label: string): 'start' | 'middle' | 'end' => {
    const half = label.length * 3.6;
    return px < half ? 'start' : right - px < half - 4 ? 'end' : 'middle';
  };
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => <text key={tick} x={scale(tick)} y={y + 16} text-anchor={anchor(scale(tick), format(tick))}>{format(tick)}</text>)}
      {title && <text x={scale(scale.domain.high)} y={y + 32} text-anchor="end" class="axis-title">{title}</text>}
    </g>
  );
}

export function YAxis({ scale, ticks, format, box }: { scale: Scale; ticks: number[]; format: (value: number) => string; box: Box }) {
  return (
    <g class="axis" aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={box.left} x2={box.right} y1={scale(tick)} y2={scale(tick)} class="grid" />
          <text x={box.left - 8} y={scale(tick) + 4} text-anchor="end">{format(tick)}</text>
        </g>
      ))}
    </g>
  );
}

interface SurfaceProps {
  box: Box;
  x: Scale;
  zoom?: Zoom;
  onHover?: (x: number, y: number, event: PointerEvent) => void;
  onLeave?: () => void;
}

const kDragFrom = 4; // pixels that tell a drag from a click

// Takes the pointer over a chart: hovering reads values, dragging selects a range to zoom to, a double click resets, the wheel
// zooms together with the control key (alone it scrolls the page).
export function Surface({ box, x, zoom, onHover, onLeave }: SurfaceProps) {
  const from = useRef<number | null>(null);
  const [drag, setDrag] = useState<Domain | null>(null);
  const local = (event: PointerEvent | WheelEvent) => {
    const svg = (event.currentTarget as SVGElement).ownerSVGElement as SVGSVGElement;
    const rect = svg.getBoundingClientRect();
    const factor = svg.viewBox.baseVal.width / rect.width || 1;
    return { px: (event.clientX - rect.left) * factor, py: (event.clientY - rect.top) * factor };
  };
  return (
    <>
      {drag && <rect class="selection" x={Math.min(x(drag.low), x(drag.high))} width={Math.abs(x(drag.high) - x(drag.low))} y={box.top} height={box.bottom - box.top} />}
      <rect
        class={zoom ? 'surface zooms' : 'surface'} x={box.left} y={box.top} width={Math.max(0, box.right - box.left)} height={Math.max(0, box.bottom - box.top)}
        onPointerDown={(event) => {
          if (!zoom || event.button !== 0 || event.pointerType === 'touch') return;
          (event.currentTarget as Element).setPointerCapture(event.pointerId);
          from.current = local(event).px;
        }}
        onPointerMove={(event) => {
          const { px, py } = local(event);
          if (from.current !== null && Math.abs(px - from.current) > kDragFrom) {
            setDrag({ low: x.invert(from.current), high: x.invert(Math.min(box.right, Math.max(box.left, px))) });
          }
          onHover?.(px, py, event);
        }}
        onPointerUp={() => {
          if (drag && zoom) zoom.to({ low: Math.min(drag.low, drag.high), high: Math.max(drag.low, drag.high) });
          from.current = null;
          setDrag(null);
        }}
        onPointerLeave={() => onLeave?.()}
        onPointerCancel={() => { from.current = null; setDrag(null); onLeave?.(); }}
        onDblClick={() => zoom?.reset()}
        onWheel={(event) => {
          if (!zoom || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          zoom.by(event.deltaY > 0 ? 1.25 : 0.8, x.invert(local(event).px));
        }}
      />
    </>
  );
}

// The chart with its keyboard and its buttons: everything the pointer can do.
export function ZoomFrame({ zoom, label, children, note }: { zoom: Zoom; label: string; children: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="zoom-frame">
      <div class="zoom-tools">
        <span class="quiet zoom-note">{note}</span>
        <span class="buttons">
          <button type="button" aria-label={`${label}: zoom in`} data-tip="Zoom in (+)" onClick={() => zoom.by(0.5)}>+</button>
          <button type="button" aria-label={`${label}: zoom out`} data-tip="Zoom out (-)" onClick={() => zoom.by(2)} disabled={!zoom.zoomed}>{'\u2212'}</button>
          <button type="button" aria-label={`${label}: earlier`} data-tip="Earlier (left)" onClick={() => zoom.pan(-0.4)} disabled={!zoom.zoomed}>{'\u2190'}</button>
          <button type="button" aria-label={`${label}: later`} data-tip="Later (right)" onClick={() => zoom.pan(0.4)} disabled={!zoom.zoomed}>{'\u2192'}</button>
          <button type="button" aria-label={`${label}: show all`} onClick={zoom.reset} disabled={!zoom.zoomed}>All</button>
        </span>
      </div>
      <div class="zoom-focus" tabIndex={0} role="group" aria-label={`${label}. Plus and minus zoom, the arrow keys move, 0 shows all.`} onKeyDown={zoom.onKey}>
        {children}
      </div>
    </div>
  );
}

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../charts/use_width.ts';
import { readTheme } from '../trace/paint.ts';
import { text } from '../format/quantity.ts';
import { type FleetHeat, type Span, spanOf, timeText, unitOfMetric } from './fleet_data.ts';

const kMaxLabels = 132; // pixels for the names of nodes
const kMaxName = 19;    // characters of one
const kAxis = 20;
const kMaxHeight = 560;
const kLabelRow = 12; // a row is labelled from this height on

type Rgb = [number, number, number];

// "#2f65ad" or "rgb(47, 101, 173)"
function rgbOf(colour: string): Rgb {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1];
  if (hex) return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
  const parts = /(\d+)[ ,]+(\d+)[ ,]+(\d+)/.exec(colour);
  return parts ? [Number(parts[1]), Number(parts[2]), Number(parts[3])] : [128, 128, 128];
}

const mixed = (from: Rgb, to: Rgb, share: number): Rgb => from.map((value, at) => Math.round(value + (to[at]! - value) * share)) as Rgb;

// Low values are pale, high ones dark (in the dark theme the other way round), without a turn in between; what was not measured is
// transparent. The legend's gradient (.fleet-ramp) has the same stops.
export function rampOf(line: string, colour: string, ink: string): Rgb[] {
  const high = rgbOf(colour);
  const [low, end] = [mixed(rgbOf(line), high, 0.2), mixed(high, rgbOf(ink), 0.45)];
  return Array.from({ length: 64 }, (_, at) => {
    const share = at / 63;
    return share < 0.7 ? mixed(low, high, share / 0.7) : mixed(high, end, (share - 0.7) / 0.3);
  });
}

function stopsOf(element: Element): Rgb[] {
  const theme = readTheme(element);
  return rampOf(theme.line, theme.slots[0]!, theme.ink);
}

// One pixel per cell: the browser scales it, so that drawing costs the same for ten nodes and for thousands.
function imageOf(heat: FleetHeat, span: Span, stops: Rgb[]): HTMLCanvasElement {
  const image = document.createElement('canvas');
  image.width = Math.max(1, heat.bins);
  image.height = Math.max(1, heat.nodes.length);
  const context = image.getContext('2d')!;
  const pixels = context.createImageData(image.width, image.height);
  heat.values.forEach((row, y) => row.forEach((value, x) => {
    if (value === null || x >= heat.bins) return;
    const stop = stops[Math.max(0, Math.min(63, Math.round(((value - span.low) / (span.high - span.low)) * 63)))]!;
    pixels.data.set([...stop, 255], (y * image.width + x) * 4);
  }));
  context.putImageData(pixels, 0, 0);
  return image;
}

interface Cell {
  node: number;
  bin: number;
}

// Nodes by time. The pointer and the arrow keys choose a cell, a click or Enter opens its node.
export function HeatMap({ heat, onOpen }: { heat: FleetHeat; onOpen: (node: string) => void }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cell, setCell] = useState<Cell | null>(null);
  const [themes, setThemes] = useState(0);
  const span = useMemo(() => spanOf(heat.values), [heat]);
  const rowHeight = Math.max(1, Math.min(18, Math.floor((kMaxHeight - kAxis) / Math.max(1, heat.nodes.length))));
  const height = Math.min(kMaxHeight - kAxis, Math.max(40, rowHeight * heat.nodes.length));
  const labels = useMemo(() => Math.min(kMaxLabels, 20 + 7 * Math.max(0, ...heat.nodes.map((name) => name.length))), [heat]);
  const plot = Math.max(40, width - labels);
  const unit = unitOfMetric(heat.metric);

  useEffect(() => {
    const watch = new MutationObserver(() => setThemes((now) => now + 1));
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => watch.disconnect();
  }, []);
  const image = useMemo(() => (span ? imageOf(heat, span, stopsOf(document.documentElement)) : null), [heat, span, themes]);

  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round((labels + plot) * ratio);
    element.height = Math.round((height + kAxis) * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const theme = readTheme(element);
    context.clearRect(0, 0, labels + plot, height + kAxis);
    context.imageSmoothingEnabled = heat.nodes.length > height * ratio;
    if (image) context.drawImage(image, labels, 0, plot, height);
    context.font = `11px ${theme.sans}`;
    context.textBaseline = 'middle';
    const step = Math.max(1, Math.ceil(kLabelRow / (height / heat.nodes.length)));
    for (let at = 0; at === 0 || at + step <= heat.nodes.length; at += step) {
      const name = heat.nodes[at]!;
      context.fillStyle = heat.severity[at]! > 0 ? theme.ink : theme.ink3;
      context.fillText(`${heat.severity[at]! > 0 ? '\u25cf ' : ''}${name.length > kMaxName ? `${name.slice(0, kMaxName - 1)}\u2026` : name}`, 0, ((at + step / 2) * height) / heat.nodes.length);
    }
    context.fillStyle = theme.ink3;
    context.textBaseline = 'alphabetic';
    for (const share of plot > 500 ? [0, 0.25, 0.5, 0.75] : [0, 0.5])
      context.fillText(timeText(heat.first_unix_ns + Math.round(share * heat.bins) * heat.bin_ns), labels + share * plot, height + 15);
    if (!cell) return;
    context.strokeStyle = theme.ink;
    context.strokeRect(labels + (cell.bin * plot) / heat.bins - 0.5, (cell.node * height) / heat.nodes.length - 0.5, Math.max(3, plot / heat.bins) + 1, Math.max(3, height / heat.nodes.length) + 1);
  }, [heat, image, labels, plot, height, cell]);

  const cellAt = (event: MouseEvent): Cell | null => {
    const bounds = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left - labels, event.clientY - bounds.top];
    if (y < 0 || y >= height) return null;
    return { node: Math.floor((y / height) * heat.nodes.length), bin: Math.max(0, Math.min(heat.bins - 1, Math.floor((x / plot) * heat.bins))) };
  };
  const move = (event: KeyboardEvent) => {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    if (event.key === 'Enter' && cell) onOpen(heat.nodes[cell.node]!);
    if (!down && !right) return;
    event.preventDefault();
    const now = cell ?? { node: 0, bin: 0 };
    setCell({ node: Math.max(0, Math.min(heat.nodes.length - 1, now.node + down!)), bin: Math.max(0, Math.min(heat.bins - 1, now.bin + right!)) });
  };
  const value = cell ? heat.values[cell.node]?.[cell.bin] ?? null : null;
  const told = cell && `${heat.nodes[cell.node]}, ${timeText(heat.first_unix_ns + cell.bin * heat.bin_ns)}: ${value === null ? 'not measured' : text(value, unit)}`;
  return (
    <figure class="fleet-heat">
      <figcaption>{heat.meaning[0]?.toUpperCase()}{heat.meaning.slice(1)}, per node; {heat.judged ? <>nodes with findings ({'\u25cf'}) first</> : 'sorted by name'}</figcaption>
      {span ? (
        <>
          <p class="fleet-legend"><span>{text(span.low, unit)}</span><i class="fleet-ramp" /><span>{text(span.high, unit)}</span><span class="quiet">blank: not measured</span></p>
          <div ref={box} class="fleet-box">
            <canvas ref={canvas} tabIndex={0} role="application" aria-label={`${heat.metric} of ${heat.nodes.length} nodes over time; arrow keys move, Enter opens the node`} style={{ width: '100%', height: `${height + kAxis}px` }}
              onMouseMove={(event) => setCell(cellAt(event))} onMouseLeave={() => setCell(null)} onKeyDown={move} onClick={(event) => { const at = cellAt(event); if (at) onOpen(heat.nodes[at.node]!); }} />
          </div>
          <p class="fleet-cell mono" role="status">{told || 'Point at a cell to read it; click to open the node.'}</p>
        </>
      ) : <p class="quiet">No node has measured this metric.</p>}
    </figure>
  );
}

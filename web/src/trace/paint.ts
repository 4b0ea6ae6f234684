import { linePath } from '../charts/path.ts';
import { kOther, kSlots } from '../charts/palette.ts';
import { clamp, extent, linear, padded, type Scale } from '../charts/scale.ts';
import { text, unitOf } from '../format/quantity.ts';
import type { Layout, Mark, PlacedBlock } from '../model/trace_layout.ts';
import { kRow } from '../model/trace_layout.ts';
import { endOf, groupOf, type Piece, type Ref, sameRow, shortNameOf, startOf, type Trace, visible } from '../model/trace.ts';

// Draws the timeline on a canvas. Everything it needs is an argument; it keeps nothing but the theme's colours.

export interface Theme {
  slots: string[]; // fill of each colour slot
  onSlots: string[]; // text upon it
  ink: string;
  ink2: string;
  ink3: string;
  paper: string;
  line: string;
  line2: string;
  accent: string;
  sans: string;
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  const slots = Array.from({ length: kOther + 1 }, (_, slot) => value(`--c${slot}`));
  return {
    slots, onSlots: slots.map((_, slot) => value(`--on${slot}`)), ink: value('--ink'), ink2: value('--ink-2'), ink3: value('--ink-3'),
    paper: value('--paper'), line: value('--line'), line2: value('--line-2'), accent: value('--accent'), sans: value('--sans'),
  };
}

// Of host events and of what has no family; families of kernels have slots of their own.
const kKindSlots: Record<string, number> = { python: kOther, operator: 4, range: 6, runtime: kOther, launch: 1, copy: 5, collective: 3, kernel: kOther };

export type SlotOf = (ref: Ref, kind: string) => number;
export const slotter = (trace: Trace, families: Map<string, number>): SlotOf => (ref, kind) => {
  const family = kind === 'kernel' ? groupOf(trace, ref) : '';
  return (family !== '' ? families.get(family) : undefined) ?? kKindSlots[kind] ?? kOther;
};

// A slot for each family that occurs, in the order of `weights`.
export const familySlots = (weights: string[]): Map<string, number> => new Map(weights.map((family, index) => [family, Math.min(index, kSlots)]));

export interface Scene {
  trace: Trace;
  layout: Layout;
  parts: Piece[];
  x: Scale;
  width: number;
  height: number; // of the canvas
  top: number; // scrolled by
  ticks: number[];
  slotOf: SlotOf;
  theme: Theme;
  selected?: Ref;
  selectedMark?: Mark;
  found?: Set<number>; // names that a search found: the others step back
  arrows: [Ref, Ref][]; // from launch to work
  hoverTime?: number;
  drag?: { low: number; high: number };
}

const kLabelFrom = 28; // pixels
const kLetter = 6.4; // of a label, on average

// The beginning of a label that fits: the beginning says most.
const cut = (label: string, width: number): string => {
  const letters = Math.max(1, Math.floor((width - 6) / kLetter));
  return label.length <= letters ? label : `${label.slice(0, letters - 1)}\u2026`;
};
const kFaded = 0.22;

function row(context: CanvasRenderingContext2D, scene: Scene, ref: Ref, kind: string, y: number, low: number, high: number): void {
  const { x, theme } = scene;
  const from = Math.max(low, x(startOf(ref)));
  const to = Math.min(high, x(endOf(ref)));
  const width = Math.max(1, to - from - (to - from > 4 ? 0.7 : 0));
  const slot = scene.slotOf(ref, kind);
  const merged = ref.layer.merged.get(ref.row);
  // A row of several events is as high as they are dense.
  const share = merged ? Math.max(0.25, Math.min(1, merged.busy / Math.max(1, endOf(ref) - startOf(ref)))) : 1;
  const height = (kRow - 2) * share;
  context.globalAlpha = scene.found && !scene.found.has(ref.layer.name[ref.row] ?? -1) ? kFaded : merged ? 0.8 : 1;
  context.fillStyle = theme.slots[slot] ?? theme.line2;
  context.fillRect(from, y + (kRow - 2) - height, width, height);
  if (width > kLabelFrom && share > 0.7) {
    context.fillStyle = theme.onSlots[slot] ?? theme.ink;
    const name = merged ? `${merged.events.toLocaleString('en')} \u00d7 ${shortNameOf(scene.trace, ref)}` : shortNameOf(scene.trace, ref);
    context.fillText(cut(name.replace(/\s+/g, ' '), width), from + 3, y + 11.5);
  }
  context.globalAlpha = 1;
  if (!sameRow(ref, scene.selected)) return;
  context.strokeStyle = theme.ink;
  context.lineWidth = 2;
  context.strokeRect(from, y - 1, width, kRow);
}

function tracks(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedBlock): void {
  for (const piece of scene.parts) {
    const [low, high] = [scene.x(piece.low), scene.x(piece.high)];
    placed.tracks.forEach((track, depth) => {
      const y = placed.y + depth * kRow - scene.top;
      if (track < 0 || y < -kRow || y > scene.height) return;
      const { first, end } = visible(piece.layer, track, piece.low, piece.high);
      let last = -Infinity;
      for (let at = first; at < end; at += 1) {
        const to = scene.x(piece.layer.end[at] as number);
        if (to < last + 0.4 && !(scene.selected?.layer === piece.layer && scene.selected.row === at)) continue; // on the pixel of the one before
        last = Math.max(to, scene.x(piece.layer.start[at] as number) + 1);
        row(context, scene, { layer: piece.layer, row: at }, placed.block.kind, y, low, high);
      }
    });
  }
}

function marks(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedBlock): void {
  const { theme, x } = scene;
  const y = placed.y - scene.top;
  for (const mark of placed.block.marks) {
    const from = Math.max(0, x(mark.start));
    const to = Math.min(scene.width, x(mark.end));
    if (to < 0 || from > scene.width) continue;
    const width = Math.max(1.5, to - from - 0.7);
    context.fillStyle = theme.line;
    context.fillRect(from, y, width, kRow - 2);
    const chosen = scene.selectedMark?.kind === mark.kind && scene.selectedMark.index === mark.index && scene.selectedMark.start === mark.start;
    context.strokeStyle = chosen ? theme.ink : mark.kind === 'gap' ? theme.slots[5] ?? theme.ink3 : theme.ink3;
    context.lineWidth = chosen ? 2 : 1;
    context.setLineDash(mark.kind === 'gap' && !chosen ? [3, 2] : []);
    context.strokeRect(from + 0.5, y + 0.5, Math.max(0.5, width - 1), kRow - 3);
    context.setLineDash([]);
    if (width <= kLabelFrom) continue;
    context.fillStyle = theme.ink2;
    context.fillText(cut(mark.label, width), from + 3, y + 11.5);
  }
}

function counter(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedBlock): void {
  const series = placed.block.series[0];
  const range = series && extent(series.value);
  if (!series || !range) return;
  const top = placed.y - scene.top;
  const y = linear(padded(range, 0.1), top + placed.height - 2, top + 2);
  const unit = unitOf(series.metric, series.unit);
  context.strokeStyle = scene.theme.slots[0] ?? scene.theme.ink;
  context.lineWidth = 1.3;
  context.stroke(new Path2D(linePath(series.time_ns, series.value, scene.x, y)));
  context.fillStyle = scene.theme.ink3;
  context.textAlign = 'right';
  for (const value of [range.low, range.high]) context.fillText(text(value, unit), scene.width - 3, clamp(y(value) + 4, top + 10, top + placed.height - 3));
  context.textAlign = 'left';
}

function arrows(context: CanvasRenderingContext2D, scene: Scene): void {
  context.strokeStyle = context.fillStyle = scene.theme.ink;
  context.lineWidth = 1.5;
  for (const [launch, work] of scene.arrows) {
    const [a, b] = [launch, work].map((ref) => scene.layout.yOf.get(ref.layer.track[ref.row] as number));
    if (a === undefined || b === undefined) continue;
    const [x0, y0] = [scene.x((startOf(launch) + endOf(launch)) / 2), a - scene.top + kRow / 2];
    const [x1, y1] = [scene.x(startOf(work)), b - scene.top + kRow / 2];
    const bend = Math.max(24, Math.abs(x1 - x0) / 3);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 2, y1);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 8, y1 - 4);
    context.lineTo(x1 - 8, y1 + 4);
    context.fill();
  }
}

export function paint(canvas: HTMLCanvasElement, scene: Scene): void {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [width, height] = [Math.round(scene.width * ratio), Math.round(scene.height * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, 0, scene.width, scene.height);
  context.font = `11px ${scene.theme.sans}`;
  context.strokeStyle = scene.theme.line;
  context.lineWidth = 1;
  for (const tick of scene.ticks) {
    const at = Math.round(scene.x(tick)) + 0.5;
    context.beginPath();
    context.moveTo(at, 0);
    context.lineTo(at, scene.height);
    context.stroke();
  }
  for (const { y } of scene.layout.headers) {
    const at = Math.round(y - scene.top) + 0.5;
    context.beginPath();
    context.moveTo(0, at);
    context.lineTo(scene.width, at);
    context.stroke();
  }
  for (const placed of scene.layout.blocks) {
    if (placed.y + placed.height < scene.top || placed.y > scene.top + scene.height) continue;
    if (placed.block.kind === 'counter') counter(context, scene, placed);
    else if (placed.block.marks.length > 0) marks(context, scene, placed);
    else tracks(context, scene, placed);
  }
  arrows(context, scene);
  if (scene.hoverTime !== undefined) {
    context.fillStyle = scene.theme.ink3;
    context.fillRect(Math.round(scene.x(scene.hoverTime)), 0, 1, scene.height);
  }
  if (!scene.drag) return;
  context.globalAlpha = 0.16;
  context.fillStyle = scene.theme.accent;
  context.fillRect(scene.x(scene.drag.low), 0, scene.x(scene.drag.high) - scene.x(scene.drag.low), scene.height);
  context.globalAlpha = 1;
}

// How busy kernels, and host events, are over the whole trace; the part shown above is framed, stretches with more detail are
// marked below.
export function paintMinimap(canvas: HTMLCanvasElement, trace: Trace, density: { kernels: Float32Array; host: Float32Array }, shown: { low: number; high: number }, width: number, height: number, theme: Theme): void {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const bars = density.kernels.length;
  const half = (height - 4) / 2;
  const draw = (values: Float32Array, base: number, colour: string) => {
    context.fillStyle = colour;
    for (let i = 0; i < bars; i += 1) {
      const size = Math.min(1, values[i] as number) * (half - 2);
      if (size > 0) context.fillRect((i * width) / bars, base - Math.max(0.5, size), width / bars + 0.3, Math.max(0.5, size));
    }
  };
  draw(density.kernels, half, theme.slots[0] ?? theme.ink);
  draw(density.host, 2 * half, theme.slots[4] ?? theme.ink3);
  context.fillStyle = theme.accent;
  for (const layer of trace.layers.slice(1)) context.fillRect((layer.from / trace.span) * width, height - 3, Math.max(2, ((layer.to - layer.from) / trace.span) * width), 3);
  const [from, to] = [(shown.low / trace.span) * width, (shown.high / trace.span) * width];
  context.globalAlpha = 0.6;
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, from, height - 4);
  context.fillRect(to, 0, width - to, height - 4);
  context.globalAlpha = 1;
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  context.strokeRect(Math.max(0.75, from), 0.75, Math.max(3, to - from) - 1.5, height - 5.5);
}

// The share of each of `bars` parts of the trace in which kernels ran, and the host had work.
export function densities(trace: Trace, bars: number): { kernels: Float32Array; host: Float32Array } {
  const out = { kernels: new Float32Array(bars), host: new Float32Array(bars) };
  const overview = trace.layers[0];
  if (!overview) return out;
  const width = trace.span / bars;
  const add = (values: Float32Array, row: number, weight: number) => {
    const [start, end] = [overview.start[row] as number, overview.end[row] as number];
    const merged = overview.merged.get(row);
    const share = (merged ? merged.busy / Math.max(1, end - start) : 1) * weight;
    for (let bar = Math.max(0, Math.floor(start / width)); bar < bars && bar * width < end; bar += 1)
      values[bar] = (values[bar] as number) + (share * (Math.min(end, (bar + 1) * width) - Math.max(start, bar * width))) / width;
  };
  const devices = new Set(trace.source.tracks.filter((track) => track.kind === 'kernel').map((track) => `${track.rank}/${track.place}`)).size;
  overview.track.forEach((number, row) => {
    const track = trace.source.tracks[number];
    if (track?.kind === 'kernel') add(out.kernels, row, 1 / Math.max(1, devices));
    else if (track?.kind === 'operator' && track.depth === 0) add(out.host, row, 1);
    else if (track?.kind === 'launch' || track?.kind === 'runtime') add(out.host, row, 0.5);
  });
  return out;
}

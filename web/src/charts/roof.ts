import type { Roof, Roofline, RoofPoint } from '../model/report.ts';
import { shorten } from '../format/name.ts';
import type { Box } from './parts.tsx';
import { logarithmic, type Scale } from './scale.ts';

export interface RoofLineGeometry {
  roof: Roof;
  path: string;
  label: { x: number; y: number; anchor: 'start' | 'end'; turn: string };
}

export interface PlacedPoint {
  point: RoofPoint;
  px: number;
  py: number;
  ideal?: number; // pixel height of the roof above the point
}


export interface Geometry {
  x: Scale;
  y: Scale;
  roofs: RoofLineGeometry[];
  points: PlacedPoint[];
}

// The area of a point is its share of the time.
export const pointRadius = (point: RoofPoint, largest_ns: number): number => Math.max(4, Math.sqrt(point.time_ns / (largest_ns || 1)) * 13);

// Where roofs and points lie on the two logarithmic axes; undefined where nothing can be placed.
export function roofGeometry(line: Roofline, box: Box): Geometry | undefined {
  const usable = line.points.filter((one) => one.flops > 0 && one.bytes > 0 && one.time_ns > 0);
  const compute = line.roofs.filter((roof) => roof.kind === 'compute' && roof.per_second > 0);
  const memory = line.roofs.filter((roof) => roof.kind === 'memory' && roof.per_second > 0);
  if (compute.length === 0 || memory.length === 0) return undefined;
  const peak = Math.max(...compute.map((roof) => roof.per_second));
  const slow = Math.min(...memory.map((roof) => roof.per_second));
  const intensities = [...usable.map((one) => one.flops / one.bytes), peak / slow];
  const rates = [...usable.map((one) => one.flops / (one.time_ns * 1e-9)), peak];
  const x = logarithmic({ low: Math.min(...intensities) / 3, high: Math.max(...intensities) * 6 }, box.left, box.right);
  const y = logarithmic({ low: Math.min(...rates, slow * x.domain.low * 2) / 2, high: peak * 2.5 }, box.bottom, box.top);
  const inside = (value: number, scale: Scale): boolean => value >= scale.domain.low && value <= scale.domain.high;

  const roofs: RoofLineGeometry[] = [];
  for (const roof of compute) {
    const from = Math.max(x.domain.low, roof.per_second / Math.max(...memory.map((one) => one.per_second)));
    roofs.push({ roof, path: `M${x(from)} ${y(roof.per_second)}L${x(x.domain.high)} ${y(roof.per_second)}`, label: { x: x(x.domain.high), y: y(roof.per_second) - 7, anchor: 'end', turn: '' } });
  }
  for (const roof of memory) {
    const from = Math.max(x.domain.low, y.domain.low / roof.per_second);
    const to = peak / roof.per_second;
    if (!inside(to, x) && to < x.domain.low) continue;
    const [x0, y0, x1, y1] = [x(from), y(from * roof.per_second), x(to), y(peak)];
    const angle = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
    const [lx, ly] = [x0 + (x1 - x0) * 0.3, y0 + (y1 - y0) * 0.3];
    roofs.push({ roof, path: `M${x0} ${y0}L${x1} ${y1}`, label: { x: lx, y: ly - 6, anchor: 'start', turn: `rotate(${angle} ${lx} ${ly})` } });
  }
  const points = usable
    .map((point) => {
      const intensity = point.flops / point.bytes;
      return { point, px: x(intensity), py: y(point.flops / (point.time_ns * 1e-9)), ideal: y(Math.min(peak, slow * intensity)) };
    })
    .sort((a, b) => b.point.time_ns - a.point.time_ns);
  return { x, y, roofs, points };
}

interface Label {
  x: number;
  y: number;
  anchor: 'start' | 'middle' | 'end';
  text: string;
}

const kLetter = 7.4; // pixels of one letter of a label, on average
const kLine = 13;

const overlap = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// Names of the points that take most time, where they cover neither each other nor a point nor a roof's name. What finds no
// place has its name in the tip and in the table.
export function placeLabels(geometry: Geometry, box: Box, largest_ns: number, limit: number): Label[] {
  const taken: Box[] = geometry.points.map(({ point, px, py }) => {
    const r = pointRadius(point, largest_ns);
    return { left: px - r, right: px + r, top: py - r, bottom: py + r };
  });
  for (const { roof, label } of geometry.roofs)
    if (roof.kind === 'compute') taken.push({ left: label.x - 230, right: label.x, top: label.y - kLine, bottom: label.y + 4 });
  const out: Label[] = [];
  for (const { point, px, py } of geometry.points.slice(0, limit)) {
    const text = shorten(point.name, 24);
    const width = text.length * kLetter;
    const r = pointRadius(point, largest_ns) + 5;
    const tries: [Label, Box][] = [
      [{ x: px + r, y: py + 4, anchor: 'start', text }, { left: px + r, right: px + r + width, top: py - 8, bottom: py + 6 }],
      [{ x: px - r, y: py + 4, anchor: 'end', text }, { left: px - r - width, right: px - r, top: py - 8, bottom: py + 6 }],
      [{ x: px, y: py + r + 9, anchor: 'middle', text }, { left: px - width / 2, right: px + width / 2, top: py + r - 2, bottom: py + r + kLine }],
      [{ x: px, y: py - r - 1, anchor: 'middle', text }, { left: px - width / 2, right: px + width / 2, top: py - r - kLine, bottom: py - r + 2 }],
    ];
    const free = tries.find(([, area]) => area.left >= box.left && area.right <= box.right + 12 && area.bottom <= box.bottom && !taken.some((other) => overlap(area, other)));
    if (!free) continue;
    out.push(free[0]);
    taken.push(free[1]);
  }
  return out;
}

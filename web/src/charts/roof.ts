import type { Roof, Roofline, RoofPoint } from '../model/report.ts';
import { shorten } from '../format/name.ts';
import type { Box } from './parts.tsx';
import { logarithmic, type Scale } from './scale.ts';

export interface RoofLineGeometry {
  roof: Roof;
  path: string;
  label?: { x: number; y: number; anchor: 'start' | 'end'; turn: string }; // none: its line is too near another's that has one
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

// Where roofs and points lie on the two logarithmic axes; undefined where nothing can be placed. `beside`: compute roofs have their
// names to the right of the box, else inside.
export function roofGeometry(line: Roofline, box: Box, beside = false): Geometry | undefined {
  const usable = line.points.filter((one) => one.flops > 0 && one.bytes > 0 && one.time_ns > 0);
  const compute = line.roofs.filter((roof) => roof.kind === 'compute' && roof.per_second > 0);
  const memory = line.roofs.filter((roof) => roof.kind === 'memory' && roof.per_second > 0);
  if (compute.length === 0 || memory.length === 0) return undefined;
  const peak = Math.max(...compute.map((roof) => roof.per_second));
  const slow = Math.min(...memory.map((roof) => roof.per_second));
  const intensities = [...usable.map((one) => one.flops / one.bytes), peak / slow];
  const rates = [...usable.map((one) => one.flops / (one.time_ns * 1e-9)), peak];
  const x = logarithmic({ low: Math.min(...intensities) / 3, high: Math.max(...intensities) * 6 }, box.left, box.right);
  const y = logarithmic({ low: Math.min(...rates, slow * x.domain.low * 2) / 2, high: Math.max(peak * 2.5, Math.max(...rates) * 1.5) }, box.bottom, box.top);

  const roofs: RoofLineGeometry[] = [];
  const labels: NonNullable<RoofLineGeometry['label']>[] = [];
  const by_basis = (a: Roof, b: Roof): number => kBases.indexOf(a.basis ?? 'stated') - kBases.indexOf(b.basis ?? 'stated') || b.per_second - a.per_second;
  for (const roof of [...compute].sort(by_basis)) {
    const from = Math.max(x.domain.low, roof.per_second / Math.max(...memory.map((one) => one.per_second)));
    const path = `M${x(from)} ${y(roof.per_second)}L${x(x.domain.high)} ${y(roof.per_second)}`;
    const label = { x: x(x.domain.high) + (beside ? 6 : 0), y: y(roof.per_second) + (beside ? 4 : -7), anchor: beside ? 'start' as const : 'end' as const, turn: '' };
    // Inside there is no room to move names apart.
    if (!beside && labels.some((other) => Math.abs(other.y - label.y) < kLine)) {
      roofs.push({ roof, path });
      continue;
    }
    labels.push(label);
    roofs.push({ roof, path, label });
  }
  spread(labels, box);
  // Lines of the memory are parallel: neighbours have their names at different places along them, those that nearly coincide one
  // name, of what is stated before what was measured.
  const named: number[] = [];
  [...memory].sort(by_basis).forEach((roof) => {
    const from = Math.max(x.domain.low, y.domain.low / roof.per_second);
    const to = Math.min(peak / roof.per_second, x.domain.high);
    if (to <= from) return;
    const [x0, y0, x1, y1] = [x(from), y(from * roof.per_second), x(to), y(to * roof.per_second)];
    const slope = Math.atan2(y1 - y0, x1 - x0);
    const height = y(roof.per_second * x.domain.low) * Math.cos(slope);
    const path = `M${x0} ${y0}L${x1} ${y1}`;
    if (named.some((other) => Math.abs(other - height) < kLine) || Math.hypot(x1 - x0, y1 - y0) < kShortest) {
      roofs.push({ roof, path });
      return;
    }
    const usual = named.length % kPlaces.length;
    const at = (place: number): [number, number] => [x0 + (x1 - x0) * place, y0 + (y1 - y0) * place];
    const free = (place: number): boolean => !usable.some((one) => isNear(at(place), slope, x(one.flops / one.bytes), y(one.flops / (one.time_ns * 1e-9))));
    const place = [...kPlaces.slice(usual), ...kPlaces.slice(0, usual)].find(free) ?? kPlaces[usual] ?? 0;
    named.push(height);
    const [lx, ly] = at(place);
    roofs.push({ roof, path, label: { x: lx, y: ly - 6, anchor: 'start', turn: `rotate(${(slope * 180) / Math.PI} ${lx} ${ly})` } });
  });
  // The stated roof above each point: of its own data type where the report says so.
  const stated = (list: Roof[]): Roof[] => { const own = list.filter((roof) => (roof.basis ?? 'stated') === 'stated'); return own.length > 0 ? own : list; };
  const highest = Math.max(...stated(compute).map((roof) => roof.per_second));
  const slow_stated = Math.min(...stated(memory).map((roof) => roof.per_second));
  const points = usable
    .map((point) => {
      const intensity = point.flops / point.bytes;
      const rate = point.flops / (point.time_ns * 1e-9);
      const ideal = point.reached_ratio ? rate / point.reached_ratio : Math.min(highest, slow_stated * intensity);
      return { point, px: x(intensity), py: y(rate), ideal: y(ideal) };
    })
    .sort((a, b) => b.point.time_ns - a.point.time_ns);
  return { x, y, roofs, points };
}

const kBases = ['stated', 'measured', 'reached'];
const kShortest = 150; // pixels of a line that has room for its name
const kNameLength = 150; // pixels of a memory roof's name
const kPointRoom = 6; // pixels around a point
const kPlaces = [0.06, 0.36, 0.21, 0.45]; // of a line, where a memory roof's name begins

// Whether a point lies on the name that begins at `from` and runs along the slope.
function isNear([fx, fy]: [number, number], slope: number, px: number, py: number): boolean {
  const along = (px - fx) * Math.cos(slope) + (py - fy) * Math.sin(slope);
  const across = (py - fy) * Math.cos(slope) - (px - fx) * Math.sin(slope);
  return along > -kPointRoom && along < kNameLength + kPointRoom && across > -kLine - kPointRoom && across < kPointRoom;
}

// Moves names that stand one above the other apart, from the top down, and keeps them inside.
function spread(labels: NonNullable<RoofLineGeometry['label']>[], box: Box): void {
  const sorted = [...labels].sort((a, b) => a.y - b.y);
  let free = box.top + kLine - 4;
  for (const label of sorted) {
    label.y = Math.max(label.y, free);
    free = label.y + kLine + 1;
  }
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
export function placeLabels(geometry: Geometry, box: Box, largest_ns: number, limit: number, nameOf = (name: string): string => name): Label[] {
  const taken: Box[] = geometry.points.map(({ point, px, py }) => {
    const r = pointRadius(point, largest_ns);
    return { left: px - r, right: px + r, top: py - r, bottom: py + r };
  });
  for (const { roof, label } of geometry.roofs)
    if (label && roof.kind === 'compute' && label.anchor === 'end') taken.push({ left: label.x - 260, right: label.x, top: label.y - kLine, bottom: label.y + 4 });
  const out: Label[] = [];
  for (const { point, px, py } of geometry.points.slice(0, limit)) {
    const text = shorten(nameOf(point.name), 24);
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

import type { Scale } from './scale.ts';

const at = (pixel: number): string => (Math.round(pixel * 10) / 10).toString();

// A line through the points; of those that share a pixel column only first, least, greatest and last are drawn. A null value
// or a number that is not finite leaves a gap.
export function linePath(xs: ArrayLike<number>, ys: ArrayLike<number | null>, x: Scale, y: Scale): string {
  let path = '';
  let pen = false;
  let column = NaN;
  let least = 0;
  let greatest = 0;
  let last = 0;
  const flush = () => {
    if (Number.isNaN(column)) return;
    if (least !== greatest) path += `L${at(column)} ${at(least)}L${at(column)} ${at(greatest)}`;
    path += `L${at(column)} ${at(last)}`;
    column = NaN;
  };
  for (let i = 0; i < xs.length; i += 1) {
    const value = ys[i];
    if (value === null || value === undefined || !Number.isFinite(value)) {
      flush();
      pen = false;
      continue;
    }
    const px = Math.round(x(xs[i] as number) * 2) / 2;
    const py = y(value);
    if (!pen) {
      flush();
      path += `M${at(px)} ${at(py)}`;
      pen = true;
      column = px;
      least = greatest = last = py;
    } else if (px === column) {
      least = Math.min(least, py);
      greatest = Math.max(greatest, py);
      last = py;
    } else {
      flush();
      column = px;
      least = greatest = last = py;
    }
  }
  flush();
  return path;
}

export const rectPath = (x: number, y: number, width: number, height: number): string =>
  `M${at(x)} ${at(y)}h${at(width)}v${at(height)}h${at(-width)}z`;

// Index of the first element that is not below `value`, in an ascending list.
export function lowerBound(list: ArrayLike<number>, value: number): number {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((list[middle] as number) < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

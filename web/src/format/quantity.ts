// Numbers for people, with the same rules as core/numbers.h and report/quantity.h. Units are always shown.

export const kNoBreak = '\u00a0';

export interface Scale {
  factor: number; // divide by it
  unit: string;
}

const kDuration: [number, number, string][] = [
  [999.5, 1, 'ns'],
  [999.5e3, 1e3, '\u00b5s'],
  [999.5e6, 1e6, 'ms'],
  [120e9, 1e9, 's'],
  [7200e9, 60e9, 'min'],
  [Infinity, 3600e9, 'h'],
];
const kLongestUnit = 24;
const kLeastRatio = 5e-5; // smaller ones would be written as 0.00 %
const kBytes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const kPrefixed: Record<string, string> = {
  'bytes/s': 'B/s', hz: 'Hz', Hz: 'Hz', watts: 'W', W: 'W', joules: 'J', J: 'J', volts: 'V', V: 'V', 'flop/s': 'FLOP/s', flop: 'FLOP',
};

function bytesScale(size: number): Scale {
  let factor = 1;
  let at = 0;
  while (size / factor >= 1024 && at + 1 < kBytes.length) {
    factor *= 1024;
    at += 1;
  }
  return { factor, unit: kBytes[at] ?? 'B' };
}

function prefixScale(size: number, unit: string): Scale {
  for (const [factor, prefix] of [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const)
    if (size >= factor * 0.9995) return { factor, unit: prefix + unit };
  if (size >= 0.9995 || size === 0) return { factor: 1, unit };
  for (const [factor, prefix] of [[1e-3, 'm'], [1e-6, '\u00b5'], [1e-9, 'n']] as const)
    if (size >= factor * 0.9995) return { factor, unit: prefix + unit };
  return { factor: 1, unit };
}

// How values of about this magnitude are written.
export function scaleFor(magnitude: number, unit: string): Scale {
  const size = Math.abs(magnitude);
  if (unit === 'ns') {
    for (const [limit, factor, name] of kDuration) if (size < limit) return { factor, unit: name };
  }
  if (unit === 'bytes') return bytesScale(size);
  if (unit === 'ratio') return { factor: 0.01, unit: '%' };
  if (unit === 'count') return size >= 1e10 ? { factor: 1e9, unit: 'G' } : size >= 1e7 ? { factor: 1e6, unit: 'M' } : { factor: 1, unit: '' };
  if (unit === 'celsius') return { factor: 1, unit: '\u00b0C' };
  if (unit === '1/s') return { factor: 1, unit: '/s' };
  if (unit === 'price') return { factor: 1, unit: '' }; // its currency is not known
  const prefixed = Object.prototype.hasOwnProperty.call(kPrefixed, unit) ? kPrefixed[unit] : undefined;
  if (prefixed) return prefixScale(size, prefixed);
  return { factor: 1, unit: unit.length > kLongestUnit ? `${unit.slice(0, kLongestUnit - 1)}\u2026` : unit };
}

// Digits in groups of three, with a true minus sign; a zero has no sign.
export function group(digits: string): string {
  const signed = /^-[0.]*$/.test(digits) ? digits.slice(1) : digits.replace(/^-/, '\u2212');
  const [whole = '', rest] = signed.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

function threeDigits(value: number, scale: Scale): string {
  const size = Math.abs(value);
  if (scale.factor === 1 && Number.isInteger(value) && size < 1e7) return group(value.toFixed(0));
  if (size !== 0 && (size < 1e-3 || size >= 1e10)) return value.toPrecision(3);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || scale.unit === '%' ? 2 : size >= 0.09995 || size === 0 ? 3 : size >= 0.009995 ? 4 : 5;
  return group(value.toFixed(decimals));
}

// With four digits that count, in groups: "57,890", "4.286", "0.0125".
export function fourDigits(value: number): string {
  const size = Math.abs(value);
  const decimals = size === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(size)));
  return size >= 1e15 || (size > 0 && size < 1e-6) ? value.toPrecision(4) : group(Number(value.toPrecision(4)).toFixed(Math.min(decimals, 9)));
}

export interface Quantity {
  number: string;
  unit: string;
}

export function quantity(value: number, unit: string): Quantity {
  if (!Number.isFinite(value)) return { number: 'not a number', unit: '' };
  const scale = scaleFor(value, unit);
  if (unit === 'ratio' && value !== 0 && Math.abs(value) < kLeastRatio) return { number: value > 0 ? '<\u00a00.01' : '>\u00a0\u22120.01', unit: scale.unit };
  return { number: threeDigits(value / scale.factor, scale), unit: scale.unit };
}

export function text(value: number, unit: string): string {
  const { number, unit: name } = quantity(value, unit);
  return name ? number + kNoBreak + name : number;
}

export const duration = (ns: number): string => text(ns, 'ns');
export const percent = (ratio: number): string => text(ratio, 'ratio');
// Of a change (b - a) / a; where b is ten times a or more, b / a ("506 times").
export const signedPercent = (ratio: number): string => (ratio >= 9 && Number.isFinite(ratio) ? `${text(ratio + 1, 'count')}\u00a0times` : `${ratio > 0 ? '+' : ''}${text(ratio, 'ratio')}`);
// For estimates, whose further digits would say nothing.
export const roundPercent = (ratio: number): string => (ratio >= 0.995 && ratio < 1 ? `>\u00a099${kNoBreak}%` : `${group((ratio * 100).toFixed(Math.abs(ratio) < 0.0995 ? 1 : 0))}${kNoBreak}%`);
export const count = (value: number): string => text(value, 'count');

// Both ends in one unit, with as many digits as their distance needs: "22.57 – 22.65 ms".
export function interval(low: number, high: number, unit: string): string {
  const scale = scaleFor(Math.max(Math.abs(low), Math.abs(high)), unit);
  const a = low / scale.factor;
  const b = high / scale.factor;
  const width = Math.abs(b - a);
  const needed = width > 0 ? Math.ceil(0.7 - Math.log10(width)) : 2;
  const whole = Number.isInteger(a) && Number.isInteger(b);
  const decimals = whole ? 0 : Math.min(4, Math.max(0, needed));
  let lowDecimals = decimals; // what lies above zero is not written as one
  while (a > 0 && lowDecimals < 4 && a < 0.5 * 10 ** -lowDecimals) ++lowDecimals;
  const ends = `${group(a.toFixed(lowDecimals))}${kNoBreak}\u2013${kNoBreak}${group(b.toFixed(decimals))}`;
  return scale.unit ? ends + kNoBreak + scale.unit : ends;
}

// Sentences made elsewhere, with numbers kept beside their units and true minus signs.
export function prose(words: string): string {
  return words
    .replace(/(^|[\s(])-(?=\d)/g, '$1\u2212')
    .replace(/(\d) us\b/g, '$1 \u00b5s')
    .replace(/(\d) (?=(?:%|[mn\u00b5]?s|min|h|[KMGT]i?B|[kMGT]?B\/s|[kMGT]?Hz|m?[WJ]|[GTP]?FLOP\/s|items\/s)(?![\w]))/g, `$1${kNoBreak}`);
}

// "1/s" of what: items_per_second is items/s.
export function unitOf(id: string, unit: string): string {
  const what = unit === '1/s' ? /([a-z]+)_per_second$/.exec(id)?.[1] : undefined;
  return what && what !== 'rate' ? `${what}/s` : unit;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)}${kNoBreak}${n === 1 ? one : many}`;
}

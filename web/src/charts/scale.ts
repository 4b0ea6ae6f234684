// Scales and ticks. A scale maps a data interval onto pixels.

export interface Domain {
  low: number;
  high: number;
}

export type Scale = ((value: number) => number) & { invert: (pixel: number) => number; domain: Domain };

export function linear(domain: Domain, from: number, to: number): Scale {
  const span = domain.high - domain.low || 1;
  const scale = ((value: number) => from + ((value - domain.low) / span) * (to - from)) as Scale;
  scale.invert = (pixel) => domain.low + ((pixel - from) / (to - from || 1)) * span;
  scale.domain = domain;
  return scale;
}

export function logarithmic(domain: Domain, from: number, to: number): Scale {
  const low = Math.log10(domain.low);
  const span = Math.log10(domain.high) - low || 1;
  const scale = ((value: number) => from + ((Math.log10(value) - low) / span) * (to - from)) as Scale;
  scale.invert = (pixel) => 10 ** (low + ((pixel - from) / (to - from || 1)) * span);
  scale.domain = domain;
  return scale;
}

// About `wanted` round values inside the domain (steps of 1, 2 or 5 times a power of ten; of two for bytes).
export function ticks(domain: Domain, wanted: number, base: 10 | 2 = 10): number[] {
  const span = domain.high - domain.low;
  if (!(span > 0) || !Number.isFinite(span)) return [domain.low];
  const raw = span / Math.max(1, wanted);
  let step: number;
  if (base === 2) {
    step = 2 ** Math.round(Math.log2(raw));
  } else {
    const power = 10 ** Math.floor(Math.log10(raw));
    const ratio = raw / power;
    step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
  }
  const out: number[] = [];
  for (let i = Math.ceil(domain.low / step - 1e-9); i * step <= domain.high + step * 1e-9; i += 1) out.push(i * step || 0);
  return out;
}

export function powersOfTen(domain: Domain): number[] {
  const out: number[] = [];
  for (let i = Math.ceil(Math.log10(domain.low) - 1e-9); i <= Math.log10(domain.high) + 1e-9; i += 1) out.push(10 ** i);
  return out;
}

// Powers of ten; with few of them their halves and fifths too.
export function logTicks(domain: Domain): number[] {
  const decades = powersOfTen(domain);
  const all = decades.length > 2 ? decades : [...decades, ...decades.flatMap((one) => [one / 5, one / 2, one * 2, one * 5])];
  return [...new Set(all)].filter((one) => one >= domain.low && one <= domain.high).sort((a, b) => a - b);
}

// Round values of a logarithmic scale that stand at least `apart` pixels from each other: 1, 2, 5 of each decade where there is
// room, else 1 and 3, else the decades, else every second, third ... of them.
export function spacedLogTicks(scale: Scale, apart: number): number[] {
  const { low, high } = scale.domain;
  const decade = Math.abs(scale(low * 10) - scale(low));
  const steps = decade * Math.log10(2) >= apart ? [1, 2, 5] : decade * Math.log10(3) >= apart ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(apart / decade));
  const out: number[] = [];
  for (let power = Math.floor(Math.log10(low) / every) * every; power <= Math.log10(high); power += every)
    for (const step of steps) {
      const value = Number(`${step}e${power}`);
      if (value >= low && value <= high) out.push(value);
    }
  return out;
}

export function extent(values: Iterable<number | null>): Domain | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? { low, high } : undefined;
}

// A little air around the data, so that nothing lies on the frame; a single value gets room around it.
export function padded(domain: Domain, share = 0.06): Domain {
  const span = domain.high - domain.low || Math.abs(domain.high) * 0.1 || 1;
  return { low: domain.low - span * share, high: domain.high + span * share };
}

export const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

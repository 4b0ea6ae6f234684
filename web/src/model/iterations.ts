import type { IterationColumns, Phase, Report } from './report.ts';

export interface Run {
  phase: string;
  from: number; // rows [from, to) in time order
  to: number;
}

// Iterations in the order of time.
export interface IterationSeries {
  start: number[];
  duration: number[];
  phase: number[];
  iteration: number[];
  phases: string[];
  outlier: Set<number>;
  disturbance: Map<number, string>;
  runs: Run[];
}

// Counted in the numbers; blocks with telemetry are measured too, to learn what telemetry costs, and stand apart.
export const isMeasured = (phase: string): boolean => phase === 'measure' || phase === 'step' || phase === 'device_step';
export const isBeside = (phase: string): boolean => phase === 'measure_telemetry';
export const isWarmup = (phase: string): boolean => phase === 'warmup';

export function phaseTitle(phase: string): string {
  const known: Record<string, string> = { load: 'Load', warmup: 'Warm-up', measure: 'Measured', measure_telemetry: 'Measured with telemetry', profile: 'Profiled', step: 'Steps', record: 'Recorded', trace: 'Trace' };
  return Object.prototype.hasOwnProperty.call(known, phase) ? (known[phase] as string) : phase.replace(/_/g, ' ');
}

// Of the iterations of a session with several loads, where only those of the load that counts are measured.
export const phaseTitleOf = (report: Report) => (phase: string): string => (isMeasured(phase) && countedLoad(report)) || phaseTitle(phase);

const loadsOf = (report: Report): string[] => {
  const levels = report.extra?.llm?.levels;
  return Array.isArray(levels) && levels.length > 1 ? levels.map((level) => level.load) : [];
};

// What one point of the latency is called.
export function callOf(report: Report): string {
  return report.extra?.llm ? 'request' : report.extra?.decoder ? 'generation' : 'iteration';
}

const countedLoad = (report: Report): string | undefined => (loadsOf(report).length > 0 ? report.extra?.llm?.counts : undefined);

// The phases of a session in their order; those that measure one of several loads by its name.
export function phaseTitles(report: Report, phases: Phase[]): string[] {
  const loads = loadsOf(report);
  const named = phases.filter((phase) => isMeasured(phase.name)).length === loads.length;
  let next = 0;
  return phases.map((phase) => (named && isMeasured(phase.name) && loads[next++]) || phaseTitle(phase.name));
}

export function inTimeOrder(columns: IterationColumns): IterationSeries {
  const order = Array.from({ length: columns.rows }, (_, row) => row).sort((a, b) => (columns.start_ns[a] ?? 0) - (columns.start_ns[b] ?? 0) || a - b);
  const place = new Map(order.map((row, index) => [row, index]));
  const pick = (list: number[]): number[] => order.map((row) => list[row] ?? 0);
  const phase = pick(columns.phase);
  const runs: Run[] = [];
  phase.forEach((one, index) => {
    const last = runs[runs.length - 1];
    const name = columns.phases[one] ?? '';
    if (last && last.phase === name) last.to = index + 1;
    else runs.push({ phase: name, from: index, to: index + 1 });
  });
  return {
    start: pick(columns.start_ns), duration: pick(columns.duration_ns), iteration: pick(columns.iteration), phase, phases: columns.phases, runs,
    outlier: new Set(columns.outliers.map((row) => place.get(row) ?? -1)),
    disturbance: new Map(columns.disturbances.map(({ row, text }) => [place.get(row) ?? -1, text])),
  };
}

export interface Step {
  value: number;
  share: number; // of values at or below
}

// The empirical distribution of the measured iterations; from the histogram's counts where the points were thinned (what is
// kept then are extremes, which would bend the curve).
export function distribution(series: IterationSeries | undefined, histogram: { low: number[]; high: number[]; count: number[] } | undefined, thinned: boolean): Step[] {
  if (series && !thinned) {
    const values = series.duration.filter((_, index) => isMeasured(series.phases[series.phase[index] ?? 0] ?? '')).sort((a, b) => a - b);
    return values.map((value, index) => ({ value, share: (index + 1) / values.length }));
  }
  if (!histogram) return [];
  const total = histogram.count.reduce((sum, one) => sum + one, 0);
  let sum = 0;
  const steps: Step[] = histogram.low.length > 0 ? [{ value: histogram.low[0] as number, share: 0 }] : [];
  histogram.count.forEach((one, index) => {
    sum += one;
    steps.push({ value: histogram.high[index] as number, share: total > 0 ? sum / total : 0 });
  });
  return steps;
}

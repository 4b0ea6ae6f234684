import { unitOf } from '../format/quantity.ts';

// The report document as docs/formats/report.md describes it. Everything but the schema may be missing.

export interface Metric {
  value: number;
  unit: string;
  ci95?: [number, number];
  device?: number;
}

export interface Definition {
  title: string;
  unit: string;
  formula: string;
  direction?: string;
  meaning?: string;
}

export interface Share {
  name: string;
  short_name?: string; // what tells a kernel from others, where its signature is long
  group?: string;
  provider?: string;
  parent?: string;
  total_ns: number;
  share_ratio: number;
  count: number;
  ci95?: [number, number];
  detail?: unknown;
}

export interface TimeShares {
  whole?: 'trace' | 'kernels' | 'threads' | 'active';
  devices?: number;
  parts?: Share[];
  operators?: Share[];
  nodes?: Share[];
  kernels?: Share[];
}

export interface Statement {
  id: string;
  title: string;
  text: string;
  confidence_ratio?: number;
  gain_ratio?: number;
  gain_interval_ratio?: [number, number];
  gain_of?: string;
  evidence?: string[];
}

export interface Warning {
  id: string;
  message: string;
  remedy?: string;
}

export interface Account {
  source: string;
  state: string;
  reason?: string;
  read: number;
  kept: number;
  dropped: Record<string, number>;
  notes?: string[];
}

export interface Phase {
  name: string;
  start_ns: number;
  end_ns: number;
}

export interface Session {
  id: string;
  kind: string;
  tag?: string;
  state: string;
  tool_version: string;
  created_realtime_ns?: number;
  created?: string;
  command: string[];
  request?: unknown;
  outcome?: unknown;
  phases: Phase[];
  fingerprint?: string;
  home_clock: string;
}

export interface Roof {
  name: string;
  kind: 'compute' | 'memory';
  per_second: number;
  unit: string;
  source: string;
  basis: 'stated' | 'measured' | 'reached';
  type?: string; // of a compute roof
  level?: string; // of a memory roof
}

export interface RoofPoint {
  name: string;
  group: string;
  flops: number;
  bytes: number;
  time_ns: number;
  reached_ratio?: number;
  measured_ratio?: number;
  type?: string;
  work_from?: string;
}

export interface Roofline {
  text: string;
  reached_ratio?: number;
  measured_ratio?: number;
  roofs: Roof[];
  points: RoofPoint[];
}

export interface TimelineColumns {
  rows: number;
  tracks: string[];
  track: number[];
  names: string[];
  name: number[];
  groups: string[];
  group: number[];
  start_ns: number[];
  duration_ns: number[];
}

export interface IterationColumns {
  rows: number;
  phases: string[];
  phase: number[];
  iteration: number[];
  start_ns: number[];
  duration_ns: number[];
  outliers: number[];
  disturbances: { row: number; text: string }[];
}

export interface Histogram {
  unit: string;
  low: number[];
  high: number[];
  count: number[];
}

export interface Series {
  metric: string;
  entity?: string;
  unit: string;
  time_ns: number[];
  value: (number | null)[];
}

// The sections that not every report has, by key: each declares its own member (src/sections/), as the C++ side's struct writes it
// (src/report/sections.h). tests/web/types.test.mjs holds the two against each other.
export interface Extra {}

export interface Report {
  schema: string;
  schema_version: number;
  title: string;
  session: Session;
  verdict?: { text: string; confidence: string };
  headline: string[];
  headline_of?: { device: number; name: string }; // where there are several devices
  warnings: Warning[];
  metrics: Record<string, Metric | Metric[]>;
  definitions: Record<string, Definition>;
  time?: TimeShares;
  why?: Statement[];
  advice?: Statement[];
  roofline?: Roofline;
  timeline?: TimelineColumns;
  iterations?: IterationColumns;
  histogram?: Histogram;
  telemetry?: Series[];
  environment?: unknown;
  accounts: Account[];
  extra?: Extra;
  thinned?: Record<string, number>;
}

export const kSchemaVersion = 1;

// The document, or the reason why it cannot be shown.
export function readReport(text: string): Report | string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'This page has no report data (it is an unfilled template). Run "aaco report" to create a report.';
  }
  const report = document as Partial<Report> | null;
  if (!report || report.schema !== 'aaco.report' || typeof report.schema_version !== 'number')
    return 'The data in this page is not an AACO report.';
  if (report.schema_version > kSchemaVersion)
    return `This report has schema version ${report.schema_version}; this page reads up to ${kSchemaVersion}. Regenerate it with the aaco version that wrote the session.`;
  return report as Report;
}

export interface NamedMetric extends Metric {
  id: string;
}

export function listMetrics(report: Report): NamedMetric[] {
  return Object.entries(report.metrics ?? {}).flatMap(([id, one]) =>
    (Array.isArray(one) ? one : [one]).filter((m) => typeof m?.value === 'number').map((m) => ({ ...m, id, unit: unitOf(id, m.unit ?? '') })));
}

export function findMetric(report: Report, id: string, device?: number): NamedMetric | undefined {
  return listMetrics(report).find((metric) => metric.id === id && (device === undefined || metric.device === device));
}

export function metricTitle(report: Report, id: string): string {
  const defined = Object.prototype.hasOwnProperty.call(report.definitions ?? {}, id) ? report.definitions[id]?.title : '';
  if (defined) return defined;
  const words = id.replace(/_(ns|bytes|ratio|hz|watts|joules|celsius|per_second)$/, '').replace(/[._]/g, ' ').replace(/\bp(\d+)\b/g, 'P$1').replace(/\b(gpu|cpu|rss|io|psi)\b/g, (name) => name.toUpperCase());
  return words ? words[0]?.toUpperCase() + words.slice(1) : id;
}

// What a metric means, for a tooltip: its meaning, its formula, its id.
export function metricTip(report: Report, id: string): string {
  const defined = Object.prototype.hasOwnProperty.call(report.definitions ?? {}, id) ? report.definitions[id] : undefined;
  return [defined?.meaning, defined?.formula, id].filter(Boolean).join('\n');
}

const shortNames = new WeakMap<Report, Map<string, string>>();

// The short form of a kernel's name where there is no room for the whole one.
export function shortNameIn(report: Report, name: string): string {
  let known = shortNames.get(report);
  if (!known) shortNames.set(report, (known = new Map((report.time?.kernels ?? []).flatMap((one): [string, string][] => (one.short_name ? [[one.name, one.short_name]] : [])))));
  return known.get(name) ?? name;
}

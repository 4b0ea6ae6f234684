// What /api/v1/fleet, /api/v1/fleet/heat and /api/v1/fleet/nodes/NODE answer (docs/formats/fleet.md), and how it is read.

export interface FleetEvidence {
  metric: string;
  effect_ratio?: number;
  effect?: number;
  value: number;
  peer_value: number;
  peers: number;
  q: number;
  rows: string;
}
export interface FleetFinding {
  kind: string;
  title: string;
  node: string;
  device?: number;
  job?: string;
  since: string;
  until_unix_ns: number;
  lasting: boolean;
  severity: number;
  q: number;
  hint: string;
  evidence: FleetEvidence[];
  silenced?: string;
}
export interface FleetStraggler {
  job: string;
  ranks: number;
  verdict: string;
  reason?: string;
  node?: string;
  devices?: number[];
  cause?: string;
  late_ratio?: number;
}
export interface FleetOverview {
  nodes: number;
  status: { rows: number; nodes: number; devices: number; jobs: number; first_unix_ns: number; until_unix_ns: number };
  findings: FleetFinding[];
  stragglers: FleetStraggler[];
  metrics: FleetMetric[];
}
export interface FleetMetric {
  metric: string;
  metric_group: string;
  meaning: string;
}
export interface FleetHeat {
  metric: string;
  meaning: string;
  metrics: FleetMetric[];
  judged: boolean; // with findings: nodes are sorted by their severity; else by name
  first_unix_ns: number;
  bin_ns: number;
  bins: number;
  nodes: string[];
  severity: number[];
  values: (number | null)[][];
}
export interface FleetNode {
  node: string;
  judged: boolean;
  first_unix_ns: number;
  bin_ns: number;
  bins: number;
  findings: FleetFinding[];
  series: { metric: string; device?: number; job?: string; values: (number | null)[] }[];
  sessions: { id: string; kind: string; tag: string; state: string; command?: string }[];  // with a command: in the fleet's engine only
}

// Nodes by their worst finding, as the server sorts them once it has worked the findings out.
export function judged(heat: FleetHeat, findings: FleetFinding[]): FleetHeat {
  if (heat.judged) return heat;
  const worst = new Map<string, number>();
  for (const one of findings) worst.set(one.node, Math.max(worst.get(one.node) ?? 0, one.severity));
  const order = heat.nodes.map((node, at) => ({ node, severity: worst.get(node) ?? 0, values: heat.values[at]! })).sort((a, b) => b.severity - a.severity);
  return { ...heat, judged: true, nodes: order.map((one) => one.node), severity: order.map((one) => one.severity), values: order.map((one) => one.values) };
}

// "power_watts" -> "watts": the unit at the end of a column's name.
const kUnits: Record<string, string> = { hz: 'hz', watts: 'watts', celsius: 'celsius', ratio: 'ratio', ns: 'ns', s: 's' };
export function unitOfMetric(metric: string): string {
  return kUnits[metric.slice(metric.lastIndexOf('_') + 1)] ?? 'count';
}

export interface Span {
  low: number;
  high: number;
}
// From the 1st to the 99th percentile, so that one odd node does not take all colours; never empty.
export function spanOf(values: (number | null)[][]): Span | null {
  const all = values.flat().filter((value): value is number => value !== null).sort((a, b) => a - b);
  if (all.length === 0) return null;
  const at = (share: number) => all[Math.min(all.length - 1, Math.floor(share * all.length))]!;
  const span = { low: at(0.01), high: at(0.99) };
  return span.high > span.low ? span : { low: all[0]!, high: Math.max(all[all.length - 1]!, all[0]! + Math.max(1e-9, Math.abs(all[0]!) * 1e-3)) };
}

export const timeText = (unixNs: number): string => new Date(unixNs / 1e6).toISOString().slice(0, 16).replace('T', ' ');

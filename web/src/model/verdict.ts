// The verdict document as docs/formats/verdict.md describes it: what diff, ab and gate print with --json.

export interface MetricVerdict {
  metric: string;
  unit: string;
  device?: number;
  method: string;
  verdict: string;
  reason?: string;
  threshold_ratio: number;
  baseline?: number;
  candidate?: number;
  delta_ratio?: number;
  interval?: [number, number];
  smallest_detectable_ratio?: number; // an increase
  smallest_detectable_decrease_ratio?: number;
  confidence?: number;
  explanation?: string;
}

export interface Difference {
  key: string;
  baseline: string;
  candidate: string;
  forbids: boolean;
  severity: string;
  meaning: string;
}

export interface Part {
  part: string;
  title: string;
  delta_ns: number;
  share_ratio: number;
  evidence?: string;
}

export interface Cause {
  cause: string;
  title: string;
  probability_ratio?: number; // of the causes of a run; those of a trace's steps have a p-value
  p_holm?: number;
  share_ratio?: number;
  evidence?: string[];
}

export interface RootCause {
  of?: string;
  averaged_sessions?: { baseline: number; candidate: number };
  causes?: Cause[];
  decomposition?: { baseline_ns: number; candidate_ns: number; delta_ns: number; parts: Part[]; unexplained_ns: number; profile_scale_ratio?: number };
  order?: { signal: string; since_ns: number; baseline: number; candidate: number }[];
  chain?: { at_ns: number; what: string }[];
}

interface KernelSide {
  calls_per_step: number;
  mean_ns: number;
  per_step_ns: number;
}

export interface KernelChange {
  kernel: string;
  change: string;
  verdict: string;
  p_holm?: number | null;
  delta_ns: number;
  baseline: KernelSide;
  candidate: KernelSide;
}

interface NodeSide {
  op_type: string;
  provider: string;
  executions: number;
  time_ns: number;
}

export interface NodeChange {
  node: string;
  former_name?: string;
  change: string;
  delta_ns: number;
  baseline: NodeSide | null;
  candidate: NodeSide | null;
}

// Of a profiled iteration: the nodes' differences, those between and those around them add up to delta_ns.
export interface NodePairs {
  baseline_session: string;
  candidate_session: string;
  delta_ns: number;
  between_nodes_ns: number;
  around_nodes_ns: number;
  node_count: number;
  nodes: NodeChange[];
}

export interface Round {
  change_ratio: number;
  pairs: number;
  b_first: boolean;
  a_median_ns: number;
  b_median_ns: number;
}

interface DistributedSide {
  total: number;
  p50_ns: number;
  p90_ns: number;
  p99_ns: number;
  count: number[];
}

// Latencies of both sides over the same bins of equal width; the last one has all beyond.
export interface Distributions {
  scope: string;
  low_ns: number;
  high_ns: number;
  baseline: DistributedSide;
  candidate: DistributedSide;
}

export interface Verdict {
  schema_version: number;
  verdict: string;
  severity: string;
  confidence: number;
  opposite?: string;
  suspected_cause: string | null;
  recommendation: string;
  comparable: boolean;
  forced: boolean;
  baseline: string[];
  candidate: string[];
  threshold_ratio: number;
  level: number;
  decided_by?: string;
  evidence?: { rows?: { signal: string; unit: string; baseline: number; candidate: number; delta_ratio: number | null }[] };
  differences: Difference[];
  statistics: MetricVerdict[];
  root_cause?: RootCause;
  kernels?: { delta_ns: number; kernel_count: number; kernels: KernelChange[] };
  nodes?: NodePairs;
  distributions?: Distributions;
  gate?: { baseline: string; attempts: number; measured: string[] };
  ab?: { ended: string; wall_ns: number; rounds?: Round[] };
  notes: string[];
}

export const kSchemaVersion = 1;

// The document, or the reason why it cannot be shown.
export function readVerdict(text: string): Verdict | string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'This page has no comparison data (it is an unfilled template). Run "aaco diff A B --html FILE" to create a comparison.';
  }
  const verdict = document as Partial<Verdict> | null;
  if (!verdict || typeof verdict.verdict !== 'string' || !Array.isArray(verdict.statistics)) return 'The data in this page is not an AACO verdict.';
  if ((verdict.schema_version ?? 0) > kSchemaVersion)
    return `This verdict has schema version ${verdict.schema_version}; this page reads up to ${kSchemaVersion}. Regenerate it with the aaco version that wrote it.`;
  return verdict as Verdict;
}

// "latency.p50_ns" as "Latency P50", with the device where there are several.
// "Latency P50" of "latency.p50_ns".
export function metricWords(id: string): string {
  const words = id.replace(/_(ns|bytes|ratio|hz|watts|joules|celsius)$/, '').replace(/[._]/g, ' ').replace(/\bp(\d+)\b/g, 'P$1').replace(/\b(gpu|cpu|rss|kv)\b/g, (name) => name.toUpperCase());
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`;
}

export const metricName = (metric: MetricVerdict): string => `${metricWords(metric.metric)}${metric.device === undefined ? '' : `, device ${metric.device}`}`;

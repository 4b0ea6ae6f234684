import { Facts } from '../components/facts.tsx';
import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { ScrollBox } from '../components/scroll_box.tsx';
import { shorten } from '../format/name.ts';
import { duration, percent, text } from '../format/quantity.ts';
import { metricTip, type Report } from '../model/report.ts';
import { termTip } from '../model/terms.ts';

// As src/report/gpu_sections.h writes them.
interface Device {
  name: string;
  bound: string | null;
  active_ratio?: number;
  active_ratio_band?: string;
  launch_tax?: number;
  launch_tax_band?: string;
  launch_lost_ratio?: number;
  kernels_per_node?: number;
  kernels_per_node_band?: string;
  queue_depth?: number;
  api_mean_ns?: number;
  queue_mean_ns?: number;
  execution_mean_ns?: number;
  roofline_ratio?: number;
}

interface Rank {
  rank: number;
  span_ns: number;
  compute_ns: number;
  collective_count: number;
  collective_sum_ns: number;
  exposed_collective_ns: number;
  idle_ns: number;
  step_mean_ns?: number;
}

interface Gpu {
  devices: Device[];
  families: { family: string; kernel_count: number; kernel_sum_ns: number; share_ratio: number }[];
  convention?: { orphan_kernels: string; memset: string; span: string };
  ranks?: Rank[];
}

interface Attribution {
  kernel_count: number;
  attributed_kernel_count: number;
  kernel_sum_ns: number;
  attributed_kernel_sum_ns: number;
  methods: { method: string; kernel_count: number; kernel_sum_ns: number }[];
  operators: { operator: string; kernel_count: number; kernel_sum_ns: number }[];
}

interface Gap {
  rank: number;
  device: number;
  start_ns: number;
  length_ns: number;
  cause: string;
  confidence_ratio: number;
  previous: string;
  next: string;
  evidence?: string;
  host_cause?: string; // what took most of it on the launching thread
  host_cause_ns?: number;
  host_run_queue_ns?: number;
  host_off_cpu_ns?: number;
}

interface Gaps {
  causes: { cause: string; gap_count: number; idle_ns: number }[];
  longest: Gap[];
  host_causes?: { cause: string; title: string; remedy: string; gap_count: number; idle_ns: number }[];
  explained_ratio?: number;
  host?: { gap_count: number; run_queue_ns: number; off_cpu_ns: number };
}

declare module '../model/report.ts' {
  interface Extra {
    gpu?: Gpu;
    attribution?: Attribution;
    gaps?: Gaps;
  }
}

const kRows = 12;
const kBound: Record<string, string> = {
  compute: 'busy: kernels', communication: 'exposed communication', copy: 'exposed copies', launch: 'launch-bound', waiting: 'host-bound: GPU starved', held: 'launched work held back on the device',
};

// Columns of the table of devices, and the metrics in them.
const kMetrics: [string, string[]][] = [
  ['Active', ['gpu.active_ratio']],
  ['Launch tax', ['launch.tax']],
  ['Queue depth', ['launch.queue_depth_mean']],
  ['API call, queued, running', ['launch.api_mean_ns', 'launch.queue_mean_ns', 'launch.execution_mean_ns']],
  ['Roofline efficiency', ['gpu.roofline_ratio']],
];

interface Bar { name: string; ns: number; count?: number; tip?: string }

function Bars({ title, bars, noun }: { title: string; bars: Bar[]; noun: string }) {
  const sorted = bars.filter((bar) => bar.ns > 0).sort((a, b) => b.ns - a.ns);
  const whole = sorted.reduce((sum, bar) => sum + bar.ns, 0);
  const largest = sorted[0]?.ns ?? 0;
  const only = sorted[0];
  if (whole <= 0 || !only) return null;
  if (sorted.length === 1) return <p class="note" title={only.tip ?? termTip(only.name)}><span class="quiet">{title}:</span> {shorten(only.name, 80)}, {duration(only.ns)}{only.count ? `, ×\u00a0${only.count.toLocaleString('en')}` : ''}</p>;
  return (
    <table class="legend">
      <caption class="left quiet">{title}{sorted.length > kRows ? `, top ${kRows} of ${sorted.length}` : ''}</caption>
      <thead><tr><th scope="col">{noun}</th><th scope="col" class="narrow" aria-label="relative size" /><th scope="col" class="right">share</th><th scope="col" class="right">time</th><th scope="col" class="right narrow">count</th></tr></thead>
      <tbody>
        {sorted.slice(0, kRows).map((bar) => (
          <tr key={bar.name}>
            <th scope="row" title={bar.tip ?? termTip(bar.name)}><Name text={bar.name} /></th>
            <td class="narrow bar-cell"><span class="bar s0" style={{ width: `${(bar.ns / largest) * 100}%` }} /></td>
            <td class="right strong">{percent(bar.ns / whole)}</td>
            <td class="right">{duration(bar.ns)}</td>
            <td class="right narrow quiet">{bar.count ? `×\u00a0${bar.count.toLocaleString('en')}` : ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DeviceTable({ devices, report }: { devices: Device[]; report: Report }) {
  if (devices.length === 0) return null;
  const band = (value: string | undefined, name: string | undefined) => (value === undefined ? '' : name ? `${value} (${name})` : value);
  return (
    <ScrollBox label="GPUs"><table class="fact-table whole-words">
      <thead><tr><th scope="col">Device</th><th scope="col">Largest share</th>{kMetrics.map(([name, ids]) => <th key={name} scope="col" title={ids.map((one) => metricTip(report, one)).join('\n\n')}>{name}</th>)}</tr></thead>
      <tbody>
        {devices.map((device) => (
          <tr key={device.name}>
            <td>{device.name}</td>
            <td>{kBound[device.bound ?? ''] ?? device.bound ?? ''}</td>
            <td>{band(device.active_ratio === undefined ? undefined : percent(device.active_ratio), device.active_ratio_band)}</td>
            <td>{band(device.launch_tax === undefined ? undefined : text(device.launch_tax, ''), device.launch_tax_band)}</td>
            <td>{device.queue_depth === undefined ? '' : text(device.queue_depth, '')}</td>
            <td>{device.api_mean_ns === undefined ? '' : `${duration(device.api_mean_ns)}, ${duration(device.queue_mean_ns ?? 0)}, ${duration(device.execution_mean_ns ?? 0)}`}</td>
            <td>{device.roofline_ratio === undefined ? '' : percent(device.roofline_ratio)}</td>
          </tr>
        ))}
      </tbody>
    </table></ScrollBox>
  );
}

function GpuSection({ report, id, title }: SectionProps) {
  const { gpu, attribution, gaps } = report.extra ?? {};
  const kernels = attribution?.kernel_count ?? 0;
  const lead = attribution && kernels > 0
    ? `Attributed: ${percent(attribution.attributed_kernel_count / kernels)} of the kernels and ${percent(attribution.attributed_kernel_sum_ns / Math.max(1, attribution.kernel_sum_ns))} of their time.`
    : undefined;
  return (
    <Section id={id} title={title} lead={lead}>
      <DeviceTable devices={gpu?.devices ?? []} report={report} />
      {gpu?.convention ? <p class="quiet">Kernels without a launch record are {gpu.convention.orphan_kernels}, memsets {gpu.convention.memset}; the span is {gpu.convention.span}.</p> : null}
      <Bars title="Kernel families" noun="family" bars={(gpu?.families ?? []).map((one) => ({ name: one.family, ns: one.kernel_sum_ns, count: one.kernel_count }))} />
      <Bars title="Idle time by cause" noun="cause" bars={(gaps?.causes ?? []).map((one) => ({ name: one.cause === 'host_late' ? 'late launch' : one.cause.replace(/_/g, ' '), ns: one.idle_ns, count: one.gap_count }))} />
      <Bars title={`Host activity while the GPU was idle${gaps?.explained_ratio === undefined ? '' : ` (${percent(gaps.explained_ratio)} explained)`}`} noun="cause" bars={(gaps?.host_causes ?? []).map((one) => ({ name: one.title, ns: one.idle_ns, count: one.gap_count, tip: `${one.title}. Remedy: ${one.remedy}` }))} />
      <Bars title="Kernel time by operator" noun="operator" bars={(attribution?.operators ?? []).map((one) => ({ name: one.operator, ns: one.kernel_sum_ns, count: one.kernel_count }))} />
      <details class="fold"><summary>Attribution method and longest gaps</summary>
        <Facts value={{ methods: attribution?.methods ?? [], longest_gaps: gaps?.longest ?? [], hosts_of_gaps: gaps?.host, ranks: gpu?.ranks }} />
      </details>
    </Section>
  );
}

const has = (one: unknown): boolean => typeof one === 'object' && one !== null;

export const gpuSection: SectionEntry = {
  id: 'gpu',
  title: 'GPUs',
  shows: ['gpu', 'attribution', 'gaps'],
  has: ({ extra }) => has(extra?.gpu) || has(extra?.attribution) || has(extra?.gaps),
  view: GpuSection,
};

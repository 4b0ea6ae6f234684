import { Flame, type Frame } from '../charts/flame.tsx';
import { DataTable } from '../components/data_table.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { count, duration, text } from '../format/quantity.ts';
import '../model/report.ts';

interface WaitFrame {
  name: string;
  total_ns: number;
  kernel: boolean;
  children: WaitFrame[];
}

// As src/report/operating_system_section.h writes it.
interface OperatingSystem {
  thread_count: number;
  threads: {
    name: string;
    thread_id: number;
    process_id: number;
    run_ns: number;
    run_queue_ns: number;
    off_cpu_ns: number;
    migrations: number;
    page_faults: number;
  }[];
  reasons: { kind: string; detail: string; call: string; count: number; total_ns: number; longest_ns: number; bytes?: number; woken_wait_ns?: number }[];
  waits?: WaitFrame;
}

declare module '../model/report.ts' {
  interface Extra {
    operating_system?: OperatingSystem;
  }
}

const kUser = 0, kKernel = 4, kThread = 7; // slots
const kKinds: Record<string, string> = { run: 'running', run_queue: 'runnable, waiting for a CPU', off_cpu: 'off-CPU', irq: 'interrupt', softirq: 'softirq', page_fault: 'page fault', block_io: 'block I/O', migrate: 'CPU migration', gpu_job: 'GPU job', gpu_fence: 'GPU fence', gpu_buffer: 'GPU buffer', gpu_memory: 'GPU memory' };

const frameOf = (wait: WaitFrame, depth: number): Frame => ({
  name: wait.name, total_ns: wait.total_ns, slot: depth <= 1 ? kThread : wait.kernel ? kKernel : kUser, children: wait.children.map((one) => frameOf(one, depth + 1)),
});

const timeCell = (ns: number) => <span class="nowrap">{ns > 0 ? duration(ns) : ''}</span>;

function View({ report, id, title }: SectionProps) {
  const system = report.extra?.operating_system as OperatingSystem;
  return (
    <Section id={id} title={title}>
      {system.waits && (
        <>
          <h3>Off-CPU flame graph</h3>
          <p class="quiet">Where threads waited: thread, functions of the program, then functions of the kernel (light). Code without frame pointers has its innermost function only.</p>
          <Flame root={frameOf(system.waits, 0)} title="Off-CPU flame graph" whole="the time off the CPU" />
        </>
      )}
      <DataTable caption="Reasons" rows={system.reasons} rowKey={(one) => `${one.kind}/${one.detail}/${one.call}`} noun="reason" filterText={(one) => `${one.kind} ${one.detail} ${one.call}`} sortBy="total"
        columns={[
          { key: 'kind', title: 'what', cell: (one) => kKinds[one.kind] ?? one.kind },
          { key: 'detail', title: 'reason', cell: (one) => one.detail },
          { key: 'call', title: 'system call', narrow: true, cell: (one) => <span class="mono">{one.call}</span> },
          { key: 'count', title: 'count', align: 'right', value: (one) => one.count, cell: (one) => count(one.count) },
          { key: 'total', title: 'total', align: 'right', value: (one) => one.total_ns, cell: (one) => timeCell(one.total_ns) },
          { key: 'longest', title: 'max', align: 'right', narrow: true, value: (one) => one.longest_ns, cell: (one) => timeCell(one.longest_ns) },
          ...(system.reasons.some((one) => one.bytes) ? [{ key: 'bytes', title: 'bytes', align: 'right' as const, narrow: true, value: (one: { bytes?: number }) => one.bytes ?? 0, cell: (one: { bytes?: number }) => (one.bytes ? text(one.bytes, 'bytes') : '') }] : []),
        ]} />
      <DataTable caption="Threads" rows={system.threads} rowKey={(one) => String(one.thread_id)} noun="thread" filterText={(one) => one.name} sortBy="run"
        columns={[
          { key: 'name', title: 'thread', cell: (one) => <span class="mono break">{one.name || 'thread'}</span> },
          { key: 'id', title: 'ID', align: 'right', narrow: true, value: (one) => one.thread_id, cell: (one) => one.thread_id },
          { key: 'run', title: 'running', align: 'right', value: (one) => one.run_ns, cell: (one) => timeCell(one.run_ns) },
          { key: 'queue', title: 'runnable', align: 'right', value: (one) => one.run_queue_ns, cell: (one) => timeCell(one.run_queue_ns) },
          { key: 'off', title: 'off-CPU', align: 'right', value: (one) => one.off_cpu_ns, cell: (one) => timeCell(one.off_cpu_ns) },
          { key: 'migrations', title: 'migrations', align: 'right', narrow: true, value: (one) => one.migrations, cell: (one) => count(one.migrations) },
          { key: 'faults', title: 'page faults', align: 'right', narrow: true, value: (one) => one.page_faults, cell: (one) => count(one.page_faults) },
        ]} />
    </Section>
  );
}

export const operatingSystemSection: SectionEntry = { id: 'operating_system', title: 'Operating system activity', shows: ['operating_system'], has: (report) => report.extra?.operating_system, view: View };

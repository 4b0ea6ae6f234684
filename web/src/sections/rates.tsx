import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { ScrollBox } from '../components/scroll_box.tsx';
import { duration, percent, text } from '../format/quantity.ts';

// As src/report/work_rates_section.h and src/report/collectives_section.h write them.
interface Rate {
  rank: number;
  device: number;
  name: string;
  short_name?: string;
  family?: string;
  data_type?: string;
  source: string;
  count: number;
  time_ns: number;
  flops?: number;
  bytes?: number;
  flops_per_s?: number;
  bytes_per_s?: number;
  peak_flops_per_s?: number;
  peak_bytes_per_s?: number;
  flops_ratio?: number;
  bytes_ratio?: number;
}

interface WorkRates {
  hardware?: string;
  kernel_count: number;
  operator_count: number;
  kernels: Rate[];
  operators: Rate[];
}

interface Kind {
  operation: string;
  group_size?: number;
  count: number;
  time_ns: number;
  wait_ns?: number;
  data_bytes?: number;
  bus_factor?: number;
  algorithm_bytes_per_s?: number;
  bus_bytes_per_s?: number;
  time_method?: string;
}

interface Collectives {
  call_count: number;
  matched_count: number;
  kinds: Kind[];
  ranks?: { rank: number; operation: string; count: number; time_ns: number; wait_ns: number; last_count: number }[];
  worst?: {
    instance: number;
    operation: string;
    group: string;
    start_ns: number;
    rank_count: number;
    group_size?: number;
    data_bytes?: number;
    longest_wait_ns: number;
    wait_sum_ns: number;
    last_rank: number;
    wait_method: string;
  }[];
}

declare module '../model/report.ts' {
  interface Extra {
    work_rates?: WorkRates;
    collectives?: Collectives;
  }
}

const kRows = 12;
const amount = (value: number | undefined, unit: string) => (value === undefined ? '' : text(value, unit));
const part = (value: number | undefined) => (value === undefined ? '' : percent(value));

function RateTable({ title, noun, rates }: { title: string; noun: string; rates: Rate[] }) {
  if (rates.length === 0) return null;
  return (
    <ScrollBox label={title}><table class="fact-table whole-words rate-table">
      <caption class="left quiet">{title}{rates.length > kRows ? `, top ${kRows} by time` : ''}</caption>
      <thead><tr>
        <th scope="col">{noun}</th><th scope="col">data type</th><th scope="col">time</th>
        <th scope="col" title="Floating-point operations per second of device time; a multiply-add counts as two">FLOP/s</th><th scope="col" title="Share of the device's stated dense peak for the data type">of peak</th>
        <th scope="col" title="Bytes per second of device time">bytes/s</th><th scope="col" title="Share of the device's stated memory bandwidth; above 100 % where caches served part of the bytes">of peak</th>
        <th scope="col" title="Where operations and bytes are from: operator shapes, or hardware counters">source</th>
      </tr></thead>
      <tbody>
        {rates.slice(0, kRows).map((rate, index) => (
          <tr key={index}>
            <td><Name text={rate.short_name ?? rate.name} whole={rate.name} /></td><td>{rate.data_type ?? ''}</td><td>{duration(rate.time_ns)}</td>
            <td>{amount(rate.flops_per_s, 'flop/s')}</td><td>{part(rate.flops_ratio)}</td>
            <td>{amount(rate.bytes_per_s, 'bytes/s')}</td><td>{part(rate.bytes_ratio)}</td><td>{rate.source}</td>
          </tr>
        ))}
      </tbody>
    </table></ScrollBox>
  );
}

function RatesSection({ report, id, title }: SectionProps) {
  const rates = report.extra?.work_rates;
  const lead = rates?.hardware ? `Peaks are the stated figures of ${rates.hardware}. Kernels and operators without known work are left out.` : 'The device is unknown, so there are no shares of its peaks. Kernels and operators without known work are left out.';
  return (
    <Section id={id} title={title} lead={lead}>
      <RateTable title="Kernels" noun="kernel" rates={rates?.kernels ?? []} />
      <RateTable title="Operators" noun="operator" rates={rates?.operators ?? []} />
    </Section>
  );
}

function CollectivesSection({ report, id, title }: SectionProps) {
  const collectives = report.extra?.collectives;
  const ranks = collectives?.ranks ?? [];
  const worst = collectives?.worst ?? [];
  return (
    <Section id={id} title={title} lead="Algorithm bandwidth is size / time; bus bandwidth corrects it for the operation and the group size (nccl-tests). Where no wait is known the time includes waiting for other ranks.">
      <ScrollBox label="Collectives"><table class="fact-table whole-words">
        <thead><tr><th scope="col">Operation</th><th scope="col">ranks</th><th scope="col">count</th><th scope="col">time</th><th scope="col">waiting</th><th scope="col">bytes</th><th scope="col">algorithm bandwidth</th><th scope="col">bus bandwidth</th></tr></thead>
        <tbody>
          {(collectives?.kinds ?? []).slice(0, kRows).map((kind, index) => (
            <tr key={index}>
              <td>{kind.operation || 'unknown'}</td><td>{kind.group_size ?? ''}</td><td>{kind.count.toLocaleString('en')}</td><td>{duration(kind.time_ns)}</td>
              <td>{kind.wait_ns === undefined ? '' : duration(kind.wait_ns)}</td><td>{amount(kind.data_bytes, 'bytes')}</td>
              <td>{amount(kind.algorithm_bytes_per_s, 'bytes/s')}</td><td>{amount(kind.bus_bytes_per_s, 'bytes/s')}</td>
            </tr>
          ))}
        </tbody>
      </table></ScrollBox>
      {ranks.length === 0 ? null : (
        <ScrollBox label="Waits by rank"><table class="fact-table whole-words">
          <caption class="left quiet">Waits by rank</caption>
          <thead><tr><th scope="col">Rank</th><th scope="col">operation</th><th scope="col">count</th><th scope="col">time</th><th scope="col">waiting</th><th scope="col" title="Operations in which the others waited for this rank">last to arrive</th></tr></thead>
          <tbody>{ranks.map((rank, index) => <tr key={index}><td>{rank.rank}</td><td>{rank.operation}</td><td>{rank.count}</td><td>{duration(rank.time_ns)}</td><td>{duration(rank.wait_ns)}</td><td>{rank.last_count}</td></tr>)}</tbody>
        </table></ScrollBox>
      )}
      {worst.length === 0 ? null : (
        <ScrollBox label="Longest waits"><table class="fact-table whole-words">
          <caption class="left quiet">Longest waits</caption>
          <thead><tr><th scope="col">Operation</th><th scope="col">number</th><th scope="col">ranks</th><th scope="col">longest wait</th><th scope="col">all waits</th><th scope="col">last rank</th></tr></thead>
          <tbody>{worst.slice(0, kRows).map((call) => <tr key={call.instance}><td>{call.operation}</td><td>{call.instance}</td><td>{call.rank_count}</td><td>{duration(call.longest_wait_ns)}</td><td>{duration(call.wait_sum_ns)}</td><td>{call.last_rank}</td></tr>)}</tbody>
        </table></ScrollBox>
      )}
    </Section>
  );
}

const any = (one: unknown): boolean => Array.isArray(one) && one.length > 0;

export const ratesSection: SectionEntry = {
  id: 'rates',
  title: 'FLOP/s and bytes/s',
  shows: ['work_rates'],
  has: ({ extra }) => any(extra?.work_rates?.kernels) || any(extra?.work_rates?.operators),
  view: RatesSection,
};

export const collectivesSection: SectionEntry = {
  id: 'collectives',
  title: 'Collectives',
  shows: ['collectives'],
  has: ({ extra }) => any(extra?.collectives?.kinds),
  view: CollectivesSection,
};

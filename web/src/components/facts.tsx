import { scaleFor, text as quantityText } from '../format/quantity.ts';
import { ScrollBox } from './scroll_box.tsx';

// Any JSON value as facts: objects as lists of terms, lists of objects one below the other, the rest as text.
const kSuffixes: [RegExp, string][] = [
  [/_ns$/, 'ns'], [/_bytes$/, 'bytes'], [/_ratio$/, 'ratio'], [/_hz$/, 'hz'], [/_watts$/, 'watts'], [/_joules$/, 'joules'], [/_celsius$/, 'celsius'],
];

// Nanoseconds from here on (from 2001) are no duration that anybody measured, but a time since 1970.
const kSurelyDate = 978e15;
const kListed = 24; // of a long list of values; the rest is folded
const kMaxFacts = 30; // facts beside each other; of more
const kFirstFacts = 12; // so many are shown
const kItems = 6; // of a long list of objects

function unitOf(key: string): string | undefined {
  return kSuffixes.find(([suffix]) => suffix.test(key))?.[1];
}

export function factText(key: string, value: unknown): string {
  if (typeof value === 'number') {
    const unit = unitOf(key);
    if (unit === 'ns' && value >= kSurelyDate) return new Date(value / 1e6).toISOString().replace('T', ' ').replace('Z', ' UTC');
    if (unit && scaleFor(value, unit).unit) return quantityText(value, unit);
    return String(value);
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === null || value === undefined) return 'unknown';
  if (Array.isArray(value)) return value.map((one) => factText('', one)).join(', ');
  return String(value);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNested = (value: unknown): boolean => isObject(value) || (Array.isArray(value) && value.some((one) => typeof one === 'object' && one !== null));

const kAcronyms: Record<string, string> = {
  cpu: 'CPU', cpus: 'CPUs', gpu: 'GPU', gpus: 'GPUs', os: 'OS', id: 'ID', pcie: 'PCIe', pci: 'PCI', rocm: 'ROCm', numa: 'NUMA', api: 'API', vgpr: 'VGPR', sgpr: 'SGPR', lds: 'LDS', uuid: 'UUID', bios: 'BIOS', smt: 'SMT', aslr: 'ASLR', rss: 'RSS',
};

// A key in words. What is written in capitals (a variable's name) stays as it is.
export const factTitle = (key: string): string => {
  if (/[A-Z]/.test(key) || !/^[a-z0-9_]+$/.test(key)) return key.trim() === '' ? '(no name)' : key;
  const words = (unitOf(key) ? key.replace(/_[a-z]+$/, '') : key).split('_').filter((word) => word !== '').map((word) => (Object.prototype.hasOwnProperty.call(kAcronyms, word) ? kAcronyms[word] as string : word));
  const first = words[0] ?? '(no name)';
  return [first[0]?.toUpperCase() + first.slice(1), ...words.slice(1)].join(' ');
};

// Under these keys stand names of things (packages, variables), not words.
const kNames = /^(variables|libraries|packages|versions|python_packages|facts)$/;

// What holds nothing is left out: absent is not a fact.
const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.every(isEmpty)) || (isObject(value) && Object.values(value).every(isEmpty));

// Several flat objects with the same few keys.
function isTable(list: unknown[]): list is Record<string, unknown>[] {
  const keys = isObject(list[0]) ? Object.keys(list[0]) : [];
  return list.length > 1 && keys.length > 1 && keys.length <= 8 && list.every((one) => isObject(one) && Object.keys(one).join() === keys.join() && Object.values(one).every((cell) => !isNested(cell)));
}

function FactTable({ rows }: { rows: Record<string, unknown>[] }) {
  const keys = Object.keys(rows[0] ?? {});
  return (
    <ScrollBox label="Facts">
      <table class="fact-table">
        <thead><tr>{keys.map((key) => <th key={key} scope="col">{factTitle(key)}</th>)}</tr></thead>
        <tbody>{rows.map((row, index) => <tr key={index}>{keys.map((key) => <td key={key}>{factText(key, row[key])}</td>)}</tr>)}</tbody>
      </table>
    </ScrollBox>
  );
}

function FactList({ list, depth }: { list: unknown[]; depth: number }) {
  const items = (some: unknown[]) => <ol class="fact-list">{some.map((one, index) => <li key={index}><Facts value={one} depth={depth + 1} /></li>)}</ol>;
  if (list.length <= kItems) return items(list);
  return <>{items(list.slice(0, kItems))}<details class="fold"><summary>{`and ${list.length - kItems} more`}</summary>{items(list.slice(kItems))}</details></>;
}

// Hundreds of values (the counters of all passes) would be taller than all else on the page.
function FactValue({ name, value }: { name: string; value: unknown }) {
  if (!Array.isArray(value) || value.length <= kListed) return <>{factText(name, value)}</>;
  return (
    <>
      {factText(name, value.slice(0, kListed))}
      <details class="fold"><summary>{`and ${value.length - kListed} more`}</summary>{factText(name, value.slice(kListed))}</details>
    </>
  );
}

// Packages of an environment are hundreds: the first say what is there, the others are folded.
function FlatFacts({ facts, names }: { facts: [string, unknown][]; names: boolean }) {
  const list = (some: [string, unknown][]) => (
    <dl class="facts">
      {some.map(([key, one]) => <div key={key}><dt class={names ? 'mono' : ''}>{names ? key : factTitle(key)}</dt><dd><FactValue name={key} value={one} /></dd></div>)}
    </dl>
  );
  if (facts.length <= kMaxFacts) return list(facts);
  return <>{list(facts.slice(0, kFirstFacts))}<details class="fold"><summary>{`and ${facts.length - kFirstFacts} more`}</summary>{list(facts.slice(kFirstFacts))}</details></>;
}

export function Facts({ value, depth = 0, names = false }: { value: unknown; depth?: number; names?: boolean }) {
  if (depth > 12) return <span class="quiet">nested too deeply to show</span>;
  if (Array.isArray(value) && isTable(value)) return <FactTable rows={value} />;
  if (Array.isArray(value) && isNested(value))
    return <FactList list={value} depth={depth} />;
  if (!isObject(value)) return <span>{factText('', value)}</span>;
  const entries = Object.entries(value).filter(([, one]) => !isEmpty(one));
  const flat = entries.filter(([, one]) => !isNested(one));
  const nested = entries.filter(([, one]) => isNested(one));
  return (
    <>
      {flat.length > 0 && <FlatFacts facts={flat} names={names} />}
      {nested.map(([key, one]) => (
        <div key={key} class="fact-group">
          <h3>{factTitle(key)}</h3>
          <Facts value={one} depth={depth + 1} names={kNames.test(key)} />
        </div>
      ))}
    </>
  );
}

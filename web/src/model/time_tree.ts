import { assignSlots, kOther } from '../charts/palette.ts';
import type { Report, Share } from './report.ts';

export type Level = 'part' | 'operator' | 'node' | 'kernel';

// One entry of the breakdown with what it consists of.
export interface Entry {
  key: string; // unique among its siblings
  name: string;
  level: Level;
  total_ns: number;
  share_ratio: number; // of the whole: an iteration, or what report.time.whole says
  count: number;
  slot: number;
  share?: Share;
  children: Entry[];
  remainder?: boolean; // what the children of an entry leave unexplained
}

// Below this share of its parent a remainder is rounding.
const kRemainderFrom = 0.005;

const entryOf = (share: Share, level: Level, index: number, slot: number): Entry => ({
  key: `${level}${index}`, name: share.name, level, total_ns: share.total_ns, share_ratio: share.share_ratio, count: share.count, slot, share, children: [],
});

function groupBy<T>(list: T[], key: (one: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const one of list) {
    const name = key(one);
    const group = out.get(name);
    if (group) group.push(one);
    else out.set(name, [one]);
  }
  return out;
}

// Colours by operator type (or kernel family where there are no operators), the same in the bars, the tables and the timeline.
export function groupSlots(report: Report): Map<string, number> {
  const weights = new Map<string, number>();
  for (const one of report.time?.operators ?? []) weights.set(one.name, (weights.get(one.name) ?? 0) + one.total_ns);
  if (weights.size === 0) for (const one of report.time?.nodes ?? []) weights.set(one.group ?? '', (weights.get(one.group ?? '') ?? 0) + one.total_ns);
  if (weights.size === 0) for (const one of report.time?.kernels ?? []) weights.set(one.group ?? '', (weights.get(one.group ?? '') ?? 0) + one.total_ns);
  return assignSlots(weights);
}

const bySize = (a: Entry, b: Entry): number => Number(a.remainder ?? false) - Number(b.remainder ?? false) || b.total_ns - a.total_ns;

function addRemainder(entry: Entry, name: string): void {
  if (entry.children.length === 0) return;
  const sum = entry.children.reduce((total, child) => total + child.total_ns, 0);
  const left = entry.total_ns - sum;
  if (left < entry.total_ns * kRemainderFrom) return;
  const share = entry.total_ns > 0 ? (left / entry.total_ns) * entry.share_ratio : 0;
  entry.children.push({ key: 'rest', name, level: entry.children[0]?.level ?? entry.level, total_ns: left, share_ratio: share, count: 0, slot: kOther, children: [], remainder: true });
}

// The tree part -> operator type -> node -> kernel, as far as the report has these levels.
export function buildTree(report: Report): Entry[] {
  const time = report.time ?? {};
  const slots = groupSlots(report);
  const slotOf = (group: string | undefined): number => slots.get(group ?? '') ?? kOther;

  const kernels = groupBy((time.kernels ?? []).filter((one) => one.parent), (one) => one.parent ?? '');
  const nodes = groupBy(time.nodes ?? [], (one) => one.parent || one.group || '');
  const nodeEntries = (group: string): Entry[] =>
    (nodes.get(group) ?? []).map((share, index) => {
      const entry = entryOf(share, 'node', index, slotOf(group));
      entry.children = (kernels.get(share.name) ?? []).map((kernel, at) => entryOf(kernel, 'kernel', at, slotOf(group))).sort(bySize);
      addRemainder(entry, 'Outside kernels');
      return entry;
    }).sort(bySize);

  const operators = (time.operators ?? []).map((share, index) => {
    const entry = entryOf(share, 'operator', index, slotOf(share.name));
    entry.children = nodeEntries(share.name);
    addRemainder(entry, 'Other nodes');
    return entry;
  });
  const parts = (time.parts ?? []).map((share, index) => entryOf(share, 'part', index, index === 0 ? 0 : Math.min(index, kOther)));
  if (parts.length === 0) {
    if (operators.length > 0) return operators.sort(bySize);
    return (time.kernels ?? []).map((share, index) => entryOf(share, 'kernel', index, slotOf(share.group))).sort(bySize);
  }
  for (const operator of operators) {
    const home = parts.find((part) => part.name === operator.share?.parent) ?? parts[0];
    home?.children.push(operator);
  }
  if (time.whole === 'kernels')  // the parts are families of kernels
    for (const part of parts) part.children = (time.kernels ?? []).filter((one) => one.group === part.name).map((share, index) => entryOf(share, 'kernel', index, part.slot));
  if (time.whole === 'trace')
    for (const part of parts) for (const [at, share] of (kernels.get(part.name) ?? []).entries()) part.children.push(entryOf(share, 'kernel', at, slotOf(share.group)));
  for (const part of parts) {
    part.children.sort(bySize);
    addRemainder(part, 'Other');
  }
  return parts;
}

// Entries of one name as one: a kernel stands under each node that launched it.
export function byName(list: Share[]): Share[] {
  const out = new Map<string, Share>();
  for (const share of list) {
    const sum = out.get(share.name);
    if (!sum) {
      out.set(share.name, { ...share });
      continue;
    }
    sum.total_ns += share.total_ns;
    sum.share_ratio += share.share_ratio;
    sum.count += share.count;
    sum.ci95 = undefined;
  }
  return [...out.values()].sort((a, b) => b.total_ns - a.total_ns);
}

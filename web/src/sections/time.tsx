import { useMemo, useState } from 'preact/hooks';
import { Flame, type Frame } from '../charts/flame.tsx';
import { useWidth } from '../charts/use_width.ts';
import { kOther } from '../charts/palette.ts';
import { Facts } from '../components/facts.tsx';
import { Name } from '../components/name.tsx';
import { Section } from '../components/section.tsx';
import { shorten } from '../format/name.ts';
import { duration, interval, percent, plural } from '../format/quantity.ts';
import type { Report } from '../model/report.ts';
import { termTip } from '../model/terms.ts';
import { buildTree, type Entry } from '../model/time_tree.ts';
import { ShareTables } from './share_tables.tsx';

const kLevelNames: Record<Entry['level'], [string, string]> = {
  part: ['part', 'parts'], operator: ['operator type', 'operator types'], node: ['node', 'nodes'], kernel: ['kernel', 'kernels'],
};
// What the times are parts of: as a title, beside an amount, beside a share.
const kWholes = {
  iteration: { title: 'One iteration', amount: 'per iteration', share: 'of the iteration' },
  trace: { title: 'The whole trace', amount: 'in the trace', share: 'of the trace' },
  kernels: { title: 'All kernels', amount: 'in total', share: 'of all kernels' },
  threads: { title: 'All threads together', amount: 'in all threads', share: 'of all threads' },
  active: { title: 'All threads together, without their sleep', amount: 'in all threads', share: 'of the time without sleep' },
};
type Whole = (typeof kWholes)['iteration'];
const kSmallest = 5; // pixels; narrower segments stand together
const kRows = 10;
const kDominant = 0.85; // of a bar: what fills it is opened at once

// Down through what fills its bar, to the first level that tells something. The parts of a trace (what the device did, why it was idle)
// tell something by themselves.
function firstPath(tree: Entry[], ofTrace: boolean): string[] {
  const path: string[] = [];
  let entries = tree;
  for (;;) {
    const total = entries.reduce((sum, entry) => sum + entry.total_ns, 0);
    const largest = entries[0];
    const opens = largest && largest.children.length > 1 && ((path.length === 0 && !ofTrace) || largest.total_ns >= total * kDominant);
    if (!opens) return path;
    path.push(largest.key);
    entries = largest.children;
  }
}

const titleOf = (entry: Entry): string => entry.share?.short_name ?? (entry.level === 'part' || entry.remainder ? entry.name[0]?.toUpperCase() + entry.name.slice(1) : entry.name);

interface Segment {
  entry: Entry | null; // null: the small ones together
  share: number; // of the bar
  label: string;
}

function segmentsOf(entries: Entry[], width: number): Segment[] {
  const total = entries.reduce((sum, entry) => sum + entry.total_ns, 0);
  if (total <= 0) return [];
  const large = entries.filter((entry) => (entry.total_ns / total) * width >= kSmallest);
  const small = entries.length - large.length;
  const out: Segment[] = large.map((entry) => ({ entry, share: entry.total_ns / total, label: titleOf(entry) }));
  const rest = 1 - out.reduce((sum, segment) => sum + segment.share, 0);
  if (small > 0) out.push({ entry: null, share: Math.max(rest, 0.004), label: `${small} smaller` });
  return out;
}

interface BarProps {
  entries: Entry[];
  chosen: string | undefined;
  width: number;
  title: string;
  whole: Whole;
  onChoose: (entry: Entry) => void;
}

// One level as a stacked bar; a segment with something inside is a button that opens the next level below.
function Bar({ entries, chosen, width, title, whole, onChoose }: BarProps) {
  return (
    <div class="stack" role="group" aria-label={title}>
      {segmentsOf(entries, width).map(({ entry, share, label }, index) => {
        const pixels = share * width;
        const inner = (
          <>
            {pixels > 72 && <span class="segment-name">{label}</span>}
            {pixels > 58 && <span class="segment-share">{percent(entry ? entry.share_ratio : share * entries.reduce((sum, one) => sum + one.share_ratio, 0))}</span>}
          </>
        );
        const tone = entry && (entry.level === 'node' || entry.level === 'kernel') && index % 2 === 1 ? ' tone' : '';
        const style = { flexGrow: share, flexBasis: 0 };
        if (!entry) return <span key="small" class="segment s7" style={style} data-tip={label}>{inner}</span>;
        const meaning = termTip(entry.name) ?? termTip(entry.share?.group ?? '');
        const tip = `${entry.name}\n${duration(entry.total_ns)} ${whole.amount}, ${percent(entry.share_ratio)} of it${meaning ? `\n${meaning}` : ''}`;
        const shade = `segment s${entry.slot}${tone}${entry.remainder ? ' rest' : ''}`;
        if (entry.children.length === 0) return <span key={entry.key} class={shade} style={style} data-tip={tip}>{inner}</span>;
        const on = entry.key === chosen;
        return (
          <button key={entry.key} type="button" class={`${shade}${on ? ' on' : ''}`} style={style} aria-expanded={on} data-tip={tip}
            aria-label={`${entry.name}, ${duration(entry.total_ns)}, ${percent(entry.share_ratio)} ${whole.share}. ${on ? 'Close' : 'Open'}`} onClick={() => onChoose(entry)}>
            {inner}
          </button>
        );
      })}
    </div>
  );
}

// The lines from the chosen segment to the bar that shows what is inside it.
function Fan({ entries, chosen, width }: { entries: Entry[]; chosen: string; width: number }) {
  const segments = segmentsOf(entries, width);
  let from = 0;
  for (const { entry, share } of segments) {
    if (entry?.key === chosen) {
      const [a, b] = [from * width, (from + share) * width];
      return (
        <svg class="fan" viewBox={`0 0 ${width} 26`} preserveAspectRatio="none" aria-hidden="true">
          <path d={`M${a} 0L${b} 0C${b} 16 ${width} 10 ${width} 26L0 26C0 10 ${a} 16 ${a} 0z`} />
        </svg>
      );
    }
    from += share;
  }
  return null;
}

function EntryRow({ entry, largest, open, onOpen, onChoose }: { entry: Entry; largest: number; open: boolean; onOpen: () => void; onChoose: (entry: Entry) => void }) {
  const drills = entry.children.length > 0;
  const toggles = !drills && !entry.remainder;
  return (
    <>
      <tr>
        <th scope="row">
          {drills || toggles ? (
            <button type="button" class="row-open" aria-expanded={drills ? false : open} onClick={drills ? () => onChoose(entry) : onOpen}>
              <span class={drills ? 'into' : 'twist'} aria-hidden="true" /><i class={`swatch s${entry.slot}${entry.remainder ? ' rest' : ''}`} /><Name text={titleOf(entry)} whole={entry.name} mono={entry.level !== 'part'} />
            </button>
          ) : <span class="row-plain"><i class={`swatch s${entry.slot} rest`} /><Name text={titleOf(entry)} mono={false} /></span>}
        </th>
        <td class="narrow bar-cell"><span class={`bar s${entry.slot}`} style={{ width: `${largest > 0 ? (entry.total_ns / largest) * 100 : 0}%` }} /></td>
        <td class="right strong">{percent(entry.share_ratio)}</td>
        <td class="right">{duration(entry.total_ns)}</td>
        <td class="right narrow quiet">{entry.count > 0 ? `\u00d7\u00a0${entry.count.toLocaleString('en')}` : ''}</td>
      </tr>
      {open && toggles && <tr class="row-detail"><td colSpan={5}><EntryDetail entry={entry} /></td></tr>}
    </>
  );
}

export function EntryDetail({ entry }: { entry: Entry }) {
  const share = entry.share;
  const known: Record<string, unknown> = {};
  if (share?.group) known.group = share.group;
  if (share?.provider) known.provider = share.provider;
  if (share?.ci95) known['95 % CI'] = interval(share.ci95[0], share.ci95[1], 'ns');
  return (
    <div class="detail">
      <p class="full-name mono">{entry.name}</p>
      <Facts value={known} />
      {share?.detail !== undefined && <Facts value={share.detail} />}
    </div>
  );
}

function Legend({ entries, whole, onChoose }: { entries: Entry[]; whole: Whole; onChoose: (entry: Entry) => void }) {
  const [shown, setShown] = useState(kRows);
  const [open, setOpen] = useState<string | null>(null);
  const largest = Math.max(0, ...entries.slice(0, 1).map((entry) => entry.total_ns), ...entries.map((entry) => entry.total_ns).slice(0, 50));
  const level = entries[0]?.level ?? 'part';
  return (
    <>
      <table class="legend">
        <caption class="unseen">{`Contents by ${kLevelNames[level][0]}`}</caption>
        <thead><tr><th scope="col">{kLevelNames[level][0]}</th><th scope="col" class="narrow" aria-label="relative size" /><th scope="col" class="right">{whole.share}</th><th scope="col" class="right">time</th><th scope="col" class="right narrow">runs</th></tr></thead>
        <tbody>
          {entries.slice(0, shown).map((entry) => (
            <EntryRow key={entry.key} entry={entry} largest={largest} open={open === entry.key} onOpen={() => setOpen(open === entry.key ? null : entry.key)} onChoose={onChoose} />
          ))}
        </tbody>
      </table>
      {entries.length > shown && <button type="button" class="more" onClick={() => setShown(shown + 50)}>{`Show ${Math.min(50, entries.length - shown)} more of ${plural(entries.length, kLevelNames[level][0], kLevelNames[level][1])}`}</button>}
    </>
  );
}

// The times of several devices are added up: what they are parts of says so.
function wholeOf(report: Report): Whole {
  const whole = kWholes[report.time?.whole ?? 'iteration'];
  const devices = report.time?.devices ?? 1;
  return devices > 1 ? { ...whole, title: `${whole.title} on ${devices} GPUs combined` } : whole;
}

function leadOf(tree: Entry[], whole: Whole) {
  const total = tree.reduce((sum, entry) => sum + entry.total_ns, 0);
  const threads = whole === kWholes.threads || whole === kWholes.active; // parts beside each other; else the first has the work
  const most = threads ? [...tree].sort((a, b) => b.total_ns - a.total_ns)[0] : tree[0];
  if (!most) return undefined;
  const inner = most.children[0];
  const largest = tree.reduce((a, b) => (b.total_ns > a.total_ns ? b : a), most);
  const named = [largest, ...(largest === most ? [] : [most])].map((one, i) => `${percent(one.share_ratio)}${i === 0 ? ' of that is' : ''} \u201c${one.name}\u201d`).join(', ');
  const first = `${whole.title} ${whole === kWholes.kernels || threads ? 'take' : 'takes'} ${duration(total)}; ${named}`;
  if (!inner || inner.remainder) return `${first}.`;
  return <>{first}; {shorten(titleOf(inner), 60)} alone takes {percent(inner.share_ratio)}. <span class="screen-only">Select a segment to see its contents.</span></>;
}

const frameOf = (entry: Entry): Frame => ({ name: titleOf(entry), total_ns: entry.total_ns, slot: entry.slot, children: entry.children.filter((one) => !one.remainder).map(frameOf) });
const flameOf = (tree: Entry[], title: string): Frame => ({ name: title, total_ns: tree.reduce((sum, entry) => sum + entry.total_ns, 0), slot: kOther, children: tree.map(frameOf) });

export function TimeSection({ report, id, title }: { report: Report; id: string; title: string }) {
  const tree = useMemo(() => buildTree(report), [report]);
  const whole = wholeOf(report);
  const [path, setPath] = useState<string[]>(() => firstPath(tree, report.time?.whole === 'trace'));
  const [flame, setFlame] = useState(false);
  const [ref, width] = useWidth<HTMLDivElement>();
  const levels: { entries: Entry[]; title: string; total: number }[] = [
    { entries: tree, title: whole.title, total: tree.reduce((sum, entry) => sum + entry.total_ns, 0) },
  ];
  for (const key of path) {
    const entry = levels[levels.length - 1]?.entries.find((one) => one.key === key);
    if (!entry || entry.children.length === 0) break;
    levels.push({ entries: entry.children, title: titleOf(entry), total: entry.total_ns });
  }
  const choose = (depth: number) => (entry: Entry) => setPath(path[depth] === entry.key ? path.slice(0, depth) : [...path.slice(0, depth), entry.key]);
  const deepest = levels.length - 1;
  return (
    <Section id={id} title={title} lead={leadOf(tree, whole)}>
      {tree.length > 0 && (
        <div class="breakdown" ref={ref}>
          {levels.map((level, depth) => (
            <div key={depth} class="level">
              <p class="level-title"><Name text={level.title} mono={depth > 1} /> <span class="quiet">{duration(level.total)}</span></p>
              <Bar entries={level.entries} chosen={path[depth]} width={width} title={level.title} whole={whole} onChoose={choose(depth)} />
              {depth < deepest && <Fan entries={level.entries} chosen={path[depth] ?? ''} width={width} />}
            </div>
          ))}
          <Legend key={path.join('/')} entries={levels[deepest]?.entries ?? []} whole={whole} onChoose={choose(deepest)} />
        </div>
      )}
      {tree.some((entry) => entry.children.length > 0) && (
        <details class="flame-fold" onToggle={(event) => setFlame(event.currentTarget.open)}>
          <summary>Flame graph</summary>
          {flame && <Flame root={flameOf(tree, whole.title)} title={`Flame graph: ${whole.title}`} whole={whole.share.replace('of ', '')} />}
        </details>
      )}
      <ShareTables report={report} />
    </Section>
  );
}

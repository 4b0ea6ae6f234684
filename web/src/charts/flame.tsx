import { useMemo, useState } from 'preact/hooks';
import { duration, percent, plural } from '../format/quantity.ts';
import { useWidth } from './use_width.ts';

// A frame of a flame graph; the children of one are drawn below it, as wide as their times.
export interface Frame {
  name: string;
  total_ns: number;
  slot: number;
  children: Frame[];
}

interface Placed {
  frame: Frame;
  path: string; // indices from the root, "0.2.1"
  depth: number;
  from: number; // share of the width
  share: number;
}

const kRow = 22;
const kThinnest = 1.5; // pixels; thinner frames are left out, their parents keep their width
const kNamed = 34; // pixels from which a frame has its name

// What is drawn of the chosen frame: those above it over the whole width, those below it by their times.
function place(root: Frame, chosen: number[], width: number): Placed[] {
  const out: Placed[] = [];
  const below = (frame: Frame, path: string, depth: number, from: number, share: number) => {
    if (share * width < kThinnest) return;
    out.push({ frame, path, depth, from, share });
    const sum = frame.children.reduce((total, one) => total + one.total_ns, 0);
    const whole = Math.max(frame.total_ns, sum); // kernels of several streams may add up to more
    let at = from;
    frame.children.forEach((child, index) => {
      const part = whole > 0 ? (child.total_ns / whole) * share : 0;
      below(child, `${path}.${index}`, depth + 1, at, part);
      at += part;
    });
  };
  let frame = root, path = '0', depth = 0;
  for (const index of chosen) {
    const next = frame.children[index];
    if (!next) break;
    out.push({ frame, path, depth, from: 0, share: 1 });
    [frame, path, depth] = [next, `${path}.${index}`, depth + 1];
  }
  below(frame, path, depth, 0, 1);
  return out;
}

// Time of the frames that match, each stretch once: what is inside a match counts with it.
function matched(frame: Frame, word: string): { time_ns: number; frames: number } {
  const hit = frame.name.toLowerCase().includes(word);
  const inner = frame.children.map((one) => matched(one, word));
  return { time_ns: hit ? frame.total_ns : inner.reduce((sum, one) => sum + one.time_ns, 0), frames: Number(hit) + inner.reduce((sum, one) => sum + one.frames, 0) };
}

// Select a frame to see it over the whole width; the search dims what does not match.
export function Flame({ root, title, whole }: { root: Frame; title: string; whole: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [chosen, setChosen] = useState<number[]>([]);
  const [search, setSearch] = useState('');
  const placed = useMemo(() => place(root, chosen, width), [root, chosen, width]);
  const word = search.trim().toLowerCase();
  const found = useMemo(() => (word ? matched(root, word) : undefined), [root, word]);
  const height = (Math.max(0, ...placed.map((one) => one.depth)) + 1) * kRow;
  const choose = (path: string) => setChosen(path.split('.').slice(1).map(Number));
  return (
    <div class="flame">
      <div class="flame-tools">
        <label>Search <input type="search" spellcheck={false} placeholder="part of a name" value={search} onInput={(event) => setSearch(event.currentTarget.value)} /></label>
        <span class="quiet" role="status">{found && `${plural(found.frames, 'frame')}, ${percent(root.total_ns > 0 ? found.time_ns / root.total_ns : 0)} of ${whole}`}</span>
        {chosen.length > 0 && <button type="button" class="plain" onClick={() => setChosen([])}>Show all</button>}
      </div>
      <div ref={box} class="flame-frames" role="group" aria-label={title} style={{ height: `${height}px` }}>
        {placed.map(({ frame, path, depth, from, share }) => {
          const tip = `${frame.name}\n${duration(frame.total_ns)}, ${percent(root.total_ns > 0 ? frame.total_ns / root.total_ns : 0)} of ${whole}`;
          const dim = word !== '' && !frame.name.toLowerCase().includes(word);
          return (
            <button key={path} type="button" class={`flame-frame s${frame.slot}${dim ? ' dim' : ''}`} data-tip={tip} aria-label={tip.replace('\n', ', ')} tabIndex={share * width >= kNamed ? 0 : -1} onClick={() => choose(path)}
              style={{ left: `${from * 100}%`, width: `max(1px, calc(${share * 100}% - 1px))`, top: `${depth * kRow}px` }}>
              {share * width >= kNamed && <span>{frame.name}</span>}
            </button>
          );
        })}
      </div>
    </div>
  );
}

import { useMemo, useState } from 'preact/hooks';
import { count, duration } from '../format/quantity.ts';
import { findRows, matchNames } from '../model/trace_search.ts';
import { endOf, nameOf, type Ref, sameRow, shortNameOf, startOf, type Trace, trackOf } from '../model/trace.ts';

const kListed = 100;

export interface Search {
  text: string;
  setText: (text: string) => void;
  problem: string;
  names?: Set<number>;
  hits: Ref[]; // in order of time
}

export function useSearch(trace: Trace): Search {
  const [text, setText] = useState('');
  return useMemo(() => {
    const found = text.trim() === '' ? undefined : matchNames(trace.source.names, text.trim());
    if (typeof found === 'string') return { text, setText, problem: found, hits: [] };
    const brief = found && matchNames(trace.source.short_names, text.trim()); // what the timeline shows
    if (found && brief && typeof brief !== 'string') brief.forEach((name) => found.add(name));
    return { text, setText, problem: '', names: found, hits: found ? findRows(trace, found) : [] };
  }, [trace, text]);
}

const lengthOf = (ref: Ref): number => ref.layer.merged.get(ref.row)?.longest ?? endOf(ref) - startOf(ref);

// Finds events by name; Enter goes to the next one.
export function SearchBox({ trace, search, selected, onJump }: { trace: Trace; search: Search; selected?: Ref; onJump: (ref: Ref) => void }) {
  const { hits } = search;
  const at = hits.findIndex((one) => sameRow(one, selected));
  const go = (step: number) => {
    const next = hits[(Math.max(at, step > 0 ? -1 : 0) + step + hits.length) % hits.length];
    if (next) onJump(next);
  };
  const listed = useMemo(() => [...hits].sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, kListed), [hits]);
  return (
    <div class="trace-search" role="search">
      <input type="search" placeholder="Find events by name, or /regex/" aria-label="Find events by name" value={search.text}
        onInput={(event) => search.setText((event.currentTarget as HTMLInputElement).value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          go(event.shiftKey ? -1 : 1);
        }} />
      {search.text.trim() !== '' && (
        <span class="trace-hits" aria-live="polite">
          {search.problem || `${at >= 0 ? `${count(at + 1)} of ` : ''}${count(hits.length)} ${hits.length === 1 ? 'hit' : 'hits'}`}
          <button type="button" aria-label="Previous hit" disabled={hits.length === 0} onClick={() => go(-1)}>{'\u2191'}</button>
          <button type="button" aria-label="Next hit" disabled={hits.length === 0} onClick={() => go(1)}>{'\u2193'}</button>
        </span>
      )}
      {hits.length > 0 && (
        <ul class="trace-hit-list" aria-label={hits.length > kListed ? `Hits, the ${kListed} longest` : 'Hits, longest first'}>
          {listed.map((ref, index) => {
            const merged = ref.layer.merged.get(ref.row);
            return (
              <li key={index}>
                <button type="button" aria-current={sameRow(ref, selected) ? 'true' : undefined} data-tip={nameOf(trace, ref)} onClick={() => onJump(ref)}>
                  <span class="trace-hit-name mono">{shortNameOf(trace, ref)}{merged && ` and ${count(merged.events - 1)} more`}</span>
                  <span class="quiet">{trackOf(trace, ref).kind} at {duration(startOf(ref))}</span>
                  <b>{duration(lengthOf(ref))}</b>
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}

import { useEffect, useRef, useState } from 'preact/hooks';
import { duration, plural } from '../format/quantity.ts';
import { kindWords } from '../model/session_kind.ts';
import { type SessionLine, type SessionList, useAnswer } from './api.ts';
import { ScrollBox } from '../components/scroll_box.tsx';
import { hashOf, type Place } from './place.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kPage = 100;
const kRow = 36; // px, about: of rows that are not there yet
const kAhead = '800px 0px'; // rows this near to the window are asked for

function Row({ line, ticked, tick }: { line: SessionLine; ticked: boolean; tick: () => void }) {
  return (
    <tr>
      <td><input type="checkbox" aria-label={`Compare ${line.id}`} checked={ticked} onChange={tick} /></td>
      <td class="nowrap"><a class="mono" href={hashOf('session', {}, line.id)}>{line.id}</a></td>
      <td>{line.what}{line.note && <div class="quiet note-line">{line.note.split('\n')[0]}</div>}</td>
      <td class="right nowrap">{line.p50_ns === null ? <span class="quiet">–</span> : duration(line.p50_ns)}</td>
      <td class="narrow">{kindWords(line.kind)}</td>
      <td class="narrow">{line.state}</td>
      <td class="tags">{[line.tag, ...(line.tags ?? []).filter((one) => one !== line.tag)].filter(Boolean).map((tag) => <a key={tag} title={tag} href={hashOf('sessions', { tag })}>{tag}</a>)}</td>
      <td class="narrow nowrap">{line.created.replace('T', ' ').replace('Z', '')}</td>
    </tr>
  );
}

interface Ticks {
  ticked: string[];
  tick: (id: string) => void;
}

const Lines = ({ lines, ticked, tick }: { lines: SessionLine[] } & Ticks) => <>{lines.map((line) => <Row key={line.id} line={line} ticked={ticked.includes(line.id)} tick={() => tick(line.id)} />)}</>;

// The rows from `offset` on: an empty stretch of about their height until one scrolls near.
function LaterRows({ query, offset, count, ...ticks }: { query: URLSearchParams; offset: number; count: number } & Ticks) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => { if (entries.some((one) => one.isIntersecting)) setNear(true); }, { rootMargin: kAhead });
    if (body.current) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  const answer = useAnswer<SessionList>(near ? `/api/v1/sessions?${new URLSearchParams([...query, ['offset', String(offset)]])}` : '');
  return (
    <tbody ref={body}>
      {answer.at === 'ready' ? <Lines lines={answer.value.sessions} {...ticks} />
        : <tr class="pending"><td colSpan={8} style={{ height: `${count * kRow}px` }}>{answer.at === 'failed' && answer.refusal.message}</td></tr>}
    </tbody>
  );
}

export function Sessions({ place }: { place: Place }) {
  const [ticked, setTicked] = useState<string[]>([]);
  const search = place.query.get('search') ?? '';
  const tag = place.query.get('tag') ?? '';
  const go = (more: Record<string, string>) => { location.replace(hashOf('sessions', { search, tag, ...more })); };
  const query = new URLSearchParams({ limit: String(kPage), ...(search && { search }), ...(tag && { tag }) });
  const answer = useAnswer<SessionList>(`/api/v1/sessions?${query}`);
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  if (answer.at === 'loading') return <Loading />;
  const list = answer.value;
  if (list.found === 0 && !search && !tag)
    return <Empty title="No sessions yet"><p>There are none in <span class="mono">{list.root}</span>. Create one:</p><pre>aaco run --model resnet50 --telemetry --profile</pre></Empty>;
  // Ticking a third one drops the first.
  const tick = (id: string) => setTicked((now) => (now.includes(id) ? now.filter((one) => one !== id) : [...now, id].slice(-2)));
  const [a = '', b = ''] = [...ticked].sort();
  return (
    <>
      <div class="tools">
        <h1>Sessions</h1>
        <input type="search" aria-label="Search sessions" placeholder="Search" value={search} onInput={(event) => go({ search: event.currentTarget.value })} />
        <select aria-label="Tag" value={tag} onChange={(event) => go({ tag: event.currentTarget.value })}>
          <option value="">All tags</option>
          {list.tags.map((one) => <option key={one.tag} value={one.tag}>{one.tag} ({one.count})</option>)}
        </select>
        <span class="quiet" role="status">{plural(list.found, 'session')}</span>
        {b ? <a class="action" href={hashOf('compare', { a, b })}>Compare A and B</a> : <span class="quiet">Tick two sessions to compare them.</span>}
      </div>
      {list.found === 0 ? <p>No session matches. <a href={hashOf('sessions')}>Show all</a></p> : (
        <ScrollBox label="Sessions">
          <table class="session-list">
            <caption class="unseen">Sessions, newest first</caption>
            <thead><tr><th scope="col"><span class="unseen">Compare</span></th><th scope="col">Session</th><th scope="col">Workload</th><th scope="col" class="right">Median</th>
              <th scope="col" class="narrow">Kind</th><th scope="col" class="narrow">State</th><th scope="col">Tags</th><th scope="col" class="narrow">Created (UTC)</th></tr></thead>
            <tbody><Lines lines={list.sessions} ticked={ticked} tick={tick} /></tbody>
            {Array.from({ length: Math.ceil((list.found - list.sessions.length) / kPage) }, (_, index) => {
              const offset = list.sessions.length + index * kPage;
              return <LaterRows key={`${query} ${offset}`} query={query} offset={offset} count={Math.min(kPage, list.found - offset)} ticked={ticked} tick={tick} />;
            })}
          </table>
        </ScrollBox>
      )}
    </>
  );
}

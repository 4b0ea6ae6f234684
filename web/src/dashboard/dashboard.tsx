import { useEffect } from 'preact/hooks';
import { ThemeSwitch } from '../components/theme_switch.tsx';
import { Patterns } from '../charts/patterns.tsx';
import { Downloads } from '../components/downloads.tsx';
import { Keys } from '../components/keys.tsx';
import { TipLayer } from '../components/tip.tsx';
import { Compare } from './compare.tsx';
import { Fleet } from './fleet.tsx';
import { Hardware } from './hardware.tsx';
import { History } from './history.tsx';
import { Jobs } from './jobs.tsx';
import { LivePage } from './live.tsx';
import { Llm } from './llm.tsx';
import { SessionNotes } from './notes.tsx';
import { hashOf, type Place, usePlace } from './place.ts';
import { Sessions } from './sessions.tsx';
import { Empty, Frame } from './states.tsx';

const kPages = [['sessions', 'Sessions'], ['live', 'Live'], ['jobs', 'Jobs'], ['compare', 'Compare'], ['history', 'History'], ['hardware', 'Hardware'], ['llm', 'LLM'], ['fleet', 'Fleet']] as const;

const focusSearch = () => document.querySelector<HTMLInputElement>('main input[type="search"], main input[type="text"]')?.focus();
const kKeys = [
  ...kPages.map(([page, name], index) => ({ key: String(index + 1), does: name, run: () => { location.hash = hashOf(page); } })),
  { key: '/', does: 'Go to the search field', run: focusSearch },
];

function Session({ name }: { name: string }) {
  return (
    <>
      <div class="tools"><h1 class="mono">{name}</h1><a href={`/api/v1/sessions/${encodeURIComponent(name)}/report.html`}>Open the report alone</a></div>
      <SessionNotes name={name} />
      <Frame path={`/api/v1/sessions/${encodeURIComponent(name)}/report.html`} title={`Report of ${name}`} />
    </>
  );
}

function View({ place }: { place: Place }) {
  const key = place.query.toString();
  if (place.page === 'sessions') return <Sessions place={place} />;
  if (place.page === 'session' && place.name) return <Session name={place.name} />;
  if (place.page === 'live') return <LivePage />;
  if (place.page === 'jobs') return <Jobs />;
  if (place.page === 'compare') return <Compare key={key} place={place} />;
  if (place.page === 'hardware') return <Hardware key={key} place={place} />;
  if (place.page === 'llm') return <Llm place={place} />;
  if (place.page === 'fleet') return <Fleet place={place} />;
  if (place.page === 'history') return <History key={key} place={place} />;
  return <Empty title="No such page"><p><a href={hashOf('sessions')}>Show the sessions</a></p></Empty>;
}

export function Dashboard() {
  const place = usePlace();
  const title = place.page === 'session' ? place.name : (kPages.find(([page]) => page === place.page)?.[1] ?? 'AACO');
  useEffect(() => { document.title = `${title} \u2013 AACO`; }, [title]);
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById('content')?.focus(); }}>Skip to the content</a>
      <header class="masthead">
        <span class="wordmark">AACO</span>
        <nav class="pages" aria-label="Pages">{kPages.map(([page, name]) => <a key={page} href={hashOf(page)} aria-current={place.page === page ? 'page' : undefined}>{name}</a>)}</nav>
        <span class="masthead-tools"><Downloads /><Keys keys={kKeys} /><ThemeSwitch /></span>
      </header>
      <Patterns />
      <main id="content" class="dashboard" tabIndex={-1}><View place={place} /></main>
      <TipLayer />
    </>
  );
}

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Refusal, refusalOf } from './api.ts';

export function Refused({ refusal }: { refusal: Refusal }) {
  if (refusal.status === 401)
    return <div class="state" role="alert"><h1>Not signed in</h1><p>Open the link that <code>aaco dashboard</code> printed. It works once; restart the command for a new one.</p></div>;
  return <div class="state" role="alert"><h1>Not available</h1><p>{refusal.message}</p>{refusal.hint && <p><Hint text={refusal.hint} /></p>}</div>;
}

// Hints name requests; here their pages.
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const kPlaces: [RegExp, string | ((all: string, name: string) => string)][] = [
  [/GET \/api\/v1\/sessions\/\S+\/metrics/g, "the session's report"],
  [/GET \/api\/v1\/sessions\/\S+/g, "the session's page"],
  [/GET \/api\/v1\/(sessions|jobs|history|hardware|fleet)\b/g, (_all, name) => `the page ${capital(name)}`],
  [/GET \/api\/v1\/diff\b/g, 'the page Compare'],
  [/POST \/api\/v1\/jobs\/(\w+)/g, "a job '$1'"],
];
export const hintWords = (text: string): string => kPlaces.reduce((words, [request, place]) => (typeof place === 'string' ? words.replace(request, place) : words.replace(request, place)), text);

export const Hint = ({ text }: { text: string | undefined }) => (text ? <span class="quiet">Hint: {hintWords(text)}</span> : null);

export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return <div class="state"><h1>{title}</h1>{children}</div>;
}

export const Loading = () => <p class="state quiet" role="status">Loading…</p>;

const kPhone = 736; // px

// A page of the server in place. A refusal arrives as JSON and is shown as one. With `whole`, and on a phone, the frame is as high as
// its page, so that only one of the two scrolls.
export function Frame({ path, title, whole = false }: { path: string; title: string; whole?: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [state, setState] = useState<{ path: string; refusal?: Refusal } | null>(null);
  const loaded = state?.path === path;
  const look = () => {
    const page = frame.current?.contentDocument;
    const refused = !page ? new Refusal(0, 'The page could not be loaded.') : page.contentType === 'text/html' ? undefined : refusalOf(0, page.body.textContent ?? '');
    setState({ path, refusal: refused });
    const content = page?.body.firstElementChild?.parentElement;
    if (refused || !page || !content || !(whole || innerWidth < kPhone)) return;
    const fit = () => { if (frame.current) frame.current.style.height = `${content.offsetHeight + 2}px`; };
    new ResizeObserver(fit).observe(content);
    fit();
  };
  if (loaded && state.refusal) return <Refused refusal={state.refusal} />;
  return <>{!loaded && <Loading />}<iframe key={path} ref={frame} class="frame" src={path} title={title} onLoad={look} /></>;
}

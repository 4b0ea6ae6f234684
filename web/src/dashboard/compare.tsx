import { useState } from 'preact/hooks';
import { hashOf, type Place } from './place.ts';
import { Frame } from './states.tsx';

export function Compare({ place }: { place: Place }) {
  const a = place.query.get('a') ?? '';
  const b = place.query.get('b') ?? '';
  const force = place.query.get('force') === 'true';
  const [sides, setSides] = useState({ a, b });
  const go = (more: { a?: string; b?: string; force: boolean }) => { location.hash = hashOf('compare', { ...sides, ...more, force: more.force ? 'true' : '' }); };
  const submit = (event: Event) => {
    event.preventDefault();
    go({ force });
  };
  const side = (name: 'a' | 'b', label: string) => (
    <label>{label} <input type="text" class="side" spellcheck={false} placeholder="ID, ID,ID,... or tag:NAME" value={sides[name]} onInput={(event) => setSides({ ...sides, [name]: event.currentTarget.value.trim() })} /></label>
  );
  return (
    <>
      <form class="tools" onSubmit={submit}>
        <h1>Compare</h1>
        {side('a', 'A (baseline)')}
        {side('b', 'B (candidate)')}
        <button type="submit" class="plain" disabled={!sides.a || !sides.b}>Compare</button>
        {a && b && <>
          <label class="nowrap"><input type="checkbox" checked={force} onChange={(event) => go({ a, b, force: event.currentTarget.checked })} /> even if they are not comparable</label>
          <a href={hashOf('compare', { a: b, b: a, force: force ? 'true' : '' })}>Swap sides</a>
        </>}
      </form>
      {a && b ? <Frame path={`/api/v1/diff.html?${new URLSearchParams({ a, b, ...(force && { force: 'true' }) })}`} title={`Comparison of ${a} and ${b}`} />
        : <p>Enter two sides, or tick two sessions in <a href={hashOf('sessions')}>the list</a>. On the command line: <code>aaco diff A B</code></p>}
    </>
  );
}

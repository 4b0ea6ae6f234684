import { useState } from 'preact/hooks';
import { hashOf, type Place } from './place.ts';
import { Frame } from './states.tsx';

export function Compare({ place }: { place: Place }) {
  const a = place.query.get('a') ?? '';
  const b = place.query.get('b') ?? '';
  const [sides, setSides] = useState({ a, b });
  const submit = (event: Event) => {
    event.preventDefault();
    location.hash = hashOf('compare', sides);
  };
  const side = (name: 'a' | 'b', label: string) => (
    <label>{label} <input type="text" spellcheck={false} placeholder="ID, ID,ID,... or tag:NAME" value={sides[name]} onInput={(event) => setSides({ ...sides, [name]: event.currentTarget.value.trim() })} /></label>
  );
  return (
    <>
      <form class="tools" onSubmit={submit}>
        <h1>Compare</h1>
        {side('a', 'A (baseline)')}
        {side('b', 'B (candidate)')}
        <button type="submit" class="plain" disabled={!sides.a || !sides.b}>Compare</button>
        {a && b && <a href={hashOf('compare', { a: b, b: a })}>Swap sides</a>}
      </form>
      {a && b ? <Frame path={`/api/v1/diff.html?${new URLSearchParams({ a, b })}`} title={`Comparison of ${a} and ${b}`} />
        : <p>Enter two sides, or tick two sessions in <a href={hashOf('sessions')}>the list</a>. On the command line: <code>aaco diff A B</code></p>}
    </>
  );
}

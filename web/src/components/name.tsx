import { ends, orNoName } from '../format/name.ts';

// A name in one line: both ends stay readable, the whole name is in the tip.
export function Name({ text, whole = text, mono = true }: { text: string; whole?: string; mono?: boolean }) {
  const { head, tail } = ends(orNoName(text));
  return (
    <span class={mono ? 'name mono' : 'name'} data-tip={whole.length > 24 ? whole : undefined}>
      <span class="name-head">{head}</span>
      {tail && <span class="name-tail">{tail}</span>}
    </span>
  );
}

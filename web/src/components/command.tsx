// A command that breaks between words only: browsers would break options after their first hyphen. A word alone breaks where it is
// longer than a line.
export function Command({ words, class: name }: { words: string[]; class?: string }) {
  return <code class={name}>{words.map((word, index) => <span key={index}>{index > 0 && ' '}<span class="word">{word}</span></span>)}</code>;
}

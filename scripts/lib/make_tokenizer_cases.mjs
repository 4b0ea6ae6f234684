// Writes tests/fixtures/tokenizers: small tokenizers of the common forms, and the ids that an independent implementation
// (npm package @huggingface/tokenizers) gives for texts. src/serving/tokenizer/reference_test.cc compares.
// Usage: npm install --no-save @huggingface/tokenizers@0.2.0 && node scripts/lib/make_tokenizer_cases.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const out = join(top, 'tests/fixtures/tokenizers');
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  console.log(readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n').slice(0, 3).map((line) => line.replace(/^\/\/ ?/, '')).join('\n'));
  process.exit(0);
}
const { Tokenizer } = await import('@huggingface/tokenizers');

const kGpt2 = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
const kLlama3 = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const corpus = ['README.md', 'CONTRIBUTING.md', 'docs/how_to/measure_a_server.md'].map((file) => readFileSync(join(top, file), 'utf8')).join('\n') +
  ' Größe naïve Überraschung 你好 世界 здравствуй мир '.repeat(20);

const kBytes = (() => { // GPT-2's printable stand-in for each byte
  const shown = [...Array(256).keys()].filter((b) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174);
  let next = 256;
  return [...Array(256).keys()].map((b) => String.fromCodePoint(shown.includes(b) ? b : next++));
})();
const byteLevel = (text) => [...new TextEncoder().encode(text)].map((b) => kBytes[b]).join('');

function trainBpe(words, symbols, merges) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const parts = [...counts].map(([word, count]) => ({ symbols: [...word], count }));
  const learned = [];
  const vocabulary = new Set([...symbols, ...parts.flatMap((one) => one.symbols)]);
  while (learned.length < merges) {
    const pairs = new Map();
    for (const { symbols: list, count } of parts)
      for (let i = 0; i + 1 < list.length; ++i) pairs.set(`${list[i]}\n${list[i + 1]}`, (pairs.get(`${list[i]}\n${list[i + 1]}`) ?? 0) + count);
    const best = [...pairs].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0];
    if (!best || best[1] < 2) break;
    const [left, right] = best[0].split('\n');
    learned.push([left, right]);
    vocabulary.add(left + right);
    for (const one of parts)
      for (let i = 0; i + 1 < one.symbols.length; ++i)
        if (one.symbols[i] === left && one.symbols[i + 1] === right) one.symbols.splice(i, 2, left + right);
  }
  return { vocab: Object.fromEntries([...vocabulary].map((text, id) => [text, id])), merges: learned };
}

const gpt2 = () => {
  const { vocab, merges } = trainBpe((corpus.match(kGpt2) ?? []).map(byteLevel), kBytes, 400);
  return { version: '1.0', added_tokens: [{ id: Object.keys(vocab).length, content: '<|endoftext|>', special: true, normalized: false, single_word: false, lstrip: false, rstrip: false }],
    normalizer: null, pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }, post_processor: null,
    decoder: { type: 'ByteLevel' }, model: { type: 'BPE', vocab, merges: merges.map((pair) => pair.join(' ')) } };
};
const llama3 = () => {
  const words = corpus.match(new RegExp(kLlama3.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'[sStTmMdD]|'[rR][eE]|'[vV][eE]|'[lL][lL]"), 'gu')) ?? [];
  const { vocab, merges } = trainBpe(words.map(byteLevel), kBytes, 400);
  return { version: '1.0', added_tokens: [], normalizer: null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: kLlama3 }, behavior: 'Isolated', invert: false },
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }] },
    post_processor: null, decoder: { type: 'ByteLevel' }, model: { type: 'BPE', ignore_merges: true, vocab, merges } };
};
const llama2 = () => {
  const words = corpus.split(/\s+/).map((word) => `▁${word}`);
  const bytes = [...Array(256).keys()].map((b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`);
  const { vocab, merges } = trainBpe(words, ['<unk>', ...bytes], 400);
  return { version: '1.0', added_tokens: [],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, { type: 'Replace', pattern: { String: ' ' }, content: '▁' }] },
    pre_tokenizer: null, post_processor: null, decoder: null,
    model: { type: 'BPE', unk_token: '<unk>', fuse_unk: true, byte_fallback: true, vocab, merges: merges.map((pair) => pair.join(' ')) } };
};
const unigram = () => {
  const counts = new Map();
  for (const word of corpus.split(/\s+/).map((one) => `▁${one}`)) {
    const letters = [...word];
    for (let i = 0; i < letters.length; ++i)
      for (let size = 1; size <= 6 && i + size <= letters.length; ++size) {
        const piece = letters.slice(i, i + size).join('');
        counts.set(piece, (counts.get(piece) ?? 0) + 1);
      }
  }
  const kept = [...counts].filter(([piece]) => [...piece].length === 1)
    .concat([...counts].filter(([piece, count]) => [...piece].length > 1 && count > 4).sort((a, b) => b[1] * b[0].length - a[1] * a[0].length || (a[0] < b[0] ? -1 : 1)).slice(0, 500));
  const total = kept.reduce((sum, [, count]) => sum + count, 0);
  // Different scores for every piece, so that no two ways to cut a text are equally good.
  const vocab = [['<unk>', 0], ...kept.map(([piece, count], at) => [piece, Math.log(count / total) - at * 1e-6])];
  return { version: '1.0', added_tokens: [], normalizer: null, pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    post_processor: null, decoder: null, model: { type: 'Unigram', unk_id: 0, vocab } };
};

const texts = ['hello world', "I'm here, you're there: we'll see (12345 times)!", 'a  b   c', ' leading and trailing ', 'tabs\tand\nnew\n\nlines \n x', 'Größe naïve Überraschung',
  '你好，世界！', 'здравствуй мир', '😀 emoji 👩‍👩‍👧 family', 'x=1;y+=2/*comment*/', 'UPPER lower MiXeD', '3.14159 and 1,000,000', 'don\'t DON\'T won’t', 'measure a language-model server',
  'https://example.org/a?b=c&d=%20', '\u00a0non\u00a0breaking', 'é and e\u0301', 'aaaaaaaaaaaaaaaaaaaa', '▁mark', '', ' ', '\n', 'it\'s 5 o\'clock', '`aaco llm --url`', 'ﬁne ligature', 'mixed 中文 and English',
  ...corpus.split('\n').filter((line) => line.length > 30).slice(0, 60)];
const all = {};
for (const [name, make] of Object.entries({ gpt2, llama3, llama2, unigram })) {
  const document = make();
  const tokenizer = new Tokenizer(document, {});
  writeFileSync(join(out, `${name}.json`), JSON.stringify(document) + '\n');
  all[name] = texts.map((text) => ({ text, ids: [...tokenizer.encode(text, { add_special_tokens: false }).ids].map(Number) }));
}
writeFileSync(join(out, 'cases.json'), JSON.stringify(all) + '\n');

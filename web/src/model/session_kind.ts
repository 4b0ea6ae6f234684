// What session.json calls a session's kind, in words.
const kKinds: Record<string, string> = {
  run: 'Model run',
  record: 'Recorded program',
  import: 'Imported trace',
  llm: 'Language model',
  sweep: 'Sweep of settings',
  optimize: 'Search for settings',
  compiler: 'Compiler insight',
};

// Kinds of later versions stay as they are.
export const kindWords = (kind: string): string => (Object.prototype.hasOwnProperty.call(kKinds, kind) ? kKinds[kind] as string : kind);

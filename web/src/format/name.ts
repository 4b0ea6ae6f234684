// Long names (kernels have up to 5,108 characters) are shown with both ends; the whole name stands in the tip and the detail.

export interface Ends {
  head: string;
  tail: string;
}

const kTail = 14;

export function ends(name: string): Ends {
  const letters = name.length > 4 * kTail ? name : '';
  if (!letters) return { head: name, tail: '' };
  return { head: name.slice(0, -kTail), tail: name.slice(-kTail) };
}

export function shorten(name: string, limit: number): string {
  if (name.length <= limit) return name;
  const half = Math.max(2, Math.floor((limit - 1) / 2));
  return `${name.slice(0, limit - 1 - half)}\u2026${name.slice(-half)}`;
}

// What a reader sees in place of nothing.
export const orNoName = (name: string): string => (name.trim() === '' ? '(no name)' : name);

import { useState } from 'preact/hooks';

// Copies a whole name; a file opened from disk may have no clipboard of its own, then by way of a field.
export function CopyButton({ value }: { value: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      const area = document.createElement('textarea');
      area.value = value;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return <button type="button" class="plain" onClick={() => void copy()}>{done ? 'Copied' : 'Copy name'}</button>;
}

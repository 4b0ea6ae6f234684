import { useEffect, useRef } from 'preact/hooks';

export interface Key {
  key: string;
  does: string;
  run: () => void;
}

const isTyping = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

// Runs single keys, and lists them at '?'. Keys with Ctrl, Alt or Meta are the browser's.
export function Keys({ keys }: { keys: Key[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
      if (event.key === '?') {
        event.preventDefault();
        return dialog.current?.open ? dialog.current.close() : dialog.current?.showModal();
      }
      const known = keys.find((one) => one.key === event.key);
      if (!known || dialog.current?.open) return;
      event.preventDefault();
      known.run();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [keys]);
  return (
    <>
      <button type="button" class="plain" aria-label="Keyboard shortcuts" onClick={() => dialog.current?.showModal()}>?</button>
      <dialog class="keys" ref={dialog} aria-labelledby="keys-title" onClick={(event) => { if (event.target === dialog.current) dialog.current?.close(); }}>
        <h2 id="keys-title">Keys</h2>
        <dl>{[...keys, { key: '?', does: 'Show or hide this list' }, { key: 'Esc', does: 'Close' }].map((one) => <div key={one.key}><dt><kbd>{one.key}</kbd></dt><dd>{one.does}</dd></div>)}</dl>
        <form method="dialog"><button class="plain" type="submit">Close</button></form>
      </dialog>
    </>
  );
}

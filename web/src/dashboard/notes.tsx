import { useState } from 'preact/hooks';
import { asRefusal, type Notes, put, type Refusal, useAnswer } from './api.ts';
import { hashOf } from './place.ts';
import { Hint } from './states.tsx';

function Form({ notes, path, saved }: { notes: Notes; path: string; saved: (now: Notes) => void }) {
  const [text, setText] = useState(notes.text);
  const [tags, setTags] = useState(notes.tags.join(' '));
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    put<Notes>(path, { text, tags: tags.split(/[\s,]+/).filter(Boolean) }).then(saved, (problem: unknown) => setRefusal(asRefusal(problem)));
  };
  return (
    <form class="notes-form" onSubmit={submit}>
      <label>Note <textarea rows={4} maxLength={16384} value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>
      <label>Tags <input type="text" spellcheck={false} placeholder="release golden" value={tags} onInput={(event) => setTags(event.currentTarget.value)} /></label>
      <button type="submit" class="plain">Save</button>
      {refusal && <p class="alarm" role="alert">{refusal.message} <Hint text={refusal.hint} /></p>}
    </form>
  );
}

// What people wrote about a session; the session itself stays as it was measured.
export function SessionNotes({ name }: { name: string }) {
  const path = `/api/v1/sessions/${encodeURIComponent(name)}/notes`;
  const answer = useAnswer<Notes>(path);
  const [own, setOwn] = useState<Notes | null>(null);
  const [open, setOpen] = useState(false);
  if (answer.at !== 'ready') return null;
  const notes = own ?? answer.value;
  return (
    <div class="notes">
      {notes.tags.length > 0 && <p class="tags">{notes.tags.map((tag) => <a key={tag} href={hashOf('sessions', { tag })}>{tag}</a>)}</p>}
      {notes.text && <p class="note-text">{notes.text}</p>}
      <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Cancel' : notes.text || notes.tags.length > 0 ? 'Edit note and tags' : 'Add a note or tags'}</button>
      {open && <Form notes={notes} path={path} saved={(now) => { setOwn(now); setOpen(false); }} />}
    </div>
  );
}

import { useState } from 'preact/hooks';
import { asRefusal, type Job, type JobForm, type JobParameter, post, type Refusal, upload } from './api.ts';
import { Hint } from './states.tsx';

// "a=1" of a field; empty ones are left out. Lists are separated by spaces.
function bodyOf(form: JobForm, values: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
    const type = form.properties[name]?.type;
    if (value === '') return [];
    if (type === 'boolean') return value === 'true' ? [[name, true]] : [];
    if (type === 'integer') return [[name, Number(value)]];
    return [[name, type === 'array' ? value.split(/\s+/).filter(Boolean) : value]];
  }));
}

interface FieldProps {
  id: string;
  name: string;
  parameter: JobParameter;
  required: boolean;
  value: string;
  change: (value: string) => void;
  choose: (files: File[]) => void;
}

// A control with its label and, below, what the label leaves open.
function Field({ id, name, parameter, required, value, change, choose }: FieldProps) {
  const files = name === 'upload';
  const help = files ? 'From this computer' : [parameter.description, parameter.type === 'array' ? 'several separated by spaces' : ''].filter(Boolean).join('; ');
  const shared = { id, 'aria-describedby': help ? `${id}-help` : undefined };
  const control = files ? <input type="file" multiple {...shared} onChange={(event) => choose([...(event.currentTarget.files ?? [])])} />
    : parameter.type === 'boolean' ? <input type="checkbox" {...shared} checked={value === 'true'} onChange={(event) => change(String(event.currentTarget.checked))} />
      : <input type={parameter.type === 'integer' ? 'number' : 'text'} {...shared} min={parameter.minimum} max={parameter.maximum} required={required} spellcheck={false} autocomplete="off" value={value} onInput={(event) => change(event.currentTarget.value)} />;
  return (
    <div class={parameter.type === 'boolean' ? 'job-field job-tick' : 'job-field'}>
      <label for={id}>{parameter.title ?? name}{required && <span class="quiet"> (required)</span>}</label>
      {control}
      {help && <span class="quiet job-help" id={`${id}-help`}>{help}</span>}
    </div>
  );
}

export function StartJob({ forms, started }: { forms: JobForm[]; started: () => void }) {
  const [verb, setVerb] = useState(forms[0]?.verb ?? '');
  const [values, setValues] = useState<Record<string, string>>({});
  const [files, setFiles] = useState<File[]>([]);
  const [sending, setSending] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const form = forms.find((one) => one.verb === verb);
  if (!form) return null;
  // Files go first, one after the other; the job names them by their ids.
  const start = async () => {
    const body = bodyOf(form, values);
    const ids: string[] = [];
    for (const file of files) ids.push(await upload(file));
    if (ids.length > 0) body.upload = ids;
    await post<Job>(`/api/v1/jobs/${form.verb}`, body);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    setSending(true);
    start().then(() => { setRefusal(null); started(); }, (problem: unknown) => setRefusal(asRefusal(problem))).finally(() => setSending(false));
  };
  const choose = (event: { currentTarget: HTMLSelectElement }) => { setVerb(event.currentTarget.value); setValues({}); setFiles([]); setRefusal(null); };
  return (
    <details class="job-form">
      <summary>Start a job</summary>
      <form onSubmit={submit}>
        <label for="job-verb">What to do</label> <select id="job-verb" value={verb} onChange={choose}>{forms.map((one) => <option key={one.verb} value={one.verb}>{one.summary || one.verb}</option>)}</select>
        <p class="quiet">Runs <code>aaco {verb}</code> on the server's machine.</p>
        <div class="job-fields">{Object.entries(form.properties).map(([name, one]) => (
          <Field key={`${verb} ${name}`} id={`job-${verb}-${name}`} name={name} parameter={one} required={form.required.includes(name)} value={values[name] ?? ''} change={(value) => setValues((now) => ({ ...now, [name]: value }))} choose={setFiles} />
        ))}</div>
        <button type="submit" class="plain" disabled={sending}>{sending ? (files.length > 0 ? 'Sending…' : 'Starting…') : 'Start'}</button>
        {refusal && <p class="alarm" role="alert">{refusal.message} <Hint text={refusal.hint} /></p>}
      </form>
    </details>
  );
}

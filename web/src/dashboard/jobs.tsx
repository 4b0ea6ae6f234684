import { useEffect, useState } from 'preact/hooks';
import { ScrollBox } from '../components/scroll_box.tsx';
import { asRefusal, formsOf, getText, type Job, type JobForm, type JobList, post, Refusal, upload, useAnswer } from './api.ts';
import { hashOf } from './place.ts';
import { Loading, Refused } from './states.tsx';

const kLookAgain_ms = 1000;
const over = (job: Job) => job.state !== 'queued' && job.state !== 'running';
const hour = (time: string | null) => time?.replace('T', ' ').replace('Z', '') ?? '';

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

function Start({ forms, started }: { forms: JobForm[]; started: () => void }) {
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
  const field = (name: string, one: JobForm['properties'][string]) => {
    if (name === 'upload') return <input type="file" multiple onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])} />;
    if (one.type === 'boolean') return <input type="checkbox" checked={values[name] === 'true'} onChange={(event) => setValues({ ...values, [name]: String(event.currentTarget.checked) })} />;
    return <input type={one.type === 'integer' ? 'number' : 'text'} min={one.minimum} max={one.maximum} required={form.required.includes(name)} spellcheck={false} value={values[name] ?? ''} onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })} />;
  };
  return (
    <details class="job-form">
      <summary>Start a job</summary>
      <form onSubmit={submit}>
        <label>Command <select value={verb} onChange={(event) => { setVerb(event.currentTarget.value); setValues({}); setFiles([]); setRefusal(null); }}>{forms.map((one) => <option key={one.verb}>{one.verb}</option>)}</select></label>
        <p class="quiet">{form.summary}</p>
        <div class="job-fields">{Object.entries(form.properties).map(([name, one]) => (
          <label key={`${verb} ${name}`} title={one.description}>{name}{form.required.includes(name) && ' *'}
            {field(name, one)}
          </label>
        ))}</div>
        <button type="submit" class="plain" disabled={sending}>{sending ? (files.length > 0 ? 'Sending…' : 'Starting…') : 'Start'}</button>
        {refusal && <p class="alarm" role="alert">{refusal.message}{refusal.hint && <span class="quiet"> Hint: {refusal.hint}</span>}</p>}
      </form>
    </details>
  );
}

function Log({ id }: { id: string }) {
  const [log, setLog] = useState<string | null>(null);
  useEffect(() => {
    getText(`/api/v1/jobs/${id}/log`).then(setLog, (problem: unknown) => setLog(problem instanceof Refusal ? problem.message : String(problem)));
  }, [id]);
  return <pre class="job-log">{log === null ? 'Loading…' : log || '(empty)'}</pre>;
}

function Row({ job, changed }: { job: Job; changed: () => void }) {
  const [open, setOpen] = useState(false);
  const cancel = () => { post(`/api/v1/jobs/${job.id}/cancel`, {}).then(changed, changed); };
  return (
    <>
      <tr>
        <td><span class={`job-state job-${job.state}`}>{job.state}</span></td>
        <td class="job-command"><code>aaco {job.command.join(' ')}</code>
          {job.session && <div>Session <a class="mono" href={hashOf('session', {}, job.session)}>{job.session}</a></div>}
          {job.progress && <div class="quiet">{job.progress}{job.state === 'running' && job.measures && <> <a href={hashOf('live')}>Watch</a></>}</div>}
          {job.error && <div class="alarm">{job.error.message}{job.error.hint && <span class="quiet"> Hint: {job.error.hint}</span>}</div>}
        </td>
        <td class="narrow nowrap">{hour(job.started ?? job.created)}</td>
        <td class="nowrap right">
          {over(job) ? (job.state === 'done' && <a href={`/api/v1/jobs/${job.id}/result`}>Result</a>) : <button type="button" class="plain" onClick={cancel}>Cancel</button>}{' '}
          <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>Log</button>
        </td>
      </tr>
      {open && <tr><td colSpan={4}><Log key={job.state} id={job.id} /></td></tr>}
    </>
  );
}

export function Jobs() {
  const [turn, setTurn] = useState(0);
  const answer = useAnswer<JobList>(`/api/v1/jobs?limit=${100 + (turn % 2)}`);
  const forms = useAnswer<Parameters<typeof formsOf>[0]>('/api/v1/openapi.json');
  const again = () => setTurn((now) => now + 1);
  const waiting = answer.at === 'ready' && answer.value.jobs.some((job) => !over(job));
  useEffect(() => {
    if (!waiting) return;
    const timer = setInterval(again, kLookAgain_ms);
    return () => clearInterval(timer);
  }, [waiting]);
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  if (answer.at === 'loading') return <Loading />;
  return (
    <>
      <div class="tools"><h1>Jobs</h1><span class="quiet" role="status">{answer.value.found === 0 ? 'none yet' : `${answer.value.found} stored`}</span></div>
      {forms.at === 'ready' && <Start forms={formsOf(forms.value)} started={again} />}
      {answer.value.jobs.length === 0 ? <p>Jobs run <code>aaco</code> commands on this machine, one measurement at a time. Start one above, or on the command line: <code>aaco run --model resnet50</code></p> : (
        <ScrollBox label="Jobs">
          <table>
            <caption class="unseen">Jobs, newest first</caption>
            <thead><tr><th scope="col">State</th><th scope="col">Command</th><th scope="col" class="narrow">Started (UTC)</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>{answer.value.jobs.map((job) => <Row key={job.id} job={job} changed={again} />)}</tbody>
          </table>
        </ScrollBox>
      )}
    </>
  );
}

import { useEffect, useState } from 'preact/hooks';
import { Command } from '../components/command.tsx';
import { ScrollBox } from '../components/scroll_box.tsx';
import { formsOf, getText, type Job, type JobList, post, Refusal, useAnswer } from './api.ts';
import { StartJob } from './job_form.tsx';
import { hashOf } from './place.ts';
import { Hint, Loading, Refused } from './states.tsx';

const kLookAgain_ms = 1000;
const over = (job: Job) => job.state !== 'queued' && job.state !== 'running';
const hour = (time: string | null) => time?.replace('T', ' ').replace('Z', '') ?? '';

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
      <tr class="job-row">
        <td><span class={`job-state job-${job.state}`}>{job.state}</span></td>
        <td class="job-command"><Command words={['aaco', ...job.command]} />
          {job.session && <div>Session <a class="mono" href={hashOf('session', {}, job.session)}>{job.session}</a></div>}
          {job.progress && <div class="quiet">{job.progress}{job.state === 'running' && job.measures && <> <a href={hashOf('live')}>Watch</a></>}</div>}
          {job.error && <div class="alarm">{job.error.message} <Hint text={job.error.hint} /></div>}
        </td>
        <td class="nowrap job-time">{hour(job.started ?? job.created)}</td>
        <td class="nowrap right job-actions">
          {over(job) ? (job.state === 'done' && <a href={`/api/v1/jobs/${job.id}/result`}>Result (JSON)</a>) : <button type="button" class="plain" onClick={cancel}>Cancel</button>}{' '}
          <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>Log</button>
        </td>
      </tr>
      {open && <tr class="job-log-row"><td colSpan={4}><Log key={job.state} id={job.id} /></td></tr>}
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
      {forms.at === 'ready' && <StartJob forms={formsOf(forms.value)} started={again} />}
      {answer.value.jobs.length === 0 ? <p>Jobs run <code>aaco</code> commands on this machine, one measurement at a time. Start one above, or on the command line: <code>aaco run --model resnet50</code></p> : (
        <ScrollBox label="Jobs">
          <table class="job-list">
            <caption class="unseen">Jobs, newest first</caption>
            <thead><tr><th scope="col">State</th><th scope="col">Command</th><th scope="col">Started (UTC)</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead>
            <tbody>{answer.value.jobs.map((job) => <Row key={job.id} job={job} changed={again} />)}</tbody>
          </table>
        </ScrollBox>
      )}
    </>
  );
}

import { useEffect, useState } from 'preact/hooks';

// What the server answers (docs/how_to/serve.md, /api/v1/openapi.json).
export interface SessionLine {
  id: string;
  path: string;
  created: string;
  kind: string;
  state: string;
  tag: string;
  what: string;
  p50_ns: number | null;
  tags?: string[];
  note?: string;
}
export interface SessionList {
  root: string;
  found: number;
  offset: number;
  sessions: SessionLine[];
  tags: { tag: string; count: number }[];
}
export interface HistoryChange {
  index: number;
  label?: string;
  time?: string;
  before: number;
  after: number;
  delta_ratio?: number;
  meaning: string;
  alarm: boolean;
}
export interface HistoryPoint {
  value: number;
  label?: string;
  time?: string;
}
export interface HistorySeries {
  name: string;
  unit: string;
  of?: string;
  count: number;
  points: HistoryPoint[];
  interrupted?: HistoryPoint[]; // of sessions that were stopped early: no part of the trend
  trend?: { changes: HistoryChange[]; alarms: string[] };
  reason?: string;
}
export interface History {
  metric: string;
  series: HistorySeries[];
  notes: string[];
}

export class Refusal extends Error {
  constructor(readonly status: number, message: string, readonly hint = '') {
    super(message);
  }
}

export function refusalOf(status: number, text: string): Refusal {
  try {
    const error = (JSON.parse(text) as { error?: { status?: number; message?: string; hint?: string } }).error;
    return new Refusal(error?.status ?? status, error?.message ?? 'The server refused the request.', error?.hint);
  } catch {
    return new Refusal(status, `The server answered with status ${status}.`);
  }
}

async function get<T>(path: string, signal: AbortSignal): Promise<T> {
  const answer = await fetch(path, { signal, credentials: 'same-origin', cache: 'no-store' });
  if (!answer.ok) throw refusalOf(answer.status, await answer.text());
  return await answer.json() as T;
}

// `of`: the path that was asked.
export type Loaded<T> = { at: 'loading' } | { at: 'ready'; value: T; of: string } | { at: 'failed'; refusal: Refusal; of: string };

// The answer to a GET; an empty path asks nothing. The last answer stays until the next is there.
export function useAnswer<T>(path: string): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ at: 'loading' });
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    get<T>(path, stop.signal).then(
      (value) => setState({ at: 'ready', value, of: path }),
      (problem: unknown) => {
        if (stop.signal.aborted) return;
        setState({ at: 'failed', of: path, refusal: problem instanceof Refusal ? problem : new Refusal(0, 'The server does not answer.', 'start it again: aaco dashboard') });
      });
    return () => stop.abort();
  }, [path]);
  return state;
}

export interface Job {
  id: string;
  verb: string;
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted';
  command: string[];
  measures: boolean;
  created: string;
  started: string | null;
  ended: string | null;
  exit_code: number | null;
  session: string | null;
  error: { message: string; hint?: string } | null;
  progress: string | null;
}
export interface JobList {
  found: number;
  jobs: Job[];
}

// What the document of the interface says of a job's parameters.
export interface JobParameter {
  type?: string;
  title?: string; // in words
  description?: string;
  minimum?: number;
  maximum?: number;
  items?: { type?: string };
}
export interface JobForm {
  verb: string;
  summary: string;
  required: string[];
  properties: Record<string, JobParameter>;
}
interface OpenApi {
  paths: Record<string, { post?: { summary?: string; requestBody?: { content: { 'application/json': { schema: { required?: string[]; properties?: Record<string, JobParameter> } } } } } }>;
}

const kJobs = '/api/v1/jobs/';

export function formsOf(document: OpenApi): JobForm[] {
  return Object.entries(document.paths).flatMap(([path, { post }]) => {
    const verb = path.slice(kJobs.length);
    const schema = post?.requestBody?.content['application/json']?.schema;
    if (!path.startsWith(kJobs) || verb.includes('/') || !schema) return [];
    return [{ verb, summary: post?.summary ?? '', required: schema.required ?? [], properties: schema.properties ?? {} }];
  });
}

const unreachable = () => new Refusal(0, 'The server does not answer.', 'start it again: aaco dashboard');

async function send<T>(method: string, path: string, type: string, body: string | Blob): Promise<T> {
  const answer = await fetch(path, { method, credentials: 'same-origin', headers: { 'Content-Type': type }, body }).catch(() => { throw unreachable(); });
  if (!answer.ok) throw refusalOf(answer.status, await answer.text());
  return await answer.json() as T;
}

// These fail with a Refusal.
export const post = <T,>(path: string, body: unknown): Promise<T> => send<T>('POST', path, 'application/json', JSON.stringify(body));
export const put = <T,>(path: string, body: unknown): Promise<T> => send<T>('PUT', path, 'application/json', JSON.stringify(body));
// Sends a file for a job of import and answers its id.
export const upload = async (file: File): Promise<string> => (await send<{ id: string }>('POST', `/api/v1/uploads?${new URLSearchParams({ name: file.name })}`, 'application/octet-stream', file)).id;

export const asRefusal = (problem: unknown): Refusal => (problem instanceof Refusal ? problem : new Refusal(0, String(problem)));

export interface Notes {
  session: string;
  text: string;
  tags: string[];
  changed: string | null;
}
export interface Device {
  id: string;
  name?: string;
  kind?: string;
  own?: boolean;
}
export interface RoofReached {
  kind: 'compute' | 'memory';
  name: string;
  unit: string;
  stated?: number;
  measured?: { value: number };
  reached?: { value: number; ci95?: { low: number; high: number } };
  of_stated_ratio?: number;
  reason?: string;
  run_count: number;
  point_count: number;
}
export interface DeviceRoofs {
  device: string;
  device_name: string;
  fitted: boolean;
  sessions: string[];
  point_count: number;
  roofs: RoofReached[];
}
interface Estimated {
  value: number;
  lower: number;
  upper: number;
}
export interface Prediction {
  model: string;
  hardware: string;
  batch?: number;
  dtype?: string;
  error?: string;
  rank?: number;
  fits?: boolean;
  items_per_s?: number;
  joules_per_item?: number;
  tokens_per_s?: number;
  estimate?: { latency?: Estimated & { confidence?: string } };
}

export async function getText(path: string): Promise<string> {
  const answer = await fetch(path, { credentials: 'same-origin', cache: 'no-store' }).catch(() => { throw unreachable(); });
  const text = await answer.text();
  if (!answer.ok) throw refusalOf(answer.status, text);
  return text;
}

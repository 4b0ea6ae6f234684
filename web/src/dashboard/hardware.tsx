import { useState } from 'preact/hooks';
import { type Column, DataTable } from '../components/data_table.tsx';
import { duration, percent, plural, text } from '../format/quantity.ts';
import { type Device, type DeviceRoofs, type Prediction, type RoofReached, useAnswer } from './api.ts';
import { hashOf, type Place } from './place.ts';
import { Empty, Frame, Loading, Refused } from './states.tsx';

const kLast = '200'; // sessions behind a roofline: the newest

const rate = (value: number | undefined, unit: string) => (value === undefined ? '–' : text(value, unit));

const kRoofs: Column<RoofReached>[] = [
  { key: 'name', title: 'roof', cell: (one) => one.name },
  { key: 'stated', title: 'stated', align: 'right', narrow: true, cell: (one) => rate(one.stated, one.unit) },
  { key: 'measured', title: 'measured', align: 'right', narrow: true, cell: (one) => rate(one.measured?.value, one.unit) },
  { key: 'reached', title: 'reached', align: 'right', cell: (one) => (one.reached ? rate(one.reached.value, one.unit) : <span class="quiet" title={one.reason}>too few runs</span>) },
  { key: 'share', title: 'of stated', align: 'right', cell: (one) => (one.of_stated_ratio === undefined ? '–' : percent(one.of_stated_ratio)) },
  { key: 'runs', title: 'runs', align: 'right', narrow: true, cell: (one) => one.run_count },
];

function DeviceSection({ one, alone }: { one: DeviceRoofs; alone: boolean }) {
  const link = hashOf('hardware', { device: one.device });
  return (
    <section class="section">
      <h2>{one.device_name || one.device} <span class="quiet mono">{one.device}</span></h2>
      <p class="lead">{plural(one.point_count, 'point')} from {plural(one.sessions.length, 'session')}.</p>
      <DataTable caption={`Roofs of ${one.device}`} rows={one.roofs} columns={kRoofs} rowKey={(roof) => roof.name} noun="roof" />
      {alone ? <Frame path={`/api/v1/roofline.html?${new URLSearchParams({ device: one.device, last: kLast })}`} title={`Roofline of ${one.device}`} whole /> : <p><a href={link}>Show the roofline</a></p>}
    </section>
  );
}

function Roofs({ device }: { device: string }) {
  const answer = useAnswer<{ devices: DeviceRoofs[] }>(`/api/v1/roofline?${new URLSearchParams({ last: kLast, ...(device && { device }) })}`);
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed' && answer.refusal.status === 404)
    return <Empty title="No session has known work"><p>A roofline needs profiled runs on a device of the registry:</p><pre>aaco hardware probe{'\n'}aaco run --model resnet50 --profile</pre></Empty>;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  const alone = answer.value.devices.length === 1;
  return <>{answer.value.devices.map((one) => <DeviceSection key={one.device} one={one} alone={alone} />)}</>;
}

const kPredictions: Column<Prediction>[] = [
  { key: 'rank', title: '#', align: 'right', value: (one) => one.rank ?? Infinity, cell: (one) => one.rank ?? '–' },
  { key: 'model', title: 'model', value: (one) => one.model, cell: (one) => one.model },
  { key: 'hardware', title: 'device', value: (one) => one.hardware, cell: (one) => <span class="mono break">{one.hardware}</span> },
  { key: 'latency', title: 'latency', align: 'right', value: (one) => one.estimate?.latency?.value ?? Infinity, cell: (one) => (one.estimate?.latency ? <span class="nowrap">{duration(one.estimate.latency.value)}</span> : one.error ? <span class="quiet">{one.error}</span> : '–') },
  { key: 'interval', title: '90 % interval', align: 'right', narrow: true, cell: (one) => (one.estimate?.latency ? <span class="nowrap">{duration(one.estimate.latency.lower)} – {duration(one.estimate.latency.upper)}</span> : '') },
  { key: 'level', title: 'level', narrow: true, cell: (one) => one.estimate?.latency?.confidence ?? '' },
  { key: 'items', title: 'items/s', align: 'right', value: (one) => one.items_per_s ?? 0, cell: (one) => (one.items_per_s === undefined ? '–' : text(one.items_per_s, 'count')) },
  { key: 'energy', title: 'energy per item', align: 'right', narrow: true, value: (one) => one.joules_per_item ?? Infinity, cell: (one) => (one.joules_per_item === undefined ? '–' : text(one.joules_per_item, 'joules')) },
  { key: 'fits', title: 'fits', narrow: true, cell: (one) => (one.fits === undefined ? '' : one.fits ? 'yes' : 'not in memory') },
];

function Table({ path }: { path: string }) {
  const answer = useAnswer<{ points: Prediction[] }>(path);
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  return <DataTable caption="Predictions" rows={answer.value.points} columns={kPredictions} rowKey={(one, index) => `${index}${one.model}${one.hardware}`} noun="prediction" sortBy="rank" descending={false} />;
}

const list = (words: string) => words.split(/[\s,]+/).filter(Boolean);

// What models would take on devices, by the same estimates as `aaco compare`.
function Predictions({ place, devices }: { place: Place; devices: Device[] }) {
  const asked = { model: place.query.get('model') ?? '', on: place.query.get('on') ?? '', batch: place.query.get('batch') ?? '' };
  const [form, setForm] = useState({ ...asked, model: asked.model || 'resnet50' });
  const submit = (event: Event) => {
    event.preventDefault();
    location.hash = hashOf('hardware', { device: place.query.get('device') ?? '', ...form });
  };
  const set = (name: keyof typeof form) => (event: { currentTarget: HTMLInputElement }) => setForm({ ...form, [name]: event.currentTarget.value });
  const query = new URLSearchParams([...list(asked.model).map((one) => ['model', one]), ...list(asked.on).map((one) => ['hardware', one]), ...(asked.batch ? [['batch', asked.batch]] : [])]);
  return (
    <section class="section">
      <h2>Predictions</h2>
      <p class="lead">Latency, throughput and energy of models on devices, without running them. On the command line: <code>aaco compare</code></p>
      <form class="tools" onSubmit={submit}>
        <label>Models <input type="text" spellcheck={false} placeholder="resnet50 mlp" value={form.model} onInput={set('model')} /></label>
        <label>Devices <input type="text" list="devices" spellcheck={false} placeholder="MI300X H100" value={form.on} onInput={set('on')} /></label>
        <datalist id="devices">{devices.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}</datalist>
        <label>Batch <input type="number" min={1} max={1000000} value={form.batch} onInput={set('batch')} /></label>
        <button type="submit" class="plain" disabled={!form.model || !form.on}>Predict</button>
      </form>
      {asked.model && asked.on && <Table path={`/api/v1/predictions?${query}`} />}
    </section>
  );
}

const kDevices: Column<Device>[] = [
  { key: 'id', title: 'id', value: (one) => one.id, cell: (one) => <a class="mono break" href={hashOf('hardware', { on: one.id, model: 'resnet50' })}>{one.id}</a> },
  { key: 'name', title: 'device', value: (one) => one.name ?? '', cell: (one) => one.name },
  { key: 'kind', title: 'kind', value: (one) => one.kind ?? '', cell: (one) => one.kind },
  { key: 'own', title: 'entry', narrow: true, value: (one) => (one.own ? 'yours' : 'shipped'), cell: (one) => (one.own ? 'yours' : 'shipped') },
];

export function Hardware({ place }: { place: Place }) {
  const device = place.query.get('device') ?? '';
  const answer = useAnswer<{ devices: Device[] }>('/api/v1/hardware');
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return <Refused refusal={answer.refusal} />;
  return (
    <>
      <div class="tools"><h1>Hardware</h1>{device && <a href={hashOf('hardware')}>All devices</a>}</div>
      <Roofs device={device} />
      <Predictions place={place} devices={answer.value.devices} />
      <section class="section">
        <h2>Devices</h2>
        <DataTable caption="Devices of the registry" rows={answer.value.devices} columns={kDevices} rowKey={(one) => one.id} noun="device" filterText={(one) => `${one.id} ${one.name ?? ''}`} sortBy="id" descending={false} />
      </section>
    </>
  );
}

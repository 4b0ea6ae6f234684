import { XAxis, YAxis } from '../charts/parts.tsx';
import { placeLabels, pointRadius, roofGeometry } from '../charts/roof.ts';
import { slotColour } from '../charts/palette.ts';
import { spacedLogTicks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { type Column, DataTable } from '../components/data_table.tsx';
import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { shorten } from '../format/name.ts';
import { duration, group, kNoBreak, percent, prose, scaleFor, text } from '../format/quantity.ts';
import { type Report, type Roof, type Roofline, type RoofPoint, shortNameIn } from '../model/report.ts';
import { groupSlots } from '../model/time_tree.ts';
import { AttainableTable } from './attainable.tsx';

const kHeight = 380;
const kBesideFrom = 640; // pixels of width from which names of roofs stand beside the chart,
const kNames = 200; // in so many

const kRowGap = 26; // pixels between the ticks of the rates,
const kColumnGap = 44; // and of the intensities

// "200 GFLOP/s", "0.05": ticks are round, and so are their texts.
const round = (value: number): string => group(String(Number(value.toPrecision(3))));
export function rateTick(value: number): string {
  const { factor, unit } = scaleFor(value, 'flop/s');
  return `${round(value / factor)}${kNoBreak}${unit}`;
}
export const intensityTick = (value: number): string => (value >= 1e5 || value < 1e-3 ? value.toExponential(0).replace('e+', 'e') : round(value));

// What a point reached of the roofs above it, and where its work is from.
function shares(point: RoofPoint): string {
  const parts = [
    point.reached_ratio === undefined ? '' : `${percent(point.reached_ratio)} of the stated roof`,
    point.measured_ratio === undefined ? '' : `${percent(point.measured_ratio)} of the measured roof`,
    point.work_from ? `work source: ${point.work_from}` : '',
  ].filter(Boolean);
  return parts.length > 0 ? `\n${parts.join(', ')}` : '';
}

function Chart({ line, slots, report }: { line: Roofline; slots: Map<string, number>; report: Report }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const beside = width >= kBesideFrom;
  const box = { left: 92, right: width - (beside ? kNames : 16), top: 14, bottom: kHeight - 42 };
  const geometry = roofGeometry(line, box, beside);
  if (!geometry) return null;
  const { x, y, roofs, points } = geometry;
  const largest = Math.max(...points.map((one) => one.point.time_ns));
  return (
    <div ref={ref} class="chart">
      <svg viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={`Roofline: ${line.text} The table below lists the same points.`}>
        <YAxis scale={y} ticks={spacedLogTicks(y, kRowGap)} format={rateTick} box={box} />
        <XAxis scale={x} ticks={spacedLogTicks(x, kColumnGap)} format={intensityTick} y={box.bottom} title={'Arithmetic intensity (FLOP per byte)'} />
        {roofs.map((roof, index) => (
          <g key={index}>
            <path d={roof.path} class={`roof ${roof.roof.kind} basis-${roof.roof.basis}`} />
            {roof.label && <text x={roof.label.x} y={roof.label.y} text-anchor={roof.label.anchor} transform={roof.label.turn} class="roof-label">{shorten(roof.roof.name, 24)} {text(roof.roof.per_second, roof.roof.unit)}</text>}
          </g>
        ))}
        {points.map(({ point, px, py, ideal }, index) => (
          <g key={index}>
            {ideal !== undefined && <line x1={px} x2={px} y1={py} y2={ideal} class="headroom" />}
            <circle cx={px} cy={py} r={pointRadius(point, largest)} fill={slotColour(slots.get(point.group) ?? 7)} class="roof-point"
              data-tip={`${point.name}\n${text(point.flops / (point.time_ns * 1e-9), 'flop/s')} at ${(point.flops / point.bytes).toPrecision(3)} FLOP/byte\n${duration(point.time_ns)}${shares(point)}`} />
          </g>
        ))}
        {placeLabels(geometry, box, largest, 12, (name) => shortNameIn(report, name)).map((label, index) => <text key={index} x={label.x} y={label.y} text-anchor={label.anchor} class="point-label">{label.text}</text>)}
      </svg>
    </div>
  );
}

const kColumns: Column<RoofPoint & { reached?: number }>[] = [
  { key: 'name', title: 'Name', value: (row) => row.name, cell: (row) => <Name text={row.name} /> },
  { key: 'time', title: 'Time', align: 'right', value: (row) => row.time_ns, cell: (row) => duration(row.time_ns) },
  { key: 'rate', title: 'Rate', align: 'right', value: (row) => row.flops / row.time_ns, cell: (row) => text(row.flops / (row.time_ns * 1e-9), 'flop/s') },
  { key: 'intensity', title: 'FLOP/byte', align: 'right', narrow: true, value: (row) => row.flops / row.bytes, cell: (row) => (row.bytes > 0 ? (row.flops / row.bytes).toPrecision(3) : '') },
  { key: 'reached', title: '% of stated roof', align: 'right', value: (row) => row.reached ?? -1, cell: (row) => (row.reached === undefined ? '' : percent(row.reached)) },
];
const kMeasuredColumn: Column<RoofPoint & { reached?: number }> = {
  key: 'measured', title: '% of measured roof', align: 'right', value: (row) => row.measured_ratio ?? -1,
  cell: (row) => (row.measured_ratio === undefined ? '' : percent(row.measured_ratio)),
};
const kWorkColumn: Column<RoofPoint & { reached?: number }> = { key: 'work', title: 'Work source', narrow: true, value: (row) => row.work_from ?? '', cell: (row) => row.work_from ?? '' };

function Reached({ ratio, of, fill }: { ratio: number; of?: string; fill: string }) {
  return (
    <>
      {of && <p class="reached-of">{of}</p>}
      <div class="reached" role="img" aria-label={`Reached ${percent(ratio)} of the hardware limit${of ? ` (${of})` : ''}`}>
        <span class={`reached-fill ${fill}`} style={{ width: `${Math.min(1, Math.max(0, ratio)) * 100}%` }}><b>{percent(ratio)}</b></span>
        <span class="reached-rest">headroom</span>
      </div>
    </>
  );
}

// How its line is drawn.
function Sample({ roof }: { roof: Roof }) {
  return <svg class="roof-sample" viewBox="0 0 30 8" width="30" height="8" aria-hidden="true"><path d="M0 4H30" class={`roof ${roof.kind} basis-${roof.basis}`} /></svg>;
}

function HardwareSection({ report, id, title }: SectionProps) {
  const line = report.roofline;
  if (!line) return null;
  const stated = line.roofs.filter((roof) => roof.basis === 'stated');
  const compute = Math.max(0, ...stated.filter((roof) => roof.kind === 'compute').map((roof) => roof.per_second));
  const slowest = stated.filter((roof) => roof.kind === 'memory').map((roof) => roof.per_second);
  const memory = slowest.length > 0 ? Math.min(...slowest) : 0;
  const rows = line.points.filter((point) => point.time_ns > 0).map((point) => {
    const limit = Math.min(compute || Infinity, memory > 0 && point.bytes > 0 ? (memory * point.flops) / point.bytes : Infinity);
    return { ...point, reached: point.reached_ratio ?? (Number.isFinite(limit) && limit > 0 ? point.flops / (point.time_ns * 1e-9) / limit : undefined) };
  });
  const columns = [...kColumns];
  if (rows.some((row) => row.measured_ratio !== undefined)) columns.push(kMeasuredColumn);
  if (rows.some((row) => row.work_from)) columns.push(kWorkColumn);
  return (
    <Section id={id} title={title} lead={prose(line.text)}>
      {line.reached_ratio !== undefined && <Reached ratio={line.reached_ratio} of={line.measured_ratio === undefined ? undefined : 'of the stated roofs'} fill="s0" />}
      {line.measured_ratio !== undefined && <Reached ratio={line.measured_ratio} of="of the measured roofs" fill="s1" />}
      <Chart line={line} slots={groupSlots(report)} report={report} />
      <ul class="sources">
        {line.roofs.map((roof, index) => <li key={index}><Sample roof={roof} /> <span>{roof.name}</span> <strong>{text(roof.per_second, roof.unit)}</strong> <span class="quiet">{roof.source}</span></li>)}
      </ul>
      {report.extra?.attainable && <AttainableTable value={report.extra.attainable} />}
      {rows.length > 0 && (
        <details class="fold"><summary>Points as a table</summary>
          <DataTable caption="Roofline points" rows={rows} columns={columns} rowKey={(row, index) => `${index}${row.name}`} sortBy="time" filterText={(row) => row.name} noun="point" />
        </details>
      )}
    </Section>
  );
}

export const hardwareSection: SectionEntry = {
  id: 'hardware',
  title: 'Hardware efficiency',
  shows: ['attainable'],
  has: (report) => report.roofline,
  view: HardwareSection,
};

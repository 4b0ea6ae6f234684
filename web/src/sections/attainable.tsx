import { type Column, DataTable } from '../components/data_table.tsx';
import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { duration, plural, prose, text } from '../format/quantity.ts';
import '../model/report.ts';

// As src/report/attainable_section.h writes it (docs/formats/predictions.md).
interface Prediction {
  value: number;
  unit: string;
  confidence: string;
  source: string;
  lower: number;
  upper: number;
}

interface AttainableNode {
  name: string;
  op_type: string;
  graph_node?: string;
  shape: string;
  dtype?: string;
  count?: number;
  kernel_count?: number;
  measured_ns: number;
  attainable_ns: number;
  gap_ns: number;
  predicted_ns?: number;
  predicted_lower_ns?: number;
  predicted_upper_ns?: number;
  confidence: string;
  limit: string;
  reason: string;
  surprise: boolean;
}

interface Attainable {
  device: string | null;
  title?: string;
  note?: string;
  whole?: { predicted: Prediction; measured_ns?: number; surprise?: boolean };
  memory?: Prediction;
  energy?: {
    predicted: Prediction;
    tokens?: number;
    measured_joules?: number;
    measured_lower_joules?: number;
    measured_upper_joules?: number;
    surprise?: boolean;
  };
  explained_ratio?: number;
  measured_ns?: number;
  attainable_ns?: number;
  unmatched_nodes?: number;
  unmatched_ns?: number;
  surprises?: number;
  nodes?: AttainableNode[];
}

declare module '../model/report.ts' {
  interface Extra {
    attainable?: Attainable;
  }
}

const kNodeColumns: Column<AttainableNode>[] = [
  {
    key: 'name', title: 'Node and reason', value: (row) => row.name,
    cell: (row) => <><Name text={row.name} /><span class="row-why">{row.surprise ? 'Surprise: ' : ''}{row.reason}</span></>,
  },
  { key: 'measured', title: 'Measured', align: 'right', value: (row) => row.measured_ns, cell: (row) => duration(row.measured_ns) },
  { key: 'attainable', title: 'Attainable', align: 'right', value: (row) => row.attainable_ns, cell: (row) => duration(row.attainable_ns) },
  { key: 'gap', title: 'Gap', align: 'right', value: (row) => row.gap_ns, cell: (row) => duration(row.gap_ns) },
  {
    key: 'predicted', title: 'Predicted (90 %)', align: 'right', value: (row) => row.predicted_ns ?? -1,
    cell: (row) => (row.predicted_ns === undefined ? '' : `${duration(row.predicted_ns)} (${duration(row.predicted_lower_ns ?? row.predicted_ns)} to ${duration(row.predicted_upper_ns ?? row.predicted_ns)})`),
  },
  { key: 'level', title: 'Confidence', value: (row) => row.confidence ?? '', cell: (row) => row.confidence ?? '' },
];

function wholeText({ whole }: Attainable): string {
  const predicted = whole?.predicted;
  if (!predicted) return '';
  const measured = whole.measured_ns === undefined ? 'Model:' : `${whole.surprise ? 'Surprise: model' : 'Model:'} measured ${duration(whole.measured_ns)},`;
  return `${measured} predicted ${duration(predicted.value)} (${duration(predicted.lower)} to ${duration(predicted.upper)}, ${predicted.confidence}).`;
}

// Of an iteration, measured where the machine has a power sensor.
function energyText({ energy }: Attainable): string {
  const predicted = energy?.predicted;
  if (!predicted) return '';
  const joules = (value: number) => text(value, 'J');
  const measured = energy.measured_joules;
  const head = measured === undefined ? 'Energy per iteration: predicted' :
    `${energy.surprise ? 'Surprise: energy' : 'Energy'} per iteration: measured ${joules(measured)} (${joules(energy.measured_lower_joules ?? measured)} to ${joules(energy.measured_upper_joules ?? measured)}), predicted`;
  const each = energy.tokens ? `; ${joules((measured ?? predicted.value) / energy.tokens)} per token (${plural(energy.tokens, 'token')})` : '';
  return `${head} ${joules(predicted.value)} (${joules(predicted.lower)} to ${joules(predicted.upper)}, ${predicted.confidence})${each}.`;
}

// A session that was not profiled node by node.
function PredictionSection({ report, id, title }: SectionProps) {
  const value = report.extra?.attainable;
  if (value?.nodes?.length) return <Section id={id} title={title}><AttainableTable value={value} /></Section>;
  return value ? <Section id={id} title={title} lead={prose([wholeText(value), energyText(value), value.note ?? ''].filter(Boolean).join(' '))}>{null}</Section> : null;
}

export function AttainableTable({ value }: { value: Attainable }) {
  const rows = Array.isArray(value.nodes) ? value.nodes : [];
  if (rows.length === 0) return null;
  return (
    <details class="fold" open><summary>{value.title ?? 'Attainable time per node'}</summary>
      {(wholeText(value) || energyText(value) || value.note) && <p>{wholeText(value)} {energyText(value)} <span class="quiet">{value.note ?? ''}</span></p>}
      <DataTable caption="Measured and attainable time" rows={rows} columns={kNodeColumns} rowKey={(row, index) => `${index}${row.name}`} sortBy="gap" filterText={(row) => `${row.name} ${row.reason}`} noun="node" />
      {(value.unmatched_nodes ?? 0) > 0 && <p class="quiet">{plural(value.unmatched_nodes ?? 0, 'node')} inserted by the runtime: {duration(value.unmatched_ns ?? 0)}, not in the model's graph.</p>}
    </details>
  );
}

export const predictionSection: SectionEntry = {
  id: 'hardware',
  title: 'Measured vs. predicted',
  shows: ['attainable'],
  has: (report) => !report.roofline && report.extra?.attainable,
  view: PredictionSection,
};

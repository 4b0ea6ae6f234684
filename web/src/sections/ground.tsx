import { type Column, DataTable } from '../components/data_table.tsx';
import { Facts, factTitle } from '../components/facts.tsx';
import { Section } from '../components/section.tsx';
import { count, interval, text } from '../format/quantity.ts';
import { kindWords } from '../model/session_kind.ts';
import { type Account, listMetrics, metricTip, metricTitle, type NamedMetric, type Report } from '../model/report.ts';

// What the numbers rest on: the machine, the sources and what became of their records, and the metrics' definitions.

// The command stands above already.
function withoutCommand(environment: unknown): unknown {
  if (typeof environment !== 'object' || environment === null || Array.isArray(environment)) return environment;
  return Object.fromEntries(Object.entries(environment).filter(([key]) => key !== 'command' && key !== 'tool_version'));
}

export function EnvironmentSection({ report, id, title }: { report: Report; id: string; title: string }) {
  const { session } = report;
  return (
    <Section id={id} title={title}>
      {session.command.length > 0 && <pre class="command" tabIndex={0}><code>{session.command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`)).join(' ')}</code></pre>}
      <div class="environment">
        {report.environment !== undefined && <Facts value={withoutCommand(report.environment)} />}
        <div class="fact-group">
          <h3>Session</h3>
          <Facts value={{ id: session.id, kind: kindWords(session.kind), ...(session.tag ? { tag: session.tag } : {}), ...(session.created ? { started: session.created.replace('T', ' ').replace('Z', ' UTC') } : {}), state: session.state, clock: session.home_clock, ...(session.fingerprint ? { comparability_fingerprint: session.fingerprint } : {}) }} />
        </div>
      </div>
    </Section>
  );
}

const dropped = (account: Account): number => Object.values(account.dropped ?? {}).reduce((sum, one) => sum + one, 0);

function Reasons({ account }: { account: Account }) {
  const lost = Object.entries(account.dropped ?? {}).filter(([, n]) => n > 0).map(([why, n]) => `${count(n)} dropped: ${why}`);
  const all = [account.reason ?? '', ...lost, ...(account.notes ?? [])].filter((one) => one !== '');
  return <span class="why">{all.map((one, index) => <span key={index}>{one}</span>)}</span>;
}

const kSigns: Record<string, string> = { ok: '\u2713', partial: '\u25d0', unsupported: '\u2013', failed: '\u2715' };

const kAccountColumns: Column<Account>[] = [
  { key: 'source', title: 'Source', value: (row) => row.source, cell: (row) => <><span class="mono name">{row.source}</span><span class="only-narrow"><Reasons account={row} /></span></> },
  { key: 'state', title: 'State', value: (row) => row.state, cell: (row) => <span class={`state ${row.state}`}><span aria-hidden="true">{kSigns[row.state] ?? '?'}</span> {row.state}</span> },
  { key: 'read', title: 'Read', align: 'right', value: (row) => row.read, cell: (row) => count(row.read) },
  { key: 'kept', title: 'Kept', align: 'right', value: (row) => row.kept, cell: (row) => count(row.kept) },
  { key: 'dropped', title: 'Dropped', align: 'right', value: dropped, cell: (row) => count(dropped(row)) },
  {
    key: 'why', title: 'Why', narrow: true, cell: (row) => <Reasons account={row} />,
  },
];

export function SourcesSection({ report, id, title }: { report: Report; id: string; title: string }) {
  return (
    <Section id={id} title={title} lead="Records read, kept and dropped per source, with the reason for each drop.">
      <DataTable caption="Records by source" rows={report.accounts} columns={kAccountColumns} rowKey={(row, index) => `${index}${row.source}`} noun="source" />
    </Section>
  );
}

export function MetricsSection({ report, id, title }: { report: Report; id: string; title: string }) {
  const definitionOf = (metric: NamedMetric) => (Object.prototype.hasOwnProperty.call(report.definitions, metric.id) ? report.definitions[metric.id] : undefined);
  const columns: Column<NamedMetric>[] = [
    { key: 'title', title: 'Metric', value: (row) => metricTitle(report, row.id), cell: (row) => <span title={metricTip(report, row.id)}>{metricTitle(report, row.id)}{row.device !== undefined && <span class="quiet"> device {row.device}</span>}</span> },
    { key: 'id', title: 'Id', narrow: true, value: (row) => row.id, cell: (row) => <span class="mono quiet">{row.id}</span> },
    { key: 'value', title: 'Value', align: 'right', cell: (row) => <span class="strong nowrap">{text(row.value, row.unit)}</span> },
    { key: 'interval', title: '95 % CI', align: 'right', narrow: true, cell: (row) => (row.ci95 ? <span class="nowrap">{interval(row.ci95[0], row.ci95[1], row.unit)}</span> : row.unit === 'count' ? '' : <span class="quiet">no CI</span>) },
  ];
  return (
    <Section id={id} title={title} lead={<>Metrics with their published ids<span class="screen-only">; open a row for the formula</span>.</>}>
      <DataTable caption="Metrics" rows={listMetrics(report)} columns={columns} rowKey={(row) => `${row.id}/${row.device ?? ''}`} noun="metric" page={40}
        filterText={(row) => `${row.id} ${metricTitle(report, row.id)}`}
        detail={(row) => {
          const definition = definitionOf(row);
          if (!definition) return <p class="quiet detail">This report contains no definition of {row.id}.</p>;
          return (
            <div class="detail">
              {definition.meaning && <p>{definition.meaning}</p>}
              <Facts value={{ formula: definition.formula, unit: definition.unit, ...(definition.direction ? { better: definition.direction } : {}) }} />
            </div>
          );
        }} />
      <dl class="print-only definitions">
        {listMetrics(report).map((metric) => ({ metric, definition: definitionOf(metric) })).filter(({ definition }) => definition !== undefined).map(({ metric, definition }, index) => (
          <div key={index}><dt class="mono">{metric.id}</dt><dd>{definition?.formula}{definition?.meaning && `. ${definition.meaning}`}</dd></div>
        ))}
      </dl>
    </Section>
  );
}

export const extraId = (name: string): string => `extra-${name.replace(/[^a-z0-9]+/gi, '-')}`;

export function ExtraSection({ name, value }: { name: string; value: unknown }) {
  return <Section id={extraId(name)} title={factTitle(name)}><Facts value={value} /></Section>;
}

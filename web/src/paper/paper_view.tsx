import { Patterns } from '../charts/patterns.tsx';
import { Contents } from '../components/contents.tsx';
import { type Column, DataTable } from '../components/data_table.tsx';
import { Downloads } from '../components/downloads.tsx';
import { Section } from '../components/section.tsx';
import { ThemeSwitch } from '../components/theme_switch.tsx';
import { TipLayer } from '../components/tip.tsx';
import { prose } from '../format/quantity.ts';
import { CurveChart } from './curve_chart.tsx';
import { cellValue, type Paper, type PaperSection, type PaperTable } from './paper.ts';

const kLong = 44; // characters of a cell that may wrap
const kManyColumns = 9; // from which on a table is set smaller, and cells of more than kShort characters may take two lines
const kShort = 12;
const kNarrowColumns = 5; // of a table on a phone

const kBar = /^[\u2588-\u258f]+$/; // a bar drawn with characters, for a terminal
const kUnits: Record<string, string> = { j: 'J', w: 'W', gflop: 'GFLOP', tflop: 'TFLOP', gpu: 'GPU', gpus: 'GPUs', kv: 'KV', ttft: 'TTFT', tpot: 'TPOT', e2el: 'E2EL' };

// Headings for a terminal are in capitals; here only units and abbreviations are.
export const headingOf = (title: string): string => (/^[A-Z0-9 %/#().]+$/.test(title) ? title.toLowerCase().replace(/[a-z0-9]+/g, (word) => kUnits[word] ?? word) : title);

const barLength = (text: string): number => [...text].reduce((sum, one) => sum + (0x2590 - (one.codePointAt(0) ?? 0)) / 8, 0);

// Nothing empty is drawn: a column without a value in any row is left out.
const hasValue = (table: PaperTable, at: number): boolean => table.rows.length === 0 || table.rows.some((row) => !['', '-', '\u2013'].includes(row[at] ?? ''));

const kRowsAlike = 3; // from which on what is the same in all of them is said once

// The columns of words that are the same in every row of a table with many of them.
export function alikeIn(table: PaperTable): number[] {
  const shown = table.header.map((_, at) => at).filter((at) => hasValue(table, at));
  if (shown.length < kManyColumns || table.rows.length < kRowsAlike) return [];
  return shown.filter((at) => at > 0 && !table.numeric[at] && table.rows.every((row) => row[at] === table.rows[0]?.[at] && !kBar.test(row[at] ?? '')));
}

function columnsOf(table: PaperTable, alike: number[]): Column<string[]>[] {
  const shown = table.header.map((_, at) => at).filter((at) => hasValue(table, at) && !alike.includes(at));
  return shown.map((at) => columnOf(table, table.header[at] ?? '', at, shown.length >= kManyColumns));
}

function columnOf(table: PaperTable, title: string, at: number, many: boolean): Column<string[]> {
  const numeric = table.numeric[at] ?? false;
  if (table.rows.length > 0 && table.rows.every((row) => row[at] === '' || kBar.test(row[at] ?? ''))) {
    const longest = Math.max(1, ...table.rows.map((row) => barLength(row[at] ?? '')));
    return { key: String(at), title, cell: (row) => <span class="paper-bar" aria-hidden="true"><span class="bar s0" style={{ width: `${(100 * barLength(row[at] ?? '')) / longest}%` }} /></span> };
  }
  return {
    key: String(at),
    title: headingOf(title),
    align: numeric ? 'right' : undefined,
    narrow: at >= kNarrowColumns,
    value: (row) => {
      const text = row[at] ?? '';
      const value = cellValue(text);
      return numeric ? (Number.isNaN(value) ? -Infinity : value) : text;
    },
    cell: (row) => <span class={(row[at] ?? '').length > kLong ? 'break' : many && (row[at] ?? '').length > kShort ? '' : 'nowrap'}>{prose(row[at] ?? '')}</span>,
  };
}

function Rows({ table, caption }: { table: PaperTable; caption: string }) {
  const alike = alikeIn(table);
  const columns = columnsOf(table, alike);
  return (
    <div class={columns.length >= kManyColumns ? 'many' : undefined}>
      {alike.length > 0 && <p class="lead">In every row: {prose(alike.map((at) => `${headingOf(table.header[at] ?? '')} ${table.rows[0]?.[at] ?? ''}`).join('; '))}</p>}
      <DataTable caption={caption} rows={table.rows} columns={columns} rowKey={(row, index) => `${index} ${row[0]}`} filterText={(row) => row.join(' ')} page={40} />
    </div>
  );
}

function Part({ section, id, shown }: { section: PaperSection; id: string; shown: string }) {
  return (
    <Section id={id} title={shown}>
      <Facts facts={section.facts} />
      {section.table && <Rows table={section.table} caption={shown} />}
      {section.lines.length > 0 && <ul class="evidence">{section.lines.map((line, index) => <li key={index}>{prose(line)}</li>)}</ul>}
    </Section>
  );
}

// A fact without a name goes on with the one before it.
function Facts({ facts }: { facts: [string, string][] }) {
  if (facts.length === 0) return null;
  return <dl class="paper-facts">{facts.map(([name, value], index) => <div key={index}><dt>{prose(name)}</dt><dd>{prose(value)}</dd></div>)}</dl>;
}

export function PaperView({ paper }: { paper: Paper }) {
  const [first, ...rest] = paper.sections;
  const sections = [...(first && (first.table || first.title) ? [first] : []), ...rest];
  const named = sections.map((section, index) => ({ section, id: `part-${index}`, title: section.title || (section.table ? 'Table' : 'Notes') }));
  const alone = first && !sections.includes(first) ? first : undefined;
  return (
    <>
      <a class="skip" href="#summary">Skip to the summary</a>
      <Patterns />
      <div class="masthead">
        <span class="wordmark">AACO</span>
        <span class="masthead-tools">
          <button type="button" class="plain" onClick={() => window.print()}>Print</button>
          <Downloads />
          <ThemeSwitch />
        </span>
      </div>
      <div class="page">
        <Contents sections={[{ id: 'summary', title: 'Summary' }, ...(paper.curves.length > 0 ? [{ id: 'curves', title: 'Throughput' }] : []), ...named.map(({ id, title }) => ({ id, title }))]} />
        <main>
          <header class="headline" id="summary">
            <h1>{prose(paper.title)}</h1>
            {alone && <><Facts facts={alone.facts} />{alone.lines.map((line, index) => <p key={index} class="lead">{prose(line)}</p>)}</>}
          </header>
          {paper.curves.length > 0 && <Section id="curves" title="Throughput"><CurveChart curves={paper.curves} /></Section>}
          {named.map(({ section, id, title }) => <Part key={id} section={section} id={id} shown={title} />)}
          <footer><p>Created by aaco. Document schema {paper.schema_version}. Self-contained: loads nothing from the network.</p></footer>
        </main>
      </div>
      <TipLayer />
    </>
  );
}

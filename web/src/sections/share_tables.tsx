import { useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../components/copy_button.tsx';
import { type Column, DataTable } from '../components/data_table.tsx';
import { Facts } from '../components/facts.tsx';
import { Name } from '../components/name.tsx';
import { count, duration, interval, percent } from '../format/quantity.ts';
import type { Report, Share } from '../model/report.ts';
import { byName } from '../model/time_tree.ts';

const kColumns: Column<Share>[] = [
  { key: 'name', title: 'Name', value: (row) => row.name, cell: (row) => <Name text={row.short_name ?? row.name} whole={row.name} /> },
  { key: 'group', title: 'Kind', narrow: true, value: (row) => row.group ?? '', cell: (row) => <span class="quiet ellipsis">{row.group}</span> },
  { key: 'share', title: 'Share', align: 'right', value: (row) => row.share_ratio, cell: (row) => percent(row.share_ratio) },
  { key: 'time', title: 'Time', align: 'right', value: (row) => row.total_ns, cell: (row) => duration(row.total_ns) },
  { key: 'count', title: 'Runs', align: 'right', narrow: true, value: (row) => row.count, cell: (row) => count(row.count) },
  { key: 'each', title: 'Each', align: 'right', narrow: true, value: (row) => (row.count > 0 ? row.total_ns / row.count : 0), cell: (row) => (row.count > 0 ? duration(row.total_ns / row.count) : '') },
];

function Detail({ row }: { row: Share }) {
  return (
    <div class="detail">
      <p class="full-name mono">{row.name}</p>
      {row.short_name && <CopyButton value={row.name} />}
      <Facts value={{ ...(row.provider ? { provider: row.provider } : {}), ...(row.parent ? { part_of: row.parent } : {}), ...(row.ci95 ? { '95 % CI': interval(row.ci95[0], row.ci95[1], 'ns') } : {}) }} />
      {row.detail !== undefined && <Facts value={row.detail} />}
    </div>
  );
}

// The flat lists behind the bar: every operator type, node and kernel, to sort and to search.
export function ShareTables({ report }: { report: Report }) {
  const lists = useMemo(() => {
    const time = report.time ?? {};
    const all: [string, string, Share[]][] = [['Operator types', 'operator type', time.operators ?? []], ['Nodes', 'node', time.nodes ?? []], ['GPU kernels', 'kernel', time.kernels ?? []]];
    return all.filter(([, , list]) => list.length > 0).map(([title, noun, list]) => ({ title, noun, rows: byName(list) }));
  }, [report]);
  const [chosen, setChosen] = useState(0);
  const list = lists[Math.min(chosen, lists.length - 1)];
  if (!list) return null;
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (chosen + step + lists.length) % lists.length;
    setChosen(next);
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLButtonElement>('button')[next]?.focus();
  };
  return (
    <details class="fold">
      <summary>All operator types, nodes and kernels as tables</summary>
      <div class="tabs" role="tablist" aria-label="Time tables" onKeyDown={onKey}>
        {lists.map((one, index) => (
          <button key={one.title} type="button" role="tab" id={`tab-${index}`} aria-selected={one === list} aria-controls="share-panel" tabIndex={one === list ? 0 : -1} onClick={() => setChosen(index)}>
            {one.title} <span class="quiet">{count(one.rows.length)}</span>
          </button>
        ))}
      </div>
      <div role="tabpanel" id="share-panel" aria-labelledby={`tab-${lists.indexOf(list)}`}>
        <DataTable key={list.title} caption={list.title} noun={list.noun} rows={list.rows} columns={list.rows.some((row) => row.group) ? kColumns : kColumns.filter((column) => column.key !== 'group')} rowKey={(row) => row.name} sortBy="time"
          filterText={(row) => `${row.name} ${row.group ?? ''}`} detail={(row) => <Detail row={row} />} />
      </div>
    </details>
  );
}

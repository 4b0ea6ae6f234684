import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { plural } from '../format/quantity.ts';
import { ScrollBox } from './scroll_box.tsx';

export interface Column<Row> {
  key: string;
  title: string;
  align?: 'right';
  narrow?: boolean; // left out on a phone
  value?: (row: Row) => number | string; // what sorting compares
  cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  caption: string;
  rows: Row[];
  columns: Column<Row>[];
  rowKey: (row: Row, index: number) => string;
  sortBy?: string;
  descending?: boolean;
  filterText?: (row: Row) => string;
  detail?: (row: Row) => ComponentChildren;
  noun?: string;
  page?: number;
}

const kFilterFrom = 12;

// A table that sorts by any column with a value, filters by text, opens rows, and shows long lists a page at a time.
export function DataTable<Row>(props: Props<Row>) {
  const { rows, columns, detail, filterText, page = 20, noun = 'row' } = props;
  const [sort, setSort] = useState({ key: props.sortBy ?? '', down: props.descending ?? true });
  const [needle, setNeedle] = useState('');
  const [shown, setShown] = useState(page);
  const [open, setOpen] = useState<string | null>(null);

  const found = useMemo(() => {
    const wanted = needle.trim().toLowerCase();
    const kept = wanted && filterText ? rows.filter((row) => filterText(row).toLowerCase().includes(wanted)) : rows;
    const value = columns.find((column) => column.key === sort.key)?.value;
    if (!value) return kept;
    const sign = sort.down ? -1 : 1;
    return [...kept].sort((a, b) => {
      const left = value(a);
      const right = value(b);
      return sign * (typeof left === 'number' && typeof right === 'number' ? left - right : String(left).localeCompare(String(right)));
    });
  }, [rows, columns, needle, sort.key, sort.down]);

  const sortOn = (key: string, textual: boolean) => setSort((now) => ({ key, down: now.key === key ? !now.down : !textual }));
  const aria = (key: string) => (sort.key !== key ? undefined : sort.down ? 'descending' : 'ascending');
  return (
    <div class="table-block">
      {filterText && rows.length > kFilterFrom && (
        <div class="table-tools">
          <input type="search" placeholder={`Filter ${plural(rows.length, noun)}`} aria-label={`Filter: ${props.caption}`} value={needle}
            onInput={(event) => { setNeedle(event.currentTarget.value); setShown(page); }} />
          {needle && <span class="quiet" role="status">{plural(found.length, noun)} found</span>}
        </div>
      )}
      <ScrollBox label={props.caption}>
        <table>
          <caption class="unseen">{props.caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.key} scope="col" class={`${column.align ?? ''} ${column.narrow ? 'narrow' : ''}`} aria-sort={aria(column.key)}>
                  {column.value ? (
                    <button type="button" class="sort" onClick={() => sortOn(column.key, typeof column.value?.(rows[0] as Row) === 'string')}>
                      {column.title}<span class="sort-mark" aria-hidden="true">{sort.key === column.key ? (sort.down ? '\u2193' : '\u2191') : ''}</span>
                    </button>
                  ) : column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shown).map((row, index) => {
              const key = props.rowKey(row, index);
              const isOpen = open === key;
              return [
                <tr key={key} class={detail ? 'opens' : ''}>
                  {columns.map((column, at) => (
                    <td key={column.key} class={`${column.align ?? ''} ${column.narrow ? 'narrow' : ''}`}>
                      {detail && at === 0 ? (
                        <button type="button" class="row-open" aria-expanded={isOpen} onClick={() => setOpen(isOpen ? null : key)}>
                          <span class="twist" aria-hidden="true" />{column.cell(row)}
                        </button>
                      ) : column.cell(row)}
                    </td>
                  ))}
                </tr>,
                isOpen && detail && <tr key={`${key}-detail`} class="row-detail"><td colSpan={columns.length}>{detail(row)}</td></tr>,
              ];
            })}
          </tbody>
        </table>
      </ScrollBox>
      {found.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + 5 * page)}>
          Show {Math.min(5 * page, found.length - shown)} more of {plural(found.length, noun)}
        </button>
      )}
    </div>
  );
}

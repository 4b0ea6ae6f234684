// The document of src/report/paper.h as docs/formats/paper.md describes it.
export interface PaperTable {
  header: string[];
  numeric: boolean[];
  rows: string[][];
}
export interface PaperSection {
  title: string;
  facts: [string, string][];
  lines: string[];
  table?: PaperTable;
}
export interface CurvePoint {
  label: string;
  items_per_second: number;
  latency_ns: number;
  ci95?: [number, number];
  tail_ns?: number;
}
export interface Curve {
  name: string;
  points: CurvePoint[];
  knee?: number;
}
export interface Paper {
  schema: string;
  schema_version: number;
  title: string;
  sections: PaperSection[];
  curves: Curve[];
}

const kSchemaVersion = 1;

// The document, or the reason why it cannot be shown.
export function readPaper(text: string): Paper | string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'This page has no data (it is an unfilled template). Run aaco with --html to create one.';
  }
  const paper = document as Partial<Paper> | null;
  if (paper?.schema !== 'aaco.paper' || typeof paper.schema_version !== 'number') return 'The data in this page is not a document of AACO.';
  if (paper.schema_version > kSchemaVersion) return `This document has schema version ${paper.schema_version}; this page reads up to ${kSchemaVersion}.`;
  return { schema: paper.schema, schema_version: paper.schema_version, title: paper.title ?? '', sections: paper.sections ?? [], curves: paper.curves ?? [] };
}

const kFactors: Record<string, number> = { ns: 1e-9, '\u00b5s': 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, mJ: 1e-3, '\u00b5J': 1e-6, kJ: 1e3 };

// What a cell sorts by: "1.20 ms" is less than "2 s". NaN where it does not begin with a number.
export function cellValue(cell: string): number {
  const found = /^([\u2212-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([^\s(,]*)/i.exec(cell.trim());
  if (!found) return NaN;
  const unit = found[2] ?? '';
  const factor = kFactors[unit] ?? (/^[kMGTP](FLOP|B|Hz|W|J)/.test(unit) ? kFactors[unit[0] ?? ''] ?? 1 : 1);
  return Number((found[1] ?? '').replace(/,/g, '').replace('\u2212', '-')) * factor;
}

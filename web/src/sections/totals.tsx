import '../model/report.ts';

// As src/report/totals_section.h writes it (docs/formats/kernel_summary.md). The page shows it as facts.
interface Entry {
  name: string;
  count: number;
  sum_ns: number;
  mean_ns?: number;
  min_ns?: number;
  max_ns?: number;
}

interface KernelTotal extends Entry {
  family: string;
  library: string;
  parameters?: unknown;
}

interface CallTotal extends Entry {
  domain: string;
}

interface Samples {
  samples: number;
  first_ns: number;
  last_ns: number;
  instructions: { instruction: string; source?: string; samples: number }[];
  different_instructions: number;
  types?: Record<string, number>;
  stall_reasons?: Record<string, number>;
  dispatches?: { dispatch_id: number; samples: number }[];
  different_dispatches?: number;
  kernels?: { name: string; samples: number }[];
}

interface Totals {
  kernels?: KernelTotal[];
  calls?: CallTotal[];
  samples?: Samples;
}

declare module '../model/report.ts' {
  interface Extra {
    totals?: Totals;
  }
}

import '../model/report.ts';

// As src/report/operating_system_section.h writes it. The page shows it as facts.
interface OperatingSystem {
  thread_count: number;
  threads: {
    name: string;
    thread_id: number;
    process_id: number;
    run_ns: number;
    run_queue_ns: number;
    off_cpu_ns: number;
    migrations: number;
    page_faults: number;
  }[];
  reasons: { kind: string; detail: string; call: string; count: number; total_ns: number; longest_ns: number; bytes?: number }[];
}

declare module '../model/report.ts' {
  interface Extra {
    operating_system?: OperatingSystem;
  }
}

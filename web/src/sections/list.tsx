import type { SectionEntry } from '../components/section.tsx';
import { listMetrics } from '../model/report.ts';
import { predictionSection } from './attainable.tsx';
import { compilerSection } from './compiler.tsx';
import { decoderSection } from './decoder.tsx';
import { gpuSection } from './gpu.tsx';
import { EnvironmentSection, MetricsSection, SourcesSection } from './ground.tsx';
import { hardwareSection } from './hardware.tsx';
import { LatencySection } from './latency.tsx';
import { llmSection } from './llm.tsx';
import { operatingSystemSection } from './operating_system.tsx';
import { collectivesSection, ratesSection } from './rates.tsx';
import { scalingSection } from './scaling.tsx';
import { searchSection } from './search.tsx';
import { AdviceSection, WhySection } from './statements.tsx';
import { TelemetrySection } from './telemetry.tsx';
import { TimeSection } from './time.tsx';
import { TimelineSection } from './timeline.tsx';

// Every section of the page, in the order of the questions a reader asks. A member of `extra` that none of them shows becomes a
// section of facts at the end.
export const kSections: SectionEntry[] = [
  scalingSection,
  searchSection,
  compilerSection,
  llmSection,
  decoderSection,
  { id: 'time', title: 'Where the time went', has: (report) => report.time, view: TimeSection },
  gpuSection,
  { id: 'why', title: 'Why', has: (report) => report.why?.length, view: WhySection },
  { id: 'advice', title: 'What to do', has: (report) => report.advice?.length, view: AdviceSection },
  hardwareSection,
  ratesSection,
  predictionSection,
  collectivesSection,
  operatingSystemSection,
  { id: 'timeline', title: 'Timeline', shows: ['trace'], has: (report) => report.extra?.trace || report.timeline?.rows || report.session.phases.length, view: TimelineSection },
  { id: 'latency', title: 'Latency', has: (report) => report.iterations?.rows || report.histogram || report.metrics['latency.p50_ns'], view: LatencySection },
  { id: 'telemetry', title: 'Telemetry', has: (report) => report.telemetry?.length, view: TelemetrySection },
  { id: 'environment', title: 'Environment', has: (report) => report.environment || report.session.command.length, view: EnvironmentSection },
  { id: 'sources', title: 'Sources', has: (report) => report.accounts.length, view: SourcesSection },
  { id: 'metrics', title: 'Metrics and definitions', has: (report) => listMetrics(report).length, view: MetricsSection },
];

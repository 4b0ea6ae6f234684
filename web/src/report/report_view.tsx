import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Patterns } from '../charts/patterns.tsx';
import { Contents } from '../components/contents.tsx';
import type { SectionInfo } from '../components/section.tsx';
import { ThemeSwitch } from '../components/theme_switch.tsx';
import { TipLayer } from '../components/tip.tsx';
import { factTitle } from '../components/facts.tsx';
import { listMetrics, type Report } from '../model/report.ts';
import { EnvironmentSection, ExtraSection, MetricsSection, SourcesSection } from '../sections/ground.tsx';
import { HardwareSection, PredictionSection } from '../sections/hardware.tsx';
import { GpuSection, hasGpu, kGpuExtras } from '../sections/gpu.tsx';
import { Headline } from '../sections/headline.tsx';
import { LatencySection } from '../sections/latency.tsx';
import { ScalingSection, scalingPoints } from '../sections/scaling.tsx';
import { AdviceSection, WhySection } from '../sections/statements.tsx';
import { TelemetrySection } from '../sections/telemetry.tsx';
import { TimeSection } from '../sections/time.tsx';
import { TimelineSection } from '../sections/timeline.tsx';
import { Warnings } from '../sections/warnings.tsx';

interface Part extends SectionInfo {
  body: ComponentChildren;
}

// The sections that have data, in the order of the questions a reader asks.
function partsOf(report: Report): Part[] {
  const parts: Part[] = [];
  const add = (has: unknown, id: string, title: string, body: (info: SectionInfo) => ComponentChildren) => {
    if (has) parts.push({ id, title, body: body({ id, title }) });
  };
  add(scalingPoints(report).length, 'scaling', 'How it scales', (info) => <ScalingSection report={report} {...info} />);
  add(report.time, 'time', 'Where the time went', (info) => <TimeSection report={report} {...info} />);
  add(hasGpu(report), 'gpu', 'The GPUs', (info) => <GpuSection report={report} {...info} />);
  add(report.why?.length, 'why', 'Why', (info) => <WhySection statements={report.why ?? []} {...info} />);
  add(report.advice?.length, 'advice', 'What to do', (info) => <AdviceSection statements={report.advice ?? []} {...info} />);
  add(report.roofline, 'hardware', 'How far from the hardware', (info) => report.roofline && <HardwareSection line={report.roofline} report={report} {...info} />);
  add(!report.roofline && report.extra?.attainable, 'hardware', 'Measured and predicted', (info) => <PredictionSection value={report.extra?.attainable} {...info} />);
  add(report.timeline?.rows || report.session.phases.length, 'timeline', 'Timeline', (info) => <TimelineSection report={report} {...info} />);
  add(report.iterations?.rows || report.histogram || report.metrics['latency.p50_ns'], 'latency', 'Latency', (info) => <LatencySection report={report} {...info} />);
  add(report.telemetry?.length, 'telemetry', 'Telemetry', (info) => <TelemetrySection report={report} {...info} />);
  add(report.environment || report.session.command.length, 'environment', 'Environment', (info) => <EnvironmentSection report={report} {...info} />);
  add(report.accounts.length, 'sources', 'Sources', (info) => <SourcesSection report={report} {...info} />);
  add(listMetrics(report).length, 'metrics', 'Metrics and definitions', (info) => <MetricsSection report={report} {...info} />);
  for (const [name, value] of Object.entries(report.extra ?? {}))
    if (!(hasGpu(report) && kGpuExtras.includes(name)) && name !== 'attainable' && name !== 'scaling') parts.push({ id: `extra-${name.replace(/[^a-z0-9]+/gi, '-')}`, title: factTitle(name), body: <ExtraSection name={name} value={value} /> });
  return parts;
}

function saveJson(report: Report): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(report, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `aaco-report-${report.session.id.replace(/[^\w-]/g, '') || 'session'}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Printing shows what the reader unfolded, and every fold's content.
function useOpenForPrint(): void {
  useEffect(() => {
    const opened: HTMLDetailsElement[] = [];
    const before = () => document.querySelectorAll<HTMLDetailsElement>('details:not([open])').forEach((one) => { one.open = true; opened.push(one); });
    const after = () => opened.splice(0).forEach((one) => { one.open = false; });
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
}

export function ReportView({ report }: { report: Report }) {
  const parts = partsOf(report);
  useOpenForPrint();
  return (
    <>
      <a class="skip" href="#verdict">Skip to the verdict</a>
      <Patterns />
      <div class="masthead">
        <span class="wordmark">AACO<span class="quiet">performance report</span></span>
        <span class="masthead-session quiet mono">{report.session.id}</span>
        <span class="masthead-tools">
          <button type="button" class="plain" onClick={() => window.print()}>Print</button>
          <button type="button" class="plain" onClick={() => saveJson(report)}>Save JSON</button>
          <ThemeSwitch />
        </span>
      </div>
      <div class="page">
        <Contents sections={[{ id: 'verdict', title: 'Verdict' }, ...parts.map(({ id, title }) => ({ id, title }))]} />
        <main>
          <Headline report={report} />
          {parts.length > 0 || report.warnings.length > 0 ? <Warnings report={report} /> : null}
          {parts.map((part) => <div key={part.id}>{part.body}</div>)}
          <footer>
            <p>Made by aaco{report.session.tool_version && ` ${report.session.tool_version}`}{report.session.id && <> from session <span class="mono">{report.session.id}</span></>}{report.session.created && `, ${report.session.created.replace('T', ' ').replace('Z', ' UTC')}`}. Report schema {report.schema_version}. This file is complete in itself and reads nothing from a network.</p>
          </footer>
        </main>
      </div>
      <TipLayer />
    </>
  );
}

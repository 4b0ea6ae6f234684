import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Patterns } from '../charts/patterns.tsx';
import { Contents } from '../components/contents.tsx';
import type { SectionInfo } from '../components/section.tsx';
import { Downloads } from '../components/downloads.tsx';
import { ThemeSwitch } from '../components/theme_switch.tsx';
import { TipLayer } from '../components/tip.tsx';
import { factTitle } from '../components/facts.tsx';
import type { Report } from '../model/report.ts';
import { AtAGlance } from '../sections/at_a_glance.tsx';
import { ExtraSection, extraId } from '../sections/ground.tsx';
import { Headline } from '../sections/headline.tsx';
import { kSections } from '../sections/list.tsx';
import { Warnings } from '../sections/warnings.tsx';

interface Part extends SectionInfo {
  body: ComponentChildren;
}

// The sections that have data, then what `extra` holds that no section shows.
function partsOf(report: Report): Part[] {
  const shown = kSections.filter((entry) => entry.has(report));
  const parts: Part[] = shown.map(({ id, title, view: View }) => ({ id, title, body: <View report={report} id={id} title={title} /> }));
  const taken = new Set<string>(shown.flatMap((entry) => entry.shows ?? []));
  for (const [name, value] of Object.entries(report.extra ?? {}))
    if (!taken.has(name)) parts.push({ id: extraId(name), title: factTitle(name), body: <ExtraSection name={name} value={value} /> });
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

// Printing shows every fold's content; a flame graph, which is drawn on opening, where the reader opened it. Registered before the
// page's load event ends: Chromium prints to PDF right after it.
function useOpenForPrint(): void {
  useLayoutEffect(() => {
    const opened: HTMLDetailsElement[] = [];
    const before = () => document.querySelectorAll<HTMLDetailsElement>('details:not([open]):not(.flame-fold)').forEach((one) => { one.open = true; opened.push(one); });
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
          <Downloads />
          <ThemeSwitch />
        </span>
      </div>
      <div class="page">
        <Contents sections={[{ id: 'verdict', title: 'Verdict' }, ...parts.map(({ id, title }) => ({ id, title }))]} />
        <main>
          <Headline report={report} />
          <div class="overview">
            {parts.length > 0 || report.warnings.length > 0 ? <Warnings report={report} /> : null}
            <AtAGlance report={report} />
          </div>
          {parts.map((part) => <div key={part.id}>{part.body}</div>)}
          <footer>
            <p>Created by aaco{report.session.tool_version && ` ${report.session.tool_version}`}{report.session.id && <> from session <span class="mono">{report.session.id}</span></>}{report.session.created && `, ${report.session.created.replace('T', ' ').replace('Z', ' UTC')}`}. Report schema {report.schema_version}. Self-contained: loads nothing from the network.</p>
          </footer>
        </main>
      </div>
      <TipLayer />
    </>
  );
}

import type { ComponentChildren, FunctionComponent } from 'preact';
import type { Report } from '../model/report.ts';

export interface SectionInfo {
  id: string;
  title: string;
}

export type SectionProps = SectionInfo & { report: Report };

// A section as the page lists it (sections/list.tsx).
export interface SectionEntry extends SectionInfo {
  shows?: (keyof NonNullable<Report['extra']>)[]; // members of `extra` that need no section of facts then
  has: (report: Report) => unknown;
  view: FunctionComponent<SectionProps>;
}

// A part of the report with its heading; `lead` is the one sentence that says what to see in it.
export function Section({ id, title, lead, children }: SectionInfo & { lead?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} class="section">
      <h2 id={`${id}-title`}>{title}</h2>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}

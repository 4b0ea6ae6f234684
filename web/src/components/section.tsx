import type { ComponentChildren } from 'preact';

export interface SectionInfo {
  id: string;
  title: string;
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

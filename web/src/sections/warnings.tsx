import { prose } from '../format/quantity.ts';
import type { Report, Warning } from '../model/report.ts';

// What is missing or distorted, before anything that rests on it: a badge that opens.
export function Warnings({ report }: { report: Report }) {
  const list: Warning[] = [...report.warnings];
  if (report.session.state && report.session.state !== 'complete')
    list.unshift({ id: 'session.state', message: `The session is ${report.session.state}: stopped early; partial results.` });
  if (list.length === 0) return <p class="all-clear" id="warnings"><span aria-hidden="true">{'\u2713'}</span> No warnings.</p>;
  return (
    <details class="warnings" id="warnings">
      <summary><span class="sign" aria-hidden="true" /><span class="warnings-title">Warnings <span class="badge">{list.length}</span></span><span class="warnings-first">{prose(list[0]?.message ?? '')}</span></summary>
      <ul>
        {list.map((warning, index) => (
          <li key={index}>
            <span class="sign" aria-hidden="true" />
            <div>
              <p>{prose(warning.message)}</p>
              {warning.remedy && <p class="remedy">{prose(warning.remedy)}</p>}
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

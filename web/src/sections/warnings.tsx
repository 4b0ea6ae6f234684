import { useState } from 'preact/hooks';
import { prose } from '../format/quantity.ts';
import type { Report, Warning } from '../model/report.ts';

const kShown = 4;

// What is missing or distorted, before anything that rests on it.
export function Warnings({ report }: { report: Report }) {
  const [all, setAll] = useState(false);
  const list: Warning[] = [...report.warnings];
  if (report.session.state && report.session.state !== 'complete')
    list.unshift({ id: 'session.state', message: `The session is ${report.session.state}: stopped early; partial results.` });
  if (list.length === 0) return <p class="all-clear" id="warnings"><span aria-hidden="true">{'\u2713'}</span> No warnings.</p>;
  const hidden = list.length - kShown;
  return (
    <aside class="warnings" id="warnings" aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings <span class="badge">{list.length}</span></h2>
      <ul>
        {list.map((warning, index) => (
          <li key={index} class={index >= kShown && !all ? 'folded' : ''}>
            <span class="sign" aria-hidden="true" />
            <div>
              <p>{prose(warning.message)}</p>
              {warning.remedy && <p class="remedy">{prose(warning.remedy)}</p>}
            </div>
          </li>
        ))}
      </ul>
      {hidden > 0 && <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show ${hidden} more`}</button>}
    </aside>
  );
}

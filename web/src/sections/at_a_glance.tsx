import { Command } from '../components/command.tsx';
import { Meter } from '../components/meter.tsx';
import { Name } from '../components/name.tsx';
import { duration, percent, prose, roundPercent } from '../format/quantity.ts';
import { findMetric, type Report, type Statement } from '../model/report.ts';
import { buildTree, type Entry } from '../model/time_tree.ts';

const kParts = 5;
const kFixes = 3;
const kDominant = 0.85; // of a level: its contents say more
const kTry = /^try:\s*/;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

// The first level that tells something: a part that fills nearly everything is opened.
function levelOf(entries: Entry[]): Entry[] {
  const total = entries.reduce((sum, one) => sum + one.total_ns, 0);
  const most = entries[0];
  return most?.level === 'part' && most.children.length > 1 && most.total_ns >= total * kDominant ? levelOf(most.children) : entries;
}

function Times({ entries }: { entries: Entry[] }) {
  const total = entries.reduce((sum, one) => sum + one.total_ns, 0);
  const shown = [...entries].sort((a, b) => b.total_ns - a.total_ns).slice(0, kParts);
  const rest = total - shown.reduce((sum, one) => sum + one.total_ns, 0);
  return (
    <>
      <div class="glance-bar" aria-hidden="true">
        {shown.map((one) => <span key={one.key} class={`s${one.slot}`} style={{ flexGrow: one.total_ns / total, flexBasis: 0 }} />)}
        {rest > total * 0.002 && <span class="s7" style={{ flexGrow: rest / total, flexBasis: 0 }} />}
      </div>
      <ul class="glance-parts">
        {shown.map((one) => <li key={one.key}><i class={`swatch s${one.slot}`} /><Name text={one.share?.short_name ?? (one.level === 'part' ? capital(one.name) : one.name)} whole={one.name} mono={one.level !== 'part'} /><span class="nowrap">{percent(one.share_ratio)}</span><span class="nowrap quiet">{duration(one.total_ns)}</span></li>)}
      </ul>
      <p class="glance-more"><a href="#time">All {entries.length > kParts ? `${entries.length} parts` : 'details'}</a></p>
    </>
  );
}

// The metric whose value a gain is a share of, and what is said after the time.
const kWholes: Record<string, [string, string]> = { '': ['latency.p50_ns', ''], 'the steps': ['latency.mean_ns', ' per step'], 'the device span': ['gpu.span_ns', ''] };

// Time where that of the whole is known.
export function saved(report: Report, fix: Statement): string {
  if (fix.gain_ratio === undefined) return 'gain unknown';
  const [id, per] = kWholes[fix.gain_of ?? ''] ?? ['', ''];
  const whole = findMetric(report, id, id.startsWith('gpu.') ? report.headline_of?.device : undefined);
  return whole ? `\u2212${duration(fix.gain_ratio * whole.value)}${per}` : `\u2212${roundPercent(fix.gain_ratio)} of ${fix.gain_of ?? 'the latency'}`;
}

function Fix({ report, fix }: { report: Report; fix: Statement }) {
  const command = fix.evidence?.find((one) => kTry.test(one))?.replace(kTry, '');
  return (
    <li>
      <div class="glance-fix"><strong>{prose(capital(fix.title))}</strong> <span class="glance-gain">{prose(saved(report, fix))}</span></div>
      {fix.confidence_ratio !== undefined && <span class="sure"><span class="quiet">confidence</span> <Meter ratio={fix.confidence_ratio} label="Confidence" /></span>}
      {command && <Command class="glance-command" words={command.split(' ')} />}
    </li>
  );
}

// Beside each other on the first screen: where the time goes, and what to do about it.
export function AtAGlance({ report }: { report: Report }) {
  const entries = levelOf(buildTree(report)).filter((one) => one.total_ns > 0);
  const fixes = (report.advice ?? []).slice(0, kFixes);
  if (entries.length === 0 && fixes.length === 0) return null;
  return (
    <div class="glance">
      {entries.length > 0 && <div><h2>Time</h2><Times entries={entries} /></div>}
      {fixes.length > 0 && (
        <div>
          <h2>{fixes.length > 1 ? `Top ${fixes.length} fixes` : 'Top fix'}</h2>
          <ol class="glance-fixes">{fixes.map((one) => <Fix key={one.id} report={report} fix={one} />)}</ol>
          {(report.advice?.length ?? 0) > kFixes && <p class="glance-more"><a href="#advice">All {report.advice?.length}</a></p>}
        </div>
      )}
    </div>
  );
}

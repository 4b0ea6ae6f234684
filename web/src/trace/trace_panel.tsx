import type { ComponentChildren } from 'preact';
import { CopyButton } from '../components/copy_button.tsx';
import { Name } from '../components/name.tsx';
import { count, duration, percent, text } from '../format/quantity.ts';
import { type Report, shortNameIn } from '../model/report.ts';
import type { Mark } from '../model/trace_layout.ts';
import { activity, enclosing, isHostKind, launchingThread, launchOf, partners } from '../model/trace_search.ts';
import { detailOf, endOf, groupOf, nameOf, type Ref, shortNameOf, startOf, type Trace, type TraceTrack, trackOf } from '../model/trace.ts';

const kShown = 10;

// What a word of the panel means.
const kTerms: Record<string, string> = {
  Duration: 'End minus start of the event.',
  Start: 'Time from the start of the trace.',
  Busy: 'Time covered by the events of this row, without the idle time between them.',
  Operator: 'Innermost operator of the framework that was open on the launching thread when the kernel was launched.',
  Frame: 'Innermost Python frame that was open then.',
  Shapes: 'Arguments that the profiler recorded for the operator.',
  Launch: 'Size of the grid in blocks (work-groups) and of a block in threads (work-items).',
  'Launch delay': 'From the end of the launching call to the start of the work: waiting in the queue of the stream.',
  Family: 'Kind of work, as the kernel\u2019s name says.',
  Cause: 'Why the GPU was idle: what ended the gap.',
  'Host activity': 'What took most of the gap on the launching thread.',
  Confidence: 'Probability that the cause is right.',
  'Own time': 'Time in the event itself, without the events it encloses.',
};

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <div><dt title={kTerms[name]}>{name}</dt><dd>{children}</dd></div>;
}

const trackWords = (track: TraceTrack): string =>
  `${track.rank > 0 ? `rank ${track.rank}, ` : ''}${isHostKind(track.kind) ? `thread ${track.lane} of process ${track.place}` : `GPU ${track.place}, stream ${track.lane}`}`;

// JSON of shapes as one line: [[2,3],[3,4]].
function shapesOf(detail: string): string {
  try {
    const parsed = JSON.parse(detail) as Record<string, unknown>;
    const shapes = parsed['Input Dims'] ?? parsed['Input dims'];
    const types = parsed['Input type'];
    if (shapes === undefined) return detail;
    return `${JSON.stringify(shapes)}${Array.isArray(types) ? ` ${[...new Set(types.filter((one) => one !== ''))].join(', ')}` : ''}`;
  } catch {
    return detail;
  }
}

interface PanelProps {
  trace: Trace;
  report: Report;
  selected?: Ref;
  mark?: Mark;
  onSelect: (ref: Ref) => void;
  onZoom: () => void;
  onClose: () => void;
}

function EventLink({ trace, to, onSelect }: { trace: Trace; to: Ref; onSelect: (ref: Ref) => void }) {
  return <button type="button" class="trace-link" data-tip={nameOf(trace, to)} onClick={() => onSelect(to)}>{shortNameOf(trace, to)}</button>;
}

function EventPanel({ trace, selected: ref, onSelect }: PanelProps & { selected: Ref }) {
  const track = trackOf(trace, ref);
  const merged = ref.layer.merged.get(ref.row);
  const linked = partners(trace, ref);
  const launch = isHostKind(track.kind) ? undefined : launchOf(trace, ref);
  const work = isHostKind(track.kind) ? linked.filter((one) => !isHostKind(trackOf(trace, one).kind)) : [];
  const from = launch ?? (isHostKind(track.kind) ? ref : undefined);
  const operator = from && enclosing(trace, ['operator'], trackOf(trace, from), startOf(from));
  const frame = from && enclosing(trace, ['python'], trackOf(trace, from), startOf(from));
  const detail = detailOf(trace, ref);
  const shapes = track.kind === 'operator' ? detail : operator && detailOf(trace, operator);
  return (
    <>
      <p class="full-name mono">{merged ? `${count(merged.events)} events, the longest: ` : ''}{nameOf(trace, ref)}</p>
      <dl class="facts">
        <Fact name="Duration">{duration(merged ? merged.longest : endOf(ref) - startOf(ref))}{merged && ' (longest)'}</Fact>
        {merged && <Fact name="Busy">{duration(merged.busy)} of {duration(endOf(ref) - startOf(ref))}</Fact>}
        <Fact name="Start">{duration(startOf(ref))}</Fact>
        <Fact name="Track">{trackWords(track)}</Fact>
        {groupOf(trace, ref) !== '' && track.kind === 'kernel' && <Fact name="Family">{groupOf(trace, ref)}</Fact>}
        {detail !== '' && track.kind !== 'operator' && <Fact name={track.kind === 'kernel' ? 'Launch' : 'Size'}>{detail}</Fact>}
        {launch && <Fact name="Launched by"><EventLink trace={trace} to={launch} onSelect={onSelect} /></Fact>}
        {launch && <Fact name="Launch delay">{duration(Math.max(0, startOf(ref) - endOf(launch)))}</Fact>}
        {work.length > 0 && <Fact name="Launches">{work.slice(0, kShown).map((one, index) => <EventLink key={index} trace={trace} to={one} onSelect={onSelect} />)}</Fact>}
        {operator && operator.row !== ref.row && <Fact name="Operator"><EventLink trace={trace} to={operator} onSelect={onSelect} /></Fact>}
        {shapes && <Fact name="Shapes"><span class="mono">{shapesOf(shapes)}</span></Fact>}
        {frame && !(frame.layer === ref.layer && frame.row === ref.row) && <Fact name="Frame"><EventLink trace={trace} to={frame} onSelect={onSelect} /></Fact>}
      </dl>
      {merged && <p class="quiet note">Events shorter than {duration(ref.layer.resolution)} share a row here. To see each: <code>aaco show SESSION --timeline {Math.floor(startOf(ref) / 1000)}us..{Math.ceil(endOf(ref) / 1000)}us</code></p>}
    </>
  );
}

function GapPanel({ trace, report, mark, onSelect }: PanelProps & { mark: Mark }) {
  const gap = report.extra?.gaps?.longest[mark.index];
  if (!gap) return null;
  const thread = launchingThread(trace, gap.rank, gap.device, mark.start, mark.end);
  const did = thread ? activity(trace, thread.rank, thread.place, thread.lane, mark.start, mark.end).slice(0, kShown) : [];
  const title = report.extra?.gaps?.host_causes?.find((one) => one.cause === gap.host_cause)?.title ?? gap.host_cause;
  return (
    <>
      <p class="full-name">GPU {gap.device} idle for {duration(gap.length_ns)}: {gap.cause === 'host_late' ? 'late launch' : gap.cause.replace(/_/g, ' ')}</p>
      <dl class="facts">
        <Fact name="Start">{duration(mark.start)}</Fact>
        {title && <Fact name="Host activity">{title}{gap.host_cause_ns !== undefined && `, ${duration(gap.host_cause_ns)} of the gap`}</Fact>}
        {gap.evidence && <Fact name="Evidence"><span class="mono">{gap.evidence}</span></Fact>}
        <Fact name="Confidence">{percent(gap.confidence_ratio)}</Fact>
        <Fact name="Before"><Name text={shortNameIn(report, gap.previous)} whole={gap.previous} /></Fact>
        <Fact name="After"><Name text={shortNameIn(report, gap.next)} whole={gap.next} /></Fact>
        {gap.host_off_cpu_ns !== undefined && <Fact name="Off CPU">{duration(gap.host_off_cpu_ns)}</Fact>}
        {gap.host_run_queue_ns !== undefined && <Fact name="Run queue">{duration(gap.host_run_queue_ns)}</Fact>}
      </dl>
      {did.length > 0 && thread && (
        <table class="trace-did">
          <caption class="left quiet">Thread {thread.lane} in this gap, by own time</caption>
          <thead><tr><th scope="col">Event</th><th scope="col">Kind</th><th scope="col" class="right" title={kTerms['Own time']}>Own time</th><th scope="col" class="right">Share</th></tr></thead>
          <tbody>
            {did.map((one, index) => (
              <tr key={index}>
                <th scope="row"><EventLink trace={trace} to={one.ref} onSelect={onSelect} /></th>
                <td class="quiet">{one.kind}</td>
                <td class="right">{duration(one.ns)}</td>
                <td class="right">{percent(one.ns / Math.max(1, mark.end - mark.start))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

// What is selected, in words.
export function TracePanel(props: PanelProps) {
  const { trace, selected, mark, onZoom, onClose } = props;
  if (!selected && !mark) return <p class="quiet note">Click an event or a gap, or use the arrow keys, to see its details.</p>;
  return (
    <div class="trace-panel" role="region" aria-label="Selected event" aria-live="polite">
      <div class="trace-panel-tools">
        {selected && <CopyButton value={nameOf(trace, selected)} />}
        <button type="button" class="plain" onClick={onZoom} data-tip="Zoom to it (Enter)">Zoom</button>
        <button type="button" class="plain" onClick={onClose} aria-label="Clear the selection">{'\u00d7'}</button>
      </div>
      {selected ? <EventPanel {...props} selected={selected} />
        : mark?.kind === 'gap' ? <GapPanel {...props} mark={mark} />
        : mark && <p>{mark.label}: {duration(mark.end - mark.start)}, starting at {text(mark.start, 'ns')}</p>}
    </div>
  );
}

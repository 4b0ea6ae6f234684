import { useMemo } from 'preact/hooks';
import { lowerBound, rectPath } from '../charts/path.ts';
import { Surface, XAxis, ZoomFrame } from '../charts/parts.tsx';
import { kOther, slotColour, slotFill } from '../charts/palette.ts';
import { linear, type Scale, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { useZoom } from '../charts/use_zoom.ts';
import { hideTip, showTip } from '../components/tip.tsx';
import { Section } from '../components/section.tsx';
import { shorten } from '../format/name.ts';
import { count, duration, plural, scaleFor } from '../format/quantity.ts';
import { buildTracks, detailExtent, kOverview, type Lane, timelineExtent, timelineSlots, type Track } from '../model/lanes.ts';
import { callOf, phaseTitles } from '../model/iterations.ts';
import type { Phase, Report, TimelineColumns } from '../model/report.ts';
import { groupSlots } from '../model/time_tree.ts';
import { TraceView } from '../trace/trace_view.tsx';

const kLane = 20;
const kTitle = 20;
const kGap = 8;
const kLabelFrom = 44; // pixels
const kMaxLabels = 160;
const kPatternFrom = 14; // pixels; below, a pattern is noise and the tip names the span

const heightOf = (track: Track): number => kTitle + track.lanes.length * (kLane + 2) + kGap;

// The whole session as one strip: its phases, and where the spans below lie in it.
function PhaseStrip({ phases, titles, view, width }: { phases: Phase[]; titles: string[]; view: { low: number; high: number } | undefined; width: number }) {
  const end = Math.max(...phases.map((phase) => phase.end_ns), view?.high ?? 0);
  const x = linear({ low: Math.min(0, ...phases.map((phase) => phase.start_ns)), high: end }, 0, width);
  const place = view ? Math.min(width - 5, Math.max(5, x((view.low + view.high) / 2))) : 0;
  const label = phases.map((phase, index) => `${titles[index]} ${duration(phase.end_ns - phase.start_ns)}`).join(', ');
  return (
    <svg viewBox={`0 0 ${width} 46`} role="img" aria-label={`Phases of the session: ${label}`} class="phases">
      {phases.map((phase, index) => {
        const [from, to] = [x(phase.start_ns), x(phase.end_ns)];
        const room = Math.max(0, to - from);
        return (
          <g key={index} data-tip={`${titles[index]}\n${duration(phase.end_ns - phase.start_ns)}, starting at ${duration(phase.start_ns)}`}>
            <rect x={from} y={4} width={Math.max(1, room)} height={24} rx={2} class={`phase p-${index % 2}`} />
            {phase.name === 'warmup' && <rect x={from} y={4} width={Math.max(1, room)} height={24} fill="url(#hatch)" />}
            {room > 70 && <text x={from + 8} y={20}>{shorten(titles[index] ?? '', Math.floor(room / 8))}</text>}
          </g>
        );
      })}
      {view && (
        <g class="window">
          <path d={`M${place - 5} 39l5-7 5 7z`} />
          <text x={place + (place > width - 130 ? -10 : 10)} y={41} text-anchor={place > width - 130 ? 'end' : 'start'}>time window shown below</text>
        </g>
      )}
    </svg>
  );
}

interface Drawn {
  narrow: Map<number, string>; // by slot; too narrow for a pattern
  wide: Map<number, string>;
  labels: { x: number; y: number; text: string; slot: number }[];
}

// The visible spans as one path a colour; spans thinner than a pixel that fall on the same one are drawn once.
function draw(columns: TimelineColumns, tracks: Track[], slots: number[], x: Scale, right: number): Drawn {
  const narrow = new Map<number, string>();
  const wide = new Map<number, string>();
  const labels: Drawn['labels'] = [];
  const drawLane = (lane: Lane, y: number) => {
    let lastPixel = -1;
    for (let i = lowerBound(lane.ends, x.domain.low); i < lane.rows.length && (lane.starts[i] as number) <= x.domain.high; i += 1) {
      const row = lane.rows[i] as number;
      const from = Math.max(0, x(lane.starts[i] as number));
      const to = Math.min(right, x((lane.starts[i] as number) + (columns.duration_ns[row] as number)));
      const width = Math.max(0.8, to - from - (to - from > 3 ? 0.8 : 0));
      if (width <= 0.8 && Math.round(from) === lastPixel) continue;
      lastPixel = Math.round(from);
      const slot = slots[columns.group[row] ?? 0] ?? kOther;
      const paths = width < kPatternFrom ? narrow : wide;
      paths.set(slot, (paths.get(slot) ?? '') + rectPath(from, y, width, kLane));
      if (width > kLabelFrom && labels.length < kMaxLabels)
        labels.push({ x: from + 5, y: y + 14, text: shorten(columns.names[columns.name[row] ?? 0] ?? '', Math.floor((width - 8) / 7)), slot });
    }
  };
  let y = 0;
  for (const track of tracks) {
    track.lanes.forEach((lane, index) => drawLane(lane, y + kTitle + index * (kLane + 2)));
    y += heightOf(track);
  }
  return { narrow, wide, labels };
}

// The span under the pointer.
function find(tracks: Track[], time: number, py: number, slack: number): { track: Track; row: number } | undefined {
  let y = 0;
  for (const track of tracks) {
    const lane = track.lanes[Math.floor((py - y - kTitle) / (kLane + 2))];
    if (py >= y + kTitle && py < y + heightOf(track) && lane) {
      const at = lowerBound(lane.ends, time - slack);
      if ((lane.starts[at] ?? Infinity) <= time + slack) return { track, row: lane.rows[at] as number };
    }
    y += heightOf(track);
  }
  return undefined;
}

function Spans({ columns: given, report }: { columns: TimelineColumns; report: Report }) {
  const call = callOf(report);
  const columns = useMemo(() => (call === 'iteration' ? given : { ...given, names: given.names.map((name) => name.replace(/^measure(_telemetry)? (?=\d+$)/, `${call} `)) }), [given, call]);
  const titleOf = (track: Track): string => (track.name === kOverview ? `${call}s` : track.name);
  const [ref, width] = useWidth<HTMLDivElement>();
  const full = useMemo(() => timelineExtent(columns), [columns]);
  const zoom = useZoom(full, 200, useMemo(() => detailExtent(columns, full), [columns, full]));
  const tracks = useMemo(() => buildTracks(columns), [columns]);
  const slots = useMemo(() => timelineSlots(columns, groupSlots(report)), [columns, report]);
  const x = linear(zoom.domain, 0, width);
  const drawn = useMemo(() => draw(columns, tracks, slots, x, width), [columns, tracks, slots, width, zoom.domain.low, zoom.domain.high]);
  const height = tracks.reduce((sum, track) => sum + heightOf(track), 0);
  const span = zoom.domain.high - zoom.domain.low;
  const scale = scaleFor(span, 'ns');
  const axis = (value: number): string => `${Number(((value - full.low) / scale.factor).toPrecision(6)).toLocaleString('en')} ${scale.unit}`;
  const marks = ticks({ low: 0 + (zoom.domain.low - full.low) / scale.factor, high: (zoom.domain.high - full.low) / scale.factor }, Math.max(2, width / 150)).map((tick) => tick * scale.factor + full.low);
  const onHover = (px: number, py: number, event: PointerEvent) => {
    const hit = find(tracks, x.invert(px), py, (1.5 / width) * span);
    if (!hit) return hideTip();
    const name = columns.names[columns.name[hit.row] ?? 0] ?? '';
    const group = columns.groups[columns.group[hit.row] ?? 0] ?? '';
    return showTip(event.clientX, event.clientY, `${name}\n${group ? `${group}, ` : ''}${duration(columns.duration_ns[hit.row] ?? 0)}\n${titleOf(hit.track)}, at ${duration((columns.start_ns[hit.row] ?? 0) - full.low)}`);
  };
  const groups = columns.groups.map((group, index) => ({ group, slot: slots[index] ?? kOther })).filter(({ group, slot }) => group !== '' && slot < kOther);
  return (
    <ZoomFrame zoom={zoom} label="Timeline" note={<>{duration(span)} shown, {plural(columns.rows, 'span')}{report.thinned?.timeline ? ` (the longest of ${count(report.thinned.timeline)})` : ''}</>}>
      <div ref={ref} class="chart">
        <svg viewBox={`0 0 ${width} ${height + 26}`} class="timeline">
          {marks.map((tick) => <line key={tick} x1={x(tick)} x2={x(tick)} y1={0} y2={height} class="grid" />)}
          {[...drawn.narrow.entries()].map(([slot, path]) => <path key={`n${slot}`} d={path} fill={slotColour(slot)} />)}
          {[...drawn.wide.entries()].map(([slot, path]) => <path key={`w${slot}`} d={path} fill={slotFill(slot)} />)}
          {drawn.labels.map((label, index) => <text key={index} x={label.x} y={label.y} class={`span-label on-s${label.slot}`}>{label.text}</text>)}
          {tracks.map((track, index) => (
            <text key={track.name} x={0} y={tracks.slice(0, index).reduce((sum, one) => sum + heightOf(one), 0) + 14} class="track-name">{shorten(titleOf(track), 60)}{track.crowded ? ' (overlapping spans in the last row)' : ''}</text>
          ))}
          <XAxis scale={x} ticks={marks} format={axis} y={height} />
          <Surface box={{ left: 0, right: width, top: 0, bottom: height }} x={x} zoom={zoom} onHover={onHover} onLeave={hideTip} />
        </svg>
      </div>
      <ul class="key" aria-label="Colours">{groups.map(({ group, slot }) => <li key={group}><i class={`swatch s${slot}`} />{shorten(group, 32)}</li>)}</ul>
    </ZoomFrame>
  );
}

export function TimelineSection({ report, id, title }: { report: Report; id: string; title: string }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const trace = report.extra?.trace;
  const columns = trace ? undefined : report.timeline;
  const phases = report.session.phases.filter((phase) => phase.end_ns >= phase.start_ns);
  const base = Math.min(...phases.map((phase) => phase.start_ns));
  const shifted = phases.map((phase) => ({ ...phase, start_ns: phase.start_ns - base, end_ns: phase.end_ns - base }));
  const titles = phaseTitles(report, shifted);
  return (
    <Section id={id} title={title} lead={trace ? <span class="screen-only">Drag over a stretch to zoom into it; with the timeline in focus the wheel and W A S D zoom and move. Select an event to see what launched it, a gap to see what the host did.</span> : columns && <span class="screen-only">Drag over a stretch to zoom into it; a double click shows all again.</span>}>
      {!trace && <div ref={ref}>
        {shifted.length > 0 && (
          <ul class="key phase-key">
            {shifted.map((phase, index) => <li key={index}><i class={`swatch phase-swatch p-${index % 2}${phase.name === 'warmup' ? ' hatch' : ''}`} />{titles[index]} <span class="quiet">{duration(phase.end_ns - phase.start_ns)}</span></li>)}
          </ul>
        )}
        {shifted.length > 0 && <PhaseStrip phases={shifted} titles={titles} view={columns && (detailExtent(columns, timelineExtent(columns)) ?? timelineExtent(columns))} width={width} />}
      </div>}
      {trace ? <TraceView report={report} source={trace} /> : columns && <Spans columns={columns} report={report} />}
    </Section>
  );
}

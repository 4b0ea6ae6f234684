import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clamp, linear, ticks } from '../charts/scale.ts';
import { useWidth } from '../charts/use_width.ts';
import { useZoom } from '../charts/use_zoom.ts';
import { hideTip, showTip } from '../components/tip.tsx';
import { count, duration, scaleFor, text, unitOf } from '../format/quantity.ts';
import type { Report } from '../model/report.ts';
import { termTip } from '../model/terms.ts';
import { buildGroups, counterAt, kHeader, kRow, type Mark, placeBlocks } from '../model/trace_layout.ts';
import { arrowsOf, launchingThread } from '../model/trace_search.ts';
import { endOf, nameOf, pieces, type Ref, rowAt, startOf, type TraceTimeline, unpackTrace } from '../model/trace.ts';
import { Minimap } from './minimap.tsx';
import { familySlots, paint, readTheme, type Scene, slotter } from './paint.ts';
import { TracePanel } from './trace_panel.tsx';
import { SearchBox, useSearch } from './trace_search_box.tsx';

const kAxis = 22;
const kMaxHeight = 560;
const kLeastNs = 200;
const kDragFrom = 4; // pixels that tell a drag from a click
const kLegend = 8;

// Colours change with the theme.
function useTheme(element: { current: HTMLElement | null }) {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const renew = () => setVersion((one) => one + 1);
    const observer = new MutationObserver(renew);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', renew);
    renew();
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', renew);
    };
  }, []);
  return useMemo(() => readTheme(element.current ?? document.documentElement), [version]);
}

export function TraceView({ report, source }: { report: Report; source: TraceTimeline }) {
  const trace = useMemo(() => unpackTrace(source), [source]);
  const groups = useMemo(() => buildGroups(report, trace), [report, trace]);
  const families = useMemo(() => (report.extra?.gpu?.families ?? []).map((one) => one.family), [report]);
  const slots = useMemo(() => familySlots(families), [families]);
  const slotOf = useMemo(() => slotter(trace, slots), [trace, slots]);
  const [closed, setClosed] = useState(() => new Set(groups.filter((group) => !group.open).map((group) => group.id)));
  const [unfolded, setUnfolded] = useState(() => new Set<string>());
  const layout = useMemo(() => placeBlocks(groups, closed, unfolded), [groups, closed, unfolded]);
  const [selected, setSelected] = useState<Ref | undefined>();
  const [mark, setMark] = useState<Mark | undefined>();
  const [top, setTop] = useState(0);
  const [hover, setHover] = useState<number | undefined>();
  const [drag, setDrag] = useState<{ from: number; to: number; pans: boolean } | undefined>();
  const search = useSearch(trace);
  const [area, width] = useWidth<HTMLDivElement>();
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme(frame);
  const zoom = useZoom({ low: 0, high: trace.span }, Math.min(kLeastNs, trace.span));
  const x = linear(zoom.domain, 0, width);
  const span = zoom.domain.high - zoom.domain.low;
  const parts = useMemo(() => pieces(trace, zoom.domain.low, zoom.domain.high, (24 / width) * span), [trace, zoom.domain.low, zoom.domain.high, width]);
  const height = Math.min(kMaxHeight, layout.height);
  const scale = scaleFor(span, 'ns');
  const marks = ticks({ low: zoom.domain.low / scale.factor, high: zoom.domain.high / scale.factor }, Math.max(2, width / 130)).map((tick) => tick * scale.factor);
  const arrows = useMemo(() => (selected ? arrowsOf(trace, selected) : []), [trace, selected]);
  const drawn = arrows.filter((pair) => pair.every((ref) => layout.yOf.has(ref.layer.track[ref.row] as number)));

  useLayoutEffect(() => {
    if (!canvas.current) return;
    const scene: Scene = { trace, layout, parts, x, width, height, top, ticks: marks, slotOf, theme, selected, selectedMark: mark, found: search.names, arrows: drawn, hoverTime: hover, drag: drag && !drag.pans ? { low: Math.min(drag.from, drag.to), high: Math.max(drag.from, drag.to) } : undefined };
    paint(canvas.current, scene);
  });

  const toggle = (set: Set<string>, id: string): Set<string> => {
    const next = new Set(set);
    if (!next.delete(id)) next.add(id);
    return next;
  };

  // Opens what hides a row, scrolls to it and brings it into view.
  const jump = (ref: Ref) => {
    const number = ref.layer.track[ref.row] as number;
    const group = groups.find((one) => one.blocks.some((block) => block.tracks.includes(number)));
    const block = group?.blocks.find((one) => one.tracks.includes(number));
    const nextClosed = new Set(closed);
    const nextUnfolded = new Set(unfolded);
    if (group) nextClosed.delete(group.id);
    if (block?.folds) nextUnfolded.add(block.id);
    setClosed(nextClosed);
    setUnfolded(nextUnfolded);
    const y = placeBlocks(groups, nextClosed, nextUnfolded).yOf.get(number);
    if (y !== undefined && (y < top || y > top + height - 2 * kRow)) requestAnimationFrame(() => scroller.current?.scrollTo({ top: Math.max(0, y - height / 2) }));
    const length = endOf(ref) - startOf(ref);
    if (startOf(ref) < zoom.domain.low || endOf(ref) > zoom.domain.high || length < span / 200) {
      const wide = Math.max(length * 8, kLeastNs * 10, Math.min(span, length * 40));
      const middle = (startOf(ref) + endOf(ref)) / 2;
      zoom.to({ low: middle - wide / 2, high: middle + wide / 2 });
    }
    setMark(undefined);
    setSelected(ref);
  };
  const select = (ref: Ref | undefined, chosen?: Mark) => {
    setSelected(ref);
    setMark(ref ? undefined : chosen);
  };
  const zoomToSelection = () => {
    const [low, high] = selected ? [startOf(selected), endOf(selected)] : mark ? [mark.start, mark.end] : [0, 0];
    const pad = Math.max(kLeastNs, (high - low) * 0.25);
    if (high > low || selected) zoom.to({ low: low - pad, high: high + pad });
  };

  // What is at a place of the canvas.
  const at = (px: number, py: number): { ref?: Ref; mark?: Mark; value?: string; title: string } | undefined => {
    const y = py + top;
    const placed = layout.blocks.find((one) => y >= one.y && y < one.y + one.height);
    if (!placed) return undefined;
    const time = x.invert(px);
    const slack = (2 / width) * span;
    const title = `${placed.group.title}, ${placed.block.title}`;
    const [series] = placed.block.series;
    if (series) {
      const value = counterAt(series, time);
      return value === undefined ? undefined : { value: text(value, unitOf(series.metric, series.unit)), title: `${placed.block.title} at ${duration(time)}` };
    }
    const found = placed.block.marks.find((one) => time >= one.start - slack && time <= one.end + slack);
    if (found) return { mark: found, title };
    const track = placed.tracks[Math.floor((y - placed.y) / kRow)];
    const ref = track === undefined || track < 0 ? undefined : rowAt(parts, track, time, slack);
    return ref ? { ref, title } : undefined;
  };
  const tipOf = (hit: NonNullable<ReturnType<typeof at>>): string => {
    if (hit.value !== undefined) return `${hit.value}\n${hit.title}`;
    if (hit.mark) return `${hit.mark.label}\n${duration(hit.mark.end - hit.mark.start)}\n${hit.title}`;
    const ref = hit.ref as Ref;
    const merged = ref.layer.merged.get(ref.row);
    return merged ? `${count(merged.events)} events, busy for ${duration(merged.busy)} of ${duration(endOf(ref) - startOf(ref))}\nlongest, ${duration(merged.longest)}: ${nameOf(trace, ref)}\n${hit.title}` : `${nameOf(trace, ref)}\n${duration(endOf(ref) - startOf(ref))}\n${hit.title}, at ${duration(startOf(ref))}`;
  };
  const local = (event: PointerEvent | WheelEvent) => {
    const rect = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return { px: event.clientX - rect.left, py: event.clientY - rect.top };
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button > 1 || event.pointerType === 'touch') return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const time = x.invert(local(event).px);
    setDrag({ from: time, to: time, pans: event.shiftKey || event.button === 1 });
  };
  const onPointerMove = (event: PointerEvent) => {
    const { px, py } = local(event);
    if (drag) {
      if (drag.pans) zoom.pan((drag.from - x.invert(px)) / span);
      else setDrag({ ...drag, to: x.invert(clamp(px, 0, width)) });
      return;
    }
    setHover(x.invert(px));
    const hit = at(px, py);
    if (hit) showTip(event.clientX, event.clientY, tipOf(hit));
    else hideTip();
  };
  const onPointerUp = (event: PointerEvent) => {
    if (drag && !drag.pans && Math.abs(x(drag.to) - x(drag.from)) > kDragFrom) zoom.to({ low: Math.min(drag.from, drag.to), high: Math.max(drag.from, drag.to) });
    else if (!drag || !drag.pans) {
      const { px, py } = local(event);
      const hit = at(px, py);
      select(hit?.ref, hit?.mark);
    }
    setDrag(undefined);
  };
  // Listened to without Preact, which would make it passive: the page must not scroll as well.
  const wheel = useRef<(event: WheelEvent) => void>(() => {});
  wheel.current = (event) => {
    const focused = frame.current?.contains(document.activeElement) ?? false;
    if (event.shiftKey && event.deltaY !== 0) zoom.pan(Math.sign(event.deltaY) * 0.15);
    else if (event.ctrlKey || event.metaKey || focused) zoom.by(event.deltaY > 0 ? 1.25 : 0.8, x.invert(local(event).px));
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    const element = canvas.current;
    const listen = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener('wheel', listen, { passive: false });
    return () => element?.removeEventListener('wheel', listen);
  }, []);

  // The neighbour of the selected event: in its track, or in the next track.
  const step = (by: number) => {
    if (!selected) return selectMiddle();
    const rows = selected.layer.rowsOf.get(selected.layer.track[selected.row] as number);
    const row = selected.row + by;
    if (rows && row >= rows.first && row < rows.end) jump({ layer: selected.layer, row });
  };
  const stepTrack = (by: number) => {
    if (!selected) return selectMiddle();
    const shown = [...layout.yOf.entries()].sort((a, b) => a[1] - b[1]).map(([track]) => track);
    const middle = (startOf(selected) + endOf(selected)) / 2;
    for (let i = shown.indexOf(selected.layer.track[selected.row] as number) + by; i >= 0 && i < shown.length; i += by) {
      const ref = rowAt(parts, shown[i] as number, clamp(middle, zoom.domain.low, zoom.domain.high), span);
      if (ref) return jump(ref);
    }
  };
  const selectMiddle = () => {
    for (const [track] of [...layout.yOf.entries()].sort((a, b) => a[1] - b[1])) {
      const ref = rowAt(parts, track, (zoom.domain.low + zoom.domain.high) / 2, span);
      if (ref) return select(ref);
    }
  };
  const nextGap = () => {
    const gaps = groups.flatMap((group) => group.blocks).flatMap((block) => block.marks).filter((one) => one.kind === 'gap').sort((a, b) => b.end - b.start - (a.end - a.start));
    const next = gaps[(gaps.findIndex((one) => mark?.kind === 'gap' && one.index === mark.index) + 1) % Math.max(1, gaps.length)];
    if (!next) return;
    select(undefined, next);
    const gap = report.extra?.gaps?.longest[next.index];
    const thread = gap && launchingThread(trace, gap.rank, gap.device, next.start, next.end);
    if (thread) {
      const group = groups.find((one) => one.place.host && one.place.rank === thread.rank && one.place.place === thread.place && one.place.lane === thread.lane);
      if (group && closed.has(group.id)) setClosed(toggle(closed, group.id));
    }
    const pad = (next.end - next.start) * 0.5;
    zoom.to({ low: next.start - pad, high: next.end + pad });
  };
  const keys: Record<string, () => void> = {
    a: () => zoom.pan(-0.2), d: () => zoom.pan(0.2), w: () => zoom.by(0.6, hover), s: () => zoom.by(1 / 0.6, hover), '+': () => zoom.by(0.5), '=': () => zoom.by(0.5), '-': () => zoom.by(2),
    ArrowLeft: () => zoom.pan(-0.2), ArrowRight: () => zoom.pan(0.2), ArrowUp: () => stepTrack(-1), ArrowDown: () => stepTrack(1), ',': () => step(-1), '.': () => step(1),
    '0': zoom.reset, Enter: zoomToSelection, Escape: () => select(undefined), g: nextGap, '/': () => frame.current?.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  };
  const onKey = (event: KeyboardEvent) => {
    const act = event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget ? undefined : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const finest = parts.every((one) => one.layer.resolution === 0) ? 'every event' : `events shorter than ${duration(Math.max(...parts.map((one) => one.layer.resolution)))} merged`;
  return (
    <div class="trace" ref={frame} data-arrows={drawn.length} data-selected={selected ? nameOf(trace, selected) : mark?.label ?? ''}>
      <div class="zoom-tools trace-tools">
        <SearchBox trace={trace} search={search} selected={selected} onJump={jump} />
        <span class="buttons">
          <button type="button" onClick={nextGap} data-tip="Next longest gap (g)" disabled={!groups.some((group) => group.blocks.some((block) => block.kind === 'gap'))}>Next gap</button>
          <button type="button" aria-label="Timeline: zoom in" data-tip="Zoom in (w, +)" onClick={() => zoom.by(0.5)}>+</button>
          <button type="button" aria-label="Timeline: zoom out" data-tip="Zoom out (s, -)" onClick={() => zoom.by(2)} disabled={!zoom.zoomed}>{'\u2212'}</button>
          <button type="button" aria-label="Timeline: earlier" data-tip="Earlier (a, left)" onClick={() => zoom.pan(-0.4)} disabled={!zoom.zoomed}>{'\u2190'}</button>
          <button type="button" aria-label="Timeline: later" data-tip="Later (d, right)" onClick={() => zoom.pan(0.4)} disabled={!zoom.zoomed}>{'\u2192'}</button>
          <button type="button" aria-label="Timeline: show all" data-tip="Show all (0)" onClick={zoom.reset} disabled={!zoom.zoomed}>All</button>
        </span>
      </div>
      <p class="quiet zoom-note trace-note"><span>{duration(span)} shown of {duration(trace.span)}</span><span>{count(source.event_count)} events, {finest}</span></p>
      <Minimap trace={trace} zoom={zoom} theme={theme} />
      <div class="trace-focus" tabIndex={0} role="group" aria-label="Timeline of the trace. W and S zoom, A and D move, up and down change the track, comma and dot the event, G shows the next gap, slash searches, Enter zooms to the selection, 0 shows all." onKeyDown={onKey}>
        <div class="trace-axis" aria-hidden="true" style={{ height: `${kAxis}px` }}>
          {marks.map((tick) => { const label = `${Number((tick / scale.factor).toPrecision(7)).toLocaleString('en')} ${scale.unit}`; return x(tick) < width - 12 - 6 * label.length && <span key={tick} style={{ left: `${x(tick)}px` }}>{label}</span>; })}
        </div>
        <div class="trace-scroll" ref={scroller} style={{ height: `${height}px` }} onScroll={(event) => setTop((event.currentTarget as HTMLElement).scrollTop)}>
          <div class="trace-content" style={{ height: `${layout.height}px` }}>
            <div class="trace-gutter">
              {layout.headers.map(({ group, y }) => (
                <button key={group.id} type="button" class="trace-group" aria-expanded={!closed.has(group.id)} style={{ top: `${y}px`, height: `${kHeader}px` }} onClick={() => setClosed(toggle(closed, group.id))}>{group.title}</button>
              ))}
              {layout.blocks.map(({ block, y, rows }) => (
                <span key={block.id} class="trace-block" style={{ top: `${y}px` }}>
                  {block.folds
                    ? <button type="button" aria-expanded={unfolded.has(block.id)} data-tip={unfolded.has(block.id) ? 'Show fewer rows' : `Show all ${block.tracks.length} rows`} onClick={() => setUnfolded(toggle(unfolded, block.id))}>{block.title} <span class="quiet">{rows}/{block.tracks.length}</span></button>
                    : block.title}
                </span>
              ))}
            </div>
            <div class="trace-area" ref={area}>
              <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp} onDblClick={zoom.reset}
                onPointerLeave={() => { setHover(undefined); hideTip(); }} onPointerCancel={() => setDrag(undefined)} />
            </div>
          </div>
        </div>
      </div>
      {families.length > 0 && <ul class="key" aria-label="Colours of kernels">{families.slice(0, kLegend).map((family) => <li key={family} title={termTip(family)}><i class={`swatch s${slots.get(family) ?? 7}`} />{family}</li>)}</ul>}
      <TracePanel trace={trace} report={report} selected={selected} mark={mark} onSelect={jump} onZoom={zoomToSelection} onClose={() => select(undefined)} />
    </div>
  );
}

import { useWidth } from '../charts/use_width.ts';
import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { ScrollBox } from '../components/scroll_box.tsx';
import { hideTip, showTip } from '../components/tip.tsx';
import { duration, plural, text } from '../format/quantity.ts';
import type { Report } from '../model/report.ts';

const kRow = 26; // pixels
const kBox = 20;
const kGutter = 58; // for "12 ×"
const kTime = 78;
const kLetter = 7.3; // pixels of a letter in a box
const kMaxRows = 400;
const kMaxLanes = 6; // of edges that jump over rows

// As src/report/compiler_section.h writes it.
interface Row {
  fate: string;
  before: string;
  after: string;
  node: string;
  detail: string;
  time_ns?: number;
  from: number[];
}

interface Compiler {
  runtime: string;
  level: string;
  against: string;
  link: string;
  nodes: number;
  summary: string;
  call_ns?: number;
  call_there_ns?: number;
  levels: { level: string; kernels: number; kept: number; rewritten: number; fused: number; folded: number; removed: number; inserted: number }[];
  blocks: { repeats: number; rows: Row[] }[];
  missed: { reason: string; pattern: string; first: string; second: string; condition: string; remedy: string; count: number; both_ns?: number }[];
  differences: { side: string; after: string; before: string; count: number; time_ns?: number; change_ns?: number }[];
  parts: { target: string; first: string; last: string; nodes: number }[];
  refused: { reason: string; op_type: string; node: string; condition: string; count: number }[];
  seams: { first: string; second: string; from: string; to: string; bytes?: number; least_ns?: number; time_ns?: number }[];
  seams_least_ns?: number;
  seams_ns?: number;
  usual_ns?: number;
}

declare module '../model/report.ts' {
  interface Extra {
    compiler?: Compiler;
  }
}

const compilerOf = (report: Report): Compiler | undefined => (Array.isArray(report.extra?.compiler?.blocks) ? report.extra.compiler : undefined);

// The domain of the runtime's own operators is in the tip.
const plain = (operator: string): string => operator.replaceAll('com.microsoft.', '').replace(' -> ', ' \u2192 ');

const short = (words: string, width: number): string => {
  const room = Math.max(3, Math.floor(width / kLetter));
  return words.length <= room ? words : `${words.slice(0, room - 1)}\u2026`;
};

// An edge that jumps over rows, with the lane it is drawn in; edges in one lane do not overlap.
function lanes(rows: Row[]): { from: number; to: number; lane: number }[] {
  const edges = rows.flatMap((row, to) => row.from.filter((from) => from < to - 1 && from < rows.length).map((from) => ({ from, to, lane: 0 })));
  edges.sort((a, b) => a.to - a.from - (b.to - b.from));
  const taken: [number, number][][] = [];
  for (const edge of edges) {
    let lane = 0;
    while (taken[lane]?.some(([low, high]) => edge.from < high && edge.to > low)) ++lane;
    (taken[lane] ??= []).push([edge.from, edge.to]);
    edge.lane = lane;
  }
  return edges.filter((edge) => edge.lane < kMaxLanes);
}

function Box({ x, y, width, words, kind }: { x: number; y: number; width: number; words: string; kind: string }) {
  return (
    <>
      <rect x={x} y={y} width={width} height={kBox} rx={3} class={`node-box ${kind}`} />
      <text x={x + 7} y={y + kBox / 2 + 4} class={`node-words ${kind}`}>{short(words, width - 14)}</text>
    </>
  );
}

function tipOf(row: Row, repeats: number): string {
  return [row.before && row.after ? `${row.before} \u2192 ${row.after}` : row.before || row.after, row.fate + (row.detail ? `: ${row.detail}` : ''), row.node ? `first node: ${row.node}` : '',
    repeats > 1 ? `${repeats} times` : '', row.time_ns === undefined ? '' : `${duration(row.time_ns)} per call${repeats > 1 ? ' in all' : ''}`].filter(Boolean).join('\n');
}

function Drawing({ compiler, width }: { compiler: Compiler; width: number }) {
  const all = compiler.blocks.flatMap((block, number) => block.rows.map((row, place) => ({ row, place, block, number })));
  const shown = all.slice(0, kMaxRows);
  const rows = shown.map((one) => one.row);
  const timed = rows.some((row) => row.time_ns !== undefined);
  const edges = lanes(rows);
  const laneRoom = edges.length > 0 ? 12 + 8 * (1 + Math.max(...edges.map((edge) => edge.lane))) : 8;
  const gap = width < 520 ? 20 : 48;
  const side = Math.max(60, Math.min(420, (width - kGutter - gap - laneRoom - (timed ? kTime : 0)) / 2));
  const left = kGutter;
  const right = left + side + gap;
  const lane = right + side;
  const top = 24;
  const y = (place: number): number => top + place * kRow;
  const height = y(shown.length) + 4;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={`The graph before and after: ${compiler.summary}.`}>
      <text x={left} y={14} class="node-head">before</text>
      <text x={right} y={14} class="node-head">after</text>
      {timed && <text x={lane + laneRoom + kTime - 6} y={14} class="node-head" text-anchor="end">per call</text>}
      {shown.map(({ block, place }, at) => place === 0 && block.repeats > 1 && (
        <g key={`block${at}`}>
          <rect x={1} y={y(at) - 2} width={lane + 6} height={Math.min(block.rows.length, shown.length - at) * kRow - 2} rx={5} class="node-block" />
          <text x={10} y={y(at) + kBox / 2 + 4} class="node-repeats">{block.repeats}{'\u00a0\u00d7'}</text>
        </g>
      ))}
      {rows.map((row, at) => row.before && row.after && <path key={`step${at}`} d={`M${left + side} ${y(at) + kBox / 2}H${right - 5}m-5 -4l5 4l-5 4`} class="node-step" />)}
      {rows.map((row, at) => row.from.some((from) => from === at - 1) && rows[at - 1]?.after && row.after && <path key={`next${at}`} d={`M${right + 14} ${y(at - 1) + kBox}V${y(at)}`} class="node-edge" />)}
      {edges.map((edge) => <path key={`${edge.from}-${edge.to}`} d={`M${lane} ${y(edge.from) + kBox / 2 + 3}h${4 + 8 * edge.lane}q6 0 6 6V${y(edge.to) + kBox / 2 - 9}q0 6 -6 6h-${4 + 8 * edge.lane}`} class="node-edge" />)}
      {shown.map(({ row, block }, at) => (
        <g key={at} onPointerMove={(event) => showTip(event.clientX, event.clientY, tipOf(row, block.repeats))} onPointerLeave={hideTip}>
          {row.before && <Box x={left} y={y(at)} width={side} words={plain(row.before)} kind={row.after ? row.fate : 'gone'} />}
          {row.after
            ? <Box x={right} y={y(at)} width={side} words={plain(row.after + (row.detail ? ` (${row.detail})` : ''))} kind={row.fate} />
            : <text x={right} y={y(at) + kBox / 2 + 4} class="node-words gone">{row.fate}</text>}
          {row.time_ns !== undefined && <text x={lane + laneRoom + kTime - 6} y={y(at) + kBox / 2 + 4} class="node-time" text-anchor="end">{duration(row.time_ns)}</text>}
        </g>
      ))}
    </svg>
  );
}

function Graph({ compiler }: { compiler: Compiler }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = compiler.blocks.reduce((sum, block) => sum + block.rows.length, 0);
  const has = (fate: string): boolean => compiler.blocks.some((block) => block.rows.some((row) => row.fate === fate));
  return (
    <div ref={ref} class="node-graph">
      {width > 0 && <Drawing compiler={compiler} width={width} />}
      {rows > kMaxRows && <p class="note">{plural(rows - kMaxRows, 'row')} more in the JSON report.</p>}
      <ul class="key">
        {has('fused') && <li><span class="node-swatch fused" />several nodes in one kernel</li>}
        {has('rewritten') && <li><span class="node-swatch rewritten" />another operator or layout</li>}
        {has('kept') && <li><span class="node-swatch kept" />unchanged</li>}
        {has('inserted') && <li><span class="node-swatch inserted" />put in by the compiler</li>}
        {(has('folded') || has('removed')) && <li><span class="node-swatch gone" />computed at load time, or removed</li>}
      </ul>
    </div>
  );
}

function Levels({ compiler }: { compiler: Compiler }) {
  if (compiler.levels.length < 2) return null;
  const kColumns = ['kernels', 'kept', 'rewritten', 'fused', 'folded', 'removed', 'inserted'] as const;
  const kept = (one: string): string => (one === 'kernels' || one === 'fused' || one === 'inserted' ? 'right' : 'right narrow');
  return (
    <ScrollBox label="Levels">
      <table class="legend compiler">
        <thead><tr><th scope="col">Level</th>{kColumns.map((one) => <th key={one} scope="col" class={kept(one)}>{one}</th>)}</tr></thead>
        <tbody>
          {compiler.levels.map((level) => (
            <tr key={level.level}>
              <th scope="row">{level.level}{level.level === compiler.level ? <span class="quiet"> (drawn)</span> : null}</th>
              {kColumns.map((one) => <td key={one} class={kept(one)}>{level[one]}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Missed({ rows }: { rows: Compiler['missed'] }) {
  if (rows.length === 0) return null;
  const timed = rows.some((row) => row.both_ns !== undefined);
  return (
    <>
      <h3 class="compiler-part">Not fused</h3>
      <table class="legend compiler">
        <thead><tr><th scope="col">Pattern, first place</th><th scope="col" class="narrow">Why</th><th scope="col" class="right">places</th>{timed && <th scope="col" class="right">both kernels</th>}</tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.reason} ${row.pattern}`}>
              <th scope="row">{row.pattern}<span class="quiet narrow-block"><Name text={row.first} /> and <Name text={row.second} /></span><span class="quiet only-narrow">{row.condition || row.remedy}</span></th>
              <td class="narrow">{row.condition || row.remedy}{row.condition && row.remedy ? <span class="quiet narrow-block">{row.remedy}</span> : null}</td>
              <td class="right">{row.count}</td>
              {timed && <td class="right">{row.both_ns === undefined ? '' : duration(row.both_ns)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Against({ compiler }: { compiler: Compiler }) {
  const { against, differences, parts } = compiler;
  if (!against || parts.length > 0) return null;
  const timed = differences.some((one) => one.time_ns !== undefined);
  const signed = (ns: number): string => `${ns > 0 ? '+' : ''}${duration(ns)}`;
  return (
    <>
      <h3 class="compiler-part">Against {against}</h3>
      {compiler.call_ns !== undefined && compiler.call_there_ns !== undefined && <p>With the profiler on, a call takes {duration(compiler.call_ns)} here and {duration(compiler.call_there_ns)} with {against}.</p>}
      {differences.length === 0 ? <p>Both fuse the same nodes.</p> : (
        <table class="legend compiler">
          <thead><tr><th scope="col">Fused only with</th><th scope="col">kernel</th><th scope="col" class="right">places</th>{timed && <><th scope="col" class="right">time</th><th scope="col" class="right">change</th></>}</tr></thead>
          <tbody>
            {differences.map((one) => (
              <tr key={`${one.side} ${one.after} ${one.before}`}>
                <th scope="row">{one.side}</th>
                <td><Name text={one.after} /><span class="quiet narrow-block">{one.before}</span></td>
                <td class="right">{one.count}</td>
                {timed && <><td class="right">{one.time_ns === undefined ? '' : duration(one.time_ns)}</td><td class="right">{one.change_ns === undefined ? '' : signed(one.change_ns)}</td></>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

// Tensors copied between the parts of a plan: estimates.
function Copies({ compiler }: { compiler: Compiler }) {
  const { link, seams } = compiler;
  return (
    <>
      <h3 class="compiler-part">Seams</h3>
      <p>{plural(seams.length, 'tensor')} copied between parts{compiler.seams_least_ns === undefined ? '' : `, at least ${duration(compiler.seams_least_ns)} per call: estimated from the rate of ${link}; the start of each copy comes on top`}.</p>
      <ScrollBox label="Seams"><table class="legend compiler">
        <thead><tr><th scope="col">Made by, read by</th><th scope="col">copied</th><th scope="col" class="right">size</th><th scope="col" class="right">at least</th></tr></thead>
        <tbody>{seams.map((seam, at) => <tr key={at}><th scope="row"><Between seam={seam} /></th><td>{seam.from} to {seam.to}</td><td class="right">{seam.bytes === undefined ? 'unknown' : text(seam.bytes, 'bytes')}</td><td class="right">{seam.least_ns === undefined ? '' : duration(seam.least_ns)}</td></tr>)}</tbody>
      </table></ScrollBox>
    </>
  );
}

const provider = (name: string): string => name.replace(/ExecutionProvider$/, '');

// Changes of provider in a run on the backend: measured.
function Changes({ compiler, cost }: { compiler: Compiler; cost: number }) {
  const { call_there_ns: call, seams, usual_ns: usual } = compiler;
  const beyond = usual === undefined ? '' : `, beyond the usual ${duration(usual)} between two nodes`;
  return (
    <>
      <h3 class="compiler-part">Seams</h3>
      <p>{plural(seams.length, 'change')} between providers{cost > 0 ? `, together ${duration(cost)}${call === undefined ? '' : ` of a call of ${duration(call)}`}${beyond}` : ', without measurable cost'}: measured with the profiler on. What a provider converts inside a node counts to the node.</p>
      <ScrollBox label="Seams"><table class="legend compiler">
        <thead><tr><th scope="col">Before, after</th><th scope="col" class="right">time</th><th scope="col">from, to</th></tr></thead>
        <tbody>{seams.map((seam, at) => <tr key={at}><th scope="row"><Between seam={seam} /></th><td class="right">{seam.time_ns === undefined ? '' : duration(seam.time_ns)}</td><td>{provider(seam.from)} to {provider(seam.to)}</td></tr>)}</tbody>
      </table></ScrollBox>
    </>
  );
}

const Between = ({ seam }: { seam: Compiler['seams'][number] }) => <><Name text={seam.first} /> <span class="quiet">to</span> <Name text={seam.second} /></>;

function Parts({ compiler }: { compiler: Compiler }) {
  const { against, parts, refused, seams } = compiler;
  if (parts.length === 0) return null;
  return (
    <>
      <h3 class="compiler-part">Parts with {against}</h3>
      <ScrollBox label="Parts"><table class="legend compiler">
        <thead><tr><th scope="col">Runs on</th><th scope="col" class="right">nodes</th><th scope="col">from, to</th></tr></thead>
        <tbody>{parts.map((part, at) => <tr key={at}><th scope="row">{part.target}</th><td class="right">{part.nodes}</td><td>{part.first && <Name text={part.first} />}{part.nodes > 1 && part.last ? <> to <Name text={part.last} /></> : null}</td></tr>)}</tbody>
      </table></ScrollBox>
      {refused.length > 0 && (
        <table class="legend compiler">
          <thead><tr><th scope="col">Not taken, first node</th><th scope="col" class="narrow">Why</th><th scope="col" class="right">nodes</th></tr></thead>
          <tbody>{refused.map((one) => <tr key={`${one.reason} ${one.op_type}`}><th scope="row">{one.op_type}<span class="quiet narrow-block"><Name text={one.node} /></span><span class="quiet only-narrow">{one.condition}</span></th><td class="narrow">{one.condition}</td><td class="right">{one.count}</td></tr>)}</tbody>
        </table>
      )}
      {seams.length > 0 && (compiler.seams_ns === undefined ? <Copies compiler={compiler} /> : <Changes compiler={compiler} cost={compiler.seams_ns} />)}
    </>
  );
}

function CompilerSection({ report, id, title }: SectionProps) {
  const compiler = compilerOf(report);
  if (!compiler) return null;
  return (
    <Section id={id} title={title} lead={`${compiler.summary} (${compiler.runtime}). What repeats is drawn once.`}>
      <Graph compiler={compiler} />
      <Levels compiler={compiler} />
      <Missed rows={compiler.missed} />
      <Against compiler={compiler} />
      <Parts compiler={compiler} />
    </Section>
  );
}

export const compilerSection: SectionEntry = {
  id: 'compiler',
  title: 'Compiler',
  shows: ['compiler'],
  has: (report) => compilerOf(report)?.blocks.length,
  view: CompilerSection,
};

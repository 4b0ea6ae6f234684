import { Confidence } from '../components/meter.tsx';
import { interval, percent, prose, quantity } from '../format/quantity.ts';
import { findMetric, metricTip, metricTitle, type NamedMetric, type Report } from '../model/report.ts';

const kAlmostAll = 0.95;
const kEfficiency = 'hardware_efficiency'; // of the roofline, not a metric

const relative = (metric: NamedMetric, of: (low: number, high: number) => number): number =>
  metric.ci95 && metric.value !== 0 ? of(metric.ci95[0], metric.ci95[1]) / Math.abs(metric.value) : 0;
// What \u00b1 means: the half width of the 95 % interval relative to the value, as the terminal states it (src/report/quantity.h): not above 100 %.
const halfWidth = (metric: NamedMetric): number => relative(metric, (low, high) => (high - low) / 2);
// How far an end of the interval is from the value: what the drawing has to hold.
const extent = (metric: NamedMetric): number => relative(metric, (low, high) => Math.max(Math.abs(low - metric.value), Math.abs(high - metric.value)));

// The interval around its value, on a scale that the tiles share, so that precision can be compared at a glance.
function Whisker({ metric, reach }: { metric: NamedMetric; reach: number }) {
  if (!metric.ci95 || metric.value === 0) return null;
  const place = (value: number): number => 50 + ((value - metric.value) / Math.abs(metric.value) / reach) * 46;
  const [low, high] = [place(metric.ci95[0]), place(metric.ci95[1])];
  return (
    <span class="whisker" aria-hidden="true">
      <i class="whisker-range" style={{ left: `${Math.min(low, high)}%`, width: `${Math.max(0.6, Math.abs(high - low))}%` }} />
      <i class="whisker-dot" />
    </span>
  );
}

// Kernels of unknown work are in no roofline: of how much of the time the tile speaks.
function efficiencyOf(report: Report): string {
  const known = findMetric(report, 'gpu.known_work_ratio', report.headline_of?.device)?.value;
  return known === undefined || known >= kAlmostAll ? 'reached of the roofline' : `reached of the roofline, in ${percent(known)} of the kernel time`;
}

function Tile({ report, metric, reach }: { report: Report; metric: NamedMetric; reach: number }) {
  const { number, unit } = quantity(metric.value, metric.unit);
  return (
    <div class="tile">
      <dt title={metric.id === kEfficiency ? report.roofline?.text : metricTip(report, metric.id)}>{metric.id === kEfficiency ? 'Hardware efficiency' : metricTitle(report, metric.id)}</dt>
      <dd>
        <span class="tile-value">{number}{unit && <span class="tile-unit">{'\u00a0'}{unit}</span>}</span>
        <Whisker metric={metric} reach={reach} />
        <span class="tile-interval">
          {metric.ci95
            ? <><span>{interval(metric.ci95[0], metric.ci95[1], metric.unit)}</span>{halfWidth(metric) <= 1 && <span class="quiet">{'\u00b1'}{'\u00a0'}{percent(halfWidth(metric))}</span>}</>
            : metric.id === kEfficiency ? efficiencyOf(report) : report.session.kind === 'import' ? 'no CI (one trace)' : 'no CI'}
        </span>
      </dd>
    </div>
  );
}

const kTiles = 4;
// Beside the headline's own metrics: how busy the device is, and how near the work is to what the hardware can do.
const kMore = ['gpu.active_ratio', 'gpu.busy_ratio', 'cpu.use_ratio'];
// Of a server under load, whose machine this need not be.
const kServed = ['llm.good_ratio', 'llm.availability_ratio'];

function tilesOf(report: Report): NamedMetric[] {
  const find = (id: string) => findMetric(report, id, report.headline_of?.device);
  const tiles = report.headline.map(find).filter((one): one is NamedMetric => one !== undefined);
  const busy = (report.extra?.llm ? kServed : kMore).map(find).find((one): one is NamedMetric => one !== undefined);
  const efficiency = report.roofline?.reached_ratio;
  const known = (ids: string[]) => tiles.some((one) => ids.includes(one.id));
  if (tiles.length > 0 && efficiency !== undefined) tiles.push({ id: kEfficiency, value: efficiency, unit: 'ratio' });
  if (tiles.length > 0 && tiles.length < kTiles && busy && !known([...kMore, busy.id])) tiles.push(busy);
  return tiles.slice(0, kTiles);
}

// The first screen: what was found, how sure that is, and the numbers that matter.
export function Headline({ report }: { report: Report }) {
  const metrics = tilesOf(report);
  const reach = Math.max(0.01, ...metrics.map(extent)) * 1.1;
  return (
    <header class="headline" id="verdict">
      <p class="kicker">{report.title}</p>
      <h1>{prose(report.verdict?.text ?? '') || 'No verdict: not enough measurements.'}</h1>
      {report.verdict?.confidence && <Confidence text={report.verdict.confidence} />}
      {metrics.length > 0 && <dl class="tiles">{metrics.map((metric) => <Tile key={metric.id} report={report} metric={metric} reach={reach} />)}</dl>}
      {metrics.length > 0 && report.headline_of && <p class="tiles-note">Values for {report.headline_of.name}.</p>}
      {metrics.some((metric) => metric.ci95) && <p class="tiles-note">Below each number: its 95 % confidence interval; {'\u00b1'} is the half width of that interval relative to the value. Bars share one relative scale.</p>}
    </header>
  );
}

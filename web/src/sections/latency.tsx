import { useMemo, useState } from 'preact/hooks';
import { Section } from '../components/section.tsx';
import { interval, percent, plural, text } from '../format/quantity.ts';
import { callOf, distribution, inTimeOrder, isBeside, isMeasured, isWarmup, phaseTitleOf } from '../model/iterations.ts';
import { findMetric, metricTip, metricTitle, type NamedMetric, type Report } from '../model/report.ts';
import { linear, padded } from '../charts/scale.ts';
import { DistributionChart, type Mark } from './distribution_chart.tsx';
import { LatencyChart } from './latency_chart.tsx';

const kRows = ['latency.mean_ns', 'latency.p50_ns', 'latency.p90_ns', 'latency.p95_ns', 'latency.p99_ns', 'latency.p999_ns'];
const kMarks: Record<string, string> = { 'latency.p50_ns': 'P50', 'latency.p90_ns': 'P90', 'latency.p95_ns': 'P95', 'latency.p99_ns': 'P99', 'latency.p999_ns': 'P99.9' };

// Quantiles with their intervals, as numbers and as whiskers on one axis.
function QuantileTable({ report, metrics }: { report: Report; metrics: NamedMetric[] }) {
  const ends = metrics.flatMap((one) => [one.value, ...(one.ci95 ?? [])]);
  const x = linear(padded({ low: Math.min(...ends), high: Math.max(...ends) }, 0.03), 0, 100);
  const plotted = new Set(ends).size > 1; // one point alone says no more than its number
  return (
    <table class="quantiles">
      <caption class="unseen">Latency: mean and quantiles with 95 % confidence intervals</caption>
      <thead><tr><th scope="col">Latency</th><th scope="col" class="right">Value</th><th scope="col" class="right">95 % CI</th>{plotted && <th scope="col" class="narrow" aria-label="interval plot" />}</tr></thead>
      <tbody>
        {metrics.map((metric) => (
          <tr key={metric.id}>
            <th scope="row" title={metricTip(report, metric.id)}>{metricTitle(report, metric.id)}</th>
            <td class="right strong">{text(metric.value, metric.unit)}</td>
            <td class="right">{metric.ci95 ? interval(metric.ci95[0], metric.ci95[1], metric.unit) : <span class="quiet">no CI</span>}</td>
            {plotted && <td class="narrow forest">
              <span class="forest-line" aria-hidden="true">
                {metric.ci95 && <i class="whisker-range" style={{ left: `${x(metric.ci95[0])}%`, width: `${Math.max(0.5, x(metric.ci95[1]) - x(metric.ci95[0]))}%` }} />}
                <i class="whisker-dot" style={{ left: `${x(metric.value)}%` }} />
              </span>
            </td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function leadOf(report: Report): string {
  const words: string[] = [];
  const iterations = findMetric(report, 'latency.count');
  const warmup = findMetric(report, 'warmup.iterations');
  const cov = findMetric(report, 'latency.cov_ratio');
  const observer = findMetric(report, 'observer.effect_ratio');
  if (iterations) words.push(`${plural(iterations.value, callOf(report))} measured${warmup && warmup.value > 0 ? ` after ${plural(warmup.value, callOf(report))} of warm-up` : ''}.`);
  if (cov) words.push(`Coefficient of variation: ${percent(cov.value)}.`);
  if (observer) words.push(`Telemetry changed the median by ${percent(observer.value)}${observer.ci95 ? ` (${interval(observer.ci95[0], observer.ci95[1], 'ratio')})` : ''}.`);
  return words.join(' ');
}

export function LatencySection({ report, id, title }: { report: Report; id: string; title: string }) {
  const series = useMemo(() => (report.iterations && report.iterations.rows > 0 ? inTimeOrder(report.iterations) : undefined), [report]);
  const steps = useMemo(() => distribution(series, report.histogram, report.thinned?.iterations !== undefined), [series, report]);
  const [curve, setCurve] = useState(false);
  const call = callOf(report);
  const metrics = kRows.map((one) => findMetric(report, one)).filter((one): one is NamedMetric => one !== undefined);
  const marks: Mark[] = metrics.filter((one) => kMarks[one.id]).map((one) => ({ label: kMarks[one.id] as string, value: one.value, ci95: one.ci95 }));
  // A point or a bar alone says no more than its number.
  const points = series ? series.duration.length : 0;
  const bars = report.histogram?.count.filter((one) => one > 0).length ?? 0;
  const others = (series?.phases ?? []).filter((phase) => !isWarmup(phase) && !isBeside(phase) && !isMeasured(phase));
  const outliers = series ? [...series.outlier].filter((row) => isMeasured(series.phases[series.phase[row] ?? 0] ?? '')).length : 0;
  return (
    <Section id={id} title={title} lead={leadOf(report)}>
      {metrics.length > 0 && <QuantileTable report={report} metrics={metrics} />}
      {series && points > 1 && (
        <figure>
          <figcaption>Every {call} over time</figcaption>
          <LatencyChart series={series} call={call} titleOf={phaseTitleOf(report)} median={findMetric(report, 'latency.p50_ns')?.value} thinnedFrom={report.thinned?.iterations} />
          <ul class="key">
            {series.phases.some(isWarmup) && <li><i class="swatch hatch" />warm-up, not counted</li>}
            {series.phases.some(isBeside) && <li><i class="line-swatch" />with telemetry, not counted</li>}
            {others.length > 0 && <li><i class="line-swatch grey" />{others.map((phase) => (phase === 'profile' ? 'profiled' : phase)).join(', ')}, not counted</li>}
            <li><i class="sign-outlier" />{plural(outliers, 'outlier')} beyond 3 IQR of the quartiles</li>
            {series.disturbance.size > 0 && <li><i class="sign-disturbed" />{plural(series.disturbance.size, call)} affected by external load</li>}
          </ul>
        </figure>
      )}
      {(bars > 1 || steps.length > 1) && (
        <figure>
          <figcaption>
            Distribution of the measured {call}s
            <span class="switch small" role="group" aria-label="Form">
              <button type="button" class={curve ? '' : 'on'} aria-pressed={!curve} onClick={() => setCurve(false)} disabled={!report.histogram}>Histogram</button>
              <button type="button" class={curve ? 'on' : ''} aria-pressed={curve} onClick={() => setCurve(true)}>Cumulative</button>
            </span>
          </figcaption>
          <DistributionChart histogram={report.histogram} steps={steps} marks={marks} curve={curve || !report.histogram} what={`${call}s`} />
          {marks.some((mark) => mark.ci95) && <ul class="key"><li><i class="swatch mark-swatch" />95 % CI of each quantile</li></ul>}
        </figure>
      )}
    </Section>
  );
}

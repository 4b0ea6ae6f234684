import { Name } from '../components/name.tsx';
import { Section, type SectionEntry, type SectionProps } from '../components/section.tsx';
import { duration, interval, text } from '../format/quantity.ts';
import { metricTip, type Report } from '../model/report.ts';

// As src/report/scaling_section.h writes it.
interface Point {
  label: string;
  session_id?: string;
  error?: string;
  backend?: string;
  batch?: number;
  threads?: number;
  dimensions?: Record<string, number | null>;
  median_ns?: number;
  median_low_ns?: number;
  median_high_ns?: number;
  p90_ns?: number;
  p90_low_ns?: number;
  p90_high_ns?: number;
  items_per_second?: number;
  items_per_second_low?: number;
  items_per_second_high?: number;
  relative_ratio?: number;
}

interface Scaling {
  summary: { text?: string; confidence?: string };
  points: Point[];
}

declare module '../model/report.ts' {
  interface Extra {
    scaling?: Scaling;
  }
}

const pointsOf = (report: Report): Point[] => (Array.isArray(report.extra?.scaling?.points) ? report.extra.scaling.points : []);

const range = (low: number | undefined, high: number | undefined, unit: string) => (low !== undefined && high !== undefined ? interval(low, high, unit) : '');

// A sweep's points in the order they ran: items a second as a bar, against the first, and the median call.
function ScalingSection({ report, id, title }: SectionProps) {
  const points = pointsOf(report);
  const largest = Math.max(...points.map((point) => point.items_per_second ?? 0));
  return (
    <Section id={id} title={title} lead="Points in the order they ran. Bars show throughput; 95 % confidence intervals are below the values.">
      <table class="legend scaling">
        <thead><tr><th scope="col">Point</th><th scope="col" class="narrow" aria-label="relative size" /><th scope="col" class="right" title={metricTip(report, 'throughput.items_per_second')}>throughput</th><th scope="col" class="right narrow">vs. first</th><th scope="col" class="right" title={metricTip(report, 'latency.p50_ns')}>median latency</th></tr></thead>
        <tbody>
          {points.map((point, index) => (
            <tr key={index}>
              <th scope="row"><Name text={point.label} /></th>
              {point.items_per_second === undefined
                ? <td colSpan={4}>{point.error ?? 'not measured'}</td>
                : <>
                    <td class="narrow bar-cell"><span class="bar s0" style={{ width: `${(point.items_per_second / largest) * 100}%` }} /></td>
                    <td class="right strong">{text(point.items_per_second, 'items/s')}<span class="quiet narrow-block">{range(point.items_per_second_low, point.items_per_second_high, 'items/s')}</span></td>
                    <td class="right narrow">{point.relative_ratio === undefined ? '' : `${point.relative_ratio.toFixed(2)}\u00a0×`}</td>
                    <td class="right">{point.median_ns === undefined ? '' : duration(point.median_ns)}<span class="quiet narrow-block">{range(point.median_low_ns, point.median_high_ns, 'ns')}</span></td>
                  </>}
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

export const scalingSection: SectionEntry = {
  id: 'scaling',
  title: 'Scaling',
  shows: ['scaling'],
  has: (report) => pointsOf(report).length,
  view: ScalingSection,
};

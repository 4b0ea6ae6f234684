import { Command } from '../components/command.tsx';
import { Meter } from '../components/meter.tsx';
import { Section, type SectionProps } from '../components/section.tsx';
import { prose, roundPercent } from '../format/quantity.ts';

const kTry = 'try: ';

function Evidence({ list }: { list: string[] | undefined }) {
  if (!list || list.length === 0) return null;
  return <ul class="evidence" aria-label="Evidence">{list.map((one, index) => <li key={index}>{one.startsWith(kTry) ? <>{kTry}<Command words={one.slice(kTry.length).split(' ')} /></> : prose(one)}</li>)}</ul>;
}

export function WhySection({ report, id, title }: SectionProps) {
  const statements = report.why ?? [];
  return (
    <Section id={id} title={title}>
      <ol class="statements">
        {statements.map((one, index) => (
          <li key={index}>
            <div class="statement-head">
              <h3>{prose(one.title)}</h3>
              {one.confidence_ratio !== undefined && <span class="sure"><span class="quiet">confidence</span> <Meter ratio={one.confidence_ratio} label="Confidence" /></span>}
            </div>
            <p>{prose(one.text)}</p>
            <Evidence list={one.evidence} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

// In the given order: by expected gain, or by what the advice is about where its gain is unknown.
export function AdviceSection({ report, id, title }: SectionProps) {
  const statements = report.advice ?? [];
  return (
    <Section id={id} title={title} lead="Ranked by expected gain; in brackets the least and the most that the change can save.">
      <ol class="advice">
        {statements.map((one, index) => (
          <li key={index}>
            <div class="gain">
              {one.gain_ratio !== undefined
                ? <><span class="gain-number">{'\u2212'}{roundPercent(one.gain_ratio)}</span><span class="quiet">of {one.gain_of ?? 'the latency'}{one.gain_interval_ratio && ` (${roundPercent(one.gain_interval_ratio[0])} to ${roundPercent(one.gain_interval_ratio[1])})`}</span></>
                : <span class="quiet">no estimate</span>}
            </div>
            <div>
              <h3>{prose(one.title)}</h3>
              <p>{prose(one.text)}</p>
              {one.confidence_ratio !== undefined && <p class="sure"><span class="quiet">confidence</span> <Meter ratio={one.confidence_ratio} label="Confidence" /></p>}
              <Evidence list={one.evidence} />
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

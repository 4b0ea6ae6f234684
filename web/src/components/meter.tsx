import { clamp } from '../charts/scale.ts';
import { prose, roundPercent } from '../format/quantity.ts';

// A ratio as a short bar with its number beside it.
export function Meter({ ratio, label, slot }: { ratio: number; label: string; slot?: number }) {
  return (
    <span class="meter" role="img" aria-label={`${label} ${roundPercent(ratio)}`}>
      <span class="meter-track">
        <span class={slot === undefined ? 'meter-fill' : `meter-fill s${slot}`} style={{ width: `${clamp(ratio, 0, 1) * 100}%` }} />
      </span>
      <span class="meter-text">{roundPercent(ratio)}</span>
    </span>
  );
}

const kLevels: Record<string, number> = { none: 0, low: 1, medium: 2, moderate: 2, high: 3, 'very high': 3 };

// "high: 1,200 iterations" as three steps and words.
export function Confidence({ text }: { text: string }) {
  const colon = text.indexOf(':');
  const word = (colon > 0 ? text.slice(0, colon) : text).trim().toLowerCase();
  const level = Object.prototype.hasOwnProperty.call(kLevels, word) ? kLevels[word] : undefined;
  if (level === undefined) return <p class="confidence">Confidence: {prose(text)}</p>;
  const rest = colon > 0 ? prose(text.slice(colon + 1).trim()) : '';
  return (
    <p class="confidence">
      <span class="steps" aria-hidden="true">
        {[1, 2, 3].map((step) => <i key={step} class={step <= level ? 'on' : ''} />)}
      </span>
      <span><strong>{word === 'none' ? 'No' : word[0]?.toUpperCase() + word.slice(1)} confidence</strong>{rest && ` \u2014 ${rest}`}</span>
    </p>
  );
}

import { kOther, slotColour } from './palette.ts';

// Fills for the palette's slots: the colour with a pattern of its own, so that prints and colour-blind eyes tell them apart.
const kMarks: Record<number, string> = {
  1: 'M-1 1l2-2M0 6l6-6M5 7l2-2', // rising lines
  2: 'M1.5 1.5h.01M4.5 4.5h.01', // dots
  3: 'M0 3h6', // level lines
  4: 'M-1 5l2 2M0 0l6 6M5-1l2 2', // falling lines
  5: 'M3 0v6', // upright lines
  6: 'M0 3h6M3 0v6', // crosses
};

export function Patterns() {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <defs>
        {Array.from({ length: kOther + 1 }, (_, slot) => (
          <pattern key={slot} id={`fill${slot}`} width="6" height="6" patternUnits="userSpaceOnUse">
            <rect width="6" height="6" fill={slotColour(slot)} />
            {kMarks[slot] && <path d={kMarks[slot]} class={slot === 2 ? 'mark dots' : 'mark'} />}
          </pattern>
        ))}
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 1l2-2M0 6l6-6M5 7l2-2" class="hatch" /></pattern>
      </defs>
    </svg>
  );
}

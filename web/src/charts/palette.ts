// Colours by role; the values are in style/theme.css. Each slot has a pattern too, so that colour is never the only sign.

export const kSlots = 7;
export const kOther = kSlots; // the grey slot

export const slotColour = (slot: number): string => `var(--c${Math.min(slot, kOther)})`;
export const slotFill = (slot: number): string => `url(#fill${Math.min(slot, kOther)})`;

// Slots for groups by their weight: the heaviest get colours, the rest share the grey one.
export function assignSlots(weights: Map<string, number>): Map<string, number> {
  const order = [...weights.entries()].sort((a, b) => b[1] - a[1]);
  return new Map(order.map(([name], index) => [name, Math.min(index, kOther)]));
}

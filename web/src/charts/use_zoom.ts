import { useMemo, useState } from 'preact/hooks';
import { clamp, type Domain } from './scale.ts';

export interface Zoom {
  domain: Domain;
  zoomed: boolean;
  to: (domain: Domain) => void;
  by: (factor: number, centre?: number) => void; // factor below 1 zooms in
  pan: (share: number) => void;
  reset: () => void;
  onKey: (event: KeyboardEvent) => void;
}

// A window onto `full`: at least `least` wide, never outside.
// `first` is shown at the beginning, the whole where it is left out.
export function useZoom(full: Domain, least: number, first?: Domain): Zoom {
  const [view, setView] = useState<Domain | null>(first ?? null);
  return useMemo(() => {
    const domain = view ?? full;
    const whole = full.high - full.low;
    const to = (next: Domain) => {
      const span = clamp(next.high - next.low, Math.min(least, whole), whole);
      const low = clamp((next.low + next.high - span) / 2, full.low, full.high - span);
      setView(span >= whole * 0.9999 ? null : { low, high: low + span });
    };
    const by = (factor: number, centre = (domain.low + domain.high) / 2) =>
      to({ low: centre - (centre - domain.low) * factor, high: centre + (domain.high - centre) * factor });
    const pan = (share: number) => {
      const step = (domain.high - domain.low) * share;
      const low = clamp(domain.low + step, full.low, full.high - (domain.high - domain.low));
      setView({ low, high: low + (domain.high - domain.low) });
    };
    const reset = () => setView(null);
    const keys: Record<string, () => void> = {
      '+': () => by(0.5), '=': () => by(0.5), '-': () => by(2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), '0': reset, Home: () => pan(-1e9), End: () => pan(1e9),
    };
    const onKey = (event: KeyboardEvent) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (!act || event.target !== event.currentTarget) return;
      event.preventDefault();
      act();
    };
    return { domain, zoomed: view !== null, to, by, pan, reset, onKey };
  }, [view, full.low, full.high, least]);
}

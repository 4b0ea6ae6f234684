import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

// One floating tip for the whole page. Elements ask for it with data-tip (shown on hover and on focus); charts call showTip().
interface Tip {
  x: number;
  y: number;
  text: string;
}

let publish: (tip: Tip | null) => void = () => {};
export const showTip = (x: number, y: number, text: string): void => publish({ x, y, text });
export const hideTip = (): void => publish(null);

export function TipLayer() {
  const [tip, setTip] = useState<Tip | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    publish = setTip;
    let dismissed: Element | null = null; // by Escape; stays so until something is focused or pointed at
    const show = (target: Element, x?: number) => {
      const rect = target.getBoundingClientRect();
      setTip({ x: x ?? rect.left, y: rect.bottom + 4, text: target.getAttribute('data-tip') ?? '' });
    };
    const over = (event: Event) => {
      const target = (event.target as Element | null)?.closest?.('[data-tip]');
      if (!target) return;
      dismissed = null;
      show(target, event instanceof PointerEvent ? event.clientX : undefined);
    };
    const out = (event: Event) => {
      if ((event.target as Element | null)?.closest?.('[data-tip]')) setTip(null);
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      dismissed = document.activeElement;
      setTip(null);
    };
    // A tip of the focused element follows it: focusing may have scrolled the page.
    const gone = () => {
      const focused = document.activeElement;
      if (focused && focused !== dismissed && focused.hasAttribute('data-tip') && focused.matches(':focus-visible')) show(focused);
      else setTip(null);
    };
    document.addEventListener('pointerover', over);
    document.addEventListener('pointerout', out);
    document.addEventListener('focusin', over);
    document.addEventListener('focusout', out);
    document.addEventListener('keydown', key);
    window.addEventListener('scroll', gone, { passive: true });
    return () => {
      document.removeEventListener('pointerover', over);
      document.removeEventListener('pointerout', out);
      document.removeEventListener('focusin', over);
      document.removeEventListener('focusout', out);
      document.removeEventListener('keydown', key);
      window.removeEventListener('scroll', gone);
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !tip) return;
    const { width, height } = element.getBoundingClientRect();
    const left = Math.max(8, Math.min(tip.x + 10, document.documentElement.clientWidth - width - 8));
    const below = tip.y + 10 + height < window.innerHeight;
    element.style.left = `${left}px`;
    element.style.top = `${below ? tip.y + 10 : Math.max(8, tip.y - height - 14)}px`;
  }, [tip]);
  if (!tip || tip.text === '') return null;
  return <div class="tip" role="tooltip" ref={box}>{tip.text}</div>;
}

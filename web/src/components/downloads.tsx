import { useEffect, useRef, useState } from 'preact/hooks';

// Everything that the page shows as a table or a chart, to save as CSV or PNG.
interface Item {
  name: string;
  kind: 'CSV' | 'PNG';
  save: () => void;
}

const kMinChart = 120; // pixels; smaller drawings are signs, not charts
const kScale = 2; // pixels of the picture per CSS pixel
const kDrawn = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'stroke-opacity', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'visibility', 'display'];

export function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const fileName = (text: string, ending: string): string => `aaco-${text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) || 'data'}.${ending}`;

// RFC 4180.
export const csvText = (rows: string[][]): string => rows.map((row) => row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell)).join(',') + '\r\n').join('');

function cellText(cell: Element): string {
  const copy = cell.cloneNode(true) as Element;
  copy.querySelectorAll('[aria-hidden="true"], svg').forEach((one) => one.remove());
  return (copy.textContent ?? '').replace(/[\s\u00a0]+/g, ' ').trim();
}

export function csvOf(table: HTMLTableElement): string {
  return csvText([...table.rows].filter((row) => !row.classList.contains('row-detail')).map((row) => [...row.cells].map(cellText)));
}

// The drawing by itself: what style sheets say becomes attributes, and the patterns it refers to come along.
function standalone(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll('*')];
  const to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    const target = to[index];
    for (const name of kDrawn) target?.setAttribute(name, style.getPropertyValue(name).replace(/url\("#/g, 'url("#'));
    target?.removeAttribute('class');
  });
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const patterns = svg.ownerDocument.querySelector('.patterns defs');
  if (patterns) copy.prepend(patterns.cloneNode(true));
  return copy;
}

export async function pngOf(svg: SVGSVGElement): Promise<Blob> {
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(standalone(svg)))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * kScale);
  canvas.height = Math.ceil(height * kScale);
  const context = canvas.getContext('2d');
  if (context) {
    context.fillStyle = getComputedStyle(svg.ownerDocument.documentElement).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
  }
  return pictureOf(canvas);
}

const pictureOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((done, fail) => { canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('no picture'))), 'image/png'); });

// What a reader would call it: its caption, else the heading above it.
function nameOf(element: Element): string {
  const own = element.querySelector('caption')?.textContent || element.closest('figure')?.querySelector('figcaption')?.textContent || element.getAttribute('aria-label')?.split(/[.:;]/)[0];
  const heading = element.closest('section, main')?.querySelector('h2, h1')?.textContent;
  const name = (own || heading || 'Table').replace(/[\s\u00a0]+/g, ' ').trim();
  return name.length > 60 ? `${name.slice(0, 59)}\u2026` : name;
}

const isSeen = (element: Element) => element.getClientRects().length > 0;
const isLarge = (element: Element) => element.getBoundingClientRect().width >= kMinChart && element.getBoundingClientRect().height >= kMinChart / 2;

// With those of the pages that stand in frames, which are the server's own.
export function findItems(root: ParentNode): Item[] {
  const framed = [...root.querySelectorAll('iframe')].filter(isSeen).flatMap((one) => {
    const inside = one.contentDocument;
    return inside ? findItems(inside.querySelector('main') ?? inside) : [];
  });

  const tables = [...root.querySelectorAll('table')].filter((one) => isSeen(one) && one.rows.length > 0);
  const drawings = [...root.querySelectorAll<SVGSVGElement>('svg[role="img"]')].filter((one) => isSeen(one) && isLarge(one));
  const canvases = [...root.querySelectorAll('canvas')].filter((one) => isSeen(one) && isLarge(one));
  return [
    ...tables.map((one): Item => ({ name: nameOf(one), kind: 'CSV', save: () => saveAs(fileName(nameOf(one), 'csv'), new Blob([csvOf(one)], { type: 'text/csv' })) })),
    ...drawings.map((one): Item => ({ name: nameOf(one), kind: 'PNG', save: () => { void pngOf(one).then((blob) => saveAs(fileName(nameOf(one), 'png'), blob)); } })),
    ...canvases.map((one): Item => ({ name: nameOf(one), kind: 'PNG', save: () => { void pictureOf(one).then((blob) => saveAs(fileName(nameOf(one), 'png'), blob)); } })),
    ...framed,
  ];
}

export function Downloads() {
  const box = useRef<HTMLDetailsElement>(null);
  const [items, setItems] = useState<Item[]>([]);
  useEffect(() => {
    const away = (event: Event) => {
      if (box.current?.open && !box.current.contains(event.target as Node)) box.current.open = false;
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && box.current?.open) box.current.open = false;
    };
    addEventListener('pointerdown', away);
    addEventListener('keydown', escape);
    return () => { removeEventListener('pointerdown', away); removeEventListener('keydown', escape); };
  }, []);
  const look = () => { if (box.current?.open) setItems(findItems(document.querySelector('main') ?? document)); };
  return (
    <details class="downloads" ref={box} onToggle={look}>
      <summary class="plain">Save as CSV or PNG</summary>
      {items.length === 0 ? <p class="quiet">This page shows no table or chart.</p> : (
        <ul>{items.map((one, index) => <li key={index}><button type="button" onClick={() => { one.save(); if (box.current) box.current.open = false; }}><span>{one.name}</span> <span class="quiet">{one.kind}</span></button></li>)}</ul>
      )}
    </details>
  );
}

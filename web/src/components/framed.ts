// A page inside the dashboard leaves its name and the choice of colours to the page around it.
export function markFrame(): void {
  if (window.self !== window.top) document.documentElement.dataset.framed = '';
}

// A page inside a frame leaves its name and the choice of colours to the page around it; inside the dashboard also what can be saved.
export function markFrame(): void {
  if (window.self !== window.top) document.documentElement.dataset.framed = inDashboard() ? 'dashboard' : '';
}

export function inDashboard(): boolean {
  if (window.self === window.top) return false;
  try {
    return window.parent.document.querySelector('main.dashboard') !== null;
  } catch {
    return false; // of another origin: a notebook
  }
}

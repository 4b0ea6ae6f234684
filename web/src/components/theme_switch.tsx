import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

type Theme = 'auto' | 'light' | 'dark';
const kThemes: Theme[] = ['auto', 'light', 'dark'];
const kKey = 'aaco-theme';

// A file opened from disk may have no storage: then the choice lasts as long as the page.
function stored(): Theme {
  try {
    const theme = localStorage.getItem(kKey) as Theme | null;
    return theme && kThemes.includes(theme) ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(stored);
  useLayoutEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(kKey, theme);
    } catch {
      // no storage here; see stored()
    }
  }, [theme]);
  // Chosen in another page of the same server, such as the one around this frame.
  useEffect(() => {
    const follow = (event: StorageEvent) => { if (event.key === kKey) setTheme(stored()); };
    addEventListener('storage', follow);
    return () => removeEventListener('storage', follow);
  }, []);
  return (
    <div class="switch" role="radiogroup" aria-label="Colour theme">
      {kThemes.map((one) => (
        <label key={one} class={one === theme ? 'on' : ''}>
          <input type="radio" name="theme" value={one} checked={one === theme} onChange={() => setTheme(one)} />
          {one[0]?.toUpperCase() + one.slice(1)}
        </label>
      ))}
    </div>
  );
}

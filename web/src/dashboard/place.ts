import { useEffect, useState } from 'preact/hooks';

// Where one is: the part after '#', so that links and the back button work without the server knowing the pages.
export interface Place {
  page: string; // one of kPages in dashboard.tsx, or "session"
  name: string; // of the session
  query: URLSearchParams;
}

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', name = ''] = path.split('/', 2);
  let decoded = '';
  try {
    decoded = decodeURIComponent(name);
  } catch {
    // a damaged link names no session
  }
  return { page: page || 'sessions', name: decoded, query: new URLSearchParams(query) };
}

export function hashOf(page: string, parameters: Record<string, string> = {}, name = ''): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '')).toString();
  return `#/${page}${name && `/${encodeURIComponent(name)}`}${query && `?${query}`}`;
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return placeOf(hash);
}

import { useEffect, useState } from 'preact/hooks';
import type { SectionInfo } from './section.tsx';

// The list of sections; on a wide screen it stays beside the text and follows it.
export function Contents({ sections }: { sections: SectionInfo[] }) {
  const [current, setCurrent] = useState('');
  useEffect(() => {
    const seen = new Set<string>();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target.id);
        else seen.delete(entry.target.id);
      }
      setCurrent(sections.find((section) => seen.has(section.id))?.id ?? '');
    }, { rootMargin: '-10% 0px -60% 0px' });
    for (const section of sections) {
      const element = document.getElementById(section.id);
      if (element) observer.observe(element);
    }
    return () => observer.disconnect();
  }, [sections.map((section) => section.id).join()]);
  return (
    <nav class="contents" aria-label="Sections">
      <ul>
        {sections.map((section) => <li key={section.id}><a href={`#${section.id}`} aria-current={section.id === current ? 'true' : undefined}>{section.title}</a></li>)}
      </ul>
    </nav>
  );
}

import { render } from 'preact';
import { markFrame } from './components/framed.ts';
import { readPaper } from './paper/paper.ts';
import { PaperView } from './paper/paper_view.tsx';

const root = document.getElementById('app');
const paper = readPaper(document.getElementById('aaco-data')?.textContent ?? '');
markFrame();
if (root) {
  if (typeof paper === 'string') {
    render(<main class="refused"><h1>Nothing to show</h1><p>{paper}</p></main>, root);
  } else {
    document.title = `${paper.title} \u2013 AACO`;
    render(<PaperView paper={paper} />, root);
  }
}

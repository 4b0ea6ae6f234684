import { render } from 'preact';
import { markFrame } from './components/framed.ts';
import { CompareView } from './compare/compare_view.tsx';
import { readVerdict } from './model/verdict.ts';

const root = document.getElementById('app');
const verdict = readVerdict(document.getElementById('aaco-data')?.textContent ?? '');
markFrame();
if (root) {
  if (typeof verdict === 'string') {
    render(<main class="refused"><h1>No comparison to show</h1><p>{verdict}</p></main>, root);
  } else {
    document.title = `${verdict.verdict} \u2013 AACO ${verdict.gate ? 'gate' : 'comparison'}`;
    render(<CompareView verdict={verdict} />, root);
  }
}

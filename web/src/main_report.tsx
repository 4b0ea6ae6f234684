import { render } from 'preact';
import { markFrame } from './components/framed.ts';
import { readReport } from './model/report.ts';
import { ReportView } from './report/report_view.tsx';

const data = document.getElementById('aaco-data')?.textContent ?? '';
const root = document.getElementById('app');
const report = readReport(data);
markFrame();
if (root) {
  if (typeof report === 'string') {
    render(<main class="refused"><h1>No report to show</h1><p>{report}</p></main>, root);
  } else {
    document.title = `${report.title} \u2013 AACO`;
    render(<ReportView report={report} />, root);
  }
}

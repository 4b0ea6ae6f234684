import { render } from 'preact';
import { Dashboard } from './dashboard/dashboard.tsx';

const root = document.getElementById('app');
if (root) render(<Dashboard />, root);

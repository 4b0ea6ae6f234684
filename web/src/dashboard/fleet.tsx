import { Facts } from '../components/facts.tsx';
import { type Loaded, useAnswer } from './api.ts';
import { Empty, Loading, Refused } from './states.tsx';

const kPath = '/api/v1/fleet';

function Nodes({ answer }: { answer: Loaded<unknown> }) {
  if (answer.at === 'loading') return <Loading />;
  if (answer.at === 'failed') return answer.refusal.status === 404 ? <NoFleet /> : <Refused refusal={answer.refusal} />;
  return <><div class="tools"><h1>Fleet</h1></div><Facts value={answer.value} /></>;
}

function NoFleet() {
  return (
    <Empty title="No fleet">
      <p>This server shows the sessions of one machine. A fleet is several nodes that push their sessions to one place:</p>
      <pre>aaco fleet</pre>
    </Empty>
  );
}

// Asks only a server that has a fleet, by the document of its interface.
export function Fleet() {
  const document = useAnswer<{ paths: Record<string, unknown> }>('/api/v1/openapi.json');
  const there = document.at === 'ready' && kPath in document.value.paths;
  const answer = useAnswer<unknown>(there ? kPath : '');
  if (document.at === 'loading') return <Loading />;
  if (document.at === 'failed') return <Refused refusal={document.refusal} />;
  return there ? <Nodes answer={answer} /> : <NoFleet />;
}

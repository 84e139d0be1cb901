import { contextOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { wait } from '../lib/plan.ts';
import { describe as describeRun } from './reconcile-hypervisor.ts';

test('the Web UI gets a sentence, what Nova says, and a table that no message breaks', () => {
  const situation = {
    ...contextOf(),
    input: { hypervisor: 'node-1' },
    inFlight: new Set<string>(),
    askedMs: 0,
  };
  const lines = describeRun(situation, wait('Active', 'Any', 'a | b\nc')).split('\n');
  expect(lines[0]).toBe('**node-1** Waiting for a | b');
  expect(lines).toContain('0 servers, service enabled and up');
  expect(lines.at(-1)).toBe('| Lifecycle | Unknown | Active | Waiting for a \\| b c |');
});

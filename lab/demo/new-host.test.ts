import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { describeChecks } from './new-host.ts';

test('each check of a host is a line: what was expected, what was observed, how long it took', () => {
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: reason === 'Passed' ? 'True' : 'False',
    reason,
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const conditions = [
    condition('Ready', 'Ready', 'is none'),
    condition('OvsReachable', 'Passed', 'Expected an answer; saw 3.1.0 (0.1 s, attempt 1)'),
    condition('OvsBridge.br-ex', 'OvsBridgeMissing', 'Expected br-ex; saw br-int (0.0 s, attempt 2)'),
  ];
  expect(describeChecks({ status: { conditions } } as unknown as Hypervisor)).toEqual([
    '  ✓ OvsReachable     Expected an answer; saw 3.1.0 (0.1 s)',
    '  ✗ OvsBridge.br-ex  Expected br-ex; saw br-int (0.0 s, attempt 2)',
  ]);
});

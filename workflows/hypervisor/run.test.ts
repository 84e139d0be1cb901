import type { TestRecord } from '../../contracts/hypervisor/hypervisor.ts';
import { recordCheck } from './run.ts';

const record = (check: TestRecord['check'], atMs: number): Omit<TestRecord, 'attempts'> => ({
  check,
  atMs,
  results: [],
  libVirtVersion: null,
});

test('a later attempt takes the place of the earlier one, and leaves the other checks', () => {
  const first = recordCheck([], record('libvirt', 1), 1);
  const second = recordCheck(first, record('ovs', 2), 1);
  expect(recordCheck(second, record('libvirt', 3), 2)).toEqual([
    { ...record('ovs', 2), attempts: 1 },
    { ...record('libvirt', 3), attempts: 2 },
  ]);
});

import { type JudgedNode, judgeNode, type NodeChange } from './unmanaged-nodes.ts';

const minute = 60_000;
const nowMs = Date.UTC(2026, 0, 31);
const limits = { creationTimeoutMs: 20 * minute, nowMs };
const node = (changes: Partial<JudgedNode> = {}): JudgedNode => ({
  name: 'worker-1',
  createdMs: nowMs - 60 * minute,
  isMarked: false,
  hasFinalizer: true,
  ...changes,
});

test.each<[string, JudgedNode, string[], NodeChange]>([
  ['a Machine has it', node(), ['worker-1', 'worker-2'], null],
  ['a Machine has it, and it is marked', node({ isMarked: true }), ['worker-1'], 'unmark'],
  ['no Machine has it', node(), ['worker-2'], 'mark'],
  ['no Machine has it, and it has no finalizer', node({ hasFinalizer: false }), ['worker-2'], 'mark'],
  ['it is marked, and the finalizer is there', node({ isMarked: true }), ['worker-2'], 'mark'],
  ['it is marked already', node({ isMarked: true, hasFinalizer: false }), ['worker-2'], null],
  ['it is young', node({ createdMs: nowMs - 20 * minute }), ['worker-2'], null],
  ['it is just old enough', node({ createdMs: nowMs - 20 * minute - 1 }), ['worker-2'], 'mark'],
  ['there are no Machines', node(), [], null],
])('%s', (_, given, machineNodes, change) => {
  expect(judgeNode(given, new Set(machineNodes), limits)).toBe(change);
});

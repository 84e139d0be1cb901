import type { NodeFacts } from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMarks } from '../../contracts/ids.ts';
import { judgeRollingUpdate } from './judge-rolling-update.ts';
import { beginMs, nodeOf } from '../../test/fixtures/workflows/hypervisor.ts';

const { selectedForUpdate, updateResult } = nodeMarks;
const marked = (more: Partial<NodeFacts> = {}): NodeFacts =>
  nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [selectedForUpdate]: 'true' }, ...more });
const resulted = (result: string, more: Partial<NodeFacts> = {}): NodeFacts =>
  nodeOf({ labels: { ...nodeOf().labels, [updateResult]: result }, ...more });

const rows: [why: string, node: NodeFacts | null, begunBootId: string | null, update: string][] = [
  ['no marks', nodeOf(), null, 'none'],
  ['no Node', null, null, 'none'],
  ['a cordon alone is a person’s', nodeOf({ cordoned: true }), null, 'none'],
  ['a mark alone may never be followed', marked({ cordoned: false }), null, 'none'],
  ['a candidate’s turn may never come', nodeOf({ cordoned: true, inPlaceUpdate: 'CandidateForUpdate' }), null, 'none'],
  ['both: it is its turn', marked(), null, 'begun'],
  ['the condition is a mark too', nodeOf({ cordoned: true, inPlaceUpdate: 'SelectedForUpdate' }), null, 'begun'],
  ['until it is ready for the update', nodeOf({ cordoned: true, inPlaceUpdate: 'ReadyForUpdate' }), null, 'begun'],
  ['a Node that terminates is replaced', marked({ terminatingSinceMs: beginMs }), null, 'none'],
  ['one that is deleted too', marked({ deletedAtMs: beginMs }), 'boot-0', 'none'],
  ['it goes on until the Node has booted', marked(), 'boot-1', 'begun'],
  ['and is Ready', nodeOf({ ready: false }), 'boot-0', 'none'],
  ['and open for pods', marked({ bootId: 'boot-2' }), 'boot-1', 'begun'],
  ['then it is over', nodeOf(), 'boot-0', 'ended'],
  ['also while the marks are still there', resulted('successful'), 'boot-0', 'ended'],
  ['a success without a boot is not over', resulted('successful'), 'boot-1', 'none'],
  ['a failure is', resulted('failed', { cordoned: true }), 'boot-1', 'failed'],
  ['whatever the boot id', resulted('failed'), 'boot-0', 'failed'],
  ['also by the condition', nodeOf({ cordoned: true, inPlaceUpdate: 'UpdateFailed' }), 'boot-1', 'failed'],
];

test.each(rows)('%s', (_why, node, begunBootId, update) => {
  expect(judgeRollingUpdate(node, begunBootId)).toBe(update);
});

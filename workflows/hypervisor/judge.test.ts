import type { ObservedNode } from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import { beginMs, minute, nodeOf, settings } from '../../test/fixtures/workflows/hypervisor.ts';
import { judgeDeadline, judgeRollingUpdate } from './judge.ts';

describe('by when a host has to be empty', () => {
  const at = (minutes: number): number => beginMs + minutes * minute;

  const rows: [why: string, node: ObservedNode | null, minutes: [half: number, whole: number] | null][] = [
    ['a Node that stays has none', nodeOf(), null],
    ['nor one that is gone', null, null],
    ['two hours from when it terminates', nodeOf({ terminatingSinceMs: at(0) }), [60, 120]],
    ['or is deleted', nodeOf({ deletedAtMs: at(10) }), [70, 130]],
    ['from the first of both', nodeOf({ terminatingSinceMs: at(0), deletedAtMs: at(10) }), [60, 120]],
    [
      'five minutes once it is not Ready',
      nodeOf({ terminatingSinceMs: at(0), ready: false, readySinceMs: at(30) }),
      [32.5, 35],
    ],
    [
      'from the beginning where it was not Ready before',
      nodeOf({ terminatingSinceMs: at(0), ready: false, readySinceMs: at(-60) }),
      [2.5, 5],
    ],
    [
      'never later than the two hours',
      nodeOf({ terminatingSinceMs: at(0), ready: false, readySinceMs: at(118) }),
      [60, 120],
    ],
  ];

  test.each(rows)('%s', (_why, node, minutes) => {
    expect(judgeDeadline({ lifecycleEnabled: true }, node, settings)).toEqual(
      minutes === null ? null : { halfAtMs: at(minutes[0]), atMs: at(minutes[1]) },
    );
  });

  test('a lifecycle that is not driven has no deadline', () => {
    expect(judgeDeadline({ lifecycleEnabled: false }, nodeOf({ terminatingSinceMs: at(0) }), settings)).toBeNull();
  });
});

describe('an update of the Node in place', () => {
  const { selectedForUpdate, updateResult } = nodeMetadata;
  const marked = (more: Partial<ObservedNode> = {}): ObservedNode =>
    nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [selectedForUpdate]: 'true' }, ...more });
  const resulted = (result: string, more: Partial<ObservedNode> = {}): ObservedNode =>
    nodeOf({ labels: { ...nodeOf().labels, [updateResult]: result }, ...more });

  const rows: [why: string, node: ObservedNode | null, begunBootId: string | null, update: string][] = [
    ['no marks', nodeOf(), null, 'none'],
    ['no Node', null, null, 'none'],
    ['a cordon alone is a user’s', nodeOf({ cordoned: true }), null, 'none'],
    ['a mark alone may never be followed', marked({ cordoned: false }), null, 'none'],
    [
      'a candidate’s turn may never come',
      nodeOf({ cordoned: true, inPlaceUpdate: 'CandidateForUpdate' }),
      null,
      'none',
    ],
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
    ['a success without a boot is over', resulted('successful'), 'boot-1', 'ended'],
    ['by the condition as well', nodeOf({ inPlaceUpdate: 'UpdateSuccessful' }), 'boot-1', 'ended'],
    [
      'not while it is selected: it may be that of an update before',
      resulted('successful', { labels: { ...marked().labels, [updateResult]: 'successful' } }),
      'boot-1',
      'none',
    ],
    ['nor while it is cordoned', resulted('successful', { cordoned: true }), 'boot-1', 'none'],
    ['nor while it is not Ready', resulted('successful', { ready: false }), 'boot-1', 'none'],
    ['one of which no mark is left was withdrawn', nodeOf(), 'boot-1', 'ended'],
    ['also where it may come later', nodeOf({ inPlaceUpdate: 'CandidateForUpdate' }), 'boot-1', 'ended'],
    ['not where the condition has it chosen', nodeOf({ inPlaceUpdate: 'DrainSuccessful' }), 'boot-1', 'none'],
    ['a failure is', resulted('failed', { cordoned: true }), 'boot-1', 'failed'],
    ['whatever the boot id', resulted('failed'), 'boot-0', 'failed'],
    ['also by the condition', nodeOf({ cordoned: true, inPlaceUpdate: 'UpdateFailed' }), 'boot-1', 'failed'],
  ];

  test.each(rows)('%s', (_why, node, begunBootId, update) => {
    expect(judgeRollingUpdate(node, begunBootId)).toBe(update);
  });
});

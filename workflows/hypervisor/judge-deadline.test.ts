import type { NodeFacts } from '../../contracts/hypervisor/hypervisor.ts';
import { judgeDeadline } from './judge-deadline.ts';
import { beginMs, minute, nodeOf, settings } from '../../test/fixtures/workflows/hypervisor.ts';

const at = (minutes: number): number => beginMs + minutes * minute;

const rows: [why: string, node: NodeFacts | null, minutes: [half: number, whole: number] | null][] = [
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

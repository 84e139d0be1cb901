import type { Witness } from '../../contracts/node-failure/node-failure.ts';
import { readMark, type Report } from './witness-marks.ts';

const observed = (mark: string | null) => ({ kind: 'agent' as const, mark, silentAfterMs: 40_000, message: 'm' });

/** What is said of each observation, which are ten seconds apart. */
function course(...marks: (string | null)[]): Witness['says'][] {
  let last: Report | null = null;
  return marks.map((mark, index) => {
    last = readMark(observed(mark), last, index * 10_000);
    return last.says;
  });
}

const rows: [why: string, marks: (string | null)[], says: Witness['says'][]][] = [
  ['one mark says nothing', ['a'], ['unknown']],
  ['another one is a sign of life', ['a', 'b'], ['unknown', 'alive']],
  [
    'of a kubelet that dies',
    ['a', 'b', 'b', 'b', 'b', 'b', 'b'],
    ['unknown', 'alive', 'alive', 'alive', 'alive', 'silent', 'silent'],
  ],
  ['of one that was dead before', ['a', 'a', 'a', 'a', 'a'], ['unknown', 'unknown', 'unknown', 'unknown', 'silent']],
  [
    'of one that works again',
    ['a', 'a', 'a', 'a', 'a', 'b'],
    ['unknown', 'unknown', 'unknown', 'unknown', 'silent', 'alive'],
  ],
  [
    'what cannot be read says nothing, and takes nothing back',
    ['a', 'a', null, null, 'a'],
    ['unknown', 'unknown', 'unknown', 'unknown', 'silent'],
  ],
  [
    'nor is a silence made of it',
    ['a', null, null, null, null, 'b'],
    [...Array.from({ length: 5 }, () => 'unknown' as const), 'alive'],
  ],
  ['never read', [null, null], ['unknown', 'unknown']],
];
test.each(rows)('%s', (_why, marks, says) => {
  expect(course(...marks)).toEqual(says);
});

import type { Need, Share } from './claim.ts';
import { allowanceOf, hearAnswer, noShare, report, reportDueMs, unsaid } from './claim.ts';

const renewMs = 60_000;
const answer = (sequence: number, allowance: number) => ({ sequence, allowance, limit: 8, consumers: 1 });

/** Wants four since 1 000 000 and may use four. */
const joined = hearAnswer(report(noShare, { want: 4, using: 0 }, 1_000_000).share, answer(1, 4));

type Row = [why: string, share: Share, need: Need, dueMs: number | null];
const rows: Row[] = [
  ['who needs nothing takes no part', noShare, { want: 0, using: 0 }, null],
  ['who wants something says so at once', noShare, { want: 1, using: 0 }, 0],
  ['and who uses something that it did not ask for', noShare, { want: 0, using: 1 }, 0],
  ['within the allowance nothing needs to be said', joined, { want: 4, using: 3 }, 1_060_000],
  ['more is asked for at once', joined, { want: 5, using: 4 }, 0],
  ['less is said soon', joined, { want: 3, using: 3 }, 1_010_000],
  ['nothing more is said at once', joined, { want: 0, using: 0 }, 0],
  ['a lowered allowance is confirmed at once', hearAnswer(joined, answer(2, 2)), { want: 4, using: 0 }, 0],
  ['once its use allows it', hearAnswer(joined, answer(2, 2)), { want: 4, using: 4 }, 1_060_000],
  ['and then each piece of it', hearAnswer(joined, answer(2, 2)), { want: 4, using: 3 }, 0],
];

test.each(rows)('%s', (_why, share, need, dueMs) => {
  expect(reportDueMs(share, need, renewMs)).toBe(dueMs);
});

test('the last answer counts, in whatever order they come', () => {
  expect(allowanceOf(noShare)).toBe(0);
  expect(allowanceOf(hearAnswer(hearAnswer(joined, answer(3, 1)), answer(2, 8)))).toBe(1);
});

test('a report says which answer its sender goes by', () => {
  const { share, said } = report(joined, { want: 3, using: 2 }, 2_000_000);
  expect(said).toEqual({ want: 3, using: 2, heard: { sequence: 1, allowance: 4 } });
  expect(reportDueMs(share, { want: 3, using: 2 }, renewMs)).toBe(2_060_000);
});

test('who leaves takes no answer any more', () => {
  const { share } = report(joined, { want: 0, using: 0 }, 2_000_000);
  expect(share).toEqual(noShare);
  expect(hearAnswer(share, answer(2, 8))).toEqual(noShare);
});

describe('after a report that may not have arrived', () => {
  test('who wanted to leave still takes part, by the answer that it last heard', () => {
    const left = report(joined, { want: 0, using: 0 }, 1_010_000).share;
    expect(unsaid(joined, left)).toBe(joined);
    expect(report(unsaid(joined, left), { want: 1, using: 0 }, 1_020_000).said.heard).toEqual({ sequence: 1, allowance: 4 });
  });
  test('what was said is said again', () => {
    const { share } = report(joined, { want: 5, using: 4 }, 1_010_000);
    expect(reportDueMs(unsaid(joined, share), { want: 5, using: 4 }, renewMs)).toBe(0);
  });
  test('an answer that came meanwhile proves that it did', () => {
    const heard = hearAnswer(report(joined, { want: 5, using: 4 }, 1_010_000).share, answer(2, 5));
    expect(unsaid(joined, heard)).toBe(heard);
  });
});

import type { Need, Share } from './claim.ts';
import { allowanceOf, hearAnswer, noShare, onItsWay, report, reportDueMs, unsaid } from './claim.ts';

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

describe('a report that may not have arrived', () => {
  const leave = { want: 0, using: 0 };
  const leaving = onItsWay(joined, report(joined, leave, 1_010_000).share);
  const stays = unsaid(joined, leaving);
  test('while it is on its way, who leaves uses nothing, whatever it is granted', () => {
    expect(allowanceOf(leaving)).toBe(0);
    expect(allowanceOf(hearAnswer(leaving, answer(2, 8)))).toBe(0);
  });
  test('who could not leave uses nothing either: its slots may be somebody else’s already', () => {
    expect(allowanceOf(stays)).toBe(0);
    expect(allowanceOf(hearAnswer(stays, answer(2, 8)))).toBe(0);
  });
  test('but still takes part: it says again that it leaves', () => {
    expect(reportDueMs(stays, leave, renewMs)).toBe(0);
    expect(report(stays, leave, 1_020_000)).toEqual({
      share: noShare,
      said: { ...leave, heard: { sequence: 1, allowance: 0 } },
    });
  });
  test('or, where it has something to do again, that it goes by nothing, so that it is granted anew', () => {
    const { share, said } = report(hearAnswer(stays, answer(2, 3)), { want: 2, using: 0 }, 1_020_000);
    expect(said).toEqual({ want: 2, using: 0, heard: { sequence: 2, allowance: 0 } });
    expect(allowanceOf(hearAnswer(share, answer(3, 2)))).toBe(2);
  });
  test('who could not join hears an answer all the same', () => {
    const first = report(noShare, { want: 4, using: 0 }, 1_000_000).share;
    expect(allowanceOf(hearAnswer(unsaid(noShare, onItsWay(noShare, first)), answer(1, 4)))).toBe(4);
  });
  test('what was said is due again, also where an answer came that had been on its way, and the most that it may use counts as before', () => {
    const lowered = hearAnswer(joined, answer(2, 2));
    const crossed = hearAnswer(
      onItsWay(lowered, report(lowered, { want: 4, using: 0 }, 1_010_000).share),
      answer(3, 1),
    );
    const again = unsaid(lowered, crossed);
    expect(again).toMatchObject({ heard: { allowance: 1 }, said: { peak: 4 } });
    expect(reportDueMs(again, { want: 4, using: 0 }, renewMs)).toBe(0);
  });
});

import {
  afterLease,
  afterLostReport,
  afterReport,
  allowanceOf,
  applyAnswer,
  duringReport,
  type Membership,
  type Need,
  noMembership,
  readGrant,
  report,
  reportDueMs,
} from './membership.ts';

const renewMs = 60_000;
const answer = (sequence: number, allowance: number) => ({ sequence, allowance, limit: 8, consumers: 1 });

/** Wants four since 1 000 000 and may use four. */
const joined = applyAnswer(report(noMembership, { want: 4, using: 0 }, 1_000_000).membership, answer(1, 4));

type Row = [why: string, membership: Membership, need: Need, dueMs: number | null];
const rows: Row[] = [
  ['who needs nothing takes no part', noMembership, { want: 0, using: 0 }, null],
  ['who wants something says so at once', noMembership, { want: 1, using: 0 }, 0],
  ['and who uses something that it did not ask for', noMembership, { want: 0, using: 1 }, 0],
  ['within the allowance nothing needs to be said', joined, { want: 4, using: 3 }, 1_060_000],
  ['more is asked for at once', joined, { want: 5, using: 4 }, 0],
  ['less is said soon', joined, { want: 3, using: 3 }, 1_010_000],
  ['nothing more is said at once', joined, { want: 0, using: 0 }, 0],
  ['a lowered allowance is confirmed at once', applyAnswer(joined, answer(2, 2)), { want: 4, using: 0 }, 0],
  ['once its use allows it', applyAnswer(joined, answer(2, 2)), { want: 4, using: 4 }, 1_060_000],
  ['and then each piece of it', applyAnswer(joined, answer(2, 2)), { want: 4, using: 3 }, 0],
];

test.each(rows)('%s', (_why, membership, need, dueMs) => {
  expect(reportDueMs(membership, need, renewMs)).toBe(dueMs);
});

test('the last answer counts, in whatever order they come', () => {
  expect(allowanceOf(noMembership)).toBe(0);
  expect(allowanceOf(applyAnswer(applyAnswer(joined, answer(3, 1)), answer(2, 8)))).toBe(1);
});

test('a report says which answer its sender goes by', () => {
  const { membership, request } = report(joined, { want: 3, using: 2 }, 2_000_000);
  expect(request).toEqual({ want: 3, using: 2, acknowledged: { sequence: 1, allowance: 4 } });
  expect(reportDueMs(membership, { want: 3, using: 2 }, renewMs)).toBe(2_060_000);
});

test('who leaves takes no answer any more', () => {
  const { membership } = report(joined, { want: 0, using: 0 }, 2_000_000);
  expect(membership).toEqual(noMembership);
  expect(applyAnswer(membership, answer(2, 8))).toEqual(noMembership);
});

describe('a report that may not have arrived', () => {
  const leave = { want: 0, using: 0 };
  const leaving = duringReport(joined, report(joined, leave, 1_010_000).membership);
  const stays = afterLostReport(joined, leaving);
  test('while it is on its way, who leaves uses nothing, whatever it is granted', () => {
    expect(allowanceOf(leaving)).toBe(0);
    expect(allowanceOf(applyAnswer(leaving, answer(2, 8)))).toBe(0);
  });
  test('who could not leave uses nothing either: its slots may be another’s already', () => {
    expect(allowanceOf(stays)).toBe(0);
    expect(allowanceOf(applyAnswer(stays, answer(2, 8)))).toBe(0);
  });
  test('but still takes part: it says again that it leaves', () => {
    expect(reportDueMs(stays, leave, renewMs)).toBe(0);
    expect(report(stays, leave, 1_020_000)).toEqual({
      membership: noMembership,
      request: { ...leave, acknowledged: { sequence: 1, allowance: 0 } },
    });
  });
  test('or, where it has something to do again, that it goes by nothing, so that it is granted anew', () => {
    const { membership, request } = report(applyAnswer(stays, answer(2, 3)), { want: 2, using: 0 }, 1_020_000);
    expect(request).toEqual({ want: 2, using: 0, acknowledged: { sequence: 2, allowance: 0 } });
    expect(allowanceOf(applyAnswer(membership, answer(3, 2)))).toBe(2);
  });
  test('who could not join hears an answer all the same', () => {
    const first = report(noMembership, { want: 4, using: 0 }, 1_000_000).membership;
    expect(
      allowanceOf(applyAnswer(afterLostReport(noMembership, duringReport(noMembership, first)), answer(1, 4))),
    ).toBe(4);
  });
  test('what was said is due again, also where an answer came that had been on its way, and the most that it may use counts as before', () => {
    const lowered = applyAnswer(joined, answer(2, 2));
    const crossed = applyAnswer(
      duringReport(lowered, report(lowered, { want: 4, using: 0 }, 1_010_000).membership),
      answer(3, 1),
    );
    const again = afterLostReport(lowered, crossed);
    expect(again).toMatchObject({ acknowledged: { allowance: 1 }, reported: { peak: 4 } });
    expect(reportDueMs(again, { want: 4, using: 0 }, renewMs)).toBe(0);
  });
});

const granted = { sequence: 2, allowance: 1, limit: 8, consumers: 3 };

test('a grant is taken over, without what else came along', () => {
  expect(readGrant({ ...granted, note: 'x' })).toEqual(granted);
});

test.each([
  undefined,
  null,
  7,
  'all',
  [],
  {},
  { ...granted, allowance: -1 },
  { ...granted, sequence: '2' },
  { ...granted, limit: Infinity },
  { sequence: 1, allowance: 1 },
])('%j is none', (value) => {
  expect(readGrant(value)).toBeNull();
});

describe('a lease', () => {
  const startMs = 1_000_000;
  const leased = applyAnswer(joined, { ...answer(2, 4), leaseMs: 300_000 });
  test('counts from the last report that has arrived', () => {
    expect(allowanceOf(afterLease(leased, startMs + 299_999))).toBe(4);
    expect(allowanceOf(afterLease(leased, startMs + 300_000))).toBe(0);
    const need = { want: 4, using: 1 };
    const lost = afterLostReport(leased, report(leased, need, startMs + 60_000).membership);
    expect(allowanceOf(afterLease(lost, startMs + 300_000))).toBe(0);
    const arrived = afterReport(report(leased, need, startMs + 60_000).membership, startMs + 60_000, startMs + 61_000);
    expect(allowanceOf(afterLease(arrived, startMs + 359_999))).toBe(4);
    expect(allowanceOf(afterLease(arrived, startMs + 360_000))).toBe(0);
  });
  test('that is over is reported at once, with the answer that it was given by', () => {
    const need = { want: 4, using: 1 };
    const over = afterLease(leased, startMs + 300_000);
    expect(reportDueMs(over, need, renewMs)).toBe(0);
    const { membership, request } = report(over, need, startMs + 300_000);
    expect(request).toEqual({ ...need, acknowledged: { sequence: 2, allowance: 0 } });
    expect(allowanceOf(applyAnswer(membership, answer(3, 2)))).toBe(2);
    // A later answer alone proves nothing: it may have been on its way for as long.
    expect(allowanceOf(afterLease(applyAnswer(over, answer(3, 2)), startMs + 300_000))).toBe(0);
  });
  test('is not renewed by a report that arrives when it is over, nor by one that is sent then', () => {
    const need = { want: 4, using: 1 };
    const sent = report(leased, need, startMs + 290_000).membership;
    expect(allowanceOf(afterReport(sent, startMs + 290_000, startMs + 299_999))).toBe(4);
    expect(allowanceOf(afterReport(sent, startMs + 290_000, startMs + 300_000))).toBe(0);
    expect(report(leased, need, startMs + 300_000).request.acknowledged).toEqual({ sequence: 2, allowance: 0 });
  });
  test('there is none for slots, nor before anything was granted', () => {
    expect(afterLease(joined, startMs + 1e9)).toBe(joined);
    expect(afterLease(noMembership, startMs)).toBe(noMembership);
    expect(afterReport(noMembership, startMs, startMs)).toBe(noMembership);
  });
});

test('a grant may say more', () => {
  const more = { ...answer(1, 2), leaseMs: 300_000, novaRuns: 1 };
  expect(readGrant(more)).toEqual(more);
  expect(readGrant({ ...more, leaseMs: -1, novaRuns: 'one' })).toEqual(answer(1, 2));
});

import type { AllowanceObservation } from '../../contracts/allowance.ts';
import type { AllowanceRequest } from '../../contracts/allowance.ts';
import type { Ledger } from './ledger.ts';
import { applyRequest, holdOf, applyFailedDelivery, newLedger, openSlots, allocate, usedElsewhere } from './ledger.ts';
import { beginObservation, endObservation } from './observe.ts';

const startMs = 1_000_000;
const world = (inProgress: Record<string, number> = {}, limit = 4): AllowanceObservation => ({
  limit,
  checkMs: 1_000,
  silentMs: 10_000,
  inProgress,
});

/** What the consumer of host `name` says. */
const says = (
  name: string,
  want: number,
  using: number,
  acknowledged: AllowanceRequest['acknowledged'] = null,
  run = 1,
): AllowanceRequest => ({
  consumer: `eviction/${name}`,
  runId: `${name}#${run}`,
  host: name,
  deadline: null,
  want,
  using,
  acknowledged,
});

const told = (ledger: Ledger, atMs = startMs) => allocate(ledger, atMs);
const look = (ledger: Ledger, seen: AllowanceObservation | null, closed: string[] = [], atMs = startMs): Ledger =>
  endObservation(beginObservation(ledger), seen, closed, atMs);
const only = (ledger: Ledger) => ledger.holders[0]!;

/** One consumer with all four slots, told so by answer 1. */
const granted = (using = 4): Ledger =>
  told(look(applyRequest(newLedger(startMs), says('a', 4, using), startMs), world())).ledger;

test('nothing is granted before the world was read', () => {
  const unread = applyRequest(newLedger(startMs), says('a', 4, 0), startMs);
  expect(told(unread).answers).toEqual([]);
  expect(told(look(unread, null)).answers).toEqual([]);
  expect(told(look(unread, world())).answers).toMatchObject([
    { runId: 'a#1', granted: { allowance: 4, limit: 4, consumers: 1, sequence: 1 } },
  ]);
});

test('a lowered allowance counts in full until its holder has heard of it', () => {
  const lowered = told(applyRequest(granted(0), says('b', 4, 0), startMs)).ledger;
  expect(lowered.holders).toMatchObject([{ allowance: 2 }, { allowance: 0 }]);
  const crossed = applyRequest(lowered, says('a', 4, 0, { sequence: 1, allowance: 4 }), startMs);
  expect(told(crossed).answers).toEqual([]);
  const heard = applyRequest(crossed, says('a', 4, 0, { sequence: 2, allowance: 2 }), startMs);
  expect(told(heard).answers).toMatchObject([{ runId: 'b#1', granted: { allowance: 2 } }]);
});

test('and what it uses beyond counts until it has ended', () => {
  const lowered = told(applyRequest(granted(), says('b', 4, 0), startMs)).ledger;
  const heard = applyRequest(lowered, says('a', 4, 4, { sequence: 2, allowance: 2 }), startMs);
  expect(told(heard).answers).toEqual([]);
  const ended = applyRequest(heard, says('a', 4, 3, { sequence: 2, allowance: 2 }), startMs);
  expect(told(ended).answers).toMatchObject([{ runId: 'b#1', granted: { allowance: 1 } }]);
});

test('a report older than one already taken in says nothing', () => {
  const heard = applyRequest(
    told(applyRequest(granted(), says('b', 4, 0), startMs)).ledger,
    says('a', 4, 4, { sequence: 2, allowance: 2 }),
    startMs,
  );
  expect(applyRequest(heard, says('a', 9, 0, { sequence: 1, allowance: 4 }), startMs)).toBe(heard);
  expect(applyRequest(heard, says('a', 0, 0), startMs)).toBe(heard);
});

test('one that says nothing of answers has heard the last one', () => {
  const lowered = told(applyRequest(granted(0), says('b', 4, 0), startMs)).ledger;
  const { acknowledged: _, ...silent } = says('a', 4, 1);
  expect(holdOf(only(applyRequest(lowered, silent, startMs)))).toBe(2);
});

test('who leaves is gone, and who was never there leaves nothing', () => {
  expect(applyRequest(granted(), says('a', 0, 0, { sequence: 1, allowance: 4 }), startMs)).toMatchObject({
    holders: [],
    unusedSinceMs: startMs,
  });
  const empty = newLedger(startMs);
  expect(applyRequest(empty, says('a', 0, 0), startMs)).toBe(empty);
});

test('an answer that did not arrive is repeated when its consumer speaks', () => {
  const first = told(look(applyRequest(newLedger(startMs), says('a', 4, 0), startMs), world()));
  const lost = applyFailedDelivery(first.ledger, first.answers[0]!, startMs + 5);
  expect(lost.nextObservationMs).toBe(startMs + 5);
  expect(told(lost).answers).toEqual([]);
  expect(told(applyRequest(lost, says('a', 4, 0), startMs)).answers).toMatchObject([
    { granted: { allowance: 4, sequence: 2 } },
  ]);
});

test('what the world shows beyond the holders is used by others, as long as it shows it', () => {
  const busy = look(granted(1), world({ a: 1, stranger: 2 }));
  expect(usedElsewhere(busy)).toEqual({ stranger: 2 });
  expect(openSlots(busy)).toBe(2);
  expect(openSlots(look(busy, null))).toBe(2);
  expect(openSlots(look(busy, world({ a: 1 }), [], startMs + 10_000))).toBe(4);
});

test('while others may still be unheard of, a stranger’s slot stays counted', () => {
  expect(usedElsewhere(look(look(granted(), world({ stranger: 2 })), world()))).toEqual({ stranger: 2 });
});

test('who leaves while the world is being looked at is not counted twice', () => {
  const looking = beginObservation(granted(2));
  const left = applyRequest(looking, says('a', 0, 0, { sequence: 1, allowance: 4 }), startMs);
  expect(usedElsewhere(endObservation(left, world({ a: 2 }), [], startMs))).toEqual({});
});

test('a closed holder counts in full until a look that began later, then as far as the world shows its work', () => {
  const noticed = look(granted(2), world({ a: 2 }), ['a#1']);
  expect(only(noticed)).toMatchObject({ closed: true, isObserved: false });
  expect(openSlots(noticed)).toBe(0);
  expect(applyRequest(noticed, says('a', 4, 0, { sequence: 1, allowance: 4 }), startMs)).toBe(noticed);
  const settled = look(noticed, world({ a: 2 }));
  expect(openSlots(settled)).toBe(2);
  expect(look(settled, world(), [], startMs + 10_000).holders).toEqual([]);
});

test('a newer run is looked for at once, and cannot hide what the old one left', () => {
  const both = applyRequest(granted(2), says('a', 2, 0, null, 2), startMs + 7);
  expect(both.nextObservationMs).toBe(startMs + 7);
  const settled = look(look(both, world({ a: 2 }), ['a#1']), world({ a: 2 }));
  expect(usedElsewhere(settled)).toEqual({ a: 2 });
  const { ledger } = told(settled);
  expect(ledger.holders.find(({ runId }) => runId === 'a#2')).toMatchObject({ allowance: 2 });
  // Both finish, or both go on: only a look that shows less gives anything back.
  expect(openSlots(look(ledger, world({ a: 1 })))).toBe(3);
});

test('who comes with an answer of an earlier ledger keeps what it holds, and nothing is granted for a while', () => {
  const made = look(
    applyRequest(newLedger(startMs), says('a', 4, 1, { sequence: 9, allowance: 3 }), startMs),
    world({ a: 1 }),
  );
  expect(made).toMatchObject({ recreated: true, holders: [{ allowance: 3, acknowledged: 9 }] });
  expect(told(made).answers).toEqual([]);
  expect(told(made, startMs + 10_000).answers).toMatchObject([{ granted: { allowance: 4, sequence: 10 } }]);
});

describe('where consumers outnumber the slots', () => {
  /** Two for one slot; `a` has it since the start. */
  const crowded = told(
    look(
      applyRequest(applyRequest(newLedger(startMs), says('a', 1, 0), startMs), says('b', 1, 0), startMs + 1),
      world({}, 1),
    ),
  ).ledger;
  const answersAfter = (seen: AllowanceObservation, atMs: number) =>
    told(look(crowded, seen, [], atMs), atMs).answers.map(({ runId, granted }) => [runId, granted.allowance]);

  test('who has had a turn yields', () => {
    expect(answersAfter(world({ a: 1 }, 1), startMs + 1_000)).toEqual([['a#1', 0]]);
  });
  test('but not before it has begun', () => {
    expect(answersAfter(world({}, 1), startMs + 1_000)).toEqual([]);
  });
  test('unless it does not begin at all', () => {
    expect(answersAfter(world({}, 1), startMs + 10_000)).toEqual([['a#1', 0]]);
  });
  test('and only one yields for one that waits', () => {
    const three = ['a', 'b', 'c'].reduce(
      (ledger, name, index) => applyRequest(ledger, says(name, 1, 0), startMs + index),
      newLedger(startMs),
    );
    const seen = world({ a: 1, b: 1 }, 2);
    const shared = told(look(three, world({}, 2))).ledger;
    expect(shared.holders).toMatchObject([{ allowance: 1 }, { allowance: 1 }, { allowance: 0 }]);
    const yielded = told(look(shared, seen, [], startMs + 1_000), startMs + 1_000).ledger;
    expect(yielded.holders).toMatchObject([{ allowance: 0 }, { allowance: 1 }, { allowance: 0 }]);
    const later = look(yielded, seen, [], startMs + 2_000);
    expect(told(later, startMs + 2_000).answers).toEqual([]);
    const done = applyRequest(later, says('a', 1, 0, { sequence: 2, allowance: 0 }), startMs + 3_000);
    expect(told(done, startMs + 3_000).answers).toMatchObject([{ runId: 'c#1', granted: { allowance: 1 } }]);
  });
});

describe('turns: tasks that do not tell whose they are', () => {
  const tasks = (...ids: string[]): AllowanceObservation => ({
    limit: 2,
    checkMs: 1_000,
    silentMs: 10_000,
    inProgress: ids.length === 0 ? {} : { lab: ids.length },
    tasks: ids,
  });
  const asks = (name: string): AllowanceRequest => ({ ...says(name, 1, 0), host: 'lab' });
  const leaves = (name: string): AllowanceRequest => ({
    ...says(name, 0, 0, { sequence: 1, allowance: 1 }),
    host: 'lab',
  });
  const askedBy = (...names: string[]): Ledger =>
    names.reduce((ledger, name) => applyRequest(ledger, asks(name), startMs), newLedger(startMs));
  const turnsOf = ({ holders }: Ledger): string[] =>
    holders.filter(({ allowance }) => allowance > 0).map(({ consumer }) => consumer);
  const first = told(look(askedBy('a', 'b', 'c'), tasks())).ledger;

  test('who came first has the first turn', () => {
    expect(turnsOf(first)).toEqual(['eviction/a', 'eviction/b']);
    expect(told(applyRequest(first, leaves('a'), startMs)).answers).toMatchObject([
      { runId: 'c#1', granted: { allowance: 1 } },
    ]);
  });
  test('no run yields: a task goes on to its end', () => {
    const later = look(first, tasks('task-1', 'task-2'), [], startMs + 60_000);
    expect(told(later, startMs + 60_000).answers).toEqual([]);
  });
  test('a holder’s own task is not counted beside it', () => {
    const seen = look(first, tasks('task-1', 'task-2'));
    expect(usedElsewhere(seen)).toEqual({});
    expect(openSlots(seen)).toBe(2);
  });
  test('what was in progress before any run had a turn stays another client’s, whichever run is granted one later', () => {
    const before = told(look(askedBy('a', 'b'), tasks('task-1'))).ledger;
    expect(turnsOf(before)).toEqual(['eviction/a']);
    expect(told(applyRequest(before, asks('c'), startMs)).answers).toEqual([]);
    const begun = look(before, tasks('task-1', 'task-2'), [], startMs + 1_000);
    expect(told(begun, startMs + 1_000).answers).toEqual([]);
    expect(told(look(begun, tasks('task-2'), [], startMs + 2_000), startMs + 2_000).answers).toMatchObject([
      { runId: 'b#1' },
    ]);
  });
  test('and so is all that begins while an earlier run of the turns may have granted it', () => {
    const made = { ...askedBy('c'), recreated: true };
    const silent = look(look(made, tasks('task-1')), tasks('task-1', 'task-2'), [], startMs + 5_000);
    expect(usedElsewhere(look(silent, tasks('task-1', 'task-2'), [], startMs + 10_000))).toEqual({ lab: 2 });
    expect(told(look(silent, tasks('task-2'), [], startMs + 10_000), startMs + 10_000).answers).toMatchObject([
      { runId: 'c#1' },
    ]);
  });
  test('a closed holder counts until every task has ended that may be its own, and later ones are not', () => {
    const noticed = look(first, tasks('task-1', 'task-2'), ['a#1']);
    const settled = look(noticed, tasks('task-1', 'task-2'), [], startMs + 1_000);
    expect(openSlots(settled)).toBe(1);
    expect(told(settled, startMs + 1_000).answers).toEqual([]);
    const halfway = look(settled, tasks('task-2', 'task-9'), [], startMs + 2_000);
    expect(openSlots(halfway)).toBe(1);
    const over = look(halfway, tasks('task-9'), [], startMs + 3_000);
    expect(over.holders.map(({ consumer }) => consumer)).toEqual(['eviction/b', 'eviction/c']);
    expect(told(over, startMs + 3_000).answers).toMatchObject([{ runId: 'c#1', granted: { allowance: 1 } }]);
  });
});

describe('a holder that does not report', () => {
  /** Mute from the start on; leases are 20 s here, and it is mute after 30. */
  const silent = (ledger: Ledger, inProgress: Record<string, number>, atMs: number): Ledger =>
    look(ledger, world(inProgress), [], startMs + atMs);
  const waits = (using: number): Ledger => applyRequest(granted(using), says('b', 4, 0), startMs + 29_000);

  test('is mute only well after its lease', () => {
    expect(told(granted(0)).ledger.holders).toMatchObject([{ mute: false }]);
    expect(only(silent(granted(0), {}, 29_999))).toMatchObject({ mute: false, allowance: 4 });
    expect(only(silent(granted(0), {}, 30_000))).toMatchObject({ mute: true, isObserved: false });
  });
  test('holds what it held until the world was observed once more, and then nothing where it shows nothing', () => {
    const noticed = silent(waits(2), {}, 30_000);
    expect(told(noticed, startMs + 30_000).answers).toEqual([]);
    const expired = silent(noticed, {}, 31_000);
    expect(only(expired)).toMatchObject({ mute: true, using: 0, allowance: 0, closed: false });
    expect(told(expired, startMs + 31_000).answers).toMatchObject([{ runId: 'b#1', granted: { allowance: 4 } }]);
  });
  test('keeps what is in flight', () => {
    const expired = silent(silent(waits(2), { a: 2 }, 30_000), { a: 2 }, 31_000);
    expect(openSlots(expired)).toBe(2);
    expect(told(expired, startMs + 31_000).answers).toMatchObject([{ runId: 'b#1', granted: { allowance: 2 } }]);
    expect(openSlots(silent(expired, { a: 1 }, 40_000))).toBe(3);
  });
  test('is served again when it speaks, with what is left', () => {
    const taken = told(silent(silent(waits(0), {}, 30_000), {}, 31_000), startMs + 31_000).ledger;
    const back = applyRequest(taken, says('a', 4, 0, { sequence: 2, allowance: 0 }), startMs + 40_000);
    expect(back.holders[0]).toMatchObject({ mute: false, isObserved: false });
    expect(told(back, startMs + 40_000).answers).toMatchObject([{ runId: 'b#1', granted: { allowance: 2 } }]);
  });
  test('and one that speaks in between keeps all of it', () => {
    const noticed = silent(granted(0), {}, 30_000);
    const spoke = applyRequest(noticed, says('a', 4, 0, { sequence: 1, allowance: 4 }), startMs + 30_500);
    expect(only(silent(spoke, {}, 31_000))).toMatchObject({ mute: false, allowance: 4 });
  });
  test('keeps the run that allocates from ending', () => {
    expect(silent(silent(granted(0), {}, 30_000), {}, 31_000).unusedSinceMs).toBeNull();
  });
});

describe('a host on which Nova keeps migrations waiting', () => {
  const queued = (running: number, waiting: number): AllowanceObservation => ({
    ...world({ a: running + waiting }),
    ...(waiting > 0 && { queues: { a: { running, waiting } } }),
  });
  const narrowed = told(look(granted(), queued(1, 3)), startMs).ledger;

  test('may have as many as run, and is told why', () => {
    expect(told(look(granted(), queued(1, 3)), startMs).answers).toMatchObject([
      { granted: { allowance: 1, novaRuns: 1 } },
    ]);
  });
  test('what it does not need is another’s', () => {
    const ended = applyRequest(narrowed, says('a', 4, 1, { sequence: 2, allowance: 1 }), startMs);
    const both = applyRequest(ended, says('b', 4, 0), startMs);
    expect(told(both).answers).toMatchObject([{ runId: 'b#1', granted: { allowance: 3 } }]);
  });
  test('is tried with one more when none waits', () => {
    const ended = applyRequest(narrowed, says('a', 4, 1, { sequence: 2, allowance: 1 }), startMs);
    expect(told(look(ended, queued(1, 0)), startMs).answers).toMatchObject([
      { granted: { allowance: 2, novaRuns: 1 } },
    ]);
  });
  test('is observed soon where it may have several for the first time', () => {
    expect(granted().nextObservationMs).toBeLessThan(startMs + 1_000);
    expect(narrowed.nextObservationMs).toBe(startMs + 1_000);
  });
  test('is forgotten with its consumer', () => {
    const left = applyRequest(narrowed, says('a', 0, 0, { sequence: 2, allowance: 1 }), startMs);
    expect(look(left, world()).windows).toEqual({});
  });
});

test('a limit that adapts is what is allocated', () => {
  const slow = (bytesPerSecond: number): AllowanceObservation => ({
    ...world({ a: 4 }),
    leastLimit: 1,
    pace: { bytesPerSecond, migrations: 4, hosts: 2 },
  });
  const lowered = [1_000, 100, 100, 100].reduce((ledger, pace) => look(ledger, slow(pace)), granted());
  expect(told(lowered).answers).toMatchObject([{ granted: { allowance: 3, limit: 3 } }]);
});

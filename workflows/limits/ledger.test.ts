import * as fc from 'fast-check';
import {
  answered,
  arrive,
  elapse,
  finish,
  inUse,
  kill,
  pass,
  restart,
  round,
  say,
  simulate,
  speak,
  type Simulation,
  startLook,
  stopLook,
  takePicture,
  work,
} from '../../test/models/limits.ts';
import { allocate, applyRequest, applyReturned, newLedger, readRequest } from './ledger.ts';

/** What may happen next: `who` and `which` choose among what there is. */
const event = fc.record({
  what: fc.constantFrom(
    'work',
    'work',
    'finish',
    'say',
    'say anyway',
    'arrive',
    'arrive',
    'arrive twice',
    'answer',
    'answer',
    'look',
    'picture',
    'looked',
    'time',
    'long time',
    'kill',
    'restart',
    'mute',
    'speak',
  ),
  who: fc.nat(),
  which: fc.nat(),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const consumers = fc.array(
  fc.record({
    todo: fc.integer({ min: 1, max: 9 }),
    parallelism: fc.integer({ min: 1, max: 4 }),
    // By the simulation's clock: minutes away, an hour away, passed.
    deadline: fc.constantFrom(null, '1970-01-01T00:20:00Z', '1970-01-01T01:30:00Z', '1970-01-01T00:00:00Z'),
  }),
  { minLength: 1, maxLength: 6 },
);
const limit = fc.integer({ min: 1, max: 6 });

/** Asked after each event: `expect` takes a stack trace whether or not it fails, which took half of the time. */
function checkInUse(simulation: Simulation, limit: number): void {
  const used = inUse(simulation);
  if (used > limit) throw new Error(`${used} are in use, and ${limit} may be`);
}

function happen(simulation: Simulation, { what, who, which }: Event): void {
  const run = simulation.runs[who % simulation.runs.length]!;
  switch (what) {
    case 'work':
      return work(simulation, run);
    case 'finish':
      return finish(run);
    case 'say':
      return say(simulation, run);
    case 'say anyway':
      return say(simulation, run, true);
    case 'arrive':
      return arrive(simulation, which % Math.max(1, simulation.reports.length));
    case 'arrive twice':
      return arrive(simulation, which % Math.max(1, simulation.reports.length), true);
    case 'answer':
      return answered(simulation, run);
    case 'look':
      return startLook(simulation);
    case 'picture':
      return void (simulation.found = simulation.ledger.covering && takePicture(simulation));
    case 'looked':
      return stopLook(simulation);
    case 'time':
      return elapse(simulation, which % 3_000);
    case 'long time':
      return which % 4 === 0 ? elapse(simulation, which % 60_000) : undefined;
    case 'mute':
      return void (run.mute ||= which % 4 === 0);
    case 'speak':
      return speak(simulation, run);
    case 'kill':
      return which % 8 === 0 ? kill(run) : undefined;
    case 'restart':
      return restart(simulation, run);
  }
}

test.each([
  ['migrations', false],
  ['turns', true],
])(
  'whatever is late, doubled, out of order or killed: never more %s in use than the limit, and nothing lost',
  (_what, turns) => {
    fc.assert(
      fc.property(
        limit,
        consumers,
        fc.constantFrom(1, 2, Infinity),
        fc.array(event, { minLength: 100, maxLength: 300, size: 'max' }),
        (limit, consumers, novaRuns, events) => {
          const simulation = simulate(
            limit,
            turns ? consumers.map(({ todo }) => ({ todo, parallelism: 1, deadline: null })) : consumers,
            turns,
          );
          simulation.novaRuns = novaRuns;
          const all = consumers.reduce((total, { todo }) => total + todo, 0);
          for (const event of events) {
            happen(simulation, event);
            checkInUse(simulation, limit);
          }
          // Nothing leaked: whatever happened, all that is still wanted gets done.
          for (const run of simulation.runs) {
            speak(simulation, run);
            restart(simulation, run);
          }
          for (
            let rounds = 0;
            rounds < 40 + 10 * all && simulation.runs.some(({ open, using }) => open || using > 0);
            rounds += 1
          ) {
            round(simulation, { finishing: true });
            checkInUse(simulation, limit);
          }
          expect(simulation.runs.reduce((total, { done }) => total + done, 0)).toBe(all);
          for (let rounds = 0; rounds < 5; rounds += 1) round(simulation, { finishing: true });
          expect(simulation.ledger.holders).toEqual([]);
        },
      ),
      { numRuns: 200, endOnFailure: true },
    );
  },
);

test('once everything has arrived, the shares are fair and nothing is left over', () => {
  fc.assert(
    fc.property(limit, consumers, (limit, consumers) => {
      const simulation = simulate(
        limit,
        consumers.map(({ parallelism }) => ({ parallelism, todo: 1_000 })),
      );
      for (let rounds = 0; rounds < 20; rounds += 1) round(simulation, { finishing: false });
      const used = simulation.runs.map(({ using }) => using);
      const short = simulation.runs.filter(({ using, parallelism }) => using < parallelism).map(({ using }) => using);
      expect(inUse(simulation)).toBe(
        Math.min(
          limit,
          consumers.reduce((total, { parallelism }) => total + parallelism, 0),
        ),
      );
      if (short.length > 0) expect(Math.max(...used)).toBeLessThanOrEqual(Math.min(...short) + 1);
    }),
  );
});

test('where consumers outnumber the slots each has a turn, and all as many', () => {
  fc.assert(
    fc.property(limit, fc.integer({ min: 1, max: 14 }), (limit, more) => {
      const simulation = simulate(
        limit,
        Array.from({ length: limit + more }, () => ({ parallelism: 3, todo: 1_000 })),
      );
      for (let rounds = 0; rounds < 10 * (limit + more); rounds += 1) round(simulation, { finishing: true });
      const done = simulation.runs.map(({ done }) => done);
      expect(Math.min(...done)).toBeGreaterThan(0);
      expect(Math.max(...done)).toBeLessThanOrEqual(1.5 * Math.min(...done) + 3);
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

test('whatever the deadlines, no consumer starves; and the nearest ones are served first', () => {
  const classes = fc.array(fc.constantFrom('1970-01-01T02:00:00Z', '1970-01-01T03:00:00Z', null), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(limit, classes, (limit, deadlines) => {
      const simulation = simulate(
        limit,
        deadlines.map((deadline) => ({ parallelism: 3, todo: 10_000, deadline })),
      );
      simulation.nowMs = Date.parse('1970-01-01T01:50:00Z');
      for (let rounds = 0; rounds < 500; rounds += 1) round(simulation, { finishing: true });
      const done = simulation.runs.map((run) => run.done);
      expect(Math.min(...done)).toBeGreaterThan(0);
      const of = (wanted: string | null): number[] => done.filter((_, index) => deadlines[index] === wanted);
      const [first, rest] = [of('1970-01-01T02:00:00Z'), of(null)];
      if (first.length > 0 && rest.length > 0)
        expect(Math.min(...first)).toBeGreaterThanOrEqual(Math.max(...rest) - 10);
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

test('a host that runs one at a time has one, and soon none waits there', () => {
  const simulation = simulate(8, [
    { parallelism: 4, todo: 1_000 },
    { parallelism: 4, todo: 1_000 },
  ]);
  simulation.novaRuns = 1;
  const waiting: number[] = [];
  for (let rounds = 0; rounds < 200; rounds += 1) {
    round(simulation, { finishing: true });
    waiting.push(simulation.runs.reduce((total, { using }) => total + Math.max(0, using - 1), 0));
  }
  // Tried once more now and then, ever less often.
  const last = waiting.slice(-100);
  expect(last.reduce((total, count) => total + count, 0)).toBeLessThanOrEqual(30);
});

test('a lowered limit drains: no more is in use than before, and soon no more than the limit', () => {
  const simulation = simulate(
    6,
    Array.from({ length: 3 }, () => ({ parallelism: 4, todo: 1_000 })),
  );
  for (let rounds = 0; rounds < 5; rounds += 1) round(simulation, { finishing: false });
  expect(inUse(simulation)).toBe(6);
  simulation.limit = 2;
  for (let rounds = 0; rounds < 5; rounds += 1) round(simulation, { finishing: false });
  expect(inUse(simulation)).toBe(6);
  for (let rounds = 0, before = 6; rounds < 30; rounds += 1) {
    round(simulation, { finishing: true });
    expect(inUse(simulation)).toBeLessThanOrEqual(Math.max(before, 2));
    before = inUse(simulation);
  }
  expect(inUse(simulation)).toBeLessThanOrEqual(2);
});

test('a lost ledger grants nothing more until each consumer has had the time to say what it holds', () => {
  const simulation = simulate(
    4,
    Array.from({ length: 4 }, () => ({ parallelism: 4, todo: 1_000 })),
  );
  for (let rounds = 0; rounds < 5; rounds += 1) round(simulation, { finishing: false });
  expect(inUse(simulation)).toBe(4);
  simulation.ledger = simulate(4, []).ledger;
  simulation.ledger = { ...simulation.ledger, beganMs: simulation.nowMs, nextObservationMs: simulation.nowMs };
  simulation.answers = [];
  for (let rounds = 0; rounds < 30; rounds += 1) {
    // No consumer uses what it holds at the moment that the new ledger looks.
    for (const run of simulation.runs) while (run.using > 0) finish(run);
    round(simulation, { finishing: false });
    expect(inUse(simulation)).toBeLessThanOrEqual(4);
  }
  expect(simulation.runs.every(({ using }) => using === 1)).toBe(true);
});

test('turns: each consumer has one, those who came first go first, and no more than may be are under way', () => {
  fc.assert(
    fc.property(
      limit,
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.nat({ max: 29 }), { maxLength: 60 }),
      (limit, count, kills) => {
        const simulation = simulate(
          limit,
          Array.from({ length: count }, () => ({ parallelism: 1, todo: 1 })),
          true,
        );
        const order: number[] = [];
        for (let rounds = 0; rounds < 10 * count + 20; rounds += 1) {
          round(simulation, { finishing: rounds % 2 === 1 });
          checkInUse(simulation, limit);
          for (const [index, { using, done }] of simulation.runs.entries())
            if (using + done > 0 && !order.includes(index)) order.push(index);
          // Its task goes on.
          const victim = simulation.runs[kills[rounds] ?? -1];
          if (victim?.using === 1) kill(victim);
        }
        expect(simulation.runs.every(({ done }) => done === 1)).toBe(true);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: 100 },
  );
});

test('a ledger without any memory takes what the world shows as used', () => {
  const simulation = simulate(4, [{ parallelism: 4, todo: 4 }]);
  const stranger = {
    ...simulate(4, [{ parallelism: 3, todo: 0 }]).runs[0]!,
    host: 'stranger',
    runId: 'none',
    open: false,
    using: 3,
  };
  simulation.runs.push(stranger);
  say(simulation, simulation.runs[0]!);
  arrive(simulation, 0);
  pass(simulation);
  expect(simulation.answers).toEqual([]);
  for (let rounds = 0; rounds < 3; rounds += 1) round(simulation, { finishing: false });
  expect(simulation.runs[0]!.using).toBe(1);
});

const good = { consumer: 'eviction/a', runId: 'r', host: 'a', want: 2, using: 1, deadline: null };

test.each([
  ['as consumers send it', good],
  ['with the answer it goes by', { ...good, acknowledged: { sequence: 3, allowance: 2 } }],
  ['that has acknowledged none', { ...good, acknowledged: null }],
  ['with a deadline', { ...good, deadline: '2027-01-01T00:00:00Z' }],
])('a report %s is taken', (_why, value) => {
  expect(readRequest(value)).toEqual(value);
});

test('what a report does not need is left out of it', () => {
  const { deadline: _, ...short } = good;
  expect(readRequest({ ...short, other: 1 })).toEqual(good);
});

test.each([
  ['nothing', null],
  ['a word', 'want'],
  ['no consumer', { ...good, consumer: '' }],
  ['no run', { ...good, runId: undefined }],
  ['no host', { ...good, host: 7 }],
  ['less than nothing', { ...good, want: -1 }],
  ['half a migration', { ...good, using: 0.5 }],
  ['no number', { ...good, want: '2' }],
  ['a deadline of another kind', { ...good, deadline: 5 }],
  ['an answer without its number', { ...good, acknowledged: { allowance: 1 } }],
])('%s is no report', (_why, value) => {
  expect(readRequest(value)).toBeNull();
});

describe('an answer that the update returned', () => {
  const world = { limit: 1, inProgress: {}, checkMs: 15_000, silentMs: 60_000 };
  const request = { consumer: 'datavolume/apps/disk', runId: 'a', host: 'rbd', want: 1, using: 0, deadline: null };
  const granted = { sequence: 1, allowance: 1 };
  const asked = allocate(applyRequest({ ...newLedger(0), world }, { ...request, acknowledged: null }, 0), 0);

  test.each([
    ['is given again where the run asks and does not know of it', true, null, [2]],
    ['is not where the run goes by it', true, granted, []],
    ['is not where it was a signal, which is on its way', false, null, []],
  ])('%s', (_, isReturned, acknowledged, sequences) => {
    expect(asked.answers.map((answer) => answer.granted.sequence)).toEqual([1]);
    const ledger = isReturned ? applyReturned(asked.ledger, asked.answers) : asked.ledger;
    const again = allocate(applyRequest(ledger, { ...request, acknowledged }, 1), 1);
    expect(again.answers.map((answer) => answer.granted.sequence)).toEqual(sequences);
    expect(again.answers.every((answer) => answer.granted.allowance === 1)).toBe(true);
  });
});

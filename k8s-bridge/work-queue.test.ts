import { array, assert, asyncProperty, boolean, constantFrom, nat, oneof, record } from 'fast-check';
import { createWorkQueue, type Priority, type WorkQueue, type WorkQueueOptions } from './work-queue.ts';

/** Numbered additions; a coalesced item carries the numbers of all. */
interface Item {
  key: string;
  numbers: number[];
}

interface Delivery {
  item: Item;
  end(failed?: boolean): Promise<void>;
}

const turns = async (): Promise<void> => {
  for (let count = 0; count < 10; count += 1) await Promise.resolve();
};

/** A queue whose deliveries end, and whose timers fire, when the test says so. */
function harness(options: Partial<WorkQueueOptions<Item>> = {}) {
  const inFlight: Delivery[] = [];
  const timers = new Set<() => void>();
  const delays: number[] = [];
  const started: Item[] = [];
  const queue: WorkQueue<Item> = createWorkQueue<Item>({
    deliver: (item, abort) =>
      new Promise((resolve, reject) => {
        const delivery: Delivery = {
          item,
          end: (isFailed = false) => {
            inFlight.splice(inFlight.indexOf(delivery), 1);
            if (isFailed) reject(new Error('away'));
            else resolve();
            return turns();
          },
        };
        abort.addEventListener('abort', () => void delivery.end(true));
        started.push(item);
        inFlight.push(delivery);
      }),
    coalesce: (earlier, later) => ({ key: later.key, numbers: [...earlier.numbers, ...later.numbers] }),
    workers: 2,
    backOff: { initialMs: 100, factor: 2, maxMs: 500, jitter: 0 },
    onFailure: (_item, _error, retryInMs) => delays.push(retryInMs),
    clock: {
      schedule: (action, _delayMs) => {
        const fire = (): void => {
          timers.delete(fire);
          action();
        };
        timers.add(fire);
        return () => void timers.delete(fire);
      },
    },
    random: () => 0,
    ...options,
  });
  let number = 0;
  const add = (key: string, priority: Priority = 'fresh'): number => {
    number += 1;
    queue.add(key, { key, numbers: [number] }, priority);
    return number;
  };
  const end = (key: string, isFailed = false): Promise<void> | undefined =>
    inFlight.find(({ item }) => item.key === key)?.end(isFailed);
  /** Those that are set now; what they start may set others. */
  const fireTimers = (): void => {
    const due = Array.from(timers);
    for (const fire of due) fire();
  };
  return { queue, add, end, fireTimers, inFlight, started, delays, timers };
}

const keysOf = (items: readonly Item[]): string =>
  items.map(({ key, numbers }) => `${key}${numbers.join('+')}`).join(' ');

test('one delivery in flight per key; what comes meanwhile is one delivery after it', async () => {
  const { add, end, started } = harness();
  add('a');
  add('a');
  add('a');
  expect(keysOf(started)).toBe('a1');
  await end('a');
  expect(keysOf(started)).toBe('a1 a2+3');
  await end('a');
  expect(keysOf(started)).toBe('a1 a2+3');
});

test('fresh goes before resync, each in the order in which they came', async () => {
  const { add, end, started } = harness({ workers: 1 });
  add('busy');
  add('r1', 'resync');
  add('r2', 'resync');
  add('f1');
  add('f2');
  add('r2');
  for (const key of ['busy', 'f1', 'f2', 'r2', 'r1']) await end(key);
  expect(started.map(({ key }) => key)).toEqual(['busy', 'f1', 'f2', 'r2', 'r1']);
});

test('a failed delivery backs off, longer each time, and takes with it what came meanwhile', async () => {
  const { add, end, started, delays, fireTimers, queue } = harness();
  add('a');
  add('a');
  await end('a', true);
  add('a', 'resync');
  expect(queue.stats()).toMatchObject({ backingOff: 1, inFlight: 0, failed: 1 });
  expect(keysOf(started)).toBe('a1');
  for (const _ of [1, 2, 3, 4]) {
    fireTimers();
    await end('a', true);
  }
  expect(delays).toEqual([100, 200, 400, 500, 500]);
  fireTimers();
  await end('a');
  expect(keysOf(started.slice(-1))).toBe('a1+2+3');
  expect(queue.stats()).toMatchObject({ backingOff: 0, delivered: 1 });
  add('a');
  await end('a', true);
  expect(delays.at(-1)).toBe(100);
});

test('a key that backs off holds up no other', async () => {
  const { add, end, started } = harness({ workers: 1 });
  add('bad');
  await end('bad', true);
  add('good');
  expect(started.map(({ key }) => key)).toEqual(['bad', 'good']);
});

test('deliveries of a key keep their distance; what comes meanwhile is one of them', async () => {
  const { queue, add, end, started, timers, fireTimers } = harness({ minIntervalMs: () => 200 });
  add('a');
  await end('a');
  add('a');
  add('a');
  add('b');
  expect(keysOf(started)).toBe('a1 b4');
  expect(queue.stats()).toMatchObject({ backingOff: 0, coalesced: 1 });
  fireTimers();
  await end('a');
  await end('b');
  expect(keysOf(started)).toBe('a1 b4 a2+3');
  fireTimers();
  expect(timers.size).toBe(0);
  add('a');
  expect(keysOf(started)).toBe('a1 b4 a2+3 a5');
});

test('how far apart they are, the item says that was delivered', async () => {
  const { add, end, started, timers } = harness({ minIntervalMs: ({ key }) => (key === 'a' ? 1_000 : 0) });
  add('a');
  add('b');
  await end('a');
  await end('b');
  add('a');
  add('b');
  expect(keysOf(started)).toBe('a1 b2 b4');
  expect(timers.size).toBe(1);
});

test('draining does not wait for the distance', async () => {
  const { queue, add, end, started, timers } = harness({ minIntervalMs: () => 200 });
  add('a');
  await end('a');
  add('a');
  const drained = queue.drain(60_000);
  await end('a');
  await expect(drained).resolves.toBe(0);
  expect({ started: keysOf(started), timers: timers.size }).toEqual({ started: 'a1 a2', timers: 0 });
});

test('a pause starts nothing and forgets what waits; what is in flight goes on', async () => {
  const { queue, add, end, started, timers, inFlight } = harness({ workers: 1 });
  add('failed');
  await end('failed', true);
  add('flying');
  add('waiting');
  queue.pause();
  add('ignored');
  expect({ timers: timers.size, inFlight: inFlight.length, stats: queue.stats() }).toMatchObject({
    timers: 0,
    inFlight: 1,
    stats: { fresh: 0, backingOff: 0 },
  });
  await end('flying');
  queue.resume();
  expect(started.map(({ key }) => key)).toEqual(['failed', 'flying']);
  add('after');
  expect(started.at(-1)?.key).toBe('after');
});

test('draining delivers what waits and what backs off, each once, and takes nothing more', async () => {
  const { queue, add, end, started } = harness({ workers: 1 });
  add('failed');
  await end('failed', true);
  add('flying');
  add('waiting');
  const drained = queue.drain(60_000);
  add('late');
  await end('flying');
  await end('waiting');
  await end('failed', true);
  await expect(drained).resolves.toBe(1);
  expect(started.map(({ key }) => key)).toEqual(['failed', 'flying', 'waiting', 'failed']);
});

test('draining ends in time whatever hangs, and counts what it left', async () => {
  const { queue, add, fireTimers } = harness({ workers: 1 });
  add('hangs');
  add('waits');
  const drained = queue.drain(20);
  fireTimers();
  await expect(drained).resolves.toBe(2);
});

const allKeys = ['a', 'b', 'c', 'd', 'e', 'f'];
const keys = constantFrom(...allKeys);
const steps = oneof(
  record({ do: constantFrom('add' as const), key: keys, priority: constantFrom<Priority>('fresh', 'resync') }),
  record({ do: constantFrom('end' as const), which: nat(5), failed: boolean() }),
  record({ do: constantFrom('fire' as const) }),
);

test('whatever happens in whatever order: never two in flight per key, fresh first, nothing lost, nothing twice', async () => {
  await assert(
    asyncProperty(array(steps, { maxLength: 60 }), constantFrom(0, 200), async (script, minIntervalMs) => {
      const { queue, add, inFlight, started, fireTimers, timers } = harness({ minIntervalMs: () => minIntervalMs });
      const added: number[] = [];
      const done: number[] = [];
      const check = (): void => {
        const flying = inFlight.map(({ item }) => item.key);
        expect(new Set(flying).size).toBe(flying.length);
        expect(flying.length).toBeLessThanOrEqual(2);
        // A key that waits, waits because the workers are busy, or because its own key is in flight or backs off.
        const { fresh, resync } = queue.stats();
        expect(fresh + resync === 0 || flying.length === 2).toBe(true);
      };
      const endOne = async (which: number, isFailed: boolean): Promise<void> => {
        const delivery = inFlight[which % inFlight.length];
        if (delivery === undefined) return;
        const freshBefore = queue.stats().fresh;
        const resyncBefore = queue.stats().resync;
        if (!isFailed) done.push(...delivery.item.numbers);
        await delivery.end(isFailed);
        // A resync item may only have been taken when no fresh one was left.
        const { fresh, resync } = queue.stats();
        if (freshBefore > 0) expect(resync).toBeGreaterThanOrEqual(resyncBefore);
        expect(fresh).toBeLessThanOrEqual(freshBefore + 1);
      };
      for (const step of script) {
        if (step.do === 'add') added.push(add(step.key, step.priority));
        if (step.do === 'end') await endOne(step.which, step.failed);
        if (step.do === 'fire') fireTimers();
        check();
      }
      for (let guard = 0; guard < 500 && (inFlight.length > 0 || timers.size > 0); guard += 1) {
        fireTimers();
        await endOne(0, false);
      }
      expect(done.toSorted((a, b) => a - b)).toEqual(added);
      expect(queue.stats()).toMatchObject({ fresh: 0, resync: 0, inFlight: 0, backingOff: 0 });
      // The numbers of a key arrive in order.
      for (const key of allKeys) {
        const last = started.filter((item) => item.key === key).map(({ numbers }) => numbers.at(-1) ?? 0);
        expect(last).toEqual(last.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 300 },
  );
});

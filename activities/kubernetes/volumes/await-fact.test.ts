import type { KubernetesObjects, ObjectVersion } from '../../../runtime/kubernetes/objects.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { testClock, testScope } from '../../../test/fixtures/activities/nova.ts';
import { awaitFact } from './await-fact.ts';

const resource = storageResources.PersistentVolumeClaim;
const versionOf = (name: string): ObjectVersion => ({ namespace: 'vms', name, resourceVersion: '7' });

/** @param watches each is of so many changes and ends then: `failed`, or by the server; null: it goes on */
function waiting(watches: readonly { changes: number; ends: 'failed' | 'by-server' | null }[]) {
  const [opened, left]: [string[], string[]] = [[], []];
  async function* changes(_resource: unknown, { name }: ObjectVersion, signal: AbortSignal): AsyncGenerator<void> {
    const { changes: count, ends } = watches[opened.length] ?? { changes: 0, ends: null };
    opened.push(name);
    signal.addEventListener('abort', () => left.push(name));
    for (let change = 0; change < count; change += 1) yield;
    if (ends === 'failed') throw new Error('the connection was lost');
    if (ends === null) await new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal)));
  }
  const clock = testClock();
  const client = { changes } as unknown as KubernetesObjects;
  let looks = 0;
  return {
    opened,
    left,
    until: (count: number, nameOf: (look: number) => string = () => 'web') =>
      awaitFact<number>(
        { scope: testScope(), clock, client },
        {
          patienceMs: 60_000,
          look: async () => (looks += 1),
          isOver: (look) => look === count,
          watched: (look) => ({ resource, version: versionOf(nameOf(look)) }),
        },
      ),
  };
}

test('one watch is kept for the whole wait, and left with it', async () => {
  const { opened, left, until } = waiting([{ changes: 3, ends: null }]);
  await expect(until(8)).resolves.toBe(8);
  expect([opened, left]).toEqual([['web'], ['web']]);
});

test.each(['failed', 'by-server'] as const)('one that has ended is opened anew: %s', async (ends) => {
  const { opened, until } = waiting([{ changes: 1, ends }]);
  await until(5);
  expect(opened).toEqual(['web', 'web']);
});

test('where another object is waited for, that one is watched', async () => {
  const { opened, left, until } = waiting([]);
  await until(4, (look) => (look < 3 ? 'web' : 'db'));
  expect([opened, left]).toEqual([
    ['web', 'db'],
    ['web', 'db'],
  ]);
});

/** A patient wait of a minute; what is seen is how often it was looked at. */
function patiently(waitedMs: number, overAt = Infinity) {
  const clock = testClock();
  const beganMs = clock.now();
  let looks = 0;
  const wait = awaitFact<number>(
    { scope: testScope({ waitedMs }), clock, client: {} as KubernetesObjects },
    {
      patienceMs: 60_000,
      patientFor: 'PVC team/golden to be free',
      look: async () => (looks += 1),
      isOver: (look) => look === overAt,
    },
  );
  const heldMs = (): number => clock.now() - beganMs;
  return { wait, heldMs, looks: () => looks };
}

test('the first attempt of a patient wait leaves its place within seconds', async () => {
  const { wait, heldMs } = patiently(0);
  await expect(wait).rejects.toMatchObject({
    type: 'Waiting',
    message: 'Waiting for PVC team/golden to be free',
    nextRetryDelay: 5_000,
  });
  expect(heldMs()).toBe(10_000);
});

test('… and sees what comes before', async () => {
  await expect(patiently(0, 7).wait).resolves.toBe(7);
});

test.each<[what: string, waitedMs: number, overAt: number, result: object]>([
  ['looks once', 15_000, Infinity, { status: 'rejected', reason: { type: 'Waiting', nextRetryDelay: 5_000 } }],
  ['… which is seen', 15_000, 1, { status: 'fulfilled', value: 1 }],
  ['comes again when its time is over', 58_000, Infinity, { status: 'rejected', reason: { nextRetryDelay: 2_000 } }],
  ['says what it saw when its time is over', 60_000, Infinity, { status: 'fulfilled', value: 1 }],
])('a later attempt %s', async (_, waitedMs, overAt, result) => {
  const { wait, heldMs, looks } = patiently(waitedMs, overAt);
  expect((await Promise.allSettled([wait]))[0]).toMatchObject(result);
  expect([heldMs(), looks()]).toEqual([0, 1]);
});

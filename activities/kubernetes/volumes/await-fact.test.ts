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

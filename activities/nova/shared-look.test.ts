import { migrationRecord, stubClient, testClock } from '../../test/fixtures/activities/nova.ts';
import { createSharedLook } from './shared-look.ts';
import type { NovaClient } from './types.ts';

const signal = new AbortController().signal;

function openLook(changed: ReturnType<typeof migrationRecord>[]) {
  const asked: string[] = [];
  const nova = stubClient<NovaClient>({
    migrationsChangedSince: async (time) => {
      asked.push(`since ${time}`);
      return changed;
    },
    migration: async (instanceId, id) => {
      asked.push(`${instanceId}/${id}`);
      return id === 9 ? null : migrationRecord({ id, instanceId, status: 'asked alone' });
    },
  });
  return { look: createSharedLook(nova, testClock()), asked };
}

const known = (id: number, createdAt = '2026-01-01T10:00:00Z') => migrationRecord({ id, instanceId: 'vm', createdAt });

test('one wait asks for its own', async () => {
  const { look, asked } = openLook([]);
  await expect(look(known(1), signal)).resolves.toMatchObject({ id: 1, status: 'asked alone' });
  expect(asked).toEqual(['vm/1']);
});

test('several that are due together share a request, which reaches back to the oldest of them', async () => {
  const { look, asked } = openLook([
    migrationRecord({ id: 1, status: 'completed' }),
    migrationRecord({ id: 2, status: 'running' }),
    migrationRecord({ id: 7, status: 'error' }),
  ]);
  const found = await Promise.all([look(known(1), signal), look(known(2, '2026-01-01T09:00:00.123456Z'), signal)]);
  expect(found.map((migration) => migration?.status)).toEqual(['completed', 'running']);
  expect(asked).toEqual(['since 2026-01-01T08:59:00.123Z']);
});

test('who is not in the answer asks alone, and may find that there is nothing', async () => {
  const { look, asked } = openLook([migrationRecord({ id: 1, status: 'running' })]);
  const found = await Promise.all([look(known(1), signal), look(known(2), signal), look(known(9), signal)]);
  expect(found.map((migration) => migration?.status)).toEqual(['running', 'asked alone', undefined]);
  expect(asked.slice(1)).toEqual(['vm/2', 'vm/9']);
});

test('who is cancelled lets the others wait on', async () => {
  const { look } = openLook([
    migrationRecord({ id: 1, status: 'running' }),
    migrationRecord({ id: 2, status: 'running' }),
  ]);
  const cancel = new AbortController();
  const [mine, theirs] = [look(known(1), cancel.signal), look(known(2), signal)];
  cancel.abort(new Error('cancelled'));
  await expect(mine).rejects.toThrow('cancelled');
  await expect(theirs).resolves.toMatchObject({ id: 2 });
});

test('the next moment has its own request', async () => {
  const { look, asked } = openLook([migrationRecord({ id: 1 }), migrationRecord({ id: 2 })]);
  await Promise.all([look(known(1), signal), look(known(2), signal)]);
  await Promise.all([look(known(1), signal), look(known(2), signal)]);
  expect(asked).toHaveLength(2);
});

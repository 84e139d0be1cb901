import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';

import { safetyMemo } from '../../contracts/machine-safety/api-server-safety.ts';
import { testClock } from '../../test/fixtures/activities/nova.ts';
import { createReadFreeze } from './read-freeze.ts';

const never = new AbortController().signal;

function open() {
  const clock = testClock();
  const asked: string[] = [];
  const state = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: clock.now() };
  const beat = (details: Payload | null) => ({
    activityType: { name: 'probeApiServers' },
    lastHeartbeatTime: msToTs(clock.now()),
    heartbeatDetails: { payloads: details === null ? [] : [details] },
  });
  const well = {
    type: 'watchApiServers',
    status: { name: 'RUNNING' },
    memo: { [safetyMemo]: state } as Record<string, unknown>,
    raw: { pendingActivities: [beat(defaultPayloadConverter.toPayload(state) ?? null)] },
  };
  const answer: { describe: () => Promise<unknown> } = { describe: async () => well };
  const temporal = {
    options: { loadedDataConverter: { payloadCodecs: [], payloadConverter: defaultPayloadConverter } },
    withDeadline: (_deadline: number, calls: () => Promise<unknown>) => calls(),
    workflow: {
      getHandle: (id: string) => ({
        describe: () => {
          asked.push(id);
          return answer.describe();
        },
      }),
    },
  } as unknown as Client;
  const settings = { periodMs: 60_000, timeoutMs: 30_000 };
  return { clock, asked, well, beat, answer, read: createReadFreeze({ temporal, cluster: 'eu', clock, settings }) };
}

test('one answer serves all callers within a second, and no longer', async () => {
  const { read, clock, asked, answer } = open();
  expect(await Promise.all([read('shoot', never), read('shoot', never)])).toEqual([
    { state: 'thawed' },
    { state: 'thawed' },
  ]);
  await clock.sleep(999);
  expect(await read('shoot', never)).toEqual({ state: 'thawed' });
  expect(asked).toEqual(['eu/api-server-safety/shoot']);
  answer.describe = () => Promise.reject(new Error('no answer'));
  await clock.sleep(1);
  expect(await read('shoot', never)).toEqual({
    state: 'unknown',
    reason: 'Temporal cannot say whether Machines are frozen: no answer',
  });
  expect(asked).toHaveLength(2);
});

test('namespaces are asked about one by one, and what says nothing is asked again', async () => {
  const { read, asked, answer } = open();
  answer.describe = () => Promise.reject(new Error('no answer'));
  expect((await read('a', never)).state).toBe('unknown');
  expect((await read('a', never)).state).toBe('unknown');
  expect((await read('b', never)).state).toBe('unknown');
  expect(asked).toHaveLength(3);
});

test('a caller that gives up gets its own reason, and the others their answer', async () => {
  const { read, answer, well } = open();
  const slow = Promise.withResolvers<unknown>();
  answer.describe = () => slow.promise;
  const leaves = new AbortController();
  const [gone, stays] = [read('shoot', leaves.signal), read('shoot', never)];
  leaves.abort(new Error('cancelled'));
  await expect(gone).rejects.toThrow('cancelled');
  slow.resolve(well);
  expect(await stays).toEqual({ state: 'thawed' });
});

test.each<[string, (world: ReturnType<typeof open>) => unknown]>([
  ['there is no such run', () => new WorkflowNotFoundError('not found', 'id', undefined)],
  ['the id is that of another workflow', ({ well }) => ({ ...well, type: 'findDrift' })],
  ['it has ended', ({ well }) => ({ ...well, status: { name: 'TERMINATED' } })],
  ['it has no memo', ({ well }) => ({ ...well, memo: undefined })],
  ['its memo is no state', ({ well }) => ({ ...well, memo: { [safetyMemo]: 'thawed' } })],
  ['nothing probes', ({ well }) => ({ ...well, raw: { pendingActivities: [] } })],
  [
    'another activity is under way',
    ({ well }) => ({
      ...well,
      raw: {
        pendingActivities: well.raw.pendingActivities.map((one) => ({ ...one, activityType: { name: 'other' } })),
      },
    }),
  ],
  ['it probes, and has not said anything', ({ well, beat }) => ({ ...well, raw: { pendingActivities: [beat(null)] } })],
  [
    'its heartbeat cannot be read',
    ({ well, beat }) => ({
      ...well,
      raw: {
        pendingActivities: [beat({ metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('x') })],
      },
    }),
  ],
])('%s: unknown', async (_, answers) => {
  const world = open();
  const answer = answers(world);
  world.answer.describe = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
  const freeze = await world.read('shoot', never);
  expect(freeze).toEqual({ state: 'unknown', reason: expect.stringMatching(/./u) as string });
});

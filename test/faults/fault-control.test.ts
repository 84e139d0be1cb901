import type { Order } from './faults.ts';
import { startRecording } from './fault-control.ts';
import type { Call } from './step.ts';

const roles = new Map([['eviction/fixture-1', 'A']]);
const call = (activity: string, attempt = 1): Call => ({
  workflowId: 'eviction/fixture-1',
  runId: 'r',
  activityId: activity,
  activity,
  attempt,
});

function targeting(step: string, order: Order) {
  const actions: Call[] = [];
  const { recording, decide } = startRecording(roles, [
    { step, order, action: async (injected) => void actions.push(injected) },
  ]);
  return { recording, decide, actions };
}

test('every call is recorded once, and passes', async () => {
  const { recording, decide } = startRecording(roles, []);
  for (const one of [call('openEviction'), call('openEviction', 2), call('observeHost')])
    await expect(decide({ moment: 'before', call: one })).resolves.toBe('pass');
  expect(recording).toMatchObject({ steps: ['A/openEviction.1', 'A/observeHost.1'], injected: new Map() });
});

test('only the first attempt of the targeted call is injected', async () => {
  const { recording, decide, actions } = targeting('A/observeHost.1', 'pass');
  await expect(decide({ moment: 'before', call: call('openEviction') })).resolves.toBe('pass');
  await decide({ moment: 'before', call: call('observeHost') });
  await decide({ moment: 'before', call: call('observeHost', 2) });
  expect(actions).toEqual([call('observeHost')]);
  expect(recording.injected).toEqual(new Map([['A/observeHost.1', call('observeHost')]]));
});

test.each(['failBefore', 'failAfter', 'hang'] as const)('%s is an order to the worker', async (order) => {
  const { decide, actions } = targeting('A/observeHost.1', order);
  await expect(decide({ moment: 'before', call: call('observeHost') })).resolves.toBe(order);
  await expect(decide({ moment: 'before', call: call('observeHost', 2) })).resolves.toBe('pass');
  expect(actions).toEqual([]);
});

test('an action between effect and report comes when the effect is there', async () => {
  const { decide, actions } = targeting('A/observeHost.1', 'holdAfter');
  await expect(decide({ moment: 'before', call: call('observeHost') })).resolves.toBe('holdAfter');
  expect(actions).toEqual([]);
  await expect(decide({ moment: 'after', call: call('observeHost') })).resolves.toBe('pass');
  expect(actions).toHaveLength(1);
});

test('two calls get a fault each', async () => {
  const { recording, decide } = startRecording(
    roles,
    (['A/openEviction.1', 'A/observeHost.1'] as const).map((step) => ({
      step,
      order: 'failBefore',
      action: async () => undefined,
    })),
  );
  for (const one of ['openEviction', 'other', 'observeHost']) await decide({ moment: 'before', call: call(one) });
  expect([...recording.injected.keys()]).toEqual(['A/openEviction.1', 'A/observeHost.1']);
});

test('an action that fails is no action', async () => {
  const { recording, decide } = startRecording(roles, [
    { step: 'A/observeHost.1', order: 'pass', action: () => Promise.reject(new Error('no such run')) },
  ]);
  await expect(decide({ moment: 'before', call: call('observeHost') })).resolves.toBe('pass');
  expect(recording.failure?.message).toBe('no such run');
});

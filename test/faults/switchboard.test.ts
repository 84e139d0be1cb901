import type { Order } from './faults.ts';
import { startRecording } from './switchboard.ts';
import type { Call } from './step.ts';

const roles = new Map([['eviction/lane-1', 'A']]);
const call = (activity: string, attempt = 1): Call => ({ workflowId: 'eviction/lane-1', runId: 'r', activityId: activity, activity, attempt });

function aimedAt(step: string, order: Order) {
  const strikes: Call[] = [];
  const { recording, decide } = startRecording(roles, { step, order, strike: async (struck) => void strikes.push(struck) });
  return { recording, decide, strikes };
}

test('every call is recorded once, and passes', async () => {
  const { recording, decide } = startRecording(roles, null);
  for (const one of [call('openEviction'), call('openEviction', 2), call('observeHost')]) await expect(decide({ moment: 'before', call: one })).resolves.toBe('pass');
  expect(recording).toMatchObject({ steps: ['A/openEviction.1', 'A/observeHost.1'], struck: null });
});

test('only the first attempt of the aimed call is struck', async () => {
  const { recording, decide, strikes } = aimedAt('A/observeHost.1', 'pass');
  await expect(decide({ moment: 'before', call: call('openEviction') })).resolves.toBe('pass');
  await decide({ moment: 'before', call: call('observeHost') });
  await decide({ moment: 'before', call: call('observeHost', 2) });
  expect(strikes).toEqual([call('observeHost')]);
  expect(recording.struck).toEqual(call('observeHost'));
});

test.each(['failBefore', 'failAfter', 'hang'] as const)('%s is an order to the worker', async (order) => {
  const { decide, strikes } = aimedAt('A/observeHost.1', order);
  await expect(decide({ moment: 'before', call: call('observeHost') })).resolves.toBe(order);
  await expect(decide({ moment: 'before', call: call('observeHost', 2) })).resolves.toBe('pass');
  expect(strikes).toEqual([]);
});

test('a strike between effect and report comes when the effect is there', async () => {
  const { decide, strikes } = aimedAt('A/observeHost.1', 'holdAfter');
  await expect(decide({ moment: 'before', call: call('observeHost') })).resolves.toBe('holdAfter');
  expect(strikes).toEqual([]);
  await expect(decide({ moment: 'after', call: call('observeHost') })).resolves.toBe('pass');
  expect(strikes).toHaveLength(1);
});

test('a strike that fails is no strike', async () => {
  const { recording, decide } = startRecording(roles, { step: 'A/observeHost.1', order: 'pass', strike: () => Promise.reject(new Error('no such run')) });
  await expect(decide({ moment: 'before', call: call('observeHost') })).resolves.toBe('pass');
  expect(recording.failure?.message).toBe('no such run');
});

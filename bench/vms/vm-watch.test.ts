import type { Kubernetes } from '../../runtime/kubernetes.ts';
import { until } from '../../test/flows/until.ts';
import type { VmWatch } from './vm-watch.ts';
import { openVmWatch } from './vm-watch.ts';

const event = (type: string, name: string, { generation = 1, observed = 1, status = 'True', powerState = 'PoweredOn' } = {}): Uint8Array =>
  Buffer.from(`${JSON.stringify({ type, object: { metadata: { name, generation }, status: { powerState, conditions: [{ type: 'Lifecycle', status, reason: 'Settled', message: 'words', observedGeneration: observed }] } } })}\n`);

const open = (stream: () => AsyncGenerator<Uint8Array>): Promise<VmWatch> =>
  openVmWatch({ request: () => Promise.resolve({ metadata: { resourceVersion: '1' } }), stream: () => Promise.resolve(stream()) } as unknown as Kubernetes, '/vms');

/** What a watch tells that has heard these events, and goes on. */
async function hear(...events: Uint8Array[]): Promise<VmWatch> {
  const heard = Promise.withResolvers<void>();
  const watch = await open(async function* () {
    yield* events;
    heard.resolve();
    await new Promise(() => undefined);
  });
  await heard.promise;
  return watch;
}

test('on and settled counts, of the present spec', async () => {
  const { settledMs, lastSaid } = await hear(
    event('ADDED', 'there'),
    event('ADDED', 'off', { powerState: 'PoweredOff' }),
    event('ADDED', 'moving', { status: 'Unknown' }),
    event('ADDED', 'changed', { generation: 2 }),
  );
  expect([...settledMs.keys()]).toEqual(['there']);
  expect(lastSaid.get('moving')).toBe('Settled: words');
});

test('power states are kept as they came, one for each change; what is deleted is forgotten', async () => {
  const on = event('MODIFIED', 'web');
  const { powerStates, settledMs } = await hear(event('ADDED', 'gone'), event('DELETED', 'gone'), event('ADDED', 'web', { powerState: 'PoweredOff' }), on, on, event('MODIFIED', 'web', { powerState: 'PoweredOff' }));
  expect(powerStates.get('web')?.map(({ powerState }) => powerState)).toEqual(['PoweredOff', 'PoweredOn', 'PoweredOff']);
  expect([powerStates.has('gone'), settledMs.has('gone')]).toEqual([false, false]);
});

test.each([
  ['ended', [], /kube-apiserver has ended it/u],
  ['fails', [Buffer.from('{"type":"ERROR","object":{"code":410}}\n')], /410/u],
])('a watch that %s says so', async (_, events, words) => {
  const watch = await open(async function* () {
    yield* events;
  });
  await until('the watch to say so', 5_000, () => watch.ended.aborted || 'not yet');
  expect(String(watch.ended.reason)).toMatch(words);
});

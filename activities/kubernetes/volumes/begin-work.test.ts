import { holdWork } from './begin-work.ts';
import type { VolumeTools } from './dependencies.ts';

const of = { namespace: 'vms', name: 'disk', uid: 'u' };

test('whether it is still there is asked anew once its work has begun, however seldom that was asked before', async () => {
  let isThere = true;
  const get = async () => (isThere ? { metadata: { ...of }, spec: {} } : null);
  const tools = { client: { get }, scope: { signal: new AbortController().signal } } as unknown as VolumeTools;
  const work = await holdWork(tools, { ...of, begin: null });
  // It waits for room, and is deleted meanwhile.
  await work.say();
  isThere = false;
  await expect(work.live()).rejects.toMatchObject({ type: 'ObjectNotFound' });
});

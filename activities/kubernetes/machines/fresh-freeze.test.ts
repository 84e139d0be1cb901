import type { Freeze } from '../../../contracts/machine-safety/api-server-safety.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { openVirtual } from '../../../test/contracts/hosts/subject.ts';
import { createFreshFreeze } from './fresh-freeze.ts';

const thawed: Freeze = { state: 'thawed' };
const frozen: Freeze = { state: 'frozen', sinceMs: 1, reason: 'it was away' };
const unknown: Freeze = { state: 'unknown', reason: 'no run probes' };
const away = (): Promise<never> => Promise.reject(droverFailure('KubernetesUnavailable', 'connect ECONNREFUSED'));

test.each<[string, Freeze, (() => Promise<null>) | null, Freeze['state'], number]>([
  ['thawed, and it answers', thawed, async () => null, 'thawed', 1],
  ['thawed, and there is no target', thawed, null, 'thawed', 0],
  ['thawed, and it has gone away', thawed, away, 'unknown', 1],
  ['thawed, and it hangs', thawed, () => new Promise(() => undefined), 'unknown', 1],
  ['frozen: nothing is probed', frozen, async () => null, 'frozen', 0],
  ['not known: nothing is probed', unknown, async () => null, 'unknown', 0],
])('%s', async (_, known, answer, state, probes) => {
  const { run, clock } = openVirtual();
  let asked = 0;
  const get = async (_resource: unknown, _key: unknown, signal: AbortSignal): Promise<null> => {
    asked += 1;
    const overdue = new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
    return await Promise.race([overdue, answer?.() ?? null]);
  };
  const target = answer === null ? null : { get };
  const sources = { readFreeze: async () => known, target, clock, timeoutMs: 5_000 };
  const freeze = await run(() => createFreshFreeze(sources)('shoot', new AbortController().signal));
  expect([freeze.state, asked]).toEqual([state, probes]);
});

import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { type ReadLease, readNodeLease } from './node-lease.ts';

const renewTime = '2026-01-31T12:00:00.123456Z';
const rows: [why: string, found: object | null | Error, read: ReadLease, problems: number][] = [
  ['a kubelet renews it', { spec: { renewTime, leaseDurationSeconds: 60 } }, { renewTime, durationMs: 60_000 }, 0],
  ['it does not say for how long', { spec: { renewTime } }, { renewTime, durationMs: 40_000 }, 0],
  ['there is none', null, 'none', 0],
  ['it was never renewed', { spec: { renewTime: null } }, 'none', 0],
  ['drover may not read it', droverFailure('KubernetesForbidden', 'no'), null, 1],
];
test.each(rows)('%s', async (_why, found, read, said) => {
  const problems: string[] = [];
  const get = () => (found instanceof Error ? Promise.reject(found) : Promise.resolve(found));
  const client = { get } as unknown as KubernetesObjects;
  expect(await readNodeLease(client, 'node-1', problems, new AbortController().signal)).toEqual(read);
  expect(problems).toHaveLength(said);
});

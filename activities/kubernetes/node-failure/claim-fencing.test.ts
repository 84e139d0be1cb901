import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { claimFencing, readLastFencing, refusedBy } from './claim-fencing.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const cycleMs = 600_000;
const { signal } = new AbortController();
const refusal = (status: number, reason: string): Error =>
  refusalFailure(
    status,
    JSON.stringify({ kind: 'Status', reason, message: reason, details: { name: 'drover-fencing' } }),
    'the Lease',
  );

const rows: [why: string, last: Parameters<typeof refusedBy>[0], refused: string | null][] = [
  ['no host has had it', null, null],
  ['another has it', { host: 'node-2', atMs: nowMs - cycleMs + 1 }, 'node-2'],
  ['another had it long ago', { host: 'node-2', atMs: nowMs - cycleMs }, null],
  ['another has it by a clock that is ahead', { host: 'node-2', atMs: nowMs + 3_600_000 }, 'node-2'],
  ['it has it itself', { host: 'node-1', atMs: nowMs }, null],
];
test.each(rows)('%s', (_why, last, refused) => {
  expect(refusedBy(last, { host: 'node-1', cycleMs }, nowMs)).toBe(refused);
});

/** One Lease that is written only on its version, as kube-apiserver keeps it. */
function leaseStore(beforeWrite: () => void = () => undefined) {
  let version = 0;
  let spec: object | null = null;
  const request = async ({ method, body }: KubernetesRequest): Promise<unknown> => {
    if (method === 'GET') {
      if (spec === null) throw refusal(404, 'NotFound');
      return { metadata: { resourceVersion: String(version) }, spec };
    }
    beforeWrite();
    const { metadata, spec: wanted } = body as { metadata: { resourceVersion?: string }; spec: object };
    if (method === 'POST' && spec !== null) throw refusal(409, 'AlreadyExists');
    if (method === 'PUT' && metadata.resourceVersion !== String(version)) throw refusal(409, 'Conflict');
    [version, spec] = [version + 1, wanted];
    return { metadata: { resourceVersion: String(version) }, spec };
  };
  return {
    kubernetes: { request } as unknown as Kubernetes,
    set: (next: object) => ([version, spec] = [version + 1, next]),
  };
}

test('of many hosts that ask at once, one has the claim, whether or not there was a Lease', async () => {
  for (const old of [null, { holderIdentity: 'node-9', renewTime: '2025-12-31T00:00:00.000000Z' }]) {
    const { kubernetes, set } = leaseStore();
    if (old !== null) set(old);
    const claims = await Promise.all(
      ['node-1', 'node-2', 'node-3'].map((host) =>
        claimFencing(kubernetes, 'drover-system', { host, cycleMs }, nowMs, signal),
      ),
    );
    expect(claims.filter(({ granted }) => granted)).toHaveLength(1);
    expect(await readLastFencing(kubernetes, 'drover-system', nowMs, signal)).toMatchObject({ atMs: nowMs });
  }
});

test('one that has it may ask again', async () => {
  const { kubernetes } = leaseStore();
  const ask = (host: string) => claimFencing(kubernetes, 'drover-system', { host, cycleMs }, nowMs, signal);
  expect([await ask('node-1'), await ask('node-1'), await ask('node-2')]).toEqual([
    { granted: true },
    { granted: true },
    { granted: false, host: 'node-1' },
  ]);
});

test('a Lease without a holder is free, and a time that is none counts as now', async () => {
  const { kubernetes, set } = leaseStore();
  expect(await readLastFencing(kubernetes, 'n', nowMs, signal)).toBeNull();
  set({});
  expect(await readLastFencing(kubernetes, 'n', nowMs, signal)).toBeNull();
  set({ holderIdentity: 'node-2', renewTime: 'yesterday' });
  expect(await readLastFencing(kubernetes, 'n', nowMs, signal)).toEqual({ host: 'node-2', atMs: nowMs });
});

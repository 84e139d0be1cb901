import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { testClock, testScope } from '../../../test/fixtures/activities/nova.ts';
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
  const audited: AuditEntry[] = [];
  const kubernetes = { request } as unknown as Kubernetes;
  return {
    kubernetes,
    audited,
    claim: (host: string, stopGate = async () => {}) =>
      claimFencing(
        {
          kubernetes,
          systemNamespace: 'drover-system',
          stopGate,
          audit: { record: async (entry) => void audited.push(entry) },
          scope: testScope(),
          clock: { ...testClock(), now: () => nowMs },
        },
        { host, cycleMs },
      ),
    set: (next: object) => ([version, spec] = [version + 1, next]),
  };
}

test('of many hosts that ask at once, one has the claim, whether or not there was a Lease', async () => {
  for (const old of [null, { holderIdentity: 'node-9', renewTime: '2025-12-31T00:00:00.000000Z' }]) {
    const { audited, claim, kubernetes, set } = leaseStore();
    if (old !== null) set(old);
    const claims = await Promise.all(['node-1', 'node-2', 'node-3'].map((host) => claim(host)));
    expect(claims.filter(({ granted }) => granted)).toHaveLength(1);
    expect(await readLastFencing(kubernetes, 'drover-system', nowMs, signal)).toMatchObject({ atMs: nowMs });
    // The others changed nothing, so the audit log has one claim.
    const last = old === null ? null : { host: 'node-9', atMs: Date.parse(old.renewTime) };
    expect(audited).toMatchObject([
      { action: 'claimFencing', object: 'lease/drover-system/drover-fencing', before: last, after: { atMs: nowMs } },
    ]);
  }
});

test('no claim is made while drover is stopped', async () => {
  const { audited, claim, kubernetes } = leaseStore();
  await expect(claim('node-1', async () => Promise.reject(new Error('stopped')))).rejects.toThrow('stopped');
  expect(await readLastFencing(kubernetes, 'drover-system', nowMs, signal)).toBeNull();
  expect(audited).toEqual([]);
});

test('a claim whose answer is lost is in the audit log', async () => {
  const { audited, claim } = leaseStore(() => {
    throw refusal(503, 'ServiceUnavailable');
  });
  await expect(claim('node-1')).rejects.toMatchObject({ type: 'KubernetesUnavailable' });
  expect(audited).toMatchObject([{ action: 'claimFencing', after: { asked: { host: 'node-1' }, unanswered: true } }]);
});

test('one that has it may ask again', async () => {
  const { claim } = leaseStore();
  expect([await claim('node-1'), await claim('node-1'), await claim('node-2')]).toEqual([
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

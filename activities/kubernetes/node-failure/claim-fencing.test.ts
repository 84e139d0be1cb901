import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { testClock, testScope } from '../../../test/fixtures/activities/nova.ts';
import type { FencingClaim, FencingClaimRequest, LastFencing } from '../../../contracts/node-failure/activities.ts';
import type { SilentFencing } from '../../../contracts/node-failure/node-failure.ts';
import { claimFencing, giveUpFencing, readFencingLog, readSilentFencings, refusedBy } from './claim-fencing.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const cycleMs = 600_000;
const { signal } = new AbortController();
const refusal = (status: number, reason: string): Error =>
  refusalFailure(
    status,
    JSON.stringify({ kind: 'Status', reason, message: reason, details: { name: 'drover-fencing' } }),
    'the Lease',
  );

const annotation = 'drover.dev/silent-fencings';
const own = { incident: 'node-1/1', mostPerHour: 2 };
const silentOf = (...incidents: string[]): SilentFencing[] =>
  incidents.map((incident) => ({ host: `host of ${incident}`, incident, atMs: nowMs - 1 }));
const spent = (host: string): FencingClaim => ({ granted: false, reason: 'BudgetSpent', host });
const busy: FencingClaim = { granted: false, reason: 'OneAtATime', host: 'node-2' };

const rows: [
  why: string,
  last: LastFencing | null,
  silent: SilentFencing[] | null,
  budget: FencingClaimRequest['budget'],
  refused: FencingClaim | null,
][] = [
  ['no host has had it', null, [], null, null],
  ['another has it', { host: 'node-2', atMs: nowMs - cycleMs + 1 }, [], null, busy],
  ['another had it long ago', { host: 'node-2', atMs: nowMs - cycleMs }, [], null, null],
  ['another has it by a clock that is ahead', { host: 'node-2', atMs: nowMs + 3_600_000 }, [], null, busy],
  ['another has it since no time', { host: 'node-2', atMs: Number.NaN }, [], null, busy],
  ['it has it itself', { host: 'node-1', atMs: nowMs }, [], null, null],
  ['one that is off draws on no budget', null, silentOf('a', 'b', 'c'), null, null],
  ['nor does what is not understood hold it', null, null, null, null],
  ['the budget is not spent', null, silentOf('a'), own, null],
  ['it is spent', null, silentOf('a', 'b'), own, spent('host of a, host of b')],
  ['it is spent on this incident too, which counts once', null, silentOf('a', 'node-1/1'), own, null],
  ['what it was spent on is not understood', null, null, own, spent('what the Lease says, which is not understood')],
  ['nothing may be spent', null, [], { ...own, mostPerHour: 0 }, spent('')],
];
test.each(rows)('%s', (_why, last, silent, budget, refused) => {
  expect(refusedBy({ last, silent }, { host: 'node-1', cycleMs, budget }, nowMs)).toEqual(refused);
});

const granted = (before: LastFencing | null, atMs = nowMs): FencingClaim => ({ granted: true, atMs, before });

/** One Lease that is written only on its version, as kube-apiserver keeps it. */
function leaseStore(beforeWrite: () => void = () => undefined) {
  let version = 0;
  let spec: object | null = null;
  let annotations: Record<string, string> | undefined;
  const request = async ({ method, body }: KubernetesRequest): Promise<unknown> => {
    if (method === 'GET') {
      if (spec === null) throw refusal(404, 'NotFound');
      return { metadata: { resourceVersion: String(version), annotations }, spec };
    }
    beforeWrite();
    const { metadata, spec: wanted } = body as {
      metadata: { resourceVersion?: string; annotations?: Record<string, string> };
      spec: object;
    };
    if (method === 'POST' && spec !== null) throw refusal(409, 'AlreadyExists');
    if (method === 'PUT' && metadata.resourceVersion !== String(version)) throw refusal(409, 'Conflict');
    [version, spec, annotations] = [version + 1, wanted, metadata.annotations];
    return { metadata: { resourceVersion: String(version), annotations }, spec };
  };
  const audited: AuditEntry[] = [];
  const kubernetes = { request } as unknown as Kubernetes;
  const tools = {
    kubernetes,
    systemNamespace: 'drover-system',
    audit: { record: async (entry: AuditEntry) => void audited.push(entry) },
    scope: testScope(),
  };
  return {
    kubernetes,
    audited,
    giveUp: (host: string, atMs: number, before: LastFencing | null, stopGate = async () => {}) =>
      giveUpFencing({ ...tools, stopGate, clock: testClock() }, { host, atMs, before }),
    claim: (
      host: string,
      stopGate = async () => {},
      { budget = null, atMs = nowMs }: { budget?: FencingClaimRequest['budget']; atMs?: number } = {},
    ) => claimFencing({ ...tools, stopGate, clock: { ...testClock(), now: () => atMs } }, { host, cycleMs, budget }),
    set: (next: object, marked?: Record<string, string>) =>
      ([version, spec, annotations] = [version + 1, next, marked]),
    marks: () => annotations,
  };
}

test('of many hosts that ask at once, one has the claim, whether or not there was a Lease', async () => {
  for (const old of [null, { holderIdentity: 'node-9', renewTime: '2025-12-31T00:00:00.000000Z' }]) {
    const { audited, claim, kubernetes, set } = leaseStore();
    if (old !== null) set(old);
    const claims = await Promise.all(['node-1', 'node-2', 'node-3'].map((host) => claim(host)));
    expect(claims.filter(({ granted }) => granted)).toHaveLength(1);
    expect(await readFencingLog(kubernetes, 'drover-system', nowMs, signal)).toMatchObject({ last: { atMs: nowMs } });
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
  expect(await readFencingLog(kubernetes, 'drover-system', nowMs, signal)).toEqual({ last: null, silent: [] });
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
    granted(null),
    granted({ host: 'node-1', atMs: nowMs }),
    { granted: false, reason: 'OneAtATime', host: 'node-1' },
  ]);
});

test('a claim that is given up holds no other host back, and what was there before counts again', async () => {
  const { audited, claim, giveUp, kubernetes, marks } = leaseStore();
  const lastOf = async () => (await readFencingLog(kubernetes, 'n', nowMs, signal)).last;
  await claim('node-1', undefined, { budget: own });
  await giveUp('node-1', nowMs, null);
  expect(await lastOf()).toBeNull();
  expect(marks()?.[annotation]).toContain('node-1/1');
  expect(audited.at(-1)).toMatchObject({
    action: 'giveUpFencing',
    before: { host: 'node-1', atMs: nowMs },
    after: null,
  });
  // One by which the host was fenced itself.
  await claim('node-2');
  expect(await claim('node-2', undefined, { atMs: nowMs + 60_000 })).toEqual(
    granted({ host: 'node-2', atMs: nowMs }, nowMs + 60_000),
  );
  await giveUp('node-2', nowMs + 60_000, { host: 'node-2', atMs: nowMs });
  expect(await lastOf()).toEqual({ host: 'node-2', atMs: nowMs });
});

test('a claim is given up while drover is stopped, too', async () => {
  const { audited, claim, giveUp, kubernetes } = leaseStore();
  await claim('node-1');
  await giveUp('node-1', nowMs, null, async () => Promise.reject(new Error('stopped')));
  expect((await readFencingLog(kubernetes, 'n', nowMs, signal)).last).toBeNull();
  expect(audited.at(-1)).toMatchObject({ action: 'giveUpFencing', after: null });
});

test('only the claim itself is given up, and once: not one that was made since', async () => {
  const { audited, claim, giveUp, kubernetes } = leaseStore();
  await giveUp('node-1', nowMs, null);
  await claim('node-1', undefined, { atMs: nowMs + 1 });
  await giveUp('node-1', nowMs, null);
  await giveUp('node-2', nowMs + 1, null);
  expect((await readFencingLog(kubernetes, 'n', nowMs, signal)).last).toEqual({ host: 'node-1', atMs: nowMs + 1 });
  expect(audited).toHaveLength(1);
});

test('a Lease without a holder is free, and a time that is none counts as now', async () => {
  const { kubernetes, set } = leaseStore();
  const lastOf = async () => (await readFencingLog(kubernetes, 'n', nowMs, signal)).last;
  expect(await lastOf()).toBeNull();
  set({});
  expect(await lastOf()).toBeNull();
  set({ holderIdentity: 'node-2', renewTime: 'yesterday' });
  expect(await lastOf()).toEqual({ host: 'node-2', atMs: nowMs });
});

test('a budget is drawn upon once for each incident, and what was spent an hour ago is spent no more', async () => {
  const { claim, kubernetes, marks } = leaseStore();
  const hour = 60 * 60_000;
  const at = (minutes: number) => nowMs + minutes * 60_000;
  const ask = (host: string, minutes: number, incident = `${host}/1`) =>
    claim(host, undefined, { budget: { incident, mostPerHour: 2 }, atMs: at(minutes) });
  expect(await ask('node-1', 0)).toEqual(granted(null));
  expect(await ask('node-1', 5)).toEqual(granted({ host: 'node-1', atMs: nowMs }, at(5)));
  expect(await ask('node-2', 20)).toEqual(granted({ host: 'node-1', atMs: at(5) }, at(20)));
  expect(await ask('node-3', 40)).toEqual({ granted: false, reason: 'BudgetSpent', host: 'node-1, node-2' });
  // One that is off is no part of it, and takes none of it away.
  expect(await claim('node-4', undefined, { atMs: at(40) })).toEqual(granted({ host: 'node-2', atMs: at(20) }, at(40)));
  expect((await readFencingLog(kubernetes, 'n', at(40), signal)).silent).toEqual([
    { host: 'node-1', incident: 'node-1/1', atMs: nowMs },
    { host: 'node-2', incident: 'node-2/1', atMs: at(20) },
  ]);
  expect(await ask('node-3', 60)).toEqual(granted({ host: 'node-4', atMs: at(40) }, at(60)));
  expect(JSON.parse(marks()?.[annotation] ?? '')).toMatchObject([{ host: 'node-2' }, { host: 'node-3' }]);
  await claim('node-5', undefined, { atMs: at(60) + 2 * hour });
  expect(marks()).toBeUndefined();
});

test('of many hosts that ask at once, no more than the budget are granted, however short the distance', async () => {
  const { claim } = leaseStore();
  let granted = 0;
  for (let round = 0; round < 10; round += 1) {
    const atMs = nowMs + round * cycleMs;
    const claims = await Promise.all(
      ['a', 'b', 'c'].map((host) =>
        claim(host, undefined, { budget: { incident: `${host}/${round}`, mostPerHour: 2 }, atMs }),
      ),
    );
    granted += claims.filter((one) => one.granted).length;
    // Within the first hour.
    if (round < 6) expect(granted).toBeLessThanOrEqual(2);
  }
  expect(granted).toBe(4);
});

test.each([
  ['none', null, []],
  ['no JSON', 'node-1', null],
  ['no list', '{}', null],
  ['another field', '[{"host":"a","incident":"a/1","at":"2026-01-01T00:00:00Z","by":"me"}]', null],
  ['no time', '[{"host":"a","incident":"a/1","at":"yesterday"}]', null],
  ['old', '[{"host":"a","incident":"a/1","at":"2025-12-31T23:00:00.000Z"}]', []],
  [
    'of the future',
    '[{"host":"a","incident":"a/1","at":"2026-01-02T00:00:00.000Z"}]',
    [{ host: 'a', incident: 'a/1', atMs: nowMs + 24 * 3_600_000 }],
  ],
])('what was spent, as it is written: %s', (_what, text, silent) => {
  expect(readSilentFencings(text, nowMs)).toEqual(silent);
});

test('what is not understood stays as it is where no budget is drawn upon, and holds where one is', async () => {
  const { claim, marks, set } = leaseStore();
  set({}, { [annotation]: 'nonsense' });
  expect(await claim('node-1')).toEqual(granted(null));
  expect(marks()).toEqual({ [annotation]: 'nonsense' });
  expect(await claim('node-1', undefined, { budget: own })).toMatchObject({ granted: false, reason: 'BudgetSpent' });
});

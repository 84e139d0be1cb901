import type { ApiCall } from '../../lab/openstack/journal.ts';
import { servicesAsked } from '../read-world.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import type { MarkedVm, MigrationFact, RunFacts, Snapshot } from '../violations.ts';
import { textOf } from '../read-world.ts';
import { violations } from '../violations.ts';

/** Each invariant can fail, and says of what and why: a row per way to break it. */

const created = '2026-01-31T12:00:00Z';
const t0 = Date.parse(created);

const eviction = (reason: string, more: { finalizers?: string[]; generation?: number; outstanding?: string[]; message?: string } = {}): Eviction =>
  ({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: { name: 'node-1', uid: 'u1', generation: more.generation ?? 1, resourceVersion: '7', creationTimestamp: created, finalizers: more.finalizers ?? [] },
    spec: { hypervisor: 'node-1', reason: 'test' },
    status: {
      outstandingInstances: more.outstanding ?? [],
      conditions: [{ type: 'Evicting', status: 'False', reason, message: more.message ?? 'x', lastTransitionTime: created, observedGeneration: 1 }],
    },
  }) as unknown as Eviction;

const run = (more: Partial<RunFacts> = {}): RunFacts => ({ workflowId: 'eviction/node-1', runId: 'r1', type: 'evictHypervisor', status: 'COMPLETED', events: 100, startedAtMs: t0, closedAtMs: t0 + 10_000, moves: 2, ...more });
const move = (more: Partial<MigrationFact> = {}): MigrationFact => ({ atMs: t0 + 5_000, id: 1, instanceId: 's1', status: 'completed', sourceHost: 'node-1', targetHost: 'node-2', ...more });
const migration = (uid: string | null): Migration =>
  ({ metadata: { name: 's1', labels: uid === null ? {} : { 'drover.dev/eviction-uid': uid }, managedFields: [{ manager: 'drover' }] } }) as unknown as Migration;

const virtualMachine = (more: { finalizers?: string[]; observedGeneration?: number; annotations?: Record<string, string> } = {}): VirtualMachine =>
  ({
    metadata: { namespace: 'team', name: 'web', uid: 'v1', generation: 2, finalizers: more.finalizers ?? ['vmoperator.vmware.com/virtualmachine'], annotations: more.annotations ?? {} },
    spec: { powerState: 'PoweredOn', advanced: { extraConfig: [{ key: 'colour', value: 'blue' }] } },
    status: { conditions: [{ type: 'Lifecycle', status: 'True', reason: 'Settled', message: '', lastTransitionTime: created, observedGeneration: more.observedGeneration ?? 2 }] },
  }) as unknown as VirtualMachine;
const vm = (more: Partial<MarkedVm> = {}): MarkedVm => ({ id: 'vm-61', name: 'web', powerState: 'poweredOn', namespacedName: 'team/web', uid: 'v1', extraConfig: { colour: 'blue' }, ...more });

const good: Snapshot = {
  atMs: t0 + 20_000,
  hosts: null,
  runs: [run(), run({ workflowId: 'migration/s1', runId: 'r2', type: 'migrateInstance', events: 30, moves: 1 })],
  expectedServers: [{ id: 's1', name: 'vm-1', host: 'node-1', status: 'ACTIVE' }],
  servers: [{ id: 's1', name: 'vm-1', status: 'ACTIVE', taskState: null, host: 'node-2' }],
  guests: { 'node-1': 0, 'node-2': 1 },
  services: [
    { host: 'node-1', status: 'disabled', disabledReason: 'drover: eviction node-1: test' },
    { host: 'node-2', status: 'enabled', disabledReason: null },
  ],
  allocations: { 'node-1': [] },
  migrationEvents: [move({ status: 'running', atMs: t0 + 4_000 }), move()],
  servicesAsked: [{ host: 'node-1', atMs: t0 + 1_000, enabled: false, byDrover: true }],
  serviceChanges: [{ host: 'node-1', atMs: t0 + 1_000, enabled: false, by: 'drover', reason: 'drover: eviction node-1: test' }],
  fencings: [
    { did: 'forcedDown', host: 'node-3', object: 'compute-service/node-3', cause: 'incident node-3/x: person, jane at 2026-01-31T12:00:00Z' },
    { did: 'evacuated', host: 'node-3', object: 'server/s3', cause: 'incident node-3/x' },
  ],
  evictions: [eviction('Succeeded')],
  evictionEvents: [{ type: 'MODIFIED', object: eviction('Running', { outstanding: ['s1'] }) }, { type: 'MODIFIED', object: eviction('Succeeded') }],
  migrations: [migration('u1')],
  virtualMachines: [virtualMachine()],
  vms: [vm()],
  strangers: [{ what: 'VM team/theirs', before: 'as it was', after: 'as it was' }],
  secrets: [{ name: 'password', value: 'correct-horse' }],
  texts: [{ where: 'worker.log', text: 'nothing to see' }],
};

const rows: [what: string, change: Partial<Snapshot>, violation: RegExp][] = [
  ['two runs under one id', { runs: [run({ closedAtMs: null }), run({ runId: 'r2', closedAtMs: null })] }, /^invariant 1: eviction\/node-1 has 2 open runs: r1, r2$/],
  ['a move under an id of its own', { runs: [run({ type: 'migrateInstance', workflowId: 'mine', events: 30, closedAtMs: null })] }, /^invariant 1: migrateInstance runs as mine/],
  ['a lost server', { servers: [], guests: {} }, /^invariant 2: server vm-1 \(s1\) is lost/],
  ['a server on no host', { servers: [{ ...good.servers[0]!, host: null }], guests: {} }, /^invariant 2: .* is on no host/],
  ['a server left in another state', { servers: [{ ...good.servers[0]!, status: 'VERIFY_RESIZE' }] }, /^invariant 2: .* is VERIFY_RESIZE and was ACTIVE/],
  ['a guest that Nova does not know', { guests: { 'node-1': 1, 'node-2': 1 } }, /^invariant 2: host node-1 holds 1 guests, and Nova knows 0/],
  ['a server moved twice', { migrationEvents: [move(), move({ id: 2, targetHost: 'node-3' })] }, /^invariant 3: server s1 was moved 2 times by Eviction node-1: migrations 1, 2/],
  ['a server moved on', { migrationEvents: [move(), move({ id: 2, sourceHost: 'node-2', targetHost: 'node-3' })] }, /^invariant 3: server s1 had left by Eviction node-1 \(migration 1\) and was moved on: migrations 2$/],
  [
    'a server moved to a disabled host',
    { migrationEvents: [move({ id: 3, sourceHost: 'node-3', targetHost: 'node-1' })], evictions: [] },
    /^invariant 4: migration 3 of server s1 \(completed\) went to node-1, which drover had disabled 4000 ms before/,
  ],
  ['a server on an emptied host', { servers: [...good.servers, { id: 's2', name: 'vm-2', status: 'ACTIVE', taskState: null, host: 'node-1' }] }, /^invariant 5: Eviction node-1 says Succeeded, and on node-1 Nova has vm-2/],
  ['an allocation on an emptied host', { allocations: { 'node-1': ['s9'] } }, /^invariant 5: .* Placement has allocations of s9/],
  ['a migration on an emptied host', { migrationEvents: [move({ status: 'running' })] }, /^invariant 5: .* migrations 1 concern node-1/],
  ['a settled Eviction that is held', { evictions: [eviction('Succeeded', { finalizers: ['drover.dev/eviction'] })] }, /^invariant 6: Eviction node-1 is Succeeded and still carries drover\.dev\/eviction/],
  ['a settled Eviction without a terminal reason', { evictions: [eviction('Running')] }, /^invariant 6: Eviction node-1 is settled and says Running/],
  ['a disable that nobody made', { serviceChanges: [] }, /^invariant 7: the compute service of node-1 is disabled \(drover: .*\), and nobody is known to have done it/],
  ['a disable of drover without its name', { services: [{ host: 'node-1', status: 'disabled', disabledReason: null }] }, /^invariant 7: drover disabled node-1, and the reason is: none/],
  [
    'somebody else’s reason overwritten',
    { serviceChanges: [{ host: 'node-1', atMs: t0, enabled: false, by: 'test', reason: 'broken fan' }] },
    /^invariant 7: node-1 was disabled with "broken fan", and now the reason is "drover:/,
  ],
  [
    'a server that returns to the list',
    { evictionEvents: [...good.evictionEvents, { type: 'MODIFIED', object: eviction('Running', { outstanding: ['s1'] }) }] },
    /^invariant 8: Eviction node-1 \(u1\) lists server s1 again at resourceVersion 7/,
  ],
  ['a long history of an eviction', { runs: [run({ events: 400 })] }, /^invariant 9: evictHypervisor eviction\/node-1 \(r1\) has 400 events for 2 moves in 10 s; its budget is 262/],
  ['a long history of a move', { runs: [run({ type: 'migrateInstance', workflowId: 'migration/s1', events: 41, moves: 1 })] }, /^invariant 9: migrateInstance migration\/s1/],
  ['a password in a log', { texts: [{ where: 'worker.log', text: 'tried correct-horse' }] }, /^invariant 10: worker\.log shows the secret password$/],
  ['a password in a URL', { secrets: [{ name: 'password', value: 'pass word/1' }], texts: [{ where: 'worker.log', text: 'https://u:pass%20word%2F1@keystone' }] }, /^invariant 10: worker\.log shows the secret password$/],
  ['a password in base64', { texts: [{ where: 'the events', text: 'Y29ycmVjdC1ob3JzZQ==' }] }, /^invariant 10: the events shows the secret password$/],
  ['a token in a history', { texts: [{ where: 'the history', text: `token gAAAAABn${'x'.repeat(60)}` }] }, /^invariant 10: the history shows a token of Keystone$/],
  ['a service account’s token', { texts: [{ where: 'the arguments of worker', text: '--token=eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMyJ9.e30.x' }] }, /^invariant 10: .* shows a token of a service account$/],
  ['a Migration of nobody', { migrations: [migration(null)] }, /^invariant 11: Migration s1 does not say whose it is/],
  ['an evacuation off a host that nobody fenced', { fencings: good.fencings.slice(1) }, /^invariant 12: server\/s3 was evacuated off node-3 \(incident node-3\/x\)/],
  ['an evacuation after the host was let go', { fencings: [good.fencings[0]!, { ...good.fencings[0]!, did: 'forcedUp' }, good.fencings[1]!] }, /^invariant 12: /],
  ['an evacuation of a host that was forced down without evidence', { fencings: [{ ...good.fencings[0]!, cause: 'incident node-3/x: restart, b at now' }, good.fencings[1]!] }, /^invariant 12: /],
  ['two VMs of one object', { vms: [vm(), vm({ id: 'vm-62' })] }, /^invariant 13: VirtualMachine team\/web \(v1\) has 2 VMs: vm-61, vm-62$/],
  ['a settled VirtualMachine without a VM', { vms: [] }, /^invariant 13: VirtualMachine team\/web is Settled, and no VM has its mark$/],
  ['a settled VirtualMachine whose VM is off', { vms: [vm({ powerState: 'poweredOff' })] }, /^invariant 13: .* vm-61 is poweredOff instead of PoweredOn$/],
  ['a settled VirtualMachine whose VM has not what it asks for', { vms: [vm({ extraConfig: { colour: 'red' } })] }, /^invariant 13: .* vm-61 has not colour=blue$/],
  ['a settled VirtualMachine that notes a create', { virtualMachines: [virtualMachine({ annotations: { 'drover.dev/creating': created } })] }, /^invariant 13: .* still notes that vm-61 is being made$/],
  ['a VM whose object is gone', { virtualMachines: [] }, /^invariant 14: VM vm-61 belongs to VirtualMachine team\/web \(v1\), which is no more$/],
  ['a VM whose object is not held', { virtualMachines: [virtualMachine({ finalizers: [] })] }, /^invariant 14: VirtualMachine team\/web has VM vm-61, and no finalizer holds it$/],
  ['another’s VM that was changed', { strangers: [{ ...good.strangers[0]!, after: 'as it is' }] }, /^invariant 15: VM team\/theirs is not drover’s, was as it was and is as it is$/],
  ['another’s disk that is gone', { strangers: [{ what: 'disk a.vmdk', before: 'there', after: null }] }, /^invariant 15: disk a\.vmdk .* is gone$/],
  ['a Migration of an unknown Eviction', { migrations: [migration('u9')] }, /^invariant 11: Migration s1 belongs to u9/],
];

test('a world in order violates nothing', () => expect(violations(good)).toEqual([]));

test.each(rows)('%s is a violation', (_, change, violation) => {
  const found = violations({ ...good, ...change });
  expect(found).toEqual([expect.stringMatching(violation)]);
});

test('a server that came back may be moved again and listed again', () => {
  const back = [move(), move({ id: 2, atMs: t0 + 6_000, sourceHost: 'node-2', targetHost: 'node-1' }), move({ id: 3, atMs: t0 + 7_000 })];
  const world = { ...good, migrationEvents: back, servicesAsked: [{ host: 'node-1', atMs: t0 + 6_500, enabled: false, byDrover: true }] };
  expect(violations({ ...world, evictionEvents: [...good.evictionEvents, { type: 'MODIFIED', object: eviction('Running', { outstanding: ['s1'] }) }] })).toEqual([]);
});

test.each([
  ['enabled again, whatever drover wrote down later', [{ host: 'node-1', atMs: t0 + 4_500, enabled: true, byDrover: false }]],
  ['disabled by somebody else', [{ host: 'node-1', atMs: t0 + 4_500, enabled: false, byDrover: false }]],
])('a server may be moved to a host that was %s', (_, later) => {
  const moved = { migrationEvents: [...good.migrationEvents, move({ id: 3, instanceId: 's3', atMs: t0 + 5_500, sourceHost: 'node-3', targetHost: 'node-1' })], evictions: [] };
  expect(violations({ ...good, ...moved, servicesAsked: [...good.servicesAsked, ...later] }).filter((found) => found.includes('invariant 4'))).toEqual([]);
  expect(violations({ ...good, ...moved }).filter((found) => found.includes('invariant 4'))).toHaveLength(1);
});

test('what Nova was asked of its services, and has done', () => {
  const call = (more: Partial<ApiCall>): ApiCall => ({ timeMs: t0, durationMs: 200, method: 'PUT', path: '/v2.1/os-services/1', query: '', action: 'disabled', status: 200, requestId: 'req-1', userAgent: 'drover', ...more });
  const hosts = new Map([['1', 'node-1']]);
  const calls = [call({ timeMs: t0 + 500, action: 'enabled', userAgent: 'lab' }), call({}), call({ status: 503 }), call({ method: 'GET' }), call({ path: '/v2.1/os-services/2' }), call({ path: '/v2.1/servers/1/action', method: 'POST' })];
  expect(servicesAsked(calls, hosts)).toEqual([
    { host: 'node-1', atMs: t0 + 200, enabled: false, byDrover: true },
    { host: 'node-1', atMs: t0 + 500, enabled: true, byDrover: false },
  ]);
});

test('a VirtualMachine that is not where it should be yet may have no VM', () => {
  expect(violations({ ...good, virtualMachines: [virtualMachine({ observedGeneration: 1 })], vms: [] })).toEqual([]);
});

test('what concerns other hosts is theirs to check', () => {
  expect(violations({ ...good, hosts: ['node-3'], servers: [], guests: { 'node-1': 5 }, serviceChanges: [] })).toEqual([]);
});

test('a secret in the bytes of an event is seen, whatever kind of bytes', () => {
  for (const data of [Buffer.from('correct-horse'), new TextEncoder().encode('correct-horse')]) {
    const text = textOf([{ attributes: { input: { payloads: [{ data }] } } }]);
    expect(violations({ ...good, texts: [{ where: 'the history', text }] })).toEqual(['invariant 10: the history shows the secret password']);
  }
});

import { violations } from '../../invariants/violations.ts';
import { breaks, good, move, policyRun, running, serviceCall, t0, andThen, watchEvent, without } from './sample.ts';

/** Effects that happen twice, and what is left behind. */

breaks([
  [
    'a server that two migrations move at once',
    {
      migrationEvents: [
        ...good.migrationEvents,
        move({ id: 2, atMs: t0 + 4_500, status: 'running', targetHost: 'node-3' }),
        move({ id: 2, atMs: t0 + 6_000, status: 'error', targetHost: 'node-3' }),
      ],
    },
    /^invariant 16: server s1 is moved by migrations 1 and 2 at once$/,
  ],
  [
    'a server that is evacuated twice',
    {
      migrationEvents: [
        move({ type: 'evacuation', sourceHost: 'node-3', status: 'accepted' }),
        move({ id: 2, type: 'evacuation', sourceHost: 'node-3', status: 'error', atMs: t0 + 6_000 }),
      ],
      ...without('Eviction'),
    },
    /^invariant 16: server s1 is evacuated by migrations 1 and 2 at once$/,
  ],
  [
    'a host that is disabled again for nothing',
    { novaCalls: [serviceCall(), serviceCall({ timeMs: t0 + 3_000 })] },
    /^invariant 16: drover disabled node-1 again, 2200 ms after it had$/,
  ],
  [
    'two Evictions of one Hypervisor',
    andThen(
      ...['u7', 'u8'].map((uid) =>
        watchEvent(running({ metadata: { uid, ownerReferences: [{ uid: 'h1', controller: true }] } }), 'ADDED', 1_000),
      ),
    ),
    /^invariant 16: Hypervisor node-1 has two Evictions at once: node-1 \(u7\), node-1 \(u8\)$/,
  ],
  [
    'a second VM that was destroyed again',
    { vmsMade: [...good.vmsMade, { id: 'vm-62', uid: 'v1', madeAtMs: t0 + 1_000, goneAtMs: t0 + 2_000 }] },
    /^invariant 16: VirtualMachine v1 had two VMs at once: vm-61, vm-62$/,
  ],
  [
    'a cluster module that is made again',
    { clusterModules: [...good.clusterModules, { id: 'module-2', members: 0 }] },
    /^invariant 16: 1 cluster modules are of no VirtualMachineSetResourcePolicy, and 0 answers were lost: module-2$/,
  ],
  [
    'a cluster module in use that no policy knows',
    { clusterModules: [...good.clusterModules, { id: 'module-2', members: 2 }], runs: [policyRun({ retries: 1 })] },
    /^invariant 16: cluster module module-2 has 2 VMs, and is of no VirtualMachineSetResourcePolicy$/,
  ],
  [
    'a test server that is left',
    {
      servers: [
        ...good.servers,
        { id: 's4', name: 'drover-smoke-node-4', status: 'ACTIVE', taskState: null, host: 'node-4' },
      ],
    },
    /^invariant 16: Hypervisor node-4 is Active, and its test server s4 is left$/,
  ],
]);

test('a cluster module may be left, empty, where an answer was lost', () => {
  const clusterModules = [...good.clusterModules, { id: 'module-2', members: 0 }];
  for (const lost of [{ retries: 1 }, { failures: 1 }, { status: 'TERMINATED' }])
    expect(violations({ ...good, clusterModules, runs: [policyRun(lost)] })).toEqual([]);
});
test('a live migration that a dead host has left does not keep its server from being evacuated', () => {
  const left = move({ status: 'running', sourceHost: 'node-3' });
  const rescue = move({ id: 2, type: 'evacuation', status: 'done', sourceHost: 'node-3', atMs: t0 + 6_000 });
  const world = { ...good, ...without('Eviction'), migrationEvents: [left, rescue] };
  expect(violations(world)).toEqual([]);
  // It is over, so that its host's guests are counted again.
  expect(violations({ ...world, guests: { ...world.guests, 'node-3': 1 } }).join()).toMatch(
    /invariant 2: host node-3 holds 1 guests/,
  );
});

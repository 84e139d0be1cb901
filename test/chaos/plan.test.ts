import { assert, integer, nat, property } from 'fast-check';
import { hypervisorCount, lifecycles, planChaos, vmCount } from './plan.ts';

test('the seed decides the plan', () => {
  assert(property(nat(), (seed) => expect(planChaos(seed, 120_000)).toEqual(planChaos(seed, 120_000))));
  expect(planChaos(1, 120_000)).not.toEqual(planChaos(2, 120_000));
});

test('everything begins in time, and only faults of one moment meet', () => {
  assert(
    property(nat(), integer({ min: 10_000, max: 600_000 }), (seed, durationMs) => {
      const { faults, ...actions } = planChaos(seed, durationMs);
      for (const { atMs } of [...faults, ...Object.values(actions).flat()]) expect(atMs).toBeLessThan(durationMs);
      for (const [index, fault] of faults.entries()) {
        const next = faults[index + 1];
        if (next === undefined) continue;
        if (next.atMs === fault.atMs) expect(next.target).not.toBe(fault.target);
        else expect(next.atMs).toBeGreaterThan(fault.atMs + fault.forMs);
      }
    }),
  );
});

/** Each way out of service, and the way back. */
const ways = new Map([
  ['maintain', 'activate'],
  ['decommission', 'restore'],
  ['fail', 'recover'],
  ['cutPower', 'mend'],
  ['freeze', 'mend'],
]);

test('each hypervisor is onboarded once, and then leaves service and comes back by the way that belongs to it', () => {
  assert(
    property(nat(), (seed) => {
      const { hypervisorActions } = planChaos(seed, 240_000);
      for (let number = 0; number < hypervisorCount; number += 1) {
        const mine = hypervisorActions
          .filter(({ hypervisor, what }) => hypervisor === number && what !== 'terminate')
          .map(({ what }) => what);
        expect(mine[0]).toBe('onboard');
        for (const [index, what] of mine.entries()) {
          if (index === 0) continue;
          if (index % 2 === 1) expect([...ways.keys()]).toContain(what);
          else expect(what).toBe(ways.get(mine[index - 1] ?? ''));
        }
        expect(mine.length).toBeGreaterThan(4);
      }
    }),
  );
});

test('each virtual machine is made first, and made anew after it was deleted', () => {
  assert(
    property(nat(), (seed) => {
      const { vmActions } = planChaos(seed, 180_000);
      for (let number = 0; number < vmCount; number += 1) {
        const mine = vmActions.filter(({ vm }) => vm === number).map(({ what }) => what);
        expect(
          mine.filter((what, index) => (what === 'create') !== (index === 0 || mine[index - 1] === 'delete')),
        ).toEqual([]);
        expect(mine.length).toBeGreaterThan(4);
      }
    }),
  );
});

test('a pool is scaled first', () => {
  assert(
    property(nat(), (seed) => {
      const { poolActions } = planChaos(seed, 180_000);
      expect(poolActions[0]?.what).toBe('scale');
      expect(poolActions.length).toBeGreaterThan(8);
    }),
  );
});

test('of one lifecycle there are its actions alone, and what it needs breaks', () => {
  const ofEach = {
    evictions: ['userActions', 'nova'],
    hypervisors: ['hypervisorActions', 'nova'],
    vms: ['vmActions', 'vcenter'],
    pools: ['poolActions', 'vcenter'],
    volumes: ['volumeActions', 'csi'],
  } as const;
  for (const lifecycle of lifecycles) {
    const { faults, ...actions } = planChaos(7, 1_800_000, [lifecycle]);
    const planned = Object.entries(actions).flatMap(([name, those]) => (those.length > 0 ? [name] : []));
    const [its, needed] = ofEach[lifecycle];
    expect(planned).toEqual([its]);
    const all = ['bridge', 'worker', 'temporal', 'kube-apiserver', needed];
    if (lifecycle === 'hypervisors') all.push('bmc');
    expect([...new Set(faults.map(({ target }) => target))].toSorted()).toEqual(all.toSorted());
  }
});

test('half an hour contains every fault of every target', () => {
  const { faults, userActions, hypervisorActions, vmActions, poolActions, volumeActions } = planChaos(7, 1_800_000);
  expect(new Set(faults.map(({ target, how }) => `${target} ${how}`)).size).toBe(25);
  expect(new Set(userActions.map(({ what }) => what)).size).toBe(6);
  expect(new Set(hypervisorActions.map(({ what }) => what)).size).toBe(11);
  expect(new Set(vmActions.map(({ what }) => what)).size).toBe(6);
  expect(new Set(poolActions.map(({ what }) => what)).size).toBe(6);
  expect(new Set(volumeActions.map(({ what }) => what)).size).toBe(9);
});

import * as fc from 'fast-check';

import {
  agent,
  agentMachine,
  ago,
  deletionTimestamp,
  judge,
  machine,
  minuteMs,
  newAgent,
  now,
  pool,
  vsphereAgent,
  waits,
  wasTakenBy,
  type World,
} from '../../test/fixtures/activities/agent-pool.ts';
import type { VsphereAgent } from '../crds/vsphere-agent.ts';
import { agentPoolLabels } from './metadata.ts';

/** What holds of every pool, whatever is in it. */

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const aName = fc.constantFrom(...names);
const going = fc.boolean().map((isGoing) => (isGoing ? { deletionTimestamp } : {}));
const few = <Item>(item: (name: string) => fc.Arbitrary<Item>) =>
  fc.subarray(names).chain((chosen) => fc.tuple(...chosen.map(item)));

const agentMachines = (isPinned: fc.Arbitrary<boolean>) =>
  few((name) =>
    fc
      .record({
        metadata: going,
        isWaiting: fc.boolean(),
        isPinned,
        pin: aName,
        machine: fc.option(aName),
        ageMinutes: fc.nat(3),
      })
      .map((one) =>
        agentMachine(name, {
          metadata: { ...one.metadata, creationTimestamp: ago(one.ageMinutes * minuteMs) },
          machine: one.machine,
          status: one.isWaiting ? waits : {},
          ...(one.isPinned && {
            spec: { agentLabelSelector: { matchLabels: { [agentPoolLabels.agentMachine]: one.pin } } },
          }),
        }),
      ),
  );

const agents = few((name) =>
  fc
    .record({
      metadata: going,
      isOf: aName,
      takenBy: fc.option(aName, { nil: undefined }),
      isNew: fc.boolean(),
      isWell: fc.boolean(),
    })
    .map(({ metadata, isOf, takenBy, isNew, isWell }) =>
      isNew
        ? newAgent(name, isOf)
        : agent(name, {
            isOf,
            ...(takenBy !== undefined && { takenBy }),
            ...(!isWell && { conditions: [], metadata }),
          }),
    ),
);

const vms = few((name) =>
  fc
    .record({
      metadata: going,
      pool: fc.constantFrom('pool', 'other'),
      agentMachine: aName,
      isThere: fc.boolean(),
      phase: fc.constantFrom('Provisioning', 'Available', 'Bound', 'Released', 'Orphaned'),
      reason: fc.constantFrom('AgentNotDiscovered', 'AgentDiscoveryExpired', 'MachineDeleting', 'AgentAvailable'),
      takenBy: fc.option(aName),
      minutes: fc.nat(60),
    })
    .map(({ metadata, isThere, phase, reason, takenBy, minutes, ...one }) =>
      vsphereAgent(name, {
        ...one,
        metadata,
        ...(isThere && {
          vm: {
            phase,
            reason,
            lastTransitionTime: ago(minutes * minuteMs),
            ...(takenBy !== null && wasTakenBy(takenBy)),
          },
        }),
      }),
    ),
);

const machines = few((name) => going.map((metadata) => machine(name, { metadata })));

const worldOf = (isPinned: fc.Arbitrary<boolean>): fc.Arbitrary<World> =>
  fc.record({
    agentMachines: agentMachines(isPinned),
    agents,
    vms,
    machines,
    rules: fc.record({ deleteSurplus: fc.boolean(), pinSelectors: fc.boolean() }),
    nodes: fc.constantFrom([], null),
  });
const unpinned = worldOf(fc.constant(false));
const anyWorld = worldOf(fc.boolean());

test('no more VMs are made than AgentMachines wait, less what is available or on its way', () => {
  fc.assert(
    fc.property(unpinned, (world) => {
      const { counts, wanted } = judge(world);
      expect(wanted).toHaveLength(Math.max(0, counts.waiting - counts.available - counts.provisioning));
    }),
  );
});

test('no AgentMachine gets two VMs, and no name is taken twice', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const { counts, wanted } = judge(world);
      expect(wanted.length).toBeLessThanOrEqual(counts.waiting);
      expect(new Set(wanted.map((one) => one.agentMachine)).size).toBe(wanted.length);
      const taken = [...(world.vms ?? []).map(({ metadata }) => metadata.name), ...wanted.map(({ name }) => name)];
      expect(new Set(taken).size).toBe(taken.length);
    }),
  );
});

test('the order of the lists changes nothing', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const reversed: World = {
        ...world,
        agentMachines: (world.agentMachines ?? []).toReversed(),
        agents: (world.agents ?? []).toReversed(),
        vms: (world.vms ?? []).toReversed(),
        machines: (world.machines ?? []).toReversed(),
      };
      expect(judge(reversed)).toEqual(judge(world));
    }),
  );
});

test('two pools never take one Agent', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const one = judge(world);
      const other = judge({ ...world, pool: pool({ metadata: { name: 'other', uid: 'uid-other' } }) });
      const agentsOf = ({ vms, unprepared, released }: typeof one) =>
        [
          ...vms.map((judged) => judged.agent?.name),
          ...unprepared.map(({ agent: name }) => name),
          ...released.map(({ agent: gone }) => gone?.name),
        ].filter((name) => name !== undefined);
      const ofOther = new Set(agentsOf(other));
      expect(agentsOf(one).filter((name) => ofOther.has(name))).toEqual([]);
    }),
  );
});

test('no VM goes whose Agent is bound, or whose Machine is there', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const { released, vms: judged } = judge(world);
      for (const { name, agent: gone } of released) {
        const one = judged.find(({ vm }) => vm.name === name);
        expect(one?.machineState).not.toBe('present');
        expect(one?.machineState).not.toBe('deleting');
        expect(one?.agent?.agentMachine ?? null).toBeNull();
        expect(gone?.name).toBe(one?.agent?.name);
      }
    }),
  );
});

test('what was published is judged the same again', () => {
  fc.assert(
    fc.property(anyWorld, (world) => {
      const { vms: judged, released } = judge(world);
      const published = (world.vms ?? []).map((object) => {
        const one = judged.find(({ vm }) => vm.name === object.metadata.name);
        if (one === undefined) return object;
        const { phase, reason, sinceMs, machine: has, agent: found } = one;
        const status = {
          ...object.status,
          vm: {
            ...(object.status?.vm ?? { name: object.metadata.name }),
            phase,
            reason,
            lastTransitionTime: new Date(sinceMs).toISOString(),
            ...(has !== null && { machineRef: { name: has.name, ...(has.uid !== null && { uid: has.uid }) } }),
            ...(found !== null && { agentRef: { name: found.name, uid: found.uid } }),
          },
        };
        return { ...object, status };
      });
      const again = judge({ ...world, vms: published });
      expect(again.vms.map(({ phase, reason }) => [phase, reason])).toEqual(
        judged.map(({ phase, reason }) => [phase, reason]),
      );
      expect(again.released).toEqual(released);
    }),
  );
});

const refused = (name: string, minutes: number, reason = 'VsphereNotPermitted', vm?: object): VsphereAgent =>
  vsphereAgent(name, { unready: { reason, forMs: minutes * minuteMs }, ...(vm && { vm }) });
const rules = { discoveryMs: 30 * minuteMs };

test.each<[rule: string, vms: VsphereAgent[], stuck: unknown, nextInMinutes: number | null]>([
  ['in time', [refused('a', 29)], undefined, 1],
  [
    'too long',
    [refused('a', 30)],
    {
      count: 1,
      reason: 'VsphereNotPermitted',
      message: 'The VM of VsphereAgent a is not made, or not powered on, in time. a says VsphereNotPermitted',
    },
    null,
  ],
  [
    'several of them',
    [refused('b', 31, 'RequestRefused'), refused('a', 40), refused('c', 10)],
    {
      count: 2,
      reason: 'VsphereNotPermitted',
      message: '2 VMs are not made, or not powered on, in time. VsphereAgent a says: a says VsphereNotPermitted',
    },
    20,
  ],
  [
    'made, and not powered on',
    [refused('a', 30, 'VsphereResourcesExhausted', { phase: 'Provisioning', reason: 'AgentNotDiscovered' })],
    expect.objectContaining({ count: 1, reason: 'VsphereResourcesExhausted' }),
    null,
  ],
  ['there is no ISO, which the pool says', [refused('a', 90, 'ISONotReady')], undefined, null],
  ['it is on', [vsphereAgent('a', { vm: { phase: 'Provisioning' } })], undefined, 25],
  [
    'a Machine has it',
    [refused('a', 90, 'VirtualMachineNotFound', { phase: 'Bound', ...wasTakenBy('m') })],
    undefined,
    null,
  ],
  ['its place is taken, and it goes', [refused('a', 90, 'VirtualMachineNameTaken')], undefined, null],
])('a VM that is not made is a problem after the time of an Agent: %s', (_rule, vms, stuck, nextInMinutes) => {
  const machines = [machine('m')];
  const agentMachines = ['a', 'b', 'c'].map((name) => agentMachine(name, { status: waits }));
  const { counts, ...judged } = judge({ vms, machines, agentMachines, rules });
  expect(judged.stuck).toEqual(stuck);
  expect(judged.nextMs === null ? null : (judged.nextMs - now) / minuteMs).toBe(nextInMinutes);
  // What counts as on its way is what it was: none is made in its place.
  expect(judged.wanted).toHaveLength(counts.waiting - counts.provisioning);
});

test('… but of a pool that is being deleted', () => {
  const judged = judge({ pool: pool({ metadata: { deletionTimestamp } }), vms: [refused('a', 90)], rules });
  expect(judged.stuck).toBeUndefined();
});

test('nothing goes as it cannot be made, while it is wanted', () => {
  const judged = judge({ vms: [refused('a', 600)], agentMachines: [agentMachine('a', { status: waits })], rules });
  expect(judged).toMatchObject({ released: [], held: [], counts: { provisioning: 1 }, wanted: [] });
});

test('an older pool of one NodePool makes its VMs, and the younger says so', () => {
  const [problem] = judge({ rival: 'older', agentMachines: [agentMachine('a', { status: waits })] }).problems;
  expect(problem).toMatchObject({ condition: 'AgentMachineDemandFound', reason: 'NodePoolTaken' });
});

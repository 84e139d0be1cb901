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
  pool,
  vsphereAgent,
  waits,
  wasTakenBy,
  type World,
} from '../../test/fixtures/activities/agent-pool.ts';
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

test('an older pool of one NodePool makes its VMs, and the younger says so', () => {
  const [problem] = judge({ rival: 'older', agentMachines: [agentMachine('a', { status: waits })] }).problems;
  expect(problem).toMatchObject({ condition: 'AgentMachineDemandFound', reason: 'NodePoolTaken' });
});

import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { Drift } from '../../contracts/hypervisor/drift.ts';
import { condition, hypervisorOf, serviceOf } from '../../test/fixtures/activities/drift.ts';
import type { Aggregate, ComputeServiceRecord } from '../nova/types.ts';
import { findDrift } from './find-drift.ts';

interface World {
  hypervisors: Hypervisor[];
  services: ComputeServiceRecord[];
  aggregates: Aggregate[];
  /** By trait, the providers that have it. */
  holders: Record<string, string[]>;
  /** Hosts whose failure a run judges; null: failed hosts are not handled. */
  judged?: string[] | null;
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `node-${index + 1}`);

/** So many hosts as they should be. */
const well = (hosts: readonly string[]): World => ({
  hypervisors: hosts.map((host) => hypervisorOf(host)),
  services: hosts.map((host) => serviceOf(host)),
  aggregates: ['zone-a', 'tenants', 'others'].map((name, index) => ({
    id: index,
    uuid: `uuid-of-${name}`,
    name,
    hosts: name === 'others' ? [] : [...hosts],
    metadata: {},
    availabilityZone: null,
  })),
  holders: { CUSTOM_FAST: hosts.map((host) => `hypervisor-of-${host}`) },
});

async function compare(world: World, mode: 'off' | 'observe' | 'act' = 'act') {
  const signalled: Drift[] = [];
  let requests = 0;
  const answer = async <Value>(value: Value): Promise<Value> => {
    requests += 1;
    return value;
  };
  const findings = await findDrift({
    mode,
    nowMs: Date.parse('2026-02-01T00:00:00Z'),
    scope: { signal: new AbortController().signal },
    listHypervisors: () => answer(world.hypervisors),
    nova: { computeServices: () => answer(world.services), aggregates: () => answer(world.aggregates) },
    placement: {
      existingTraits: (wanted) => answer(wanted.filter((trait) => trait in world.holders)),
      resourceProviders: ({ required = [] }) =>
        answer(
          (world.holders[required[0] ?? ''] ?? []).map((uuid) => ({
            uuid,
            name: uuid,
            parentUuid: null,
            rootUuid: uuid,
          })),
        ),
    },
    isFailureRunOpen: world.judged === null ? null : (name) => answer(world.judged?.includes(name) === true),
    signal: async (drift) => void signalled.push(drift),
  });
  return { findings, signalled: signalled.map(({ hypervisor }) => hypervisor), requests };
}

test('thousands of hosts cost five requests, and those that differ are signalled, no others', async () => {
  const world = well(names(2_000));
  world.services[6] = serviceOf('node-7', { status: 'disabled', disabledReason: 'CHG-1' });
  world.aggregates[1] = {
    ...world.aggregates[1]!,
    hosts: world.aggregates[1]!.hosts.filter((host) => host !== 'node-9'),
  };
  world.holders['CUSTOM_FAST'] = world.holders['CUSTOM_FAST']!.filter((uuid) => uuid !== 'hypervisor-of-node-11');
  const { findings, signalled, requests } = await compare(world);
  expect(signalled).toEqual(['node-7', 'node-9', 'node-11']);
  expect(requests).toBe(5);
  expect(findings).toMatchObject({ outcome: 'Compared', compared: 2_000, differing: 3 });
  expect(findings.signalled.map(({ why }) => why)).toEqual([
    expect.stringMatching(/disabled: CHG-1/u),
    expect.stringMatching(/aggregates are zone-a/u),
    expect.stringMatching(/lost CUSTOM_FAST/u),
  ]);
});

test('a trait that Placement does not know any more is one that no provider has', async () => {
  expect((await compare({ ...well(['node-1']), holders: {} })).signalled).toEqual(['node-1']);
});

test('where everything differs, some are signalled now, and the others later', async () => {
  const { findings, signalled } = await compare({ ...well(names(300)), aggregates: [] });
  expect(findings).toMatchObject({ differing: 300, signalled: { length: 20 } });
  expect(signalled).toHaveLength(100);
});

test('what lies in a cell that does not answer is not judged', async () => {
  const world = well(['node-1', 'node-2']);
  world.services = [serviceOf('node-2', { id: '', status: 'disabled', state: 'down', cellDown: true })];
  expect((await compare(world)).signalled).toEqual([]);
});

test('a host that was taken out of Nova is found by its name, whatever it is registered as now', async () => {
  const world = well(['node-1', 'node-10']);
  world.hypervisors[0] = hypervisorOf('node-1', {
    conditions: [condition('Lifecycle', 'True', 'Decommissioned'), condition('Offboarded', 'True', 'Offboarded')],
  });
  world.services = [serviceOf('node-10')];
  expect((await compare(world)).signalled).toEqual([]);
  world.services.push(serviceOf('node-1', { id: 'new' }));
  expect((await compare(world)).signalled).toEqual(['node-1']);
});

test.each(['off', 'observe'] as const)('where drover’s mode is %s, nothing is asked', async (mode) => {
  expect(await compare({ ...well(['node-1']), aggregates: [] }, mode)).toMatchObject({
    findings: { outcome: 'NothingToDo' },
    signalled: [],
    requests: 0,
  });
});

describe('a failure that is said', () => {
  const failing = (names: readonly string[]): World => {
    const world = well(names);
    world.hypervisors = names.map((name) =>
      hypervisorOf(name, {
        conditions: [
          condition('Lifecycle', 'True', 'Active'),
          condition('HypervisorDisabled', 'False', 'Succeeded'),
          condition(
            'NodeFailure',
            name === 'node-3' ? 'False' : 'True',
            name === 'node-4' ? 'HandedOver' : 'NoWitness',
          ),
        ],
      }),
    );
    return world;
  };

  test('is judged by a run, which is asked for of those hosts only, and missed where it was terminated', async () => {
    const hosts = names(5);
    expect(await compare({ ...failing(hosts), judged: ['node-1'] })).toMatchObject({
      signalled: ['node-2', 'node-5'],
      requests: 5 + 3,
    });
  });

  test('is nothing to drover where failed hosts are not handled', async () => {
    expect(await compare({ ...failing(names(2)), judged: null })).toMatchObject({ signalled: [], requests: 5 });
  });

  test('is a user’s where the run was cancelled', async () => {
    const world = well(['node-1']);
    world.hypervisors[0] = hypervisorOf(
      'node-1',
      { conditions: [condition('Lifecycle', 'False', 'Maintenance'), condition('NodeFailure', 'False', 'Cancelled')] },
      { annotations: { 'drover.dev/hold': 'NodeFailure: node-1 has failed' } },
    );
    expect(await compare(world)).toMatchObject({ signalled: [], requests: 5 });
  });
});

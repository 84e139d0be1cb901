import { computeService, hypervisor, instanceDetail, stubClient } from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail } from '../nova/types.ts';
import type { AllocationCandidates, CandidatesQuery, PlacementClient, Resources } from '../placement/types.ts';
import { askPlacement, type CandidateHosts, judgePlacement, type PlacementQuestion } from './judge-placement.ts';
import { placeOf, requirementsKey, requirementsOf } from './scheduler-rules.ts';

const target = (host: string, zone = 'nova'): PlacementQuestion['targets'][number] => ({
  service: computeService({ host, zone }),
  hypervisor: hypervisor({ serviceHost: host }),
  report: null,
  isEvicting: false,
  place: placeOf(host, zone, []),
});
const server = (id: string, memoryMiB: number, change: Partial<InstanceDetail> = {}) =>
  instanceDetail({ id, name: id, memoryMiB, ...change });

/** Placement's answers, made from what is free by host. */
function ask(
  instances: readonly InstanceDetail[],
  free: Record<string, number>,
  suitable = Object.keys(free),
): ReadonlyMap<string, CandidateHosts> {
  const left = new Map(
    Object.entries(free).map(([host, memory]): [string, Resources] => [`hypervisor-${host}`, { MEMORY_MB: memory }]),
  );
  const ids = (hosts: string[]) => new Set(hosts.map((host) => `hypervisor-${host}`));
  return new Map(
    instances.map((instance) => {
      const roomy = ids(suitable.filter((host) => (free[host] ?? 0) >= instance.memoryMiB));
      return [
        requirementsKey(requirementsOf(instance)),
        { roomy, suitable: roomy.size > 0 ? roomy : ids(suitable), free: left },
      ];
    }),
  );
}

const judge = (
  instances: InstanceDetail[],
  free: Record<string, number>,
  change: Partial<PlacementQuestion> = {},
): string[] =>
  judgePlacement({
    instances,
    targets: [target('node-2'), target('node-3')],
    candidates: ask(instances, free),
    groups: [],
    others: [],
    ...change,
  }).map(({ id }) => id);

test.each<[why: string, found: () => string[], ids: string[]]>([
  ['all fit', () => judge([server('a', 4), server('b', 4)], { 'node-2': 4, 'node-3': 4 }), []],
  [
    'each fits, all do not',
    () => judge([server('a', 4), server('b', 4), server('c', 4)], { 'node-2': 4, 'node-3': 4 }),
    ['CapacityShort'],
  ],
  ['one fits nowhere', () => judge([server('a', 9)], { 'node-2': 4, 'node-3': 4 }), ['CapacityShort']],
  [
    'what others still have to place goes first',
    () => judge([server('a', 4)], { 'node-2': 4, 'node-3': 0 }, { others: [server('x', 3)] }),
    ['CapacityShort'],
  ],
  [
    'others that fit beside it do no harm',
    () => judge([server('a', 4)], { 'node-2': 4, 'node-3': 4 }, { others: [server('x', 4)] }),
    [],
  ],
  [
    'no host of that kind',
    () => judge([server('a', 4)], { 'node-2': 4 }, { candidates: ask([server('a', 4)], { 'node-2': 4 }, []) }),
    ['NoValidTarget/a'],
  ],
  ['only hosts that are no targets', () => judge([server('a', 4)], { 'node-9': 4 }), ['NoValidTarget/a']],
  [
    'its zone has no target',
    () => judge([server('a', 4, { pinnedAvailabilityZone: 'zone-a' })], { 'node-2': 4 }),
    ['NoValidTarget/a'],
  ],
  [
    'its zone has one that is full',
    () =>
      judge(
        [server('a', 4, { pinnedAvailabilityZone: 'zone-a' })],
        { 'node-2': 1, 'node-3': 9 },
        {
          targets: [target('node-2', 'zone-a'), target('node-3')],
          candidates: ask([server('a', 4)], { 'node-2': 1, 'node-3': 9 }),
        },
      ),
    ['NoValidTarget/a'],
  ],
  [
    'its group',
    () => {
      const group = { id: 'g', name: 'g', policy: 'anti-affinity', maxServersPerHost: 1, members: ['a', 'x', 'y'] };
      return judge(
        [server('a', 4)],
        { 'node-2': 4, 'node-3': 4 },
        {
          groups: [
            {
              group,
              elsewhere: new Map([
                ['node-2', 1],
                ['node-3', 1],
              ]),
              here: ['a'],
            },
          ],
        },
      );
    },
    ['ServerGroup/a'],
  ],
  [
    'members of one group need a host each',
    () => {
      const group = { id: 'g', name: 'g', policy: 'anti-affinity', maxServersPerHost: 1, members: ['a', 'b', 'c'] };
      return judge(
        [server('a', 1), server('b', 1), server('c', 1)],
        { 'node-2': 9, 'node-3': 9 },
        { groups: [{ group, elsewhere: new Map(), here: ['a', 'b', 'c'] }] },
      );
    },
    ['CapacityShort'],
  ],
  [
    'a server that has no target takes no room',
    () => judge([server('a', 4), server('b', 4, { pinnedAvailabilityZone: 'zone-a' })], { 'node-2': 4 }),
    ['NoValidTarget/b'],
  ],
])('%s', (_why, found, ids) => {
  expect(found()).toEqual(ids);
});

test('the shortage is told in figures', () => {
  const instances = ['a', 'b', 'c'].map((id) => server(id, 4, { localDiskGiB: 0 }));
  const obstacles = judgePlacement({
    instances,
    targets: [target('node-2'), target('node-3')],
    candidates: ask(instances, { 'node-2': 4, 'node-3': 4 }),
    groups: [],
    others: [],
  });
  expect(obstacles[0]?.message).toBe(
    '1 of 3 servers do not fit on the 2 possible targets together with the rest: c (4 MEMORY_MB, 1 VCPU)',
  );
});

const signal = new AbortController().signal;
const nothing: AllocationCandidates = { candidates: [], providers: {} };
const provider = (rootUuid: string, capacity: number, used: number, parentUuid: string | null = null) => ({
  resources: { MEMORY_MB: { capacity, used } },
  traits: [],
  parentUuid,
  rootUuid,
});

test('asks once per kind, and again for the least of it where there is no room', async () => {
  const asked: CandidatesQuery[] = [];
  const placement = stubClient<PlacementClient>({
    allocationCandidates: async (query) => {
      asked.push(query);
      if ((query.resources['MEMORY_MB'] ?? 0) > 10) return nothing;
      return {
        candidates: [
          { allocations: { child: { VGPU: 1 }, root: { MEMORY_MB: 1 } } },
          { allocations: { other: { MEMORY_MB: 1 }, pool: { DISK_GB: 1 } } },
        ],
        providers: {
          root: provider('root', 16, 6),
          child: provider('root', 1, 0, 'root'),
          other: provider('other', 8, 8),
          pool: provider('pool', 100, 0),
        },
      };
    },
  });
  const small = { resources: { MEMORY_MB: 5 }, required: [], forbidden: [] };
  const large = { resources: { MEMORY_MB: 50 }, required: ['CUSTOM_A'], forbidden: ['CUSTOM_B'] };
  const answers = await askPlacement(placement, [small, large, { ...small }], signal);
  expect(asked).toEqual([
    { ...small, forbidden: ['COMPUTE_STATUS_DISABLED'] },
    { ...large, forbidden: ['CUSTOM_B', 'COMPUTE_STATUS_DISABLED'] },
    { resources: { MEMORY_MB: 1 }, required: ['CUSTOM_A'], forbidden: ['CUSTOM_B', 'COMPUTE_STATUS_DISABLED'] },
  ]);
  const hosts = new Set(['root', 'other', 'pool']);
  expect(answers.get(requirementsKey(small))).toMatchObject({ roomy: hosts, suitable: hosts });
  expect(answers.get(requirementsKey(small))?.free.get('root')).toEqual({ MEMORY_MB: 10 });
  expect(answers.get(requirementsKey(large))).toMatchObject({ roomy: new Set(), suitable: hosts });
});

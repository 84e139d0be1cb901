import { computeService, hypervisor, instanceDetail } from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail } from '../nova/types.ts';
import type { Resources } from '../placement/types.ts';
import type { CandidateHosts } from './ask-placement.ts';
import type { AgentReport } from './judge-hosts.ts';
import { describeUnknown, judgePlacement, type PlacementQuestion } from './judge-placement.ts';
import { placesIn, requirementsKey, requirementsOf } from './scheduler-rules.ts';

const target = (
  host: string,
  zone = 'nova',
  report: AgentReport | null = null,
): PlacementQuestion['targets'][number] => ({
  service: computeService({ host, zone }),
  hypervisor: hypervisor({ serviceHost: host }),
  report,
  isEvicting: false,
  place: placesIn([])(host, zone),
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

const withCells = (memoryMiB: number): AgentReport => ({
  name: 'node-2',
  hypervisorId: null,
  libVirtVersion: null,
  hypervisorVersion: null,
  osUpdateInProgress: false,
  maintenance: '',
  cells: [{ cpus: 64, memoryMiB }],
});
const hugePages = { extraSpecs: { 'hw:mem_page_size': '1GB' } };

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
    'huge pages, and NUMA cells that could hold them',
    () => judge([server('a', 4, hugePages)], { 'node-2': 9 }, { targets: [target('node-2', 'nova', withCells(4))] }),
    [],
  ],
  [
    'huge pages, and every NUMA cell is too small',
    () => judge([server('a', 4, hugePages)], { 'node-2': 9 }, { targets: [target('node-2', 'nova', withCells(3))] }),
    ['NoValidTarget/a'],
  ],
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

test('what only the scheduler knows is said, and blocks nothing', () => {
  expect(describeUnknown([server('a', 4)])).toBeNull();
  expect(describeUnknown([server('a', 4, hugePages), server('b', 4)])).toBe(
    'One server asks for NUMA cells of a target: a (huge pages (1GB)). Whether any has room in them Nova’s scheduler alone knows, and says as they move',
  );
  const pinned = { extraSpecs: { 'hw:cpu_policy': 'dedicated' } };
  expect(describeUnknown(['a', 'b', 'c', 'd'].map((id) => server(id, 4, pinned)))).toMatch(
    /^4 servers ask for NUMA cells of a target: a \(pinned CPUs\), b .*, c .* and 1 more\./u,
  );
});

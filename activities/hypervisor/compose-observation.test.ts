import { readDesired } from '../../contracts/hypervisor/read-hypervisor.ts';
import type { HypervisorOfHost } from '../../contracts/node-failure/activities.ts';
import { type NodeFailureConfig, nodeFailureConfig } from '../../runtime/config/node-failure-config.ts';
import { sampleHypervisor } from '../../test/fixtures/activities/hypervisor.ts';
import { type Node, nodeSchema } from '../kubernetes/hypervisor/node-schema.ts';
import type { Aggregate, ComputeServiceRecord } from '../nova/types.ts';
import { type ReadParts, composeObservation } from './compose-observation.ts';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const config: NodeFailureConfig = nodeFailureConfig.parse({ mode: 'automatic', automaticAggregates: ['ha'] });

const nodeOf = (
  name: string,
  ready: 'True' | 'False' | 'Unknown' | null = 'True',
  { spec = {}, labels = {}, conditions = [] as object[] } = {},
): Node =>
  nodeSchema.parse({
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm', 'kubernetes.metal.cloud.sap/bb': 'bb1', ...labels },
    },
    spec,
    status: {
      nodeInfo: { bootID: `boot-${name}` },
      conditions: [
        ...(ready === null ? [] : [{ type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:30:00Z' }]),
        ...conditions,
      ],
    },
  });
const serviceOf = (host: string, change: Partial<ComputeServiceRecord> = {}): ComputeServiceRecord => ({
  id: host,
  host,
  zone: 'z',
  status: 'enabled',
  state: 'up',
  disabledReason: null,
  forcedDown: false,
  cellDown: false,
  ...change,
});
const aggregate = (name: string, ...hosts: string[]): Aggregate => ({
  id: 1,
  uuid: name,
  name,
  hosts,
  metadata: {},
  availabilityZone: null,
});
const observedHypervisor: HypervisorOfHost = {
  name: 'node-1',
  uid: 'hv-1',
  generation: 1,
  hold: null,
  userHold: null,
  fencedBootId: null,
  lastBootId: null,
  maintenance: '',
  condition: null,
};

interface OwnParts {
  hypervisor?: Parameters<typeof sampleHypervisor>[0];
  node?: Node;
  own?: ComputeServiceRecord;
}
const partsOf = (
  change: Partial<ReadParts> = {},
  { hypervisor = {}, node = nodeOf('node-1', 'Unknown'), own = serviceOf('node-1', { state: 'down' }) }: OwnParts = {},
): ReadParts => {
  const nodes = [node, nodeOf('node-2'), nodeOf('node-3'), nodeOf('node-4')];
  return {
    kubernetes: {
      desired: readDesired(sampleHypervisor(hypervisor), []),
      hypervisor: observedHypervisor,
      node,
      nodes,
      fencings: { last: null, silent: [] },
      lease: 'none',
    },
    nova: {
      services: [own, serviceOf('node-2'), serviceOf('node-3'), serviceOf('node-4')],
      aggregates: [aggregate('ha', 'node-1', 'node-2'), aggregate('az', 'node-1')],
      schedulersUp: 1,
    },
    libvirt: null,
    power: null,
    placementAnswers: true,
    problems: [],
    ...change,
  };
};
const compose = (parts: ReadParts, settings = config) => composeObservation('node-1', parts, settings, nowMs);

test('a host of an aggregate that has opted in is handled automatically', () => {
  expect(compose(partsOf())).toMatchObject({
    mode: 'automatic',
    node: { ready: 'Unknown', bootId: 'boot-node-1' },
    compute: { state: 'down' },
    nova: { host: 'node-1' },
    fleet: {
      failureDomain: 'bb1',
      schedulerUp: true,
      hosts: 4,
      lastFencingMs: null,
      suspects: [{ host: 'node-1', failureDomain: 'bb1', sinceMs: Date.parse('2026-01-01T00:30:00Z') }],
      aggregates: [{ name: 'ha', fenced: 0 }],
    },
  });
});

const recommended: [why: string, ...Parameters<typeof compose>][] = [
  [
    'no aggregate of it has opted in',
    partsOf(),
    nodeFailureConfig.parse({ mode: 'automatic', automaticAggregates: ['other'] }),
  ],
  [
    'drover shall only recommend',
    partsOf(),
    nodeFailureConfig.parse({ mode: 'recommend', automaticAggregates: ['ha'] }),
  ],
  ['its Hypervisor does not want it', partsOf({}, { hypervisor: { spec: { highAvailability: false } } })],
  ['its lifecycle is not driven', partsOf({}, { hypervisor: { spec: { lifecycleEnabled: false } } })],
  [
    'a user has it in maintenance',
    partsOf({}, { hypervisor: { spec: { maintenance: 'manual', maintenanceReason: 'disks' } } }),
  ],
  [
    'its Hypervisor shall only be observed',
    partsOf({}, { hypervisor: { annotations: { 'drover.dev/mode': 'observe' } } }),
  ],
  ['a user has cordoned it', partsOf({}, { node: nodeOf('node-1', 'Unknown', { spec: { unschedulable: true } }) })],
  [
    'its machine is being taken away',
    partsOf({}, { node: nodeOf('node-1', 'Unknown', { conditions: [{ type: 'Terminating', status: 'True' }] }) }),
  ],
  [
    'a user has disabled it',
    partsOf({}, { own: serviceOf('node-1', { state: 'down', status: 'disabled', disabledReason: 'CHG-1' }) }),
  ],
  ['kube-apiserver does not answer', partsOf({ kubernetes: null })],
  ['Nova does not answer', partsOf({ nova: null })],
];
test.each(recommended)('where %s, drover only recommends', (_why, ...parts) => {
  expect(compose(...parts).mode).toBe('recommend');
});

test('a host that drover itself has disabled, as it was fenced, is handled on', () => {
  const own = serviceOf('node-1', {
    state: 'down',
    status: 'disabled',
    disabledReason: 'drover: maintenance ha: node failure node-1/x',
    forcedDown: true,
  });
  expect(compose(partsOf({}, { own })).mode).toBe('automatic');
});

test('what does not answer is null, and is said of the APIs', () => {
  expect(compose(partsOf({ kubernetes: null }))).toMatchObject({
    hypervisor: null,
    node: null,
    hasLeftNova: false,
    fleet: {
      apis: [{ name: 'kube-apiserver', reachable: false }, { reachable: true }, { reachable: true }],
      lastFencingMs: nowMs,
      silentFencings: null,
      hosts: 0,
    },
  });
  expect(compose(partsOf({ nova: null }))).toMatchObject({
    nova: null,
    compute: null,
    hasLeftNova: false,
    fleet: { schedulerUp: false, apis: [{}, { name: 'Nova', reachable: false }, {}] },
  });
  expect(compose(partsOf({ placementAnswers: false })).fleet.apis).toContainEqual({
    name: 'Placement',
    reachable: false,
  });
});

test('a cell that is down says nothing of the host', () => {
  expect(
    compose(partsOf({}, { own: serviceOf('node-1', { state: 'down', status: 'disabled', cellDown: true }) })),
  ).toMatchObject({ compute: null, nova: null, hasLeftNova: false });
  const parts = partsOf();
  const others = [serviceOf('node-2'), serviceOf('node-3', { cellDown: true })];
  expect(compose({ ...parts, nova: { ...parts.nova!, services: others } }).hasLeftNova).toBe(false);
});

test('a Node that is gone is told from one that could not be read, and a host that has left Nova from one of an odd name', () => {
  const parts = partsOf();
  const gone = compose({ ...parts, kubernetes: { ...parts.kubernetes!, node: null, nodes: [nodeOf('node-2')] } });
  expect(gone).toMatchObject({ mode: 'recommend', node: { ready: 'Gone', bootId: null }, compute: { state: 'down' } });
  const withServices = (...services: ComputeServiceRecord[]) =>
    compose({ ...parts, nova: { ...parts.nova!, services } });
  expect(withServices(serviceOf('node-2'))).toMatchObject({ nova: null, compute: null, hasLeftNova: true });
  expect(withServices(serviceOf('node-1.a'), serviceOf('node-1.b'))).toMatchObject({ nova: null, hasLeftNova: false });
});

test('the fleet counts those that are in service, and suspects every sign', () => {
  const parts = partsOf();
  const nodes = [
    nodeOf('node-1', 'Unknown'),
    nodeOf('node-2', 'False'),
    nodeOf('node-3'),
    nodeOf('node-4'),
    nodeOf('node-5', null),
    { ...nodeOf('pool-1', 'False'), metadata: { ...nodeOf('pool-1').metadata, labels: {} } },
  ];
  const services = [
    serviceOf('node-1', { state: 'down' }),
    serviceOf('node-2'),
    serviceOf('node-3', { state: 'down' }),
    serviceOf('node-4', { status: 'disabled', state: 'down', forcedDown: true }),
    serviceOf('node-5'),
  ];
  const silent = [{ host: 'node-4', incident: 'node-4/1', atMs: 7 }];
  const { fleet } = compose({
    ...parts,
    kubernetes: { ...parts.kubernetes!, nodes, fencings: { last: { host: 'node-4', atMs: 7 }, silent } },
    nova: { ...parts.nova!, services, aggregates: [aggregate('ha', 'node-1', 'node-4')] },
  });
  expect(fleet).toMatchObject({
    hosts: 4,
    lastFencingMs: 7,
    silentFencings: silent,
    aggregates: [{ name: 'ha', fenced: 1 }],
  });
  expect(fleet.suspects.map(({ host }) => host)).toEqual(['node-1', 'node-2', 'node-3', 'node-5']);
});

test('its own last claim holds a host back from nothing', () => {
  const parts = partsOf();
  expect(
    compose({
      ...parts,
      kubernetes: { ...parts.kubernetes!, fencings: { last: { host: 'node-1', atMs: nowMs }, silent: null } },
    }).fleet.lastFencingMs,
  ).toBeNull();
});

const renewTime = '2026-01-31T12:00:00.000000Z';
const leases: [why: string, lease: NonNullable<ReadParts['kubernetes']>['lease'], witnesses: object[]][] = [
  ['has none', 'none', []],
  [
    'is renewed',
    { renewTime, durationMs: 60_000 },
    [{ kind: 'agent', mark: renewTime, silentAfterMs: 60_000, message: expect.stringContaining(renewTime) }],
  ],
  [
    'cannot be read',
    null,
    [{ kind: 'agent', mark: null, silentAfterMs: 40_000, message: expect.stringContaining('could not be read') }],
  ],
];
test.each(leases)('where the Lease of the Node %s', (_why, lease, witnesses) => {
  const parts = partsOf();
  expect(compose({ ...parts, kubernetes: { ...parts.kubernetes!, lease } }).witnesses).toEqual(witnesses);
});

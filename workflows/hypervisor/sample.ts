import type { Condition } from '../../contracts/conditions.ts';
import type {
  AggregateFacts,
  DesiredHypervisor,
  EvictionFacts,
  HypervisorObservation,
  HypervisorSettings,
  NodeFacts,
  NovaHost,
  ProviderFacts,
  TestRecord,
} from '../../contracts/hypervisor.ts';
import type { HostCheck } from '../../contracts/host-check.ts';
import { copiedLabels, nodeMarks } from '../../contracts/ids.ts';
import type { Context } from './step.ts';

/** A hypervisor that is in service, for tests: Node, Hypervisor, Nova and Placement agree. */

export const beginMs = Date.parse('2026-01-01T00:00:00Z');
export const minute = 60_000;
const zone = 'zone-a';
const nodeLabels = {
  [nodeMarks.virtDriver]: 'libvirt',
  [nodeMarks.lifecycle]: '',
  [nodeMarks.zone]: zone,
  'kubernetes.io/hostname': 'node-1',
};

export const settings: HypervisorSettings = {
  region: 'lab',
  cluster: '',
  mode: 'act',
  copiedLabels: [],
  checks: ['libvirt', 'ovs', 'ceph'],
  testAggregate: 'tenant_filter_tests',
  maxTestAttempts: 3,
  testRetryDelayMs: 30_000,
  registrationMs: 30 * minute,
  recheckMs: 10_000,
  drainMs: 120 * minute,
  notReadyDrainMs: 5 * minute,
  handlesNodeFailure: true,
  guardsDrain: false,
  lingerMs: 2_000,
};

export const desiredOf = (more: Partial<DesiredHypervisor> = {}): DesiredHypervisor => ({
  name: 'node-1',
  uid: 'hv-1',
  generation: 1,
  labels: Object.fromEntries(
    Object.entries(nodeLabels).filter(([key]) => (copiedLabels as readonly string[]).includes(key)),
  ),
  lifecycleEnabled: true,
  skipTests: false,
  highAvailability: true,
  customTraits: ['CUSTOM_FAST'],
  aggregates: [zone, 'tenants'],
  maintenance: '',
  maintenanceReason: null,
  fromNode: ['label:kubernetes.io/hostname', `label:${nodeMarks.zone}`, 'lifecycleEnabled', 'skipTests'],
  nodeUid: 'node-uid',
  ownedByNode: false,
  appliedTraits: ['CUSTOM_FAST'],
  rollingUpdateBootId: null,
  retry: null,
  consent: [],
  consentBy: null,
  touchedByKubectl: false,
  mode: 'act',
  deleting: false,
  ...more,
});

export const nodeOf = (more: Partial<NodeFacts> = {}): NodeFacts => ({
  name: 'node-1',
  uid: 'node-uid',
  labels: nodeLabels,
  annotations: {},
  internalIp: '192.0.2.1',
  ready: true,
  readySinceMs: beginMs,
  bootId: 'boot-1',
  cordoned: false,
  terminatingSinceMs: null,
  deletedAtMs: null,
  inPlaceUpdate: null,
  offboardingTaint: false,
  ...more,
});

export const novaOf = (more: Partial<NovaHost> = {}): NovaHost => ({
  host: 'node-1',
  hypervisorId: 'hypervisor-id',
  serviceId: 'service-id',
  service: { status: 'enabled', disabledReason: null, state: 'up', forcedDown: false },
  servers: 0,
  migrations: 0,
  unconfirmedResizes: 0,
  allocations: 0,
  ...more,
});

export const disabledFor = (disabledReason: string | null, more: Partial<NovaHost> = {}): NovaHost =>
  novaOf({ service: { status: 'disabled', disabledReason, state: 'up', forcedDown: false }, ...more });

export const aggregate = (name: string, hasHost: boolean, metadata: Record<string, string> = {}): AggregateFacts => ({
  id: Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 10_007, 7),
  uuid: `uuid-of-${name}`,
  name,
  metadata,
  hasHost,
});

/** The zone, the test aggregate and the production aggregate; in the named ones. */
export const aggregatesWith = (...names: string[]): AggregateFacts[] => [
  aggregate(zone, names.includes(zone), { availability_zone: zone }),
  aggregate('tenant_filter_tests', names.includes('tenant_filter_tests'), { filter_tenant_id: 'tests' }),
  aggregate('tenants', names.includes('tenants')),
];

export const providerOf = (more: Partial<ProviderFacts> = {}): ProviderFacts => ({
  uuid: 'hypervisor-id',
  generation: 3,
  traits: ['CUSTOM_FAST', 'HW_CPU_X86_VMX'],
  consumers: 0,
  someConsumers: [],
  ...more,
});

export const conditionOf = (
  type: string,
  status: Condition['status'],
  reason: string,
  message = '',
  observedGeneration = 1,
): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: new Date(beginMs).toISOString(),
  observedGeneration,
});

const onboardingStates = {
  initial: ['True', 'Initial'],
  testing: ['True', 'Testing'],
  handover: ['True', 'Handover'],
  succeeded: ['False', 'Succeeded'],
  aborted: ['False', 'Aborted'],
} as const;

export const onboarding = (state: keyof typeof onboardingStates, message = ''): Condition =>
  conditionOf('Onboarding', onboardingStates[state][0], onboardingStates[state][1], message);

export const ownEvictionOf = (state: EvictionFacts['state'], more: Partial<EvictionFacts> = {}): EvictionFacts => ({
  name: 'node-1',
  uid: 'evi-1',
  ownerUid: 'hv-1',
  deleting: false,
  state,
  message: `${state} so far`,
  deadline: null,
  ...more,
});

/** In service, with every part as it should be. */
export const observedOf = (
  more: Partial<HypervisorObservation> = {},
  conditions: Condition[] = [onboarding('succeeded')],
): HypervisorObservation => ({
  recorded: {
    conditions,
    hypervisorId: 'hypervisor-id',
    serviceId: 'service-id',
    evicted: false,
    libVirtVersion: '10.0.0',
  },
  node: nodeOf(),
  nova: novaOf(),
  aggregates: aggregatesWith(zone, 'tenants'),
  provider: providerOf(),
  knownTraits: ['CUSTOM_FAST'],
  evictions: [],
  agentPods: null,
  testServers: [],
  tests: [],
  drainGuard: null,
  hold: null,
  failure: null,
  ...more,
});

export const testOf = (
  check: TestRecord['check'],
  code: HostCheck['code'],
  more: Partial<TestRecord> = {},
): TestRecord => ({
  check,
  attempts: 1,
  atMs: beginMs + minute,
  results: [
    {
      name: `Check.${check}`,
      outcome: code === null ? 'passed' : 'failed',
      expectation: `${check} to work`,
      seen: code === null ? 'that it works' : 'that it does not',
      code,
      durationMs: 1_500,
    },
  ],
  libVirtVersion: null,
  ...more,
});

export const passedTests = (): TestRecord[] => settings.checks.map((check) => testOf(check, null));

export const contextOf = (
  desired: Partial<DesiredHypervisor> = {},
  observed: Partial<HypervisorObservation> = {},
  conditions?: Condition[],
  more: Partial<HypervisorSettings> = {},
  nowMs = beginMs + 2 * minute,
): Context => ({
  desired: desiredOf(desired),
  observed: observedOf(observed, conditions),
  settings: { ...settings, ...more },
  nowMs,
});

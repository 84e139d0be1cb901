import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { annotations, evictionFinalizer } from '../../contracts/ids.ts';
import { computeService, hypervisor } from '../../test/fixtures/activities/nova.ts';
import type { ComputeServiceRecord, Hypervisor as NovaHypervisor } from '../nova/types.ts';
import {
  chooseTargets,
  type Exclusion,
  reportsBy,
  type HostCandidate,
  type AgentReport,
  readAgentReport,
  isOlder,
  judgeSource,
  judgeTarget,
  openEvictions,
} from './judge-hosts.ts';

const facts = (change: Partial<AgentReport> = {}): AgentReport => ({
  name: 'node-1',
  hypervisorId: null,
  libVirtVersion: '10.0.0',
  hypervisorVersion: '9.2.0',
  osUpdateInProgress: false,
  maintenance: '',
  cells: [],
  ...change,
});

test.each<[why: string, service: Partial<ComputeServiceRecord>, given: AgentReport | null, ids: string[]]>([
  ['all is well', {}, facts(), []],
  ['a disabled host can be emptied', { status: 'disabled' }, facts(), []],
  ['so can one in maintenance', {}, facts({ maintenance: 'manual' }), []],
  ['a host that is down cannot', { state: 'down' }, facts(), ['HostDown']],
  ['nor one that is forced down', { forcedDown: true }, facts(), ['HostDown']],
  ['no Hypervisor', {}, null, ['AgentReportMissing']],
  ['no libvirt version', {}, facts({ libVirtVersion: null }), ['AgentReportMissing']],
  ['no hypervisor version', {}, facts({ hypervisorVersion: null }), ['AgentReportMissing']],
  ['an OS update', {}, facts({ osUpdateInProgress: true }), ['OsUpdateInProgress']],
  [
    'everything at once',
    { state: 'down' },
    facts({ libVirtVersion: null, osUpdateInProgress: true }),
    ['HostDown', 'AgentReportMissing', 'OsUpdateInProgress'],
  ],
])('the source: %s', (_why, service, given, ids) => {
  expect(judgeSource('node-1', computeService(service), given).map(({ id }) => id)).toEqual(ids);
});

interface Change {
  service?: Partial<ComputeServiceRecord>;
  node?: Partial<NovaHypervisor>;
  given?: AgentReport | null;
  isEvicting?: boolean;
}
const candidate = (
  host: string,
  { service = {}, node = {}, given = facts(), isEvicting = false }: Change = {},
): HostCandidate => ({
  service: computeService({ host, ...service }),
  hypervisor: hypervisor({ serviceHost: host, ...node }),
  report: given,
  isEvicting,
});
const source = candidate('node-1');
const sourceWithoutAgent = candidate('node-1', { given: null });

test.each<[why: string, from: HostCandidate, change: Change, exclusion: Exclusion | null]>([
  ['one that is up, enabled and of the same age', source, {}, null],
  [
    'a newer one',
    source,
    {
      given: facts({ libVirtVersion: '11.0.0', hypervisorVersion: '10.0.0' }),
      node: { hypervisorVersion: 10_000_000 },
    },
    null,
  ],
  ['one that is down', source, { service: { state: 'down' } }, 'down'],
  ['one that is forced down', source, { service: { forcedDown: true } }, 'down'],
  ['one that is disabled', source, { service: { status: 'disabled' } }, 'disabled'],
  ['one that waits for maintenance', source, { given: facts({ maintenance: 'auto' }) }, 'in maintenance'],
  ['one that is being emptied itself', source, { isEvicting: true }, 'being emptied'],
  ['one of another kind', source, { node: { hypervisorType: 'CH' } }, 'another hypervisor type'],
  ['one that Nova calls older', source, { node: { hypervisorVersion: 9_001_999 } }, 'too old'],
  ['one with an older libvirt', source, { given: facts({ libVirtVersion: '9.10.0' }) }, 'too old'],
  ['one with an older QEMU', source, { given: facts({ hypervisorVersion: '9.1.9' }) }, 'too old'],
  ['one whose OS is being updated', source, { given: facts({ osUpdateInProgress: true }) }, 'being updated'],
  ['one without a node agent, where the source has one', source, { given: null }, 'without a report of its node agent'],
  [
    'one whose agent knows no version',
    source,
    { given: facts({ libVirtVersion: null }) },
    'without a report of its node agent',
  ],
  ['one without a node agent, where there is none at all', sourceWithoutAgent, { given: null }, null],
  [
    'an older one, where there is no node agent at all',
    sourceWithoutAgent,
    { given: null, node: { hypervisorVersion: 1 } },
    'too old',
  ],
])('a target: %s', (_why, from, change, exclusion) => {
  expect(judgeTarget(from, candidate('node-2', change))).toBe(exclusion);
});

test.each<[why: string, others: HostCandidate[], targets: string[], obstacle: string | null]>([
  ['those that may', [candidate('node-2'), candidate('node-3', { service: { status: 'disabled' } })], ['node-2'], null],
  ['none, because there is no other host', [], [], 'NoTargets'],
  ['none, because none may', [candidate('node-2', { service: { status: 'disabled' } })], [], 'NoTargets'],
  [
    'none, because they are too old',
    [candidate('node-2', { service: { status: 'disabled' } }), candidate('node-3', { node: { hypervisorVersion: 1 } })],
    [],
    'TargetTooOld',
  ],
])('targets: %s', (_why, others, targets, obstacle) => {
  const chosen = chooseTargets(source, others);
  expect(chosen.targets.map(({ service }) => service.host)).toEqual(targets);
  expect(chosen.obstacle?.id ?? null).toBe(obstacle);
});

test('the obstacle says what keeps each host out', () => {
  const others = [
    candidate('node-2', { service: { status: 'disabled' } }),
    candidate('node-3', { given: facts({ maintenance: 'manual' }) }),
  ];
  expect(chooseTargets(source, others).obstacle?.message).toBe(
    'No other host may take the servers of node-1: node-2 is disabled, node-3 is in maintenance',
  );
});

test.each([
  ['9.2.0', '10.0.0', true],
  ['10.0.0', '9.2.0', false],
  ['10.0.0', '10.0.0', false],
  ['10.0', '10.0.1', true],
  ['10.0.0', '10', false],
  ['unknown', '10.0.0', null],
  ['10.0.0', '', null],
  ['10.0.0-rc1', '10.0.0', null],
])('%s is older than %s: %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});

const metadata = {
  name: 'node-1',
  uid: 'uid',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const hypervisorObject = (status: Hypervisor['status'], spec?: Hypervisor['spec']): Hypervisor => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata,
  ...(spec === undefined ? {} : { spec }),
  ...(status === undefined ? {} : { status }),
});
const none: AgentReport = {
  name: 'node-1',
  hypervisorId: null,
  libVirtVersion: null,
  hypervisorVersion: null,
  osUpdateInProgress: false,
  maintenance: '',
  cells: [],
};

test.each<[why: string, given: Hypervisor, report: AgentReport]>([
  ['no status at all', hypervisorObject(undefined), none],
  [
    'what the agent writes before it has asked libvirt',
    hypervisorObject({ numInstances: 0, libVirtVersion: 'unknown', hypervisorVersion: 'unknown' }),
    none,
  ],
  [
    'everything',
    hypervisorObject(
      {
        numInstances: 3,
        libVirtVersion: '10.0.0',
        hypervisorVersion: '9.2.0',
        hypervisorId: 'h',
        updateStatus: { inProgress: true, retry: 3 },
        cells: [
          { cellID: 0, capacity: { cpu: '48', memory: '256Gi' } },
          { cellID: 1, capacity: { memory: '1024Ki' } },
        ],
      },
      { maintenance: 'auto' } as Hypervisor['spec'],
    ),
    {
      name: 'node-1',
      hypervisorId: 'h',
      libVirtVersion: '10.0.0',
      hypervisorVersion: '9.2.0',
      osUpdateInProgress: true,
      maintenance: 'auto',
      cells: [
        { cpus: 48, memoryMiB: 262_144 },
        { cpus: null, memoryMiB: 1 },
      ],
    },
  ],
])('the facts of a Hypervisor: %s', (_why, given, report) => {
  expect(readAgentReport(given)).toEqual(report);
});

const named = (name: string, hypervisorId: string | null = null): AgentReport => ({ ...none, name, hypervisorId });
const host = { id: 'h1', serviceHost: 'node-1', hypervisorHostname: 'node-1.a.example' };

test.each<[why: string, all: AgentReport[], found: string | null]>([
  ['by Nova’s id, whatever its name', [named('other', 'h1'), named('node-1')], 'other'],
  ['by its name', [named('node-2'), named('node-1')], 'node-1'],
  ['by its full name', [named('node-1.a.example')], 'node-1.a.example'],
  ['by its short name', [named('node-1.b.example')], 'node-1.b.example'],
  ['not by a guess', [named('node-1.b.example'), named('node-1.c.example')], null],
  ['not by a part', [named('node-10')], null],
  ['not at all', [], null],
])('the Hypervisor of a host is found %s', (_why, all, found) => {
  expect(reportsBy(all)(host)?.name ?? null).toBe(found);
});

test('an Eviction is open until it has ended or is being deleted, unless it only observes', () => {
  const eviction = (
    name: string,
    status: 'True' | 'False' | null,
    more: Partial<Eviction['metadata']> = {},
  ): Eviction => ({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: { ...metadata, name, uid: name, ...more },
    spec: { hypervisor: name, reason: 'test' },
    ...(status === null
      ? {}
      : {
          status: {
            conditions: [
              { type: 'Evicting', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
            ],
          },
        }),
  });
  const observes = { annotations: { [annotations.mode]: 'observe' } };
  const all = [
    eviction('new', null),
    eviction('running', 'True'),
    eviction('ended', 'False'),
    eviction('cancelled', 'True', { deletionTimestamp: '2026-01-01T01:00:00Z' }),
    eviction('observing', null, observes),
    // Begun in earnest, and to be observed by now: its run still moves servers, or enables the host.
    eviction('held', 'True', { ...observes, finalizers: [evictionFinalizer] }),
  ];
  expect(openEvictions(all).map(({ hypervisor: name }) => name)).toEqual(['new', 'running', 'held']);
});

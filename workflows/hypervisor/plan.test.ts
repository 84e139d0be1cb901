import type { Condition } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMarks } from '../../contracts/ids.ts';
import { planHypervisor } from './plan.ts';
import {
  aggregatesWith,
  beginMs,
  conditionOf,
  desiredOf,
  disabledFor,
  minute,
  nodeOf,
  novaOf,
  observedOf,
  onboarding,
  ownEvictionOf,
  providerOf,
  settings,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { runToEnd } from '../../test/models/hypervisor.ts';
import type { World } from '../../test/models/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';

interface Given extends Partial<HypervisorObservation> {
  desired?: Partial<DesiredHypervisor> | null;
  conditions?: Condition[];
}
const nowMs = beginMs + 2 * minute;
const planOf = ({ desired, conditions, ...observed }: Given) =>
  planHypervisor(desired === null ? null : desiredOf(desired), observedOf(observed, conditions), nowMs, settings);
const updating = nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [nodeMarks.selectedForUpdate]: 'true' } });
const terminating = nodeOf({ terminatingSinceMs: beginMs });
const failure = (retryable: boolean) => ({
  reason: 'CredentialRefused',
  message: 'Keystone refused the credential',
  retryable,
  retryAtMs: nowMs + 1,
});
const offboarded = conditionOf('Offboarded', 'True', 'Offboarded');

const rows: [why: string, given: Given, plan: string | RegExp][] = [
  ['a new Node gets its Hypervisor', { desired: null }, 'act createHypervisor'],
  ['no Node, no Hypervisor', { desired: null, node: null }, /^done: There is neither/],
  ['a Hypervisor that is deleted is let go', { desired: { deleting: true } }, /^done: The Hypervisor is being deleted/],
  [
    'what the Node says comes first',
    { node: nodeOf({ labels: { ...nodeOf().labels, [nodeMarks.zone]: 'b' } }) },
    /^act patch .*zone/,
  ],
  [
    'nothing is decided on what could not be read',
    { failure: failure(true), nova: null, provider: null },
    'wait: Keystone refused the credential',
  ],
  ['not even for good, in service', { failure: failure(false), nova: null }, 'wait: Keystone refused the credential'],
  [
    'a retry with nothing to retry is over at once',
    { desired: { retry: 'now' } },
    'act patch [{"annotations":{"drover.dev/retry-handled":"now"}}]',
  ],
  [
    'a retry of an aborted onboarding begins it again',
    { desired: { retry: 'now' }, conditions: [onboarding('aborted')] },
    /retry-handled/,
  ],
  [
    'begun once, it may be aborted again for another reason',
    {
      desired: { retry: 'now', customTraits: ['fast'] },
      conditions: [],
      evictions: [ownEvictionOf('waiting', { deleting: true })],
    },
    /retry-handled/,
  ],
  [
    'a retry cannot hold a Node that goes',
    { desired: { retry: 'now' }, conditions: [onboarding('aborted')], node: terminating, nova: null },
    /retry-handled/,
  ],
  ['an update of the Node begins a maintenance', { node: updating }, /"maintenance":"auto"/],
  [
    'a maintenance interrupts an onboarding',
    { desired: { maintenance: 'manual' }, conditions: [onboarding('testing')] },
    'act disable "drover: maintenance manual"',
  ],
  [
    'which goes on without that maintenance’s Eviction',
    {
      conditions: [onboarding('testing')],
      nova: disabledFor('drover: maintenance manual'),
      evictions: [ownEvictionOf('succeeded')],
    },
    'act deleteEviction',
  ],
  [
    'a lifecycle that is not driven',
    { desired: { lifecycleEnabled: false, fromNode: [] }, node: null, conditions: [] },
    'rest: Lifecycle management is disabled',
  ],
  [
    'nor one whose onboarding ended with it',
    { desired: { lifecycleEnabled: false, fromNode: [] }, node: null, conditions: [onboarding('aborted')] },
    'rest: Lifecycle management is disabled',
  ],
  [
    'has its maintenance nevertheless',
    { desired: { lifecycleEnabled: false, fromNode: [], maintenance: 'manual' }, node: null, conditions: [] },
    'act disable "drover: maintenance manual"',
  ],
  [
    'but is not taken out of Nova',
    {
      desired: { lifecycleEnabled: false, fromNode: [], maintenance: 'termination' },
      node: null,
      nova: disabledFor('drover: maintenance termination'),
      evictions: [ownEvictionOf('succeeded')],
    },
    /^rest: node-1 is empty; its lifecycle is not driven/,
  ],
  [
    'nor because its Node goes',
    { desired: { lifecycleEnabled: false, fromNode: [] }, node: null },
    'done: node-1 is in service',
  ],
  ['a Node that goes takes its host out', { node: terminating }, 'act disable "drover: maintenance termination"'],
  ['a Node that is gone too', { node: null }, 'act disable "drover: maintenance termination"'],
  [
    'of which only what it was registered as is removed (H12)',
    {
      node: terminating,
      nova: disabledFor('drover: maintenance termination', { serviceId: 'another' }),
      evictions: [ownEvictionOf('succeeded')],
      aggregates: aggregatesWith(),
      provider: null,
    },
    /^wait: nova-compute on node-1 to be stopped: it has registered again/,
  ],
  [
    'a Hypervisor that never had a Node stays',
    { node: null, desired: { nodeUid: null } },
    'done: node-1 is in service',
  ],
  [
    'a failing host comes before a terminating Node',
    { desired: { maintenance: 'ha' }, node: terminating },
    'act disable "drover: maintenance ha"',
  ],
];

test.each(rows)('%s', (_why, given, plan) => {
  const text = shown(planOf(given).plan);
  if (typeof plan === 'string') expect(text).toBe(plan);
  else expect(text).toMatch(plan);
});

const said = (given: Given, type: string): Condition | undefined =>
  findCondition(planOf(given).status?.conditions as Condition[], type);

test('an onboarding that cannot read what it needs is aborted with the cause', () => {
  expect(
    said({ failure: failure(false), nova: null, conditions: [onboarding('initial')] }, 'Onboarding'),
  ).toMatchObject({ status: 'False', reason: 'Aborted', message: 'Keystone refused the credential' });
  expect(said({ failure: failure(false), nova: null, conditions: [onboarding('initial')] }, 'Lifecycle')?.reason).toBe(
    'Aborted',
  );
});

test('half of the time of a Node that terminates wakes the run', () => {
  const { plan, deadline } = planOf({
    node: terminating,
    nova: disabledFor('drover: maintenance termination', { servers: 1 }),
    evictions: [ownEvictionOf('running', { deadline: '2026-01-01T02:00:00.000Z' })],
  });
  expect(plan).toMatchObject({ next: 'wait', untilMs: beginMs + 60 * minute });
  expect(deadline).toEqual({
    atMs: beginMs + 120 * minute,
    halfAtMs: beginMs + 60 * minute,
    marginMs: 118 * minute,
    halfOver: false,
  });
});

test.each<[why: string, desired: Partial<DesiredHypervisor> | null, message: string]>([
  [
    'acting',
    { maintenance: 'manual', mode: 'observe' },
    'Observed only; next would be: Disable node-1 in Nova: drover: maintenance manual',
  ],
  ['having nothing to do', { mode: 'observe' }, 'Observed only; nothing to do: node-1 is in service'],
  ['making one', null, 'Observed only; next would be: Make the Hypervisor of Node node-1'],
])('observe says so instead of %s', (_why, desired, message) => {
  const { plan, status } = planHypervisor(desired === null ? null : desiredOf(desired), observedOf(), nowMs, {
    ...settings,
    mode: desired === null ? 'observe' : 'act',
  });
  expect(plan).toEqual({ next: 'done', message, rests: false });
  if (desired !== null)
    expect(status?.conditions.map(({ type, message: text }) => [type, text])).toEqual([['Observed', message]]);
});

test('also where a person is waited for', () => {
  const { plan, status } = planOf({
    node: terminating,
    nova: disabledFor('drover: maintenance termination', { servers: 1 }),
    evictions: [ownEvictionOf('failed', { message: 'no room' })],
  });
  expect(plan).toEqual({
    next: 'wait',
    for: 'somebody, as Eviction node-1 has not emptied node-1: no room',
    untilMs: beginMs + 60 * minute,
  });
  expect(findCondition(status?.conditions as Condition[], 'Lifecycle')).toMatchObject({
    status: 'False',
    reason: 'Evicting',
  });
});

describe('hazards of the replaced operator', () => {
  const world = (more: Partial<World> & { given?: Given }): World => {
    const { desired, conditions, ...observed } = more.given ?? {};
    return {
      desired: desiredOf(desired ?? {}),
      observed: observedOf(observed, conditions),
      settings,
      nowMs,
      traits: new Set(['CUSTOM_FAST']),
      evictionsEnd: 'succeeded',
      testsFail: false,
      registers: novaOf(),
      ...more,
    };
  };
  const stateOf = (one: World): string | undefined => runToEnd(one).states.at(-1);
  const deeds = (one: World): string[] => runToEnd(one).steps.map((step) => step.do);

  test('H3: a host without custom traits is onboarded to the end, and leaves the test aggregate', () => {
    const fresh = world({
      given: {
        desired: { customTraits: [], appliedTraits: [] },
        provider: providerOf({ traits: [] }),
        conditions: [],
        aggregates: aggregatesWith(),
      },
    });
    const { states, world: end } = runToEnd(fresh);
    expect(states).toEqual(['Onboarding', 'Testing', 'Ready', 'Active']);
    expect(end.observed.aggregates.filter(({ hasHost }) => hasHost).map(({ name }) => name)).toEqual([
      'zone-a',
      'tenants',
    ]);
  });

  test('H10: a failed Eviction is never shown as evicted, and takes nothing out of Nova', () => {
    const given: Given = { node: terminating, nova: novaOf({ servers: 2 }) };
    const { lies, steps, world: end } = runToEnd(world({ given, evictionsEnd: 'failed' }));
    expect([lies, end.observed.recorded.evicted, end.observed.nova?.serviceId]).toEqual([[], false, 'service-id']);
    expect(steps.map((step) => step.do)).toEqual(['disableService', 'createEviction']);
  });

  test('H11: a service that somebody enables in maintenance is disabled again', () => {
    expect(
      deeds(
        world({
          given: {
            desired: { maintenance: 'manual' },
            nova: novaOf(),
            evictions: [ownEvictionOf('succeeded')],
            conditions: [onboarding('succeeded'), conditionOf('Evicting', 'False', 'Succeeded')],
          },
        }),
      ),
    ).toEqual(['disableService']);
  });

  test('H12: a host that Nova does not know any more still has its provider cleaned up', () => {
    const { states, steps } = runToEnd(world({ given: { node: terminating, nova: null } }));
    expect(states.at(-1)).toBe('Decommissioned');
    expect(steps.map((step) => step.do)).toContain('deleteProvider');
  });

  test('H13: no host is in an aggregate of the spec before its tests have passed, nor after they failed', () => {
    const fresh = { desired: { appliedTraits: [] }, conditions: [], aggregates: aggregatesWith() };
    for (const one of [
      world({ given: fresh, testsFail: true }),
      world({ given: { ...fresh, conditions: [onboarding('aborted', 'ovs')] } }),
    ]) {
      const { world: end, states } = runToEnd(one);
      expect(states.at(-1)).toBe('Aborted');
      expect(end.observed.aggregates.find(({ name }) => name === 'tenants')?.hasHost).toBe(false);
    }
  });

  test('H14: an Eviction by the node agent before a reboot is waited for, and its host neither enabled nor emptied by another', () => {
    const agents = ownEvictionOf('running', {
      ownerUid: null,
      name: 'node-1',
      message: 'kvm-node-agent: emergency evacuation',
    });
    const given = { nova: disabledFor('drover: eviction node-1', { servers: 2 }), evictions: [agents] };
    expect(deeds(world({ given }))).toEqual([]);
    expect(said(given, 'Lifecycle')).toMatchObject({ reason: 'Evicting', status: 'Unknown' });
  });

  test('H15: a Node that does not terminate after all has its host back, with its conditions', () => {
    const given: Given = {
      nova: disabledFor('drover: maintenance termination'),
      evictions: [ownEvictionOf('succeeded')],
      conditions: [
        onboarding('succeeded'),
        conditionOf('Terminating', 'True', 'Terminating'),
        conditionOf('Offboarded', 'False', 'Offboarding'),
        conditionOf('Evicting', 'False', 'Succeeded'),
      ],
    };
    const { states, world: end } = runToEnd(world({ given }));
    expect(states).toEqual(['Maintenance', 'Testing', 'Ready', 'Active']);
    expect(end.observed.recorded.conditions.map(({ type }) => type)).not.toContain('Offboarded');
    expect(findCondition(end.observed.recorded.conditions, 'Terminating')?.status).toBe('False');
  });

  test('H15: one that was taken out of Nova is onboarded like a new one', () => {
    const given: Given = {
      nova: null,
      aggregates: aggregatesWith(),
      conditions: [onboarding('succeeded'), offboarded],
    };
    expect(stateOf(world({ given, registers: novaOf({ serviceId: 'new', hypervisorId: 'hypervisor-id' }) }))).toBe(
      'Active',
    );
  });

  test('H15: taking the lifecycle’s label off switches the lifecycle off', () => {
    const labels = Object.fromEntries(Object.entries(nodeOf().labels).filter(([key]) => key !== nodeMarks.lifecycle));
    expect(runToEnd(world({ given: { node: nodeOf({ labels }) } })).world.desired?.lifecycleEnabled).toBe(false);
  });
});

describe('the ways of the seed’s diagram', () => {
  const world = (given: Given, more: Partial<World> = {}): World => {
    const { desired, conditions, ...observed } = given;
    return {
      desired: desired === null ? null : desiredOf(desired ?? {}),
      observed: observedOf(observed, conditions),
      settings,
      nowMs,
      traits: new Set(),
      evictionsEnd: 'succeeded',
      testsFail: false,
      registers: novaOf(),
      ...more,
    };
  };
  const fresh: Given = {
    desired: null,
    conditions: [],
    nova: null,
    aggregates: aggregatesWith(),
    provider: providerOf({ traits: [] }),
    recorded: { conditions: [], hypervisorId: null, serviceId: null, evicted: false, libVirtVersion: null },
  };
  const annotated = nodeOf({
    annotations: { [nodeMarks.aggregates]: 'tenants', [nodeMarks.customTraits]: 'CUSTOM_NEW' },
  });

  test.each<[why: string, world: World, states: string[]]>([
    [
      'a new Node comes into service',
      world({ ...fresh, node: annotated }),
      ['Onboarding', 'Testing', 'Ready', 'Active'],
    ],
    [
      'without tests',
      world({
        ...fresh,
        node: nodeOf({ ...annotated, labels: { ...nodeOf().labels, [nodeMarks.lifecycle]: 'skip-tests' } }),
      }),
      ['Onboarding', 'Ready', 'Active'],
    ],
    [
      'with a server of Nova’s own',
      world({ ...fresh, node: annotated }, { settings: { ...settings, checks: ['smoke'] } }),
      ['Onboarding', 'Testing', 'Ready', 'Active'],
    ],
    [
      'or fails its tests',
      world({ ...fresh, node: annotated }, { testsFail: true }),
      ['Onboarding', 'Testing', 'Aborted'],
    ],
    ['or never registers', world({ ...fresh, node: annotated }, { registers: null }), ['Onboarding', 'Aborted']],
    [
      'or asks for what does not exist',
      world({ ...fresh, node: nodeOf({ annotations: { [nodeMarks.aggregates]: 'nowhere' } }) }),
      ['Onboarding', 'Aborted'],
    ],
    [
      'an active host goes into maintenance',
      world({ desired: { maintenance: 'manual' }, nova: novaOf({ servers: 3 }) }),
      ['Evicting', 'Maintenance'],
    ],
    [
      'which may fail',
      world({ desired: { maintenance: 'manual' }, nova: novaOf({ servers: 3 }) }, { evictionsEnd: 'failed' }),
      ['Evicting'],
    ],
    [
      'and comes back, through its tests',
      world({ nova: disabledFor('drover: maintenance manual'), evictions: [ownEvictionOf('succeeded')] }),
      ['Maintenance', 'Testing', 'Ready', 'Active'],
    ],
    [
      'which may fail too',
      world({ nova: disabledFor('drover: maintenance manual') }, { testsFail: true }),
      ['Testing', 'Aborted'],
    ],
    [
      'a Node is updated by Gardener',
      world({ node: updating, nova: novaOf({ servers: 1 }) }),
      ['Active', 'Evicting', 'Maintenance'],
    ],
    [
      'and is back',
      world({
        desired: { maintenance: 'auto', rollingUpdateBootId: 'boot-0' },
        nova: disabledFor('drover: maintenance auto'),
        evictions: [ownEvictionOf('succeeded')],
      }),
      ['Maintenance', 'Testing', 'Ready', 'Active'],
    ],
    ['a Node goes', world({ node: terminating, nova: novaOf({ servers: 3 }) }), ['Evicting', 'Decommissioned']],
    [
      'with its agents',
      world(
        { node: terminating, nova: novaOf({ servers: 3 }), agentPods: ['kube-system/nova-compute'] },
        { settings: { ...settings, guardsDrain: true } },
      ),
      ['Evicting', 'Decommissioned'],
    ],
    [
      'in the middle of its tests',
      world({ node: terminating, conditions: [onboarding('testing')], testServers: ['t'] }),
      ['Evicting', 'Decommissioned'],
    ],
  ])('%s', (_why, given, states) => {
    expect(runToEnd(given).states).toEqual(states);
  });
});

import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import { onboardingRetryMs } from '../../contracts/hypervisor/conditions.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import {
  aggregatesWith,
  beginMs,
  conditionOf,
  desiredOf,
  disabledFor,
  loneServiceOf,
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
import { emptyMemory } from './memory.ts';
import { lateDeadline, planHypervisor } from './plan.ts';
import { statusOf } from './status.ts';
import type { HypervisorSituation } from './types.ts';

interface Given extends Partial<HypervisorObservation> {
  desired?: Partial<DesiredHypervisor> | null;
  conditions?: Condition[];
}
const nowMs = beginMs + 2 * minute;
const situationOf = ({ desired, conditions, ...observed }: Given): HypervisorSituation => ({
  desired: desired === null ? null : desiredOf(desired),
  observed: observedOf(observed, conditions),
  settings,
  memory: emptyMemory,
  askedMs: nowMs,
  nowMs,
});
const planOf = (given: Given) => planHypervisor(situationOf(given));
const patchOf = (given: Given) => statusOf(situationOf(given), planOf(given));
const updating = nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [nodeMetadata.selectedForUpdate]: 'true' } });
const terminating = nodeOf({ terminatingSinceMs: beginMs });
const failure = (retryable: boolean) => ({
  reason: 'CredentialRefused',
  message: 'Keystone refused the credential',
  retryable,
  retryAtMs: nowMs + 1,
});
const offboarded = conditionOf('Offboarded', 'True', 'Offboarded');

const rows: [why: string, given: Given, plan: string | RegExp][] = [
  ['a new Node gets its Hypervisor', { desired: null }, 'execute createHypervisor'],
  ['no Node, no Hypervisor', { desired: null, node: null }, /^gone: There is neither/],
  ['a Hypervisor that is deleted is let go', { desired: { deleting: true } }, /^gone: The Hypervisor is being deleted/],
  [
    'what the Node says comes first',
    { node: nodeOf({ labels: { ...nodeOf().labels, [nodeMetadata.zone]: 'b' } }) },
    /^execute patch .*zone/,
  ],
  [
    'nothing is decided on what could not be read',
    { failure: failure(true), nova: null, provider: null },
    'wait: another attempt: Keystone refused the credential',
  ],
  [
    'not even for good, in service',
    { failure: failure(false), nova: null },
    'wait: another attempt: Keystone refused the credential',
  ],
  ['a retry with nothing to retry is over at once', { desired: { retry: 'now' } }, 'reconciled: node-1 is in service'],
  ['an update of the Node begins a maintenance', { node: updating }, /"maintenance":"auto"/],
  [
    'a maintenance interrupts an onboarding',
    { desired: { maintenance: 'manual' }, conditions: [onboarding('testing')] },
    'execute disable "drover: maintenance manual", createEviction node-1 admin',
  ],
  [
    'which goes on without that maintenance’s Eviction',
    {
      conditions: [onboarding('testing')],
      nova: disabledFor('drover: maintenance manual'),
      evictions: [ownEvictionOf('succeeded')],
    },
    'execute deleteEviction',
  ],
  [
    'a lifecycle that is not driven',
    { desired: { lifecycleEnabled: false, fromNode: [] }, node: null, conditions: [] },
    'blocked: Lifecycle management is disabled',
  ],
  [
    'nor one whose onboarding ended with it',
    { desired: { lifecycleEnabled: false, fromNode: [] }, node: null, conditions: [onboarding('aborted')] },
    'blocked: Lifecycle management is disabled',
  ],
  [
    'has its maintenance nevertheless',
    { desired: { lifecycleEnabled: false, fromNode: [], maintenance: 'manual' }, node: null, conditions: [] },
    'execute disable "drover: maintenance manual", createEviction node-1 admin',
  ],
  [
    'but is not taken out of Nova',
    {
      desired: { lifecycleEnabled: false, fromNode: [], maintenance: 'termination' },
      node: null,
      nova: disabledFor('drover: maintenance termination'),
      evictions: [ownEvictionOf('succeeded')],
    },
    /^blocked: node-1 is empty; its lifecycle is not driven/,
  ],
  [
    'nor because its Node goes',
    { desired: { lifecycleEnabled: false, fromNode: [] }, node: null },
    'reconciled: node-1 is in service',
  ],
  [
    'a Node that goes takes its host out',
    { node: terminating },
    'execute disable "drover: maintenance termination", createEviction node-1 termination',
  ],
  [
    'a Node that is gone too',
    { node: null },
    'execute disable "drover: maintenance termination", createEviction node-1 termination',
  ],
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
    'reconciled: node-1 is in service',
  ],
  [
    'a failing host comes before a terminating Node',
    { desired: { maintenance: 'ha' }, node: terminating },
    'execute disable "drover: maintenance ha", createEviction node-1 termination',
  ],
];

test.each(rows)('%s', (_why, given, plan) => {
  const text = shown(planOf(given));
  if (typeof plan === 'string') expect(text).toBe(plan);
  else expect(text).toMatch(plan);
});

const retries: [why: string, given: Given, plan: string, onboarding: string | undefined, isTakenUp: boolean][] = [
  [
    'a retry with nothing to retry is taken up at once',
    { desired: { retry: 'now' } },
    'reconciled: node-1 is in service',
    'Succeeded',
    true,
  ],
  [
    'a retry of an aborted onboarding begins it again',
    { desired: { retry: 'now' }, conditions: [onboarding('aborted')] },
    'execute +tenant_filter_tests -tenants',
    'Initial',
    true,
  ],
  [
    'begun once, it may be aborted again for another reason',
    { desired: { retry: 'now', customTraits: ['fast'] }, conditions: [onboarding('aborted')] },
    'blocked: Onboarding was aborted: Failed to update traits in placement: no names of traits: fast',
    'Aborted',
    true,
  ],
  [
    'what is left of a maintenance goes first',
    {
      desired: { retry: 'now' },
      conditions: [onboarding('aborted')],
      evictions: [ownEvictionOf('waiting', { deleting: true })],
    },
    'execute +tenant_filter_tests -tenants',
    'Initial',
    true,
  ],
  [
    'a retry cannot hold a Node that goes',
    {
      desired: { retry: 'now' },
      conditions: [onboarding('aborted')],
      node: terminating,
      nova: null,
      provider: null,
      aggregates: [],
    },
    'reconciled: Offboarding successful',
    'Aborted',
    true,
  ],
  [
    'nor one whose lifecycle is not driven',
    {
      desired: { retry: 'now', lifecycleEnabled: false, fromNode: [] },
      conditions: [onboarding('aborted')],
      node: null,
    },
    'blocked: Lifecycle management is disabled',
    'Aborted',
    true,
  ],
  [
    'a retry of an Eviction deletes it',
    {
      desired: { retry: 'now', maintenance: 'manual' },
      nova: disabledFor('drover: maintenance manual'),
      evictions: [ownEvictionOf('failed')],
    },
    'execute deleteEviction',
    'Succeeded',
    false,
  ],
  [
    'and is taken up before another is made',
    {
      desired: { retry: 'now', maintenance: 'manual' },
      nova: disabledFor('drover: maintenance manual'),
      conditions: [onboarding('succeeded'), conditionOf('Evicting', 'Unknown', 'Stopped')],
    },
    'execute createEviction node-1 admin',
    'Succeeded',
    true,
  ],
];

test.each(retries)('%s', (_why, given, plan, state, isTakenUp) => {
  const planned = planOf(given);
  expect(shown(planned)).toBe(plan);
  const status = patchOf(given);
  expect(findCondition(status?.conditions as Condition[], 'Onboarding')?.reason).toBe(state);
  expect(status?.annotations?.['drover.dev/retry-handled']).toBe(isTakenUp ? 'now' : undefined);
  // Said before anything is done, so that it is not taken up twice.
  if (isTakenUp && planned.kind === 'execute') expect(planned.steps[0]?.publish).toBe('before');
});

const lifecycle = (status: Condition['status'], generation = 1): Condition =>
  conditionOf('Lifecycle', status, 'Active', '', generation);

test.each<[why: string, conditions: Condition[], publish: string | undefined]>([
  ['what says that it is reconciled says first that it is not', [lifecycle('True')], 'before'],
  ['and what says that it is blocked', [lifecycle('False')], 'before'],
  ['what is on its way says so', [lifecycle('Unknown')], undefined],
  ['and what speaks of another spec', [lifecycle('True', 0)], undefined],
  ['and what says nothing', [], undefined],
])('%s', (_why, conditions, publish) => {
  const plan = planOf({ aggregates: aggregatesWith('zone-a'), conditions: [onboarding('succeeded'), ...conditions] });
  expect(shown(plan)).toBe('execute +tenants');
  expect(plan.kind === 'execute' && plan.steps[0]?.publish).toBe(publish);
});

test('how far it has come is said before anything is done', () => {
  const plan = planOf({ nova: disabledFor('drover: maintenance manual'), conditions: [onboarding('succeeded')] });
  expect(plan).toMatchObject({
    kind: 'execute',
    steps: [{ kind: 'runChecks', phase: 'Testing', onboards: true, publish: 'before' }],
  });
});

test('the run of a failure is signalled before all else', () => {
  const plan = planOf({ node: nodeOf({ ready: false }), aggregates: aggregatesWith('zone-a') });
  expect(shown(plan)).toBe('execute signalNodeFailure, +tenants');
});

const said = (given: Given, type: string): Condition | undefined =>
  findCondition(patchOf(given)?.conditions as Condition[], type);

test('an onboarding that cannot read what it needs is aborted with the cause', () => {
  expect(
    said({ failure: failure(false), nova: null, conditions: [onboarding('initial')] }, 'Onboarding'),
  ).toMatchObject({ status: 'False', reason: 'Aborted', message: 'Keystone refused the credential' });
  expect(said({ failure: failure(false), nova: null, conditions: [onboarding('initial')] }, 'Lifecycle')?.reason).toBe(
    'Aborted',
  );
});

test('half of the time of a Node that terminates wakes the run', () => {
  const situation = situationOf({
    node: terminating,
    nova: disabledFor('drover: maintenance termination', { servers: 1 }),
    evictions: [ownEvictionOf('running', { deadline: '2026-01-01T02:00:00.000Z' })],
  });
  const plan = planHypervisor(situation);
  expect(plan).toMatchObject({ kind: 'wait', untilMs: beginMs + 60 * minute });
  expect(lateDeadline(situation, plan)).toBeNull();
  expect(lateDeadline({ ...situation, nowMs: beginMs + 60 * minute }, plan)).toBe(beginMs + 120 * minute);
});

test('also where an operator is waited for, and not once it is out of Nova', () => {
  const situation = situationOf({
    node: terminating,
    nova: disabledFor('drover: maintenance termination', { servers: 1 }),
    evictions: [
      ownEvictionOf('failed', { message: 'no room', deadline: new Date(beginMs + 120 * minute).toISOString() }),
    ],
  });
  expect(planHypervisor(situation)).toMatchObject({
    kind: 'wait',
    message: 'an operator, as Eviction node-1 has not emptied node-1: no room. `drover describe node-1` says why',
    untilMs: beginMs + 60 * minute,
  });
  const late = { ...situation, nowMs: beginMs + 121 * minute };
  const plan = planHypervisor(late);
  expect([plan.kind, lateDeadline(late, plan)]).toEqual(['done', beginMs + 120 * minute]);
  expect(lateDeadline(late, { kind: 'done', outcome: 'reconciled', reason: 'Decommissioned', message: '' })).toBeNull();
});

describe('hazards of the replaced operator', () => {
  const world = (more: Partial<World> & { given?: Given }): World => {
    const { desired, conditions, ...observed } = more.given ?? {};
    return {
      desired: desiredOf(desired ?? {}),
      observed: observedOf(observed, conditions),
      settings,
      nowMs,
      memory: emptyMemory,
      evictionsEnd: 'succeeded',
      testsFail: false,
      registers: novaOf(),
      ...more,
    };
  };
  const stateOf = (one: World): string | undefined => runToEnd(one).states.at(-1);
  const stepsOf = (one: World): string[] => runToEnd(one).steps.map(({ kind }) => kind);

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
    expect(steps.map(({ kind }) => kind)).toEqual(['disableService', 'createEviction']);
  });

  test('H11: a service that another party enables in maintenance is disabled again', () => {
    expect(
      stepsOf(
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
    expect(steps.map(({ kind }) => kind)).toContain('deleteProvider');
  });

  test('H12: a service without a hypervisor is not left behind: it would count as one that has registered again', () => {
    const lone = { nova: null, provider: null, aggregates: aggregatesWith() };
    const {
      states,
      steps,
      world: end,
    } = runToEnd(world({ given: { ...lone, node: terminating, loneService: loneServiceOf('down', 'enabled') } }));
    expect([states.at(-1), end.observed.loneService]).toEqual(['Decommissioned', null]);
    expect(steps.map(({ kind }) => kind)).toEqual(['disableService', 'deleteService']);
    // While it is there, the host is not out of Nova.
    for (const loneService of [loneServiceOf('up'), loneServiceOf('down', 'disabled', { servers: 1 })])
      expect(stateOf(world({ given: { ...lone, node: terminating, loneService } }))).toBe('Evicting');
  });

  test('H12: also one that was never registered with a hypervisor', () => {
    const { states, steps } = runToEnd(
      world({
        given: {
          nova: null,
          provider: null,
          aggregates: aggregatesWith(),
          node: terminating,
          loneService: loneServiceOf('down'),
          recorded: { ...observedOf().recorded, conditions: [], hypervisorId: null, serviceId: null },
        },
      }),
    );
    expect([states.at(-1), steps.map(({ kind }) => kind)]).toEqual(['Decommissioned', ['deleteService']]);
  });

  test('a host in maintenance whose nova-compute has no hypervisor yet is kept off guests before it has one', () => {
    const given: Given = {
      desired: { maintenance: 'manual' },
      nova: null,
      loneService: loneServiceOf('up', 'enabled'),
    };
    expect(stepsOf(world({ given, registers: null }))).toEqual(['disableService']);
    // Nothing tells of its registration: it is observed again.
    expect(planOf({ ...given, loneService: null })).toMatchObject({
      kind: 'wait',
      untilMs: nowMs + settings.recheckMs,
    });
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
    expect(stepsOf(world({ given }))).toEqual([]);
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

  test('H15: its agents come back, and before that nothing is tested', () => {
    const given: Given = {
      node: nodeOf({ offboardingTaint: true }),
      agentPods: [],
      drainGuard: { minAvailable: 1, ready: true },
      nova: disabledFor('drover: maintenance termination'),
      evictions: [ownEvictionOf('succeeded')],
      conditions: [
        onboarding('succeeded'),
        conditionOf('Offboarded', 'False', 'Offboarding'),
        conditionOf('AgentPodsEvicted', 'True', 'NoAgentPods'),
      ],
    };
    const { states, steps, world: end } = runToEnd(world({ given, settings: { ...settings, guardsDrain: true } }));
    expect(states.at(-1)).toBe('Active');
    expect(steps[0]?.kind).toBe('untaintNode');
    expect(end.observed.node?.offboardingTaint).toBe(false);
    expect(end.observed.recorded.conditions.map(({ type }) => type)).not.toContain('AgentPodsEvicted');
  });

  test('what another party has forced down comes into service by consent, which is good once', () => {
    const forced = novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: true } });
    const consent = { consent: ['lift-forced-down' as const], consentBy: 'jane 2026-01-31T12:00:00Z' };
    const unhandled = { settings: { ...settings, handlesNodeFailure: false } };
    const without = runToEnd(world({ given: { nova: forced }, ...unhandled }));
    const { conditions } = without.world.observed.recorded;
    expect([without.steps, findCondition(conditions, 'ForcedDown')?.reason]).toEqual([[], 'ByOthers']);
    const given: Given = { nova: forced, desired: consent };
    const { steps, states, world: end } = runToEnd(world({ given, ...unhandled }));
    expect([states.at(-1), steps.map(({ kind }) => kind)]).toEqual(['Active', ['liftForcedDown', 'patchHypervisor']]);
    expect(end.observed.recorded.conditions.map(({ type }) => type)).not.toContain('ForcedDown');
  });

  test('an onboarding that ended for what is not the host’s begins again by itself, and says so meanwhile', () => {
    const given: Given = { desired: { aggregates: ['nowhere'] }, conditions: [onboarding('initial')] };
    const { world: waiting, plan } = runToEnd(world({ given }));
    expect(plan).toMatchObject({ kind: 'done', outcome: 'blocked', reason: 'Aborted' });
    const retryMs = onboardingRetryMs(waiting.observed.recorded.conditions) ?? 0;
    expect(retryMs - waiting.nowMs).toBeGreaterThan(1.9 * settings.registrationMs);
    // Not mended, it rests again, for as long.
    const again = runToEnd({ ...waiting, nowMs: retryMs });
    expect(again.plan).toMatchObject({ kind: 'done', outcome: 'blocked', reason: 'Aborted' });
    expect(onboardingRetryMs(again.world.observed.recorded.conditions)).toBe(retryMs + 2 * settings.registrationMs);
    const mended = {
      ...waiting,
      desired: waiting.desired && { ...waiting.desired, aggregates: ['zone-a', 'tenants'] },
      nowMs: retryMs,
    };
    const { states, world: end } = runToEnd(mended);
    expect(states.at(-1)).toBe('Active');
    expect(end.observed.recorded.conditions.map(({ type }) => type)).not.toContain('OnboardingRetry');
  });

  test('a host that goes into service untested says so, for good', () => {
    const untested = world({ given: { conditions: [] }, settings: { ...settings, checks: [] } });
    const { states, world: end } = runToEnd(untested);
    expect(states.at(-1)).toBe('Active');
    expect(findCondition(end.observed.recorded.conditions, 'Tested')).toMatchObject({
      status: 'Unknown',
      reason: 'NoChecksConfigured',
    });
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
    const labels = Object.fromEntries(
      Object.entries(nodeOf().labels).filter(([key]) => key !== nodeMetadata.lifecycle),
    );
    expect(runToEnd(world({ given: { node: nodeOf({ labels }) } })).world.desired?.lifecycleEnabled).toBe(false);
  });
});

describe('the ways between the states', () => {
  const world = (given: Given, more: Partial<World> = {}): World => {
    const { desired, conditions, ...observed } = given;
    return {
      desired: desired === null ? null : desiredOf(desired ?? {}),
      observed: observedOf(observed, conditions),
      settings,
      nowMs,
      memory: emptyMemory,
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
    recorded: { ...observedOf().recorded, conditions: [], hypervisorId: null, serviceId: null, libVirtVersion: null },
  };
  const annotated = nodeOf({
    annotations: { [nodeMetadata.aggregates]: 'tenants', [nodeMetadata.customTraits]: 'CUSTOM_NEW' },
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
        node: nodeOf({ ...annotated, labels: { ...nodeOf().labels, [nodeMetadata.lifecycle]: 'skip-tests' } }),
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
      world({ ...fresh, node: nodeOf({ annotations: { [nodeMetadata.aggregates]: 'nowhere' } }) }),
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
      ['Evicting', 'Maintenance'],
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

import { findCondition, setConditions } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import type { HypervisorStatusPatch, RecordedStatus, TestRecord } from '../../contracts/hypervisor/hypervisor.ts';
import {
  aggregatesWith,
  beginMs,
  conditionOf,
  contextOf,
  disabledFor,
  minute,
  nodeOf,
  onboarding,
  ownEvictionOf,
  providerOf,
  testOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { done, execute, wait as waitFor } from '../lib/plan.ts';
import type { Done, Plan, Step, Wait } from '../lib/plan.ts';
import { describeStatus, isSaid, statusOf } from './status.ts';

import { planEmptying } from './emptying.ts';
import { emptyMemory } from './memory.ts';
import { planHypervisor } from './plan.ts';
import type { Context, HypervisorStep } from './types.ts';

describe('what is said', () => {
  const terminating = nodeOf({ terminatingSinceMs: beginMs });
  const empty = { nova: disabledFor('drover: maintenance termination'), evictions: [ownEvictionOf('succeeded')] };
  const reconciled = (message: string): Done => done('reconciled', 'Any', message);
  const blocked = (message: string): Done => done('blocked', 'Any', message);
  const wait = (message: string): Wait => waitFor('Any', 'Any', message);
  const said = (context: Context, plan: Plan<Step> = reconciled('as it should be')): HypervisorStatusPatch =>
    describeStatus(context, plan, []);

  const tested = (...tests: TestRecord[]): Context => ({ ...contextOf(), memory: { ...emptyMemory, tests } });

  type Row = [
    why: string,
    type: string,
    context: Context,
    plan: Parameters<typeof said>[1],
    says: [status: string, reason: string, message: string] | null,
  ];
  const inService = reconciled('node-1 is in service');
  const rows: Row[] = [
    ['in service', 'Ready', contextOf(), inService, ['True', 'Ready', 'Hypervisor is ready']],
    ['', 'Lifecycle', contextOf(), inService, ['True', 'Active', 'node-1 is in service']],
    ['', 'HypervisorDisabled', contextOf(), inService, ['False', 'Succeeded', 'Hypervisor is enabled']],
    ['', 'TraitsUpdated', contextOf(), inService, ['True', 'Succeeded', 'Traits successfully updated']],
    [
      '',
      'AggregatesUpdated',
      contextOf(),
      inService,
      ['True', 'Succeeded', 'Aggregates from spec applied successfully'],
    ],
    ['', 'HaEnabled', contextOf(), inService, ['True', 'Succeeded', 'HA is enabled']],
    ['', 'NodeFailure', contextOf(), inService, null],
    [
      'it was emptied as it had failed, and a user wants it back',
      'NodeFailure',
      contextOf({}, {}, [conditionOf('NodeFailure', 'True', 'HandedOver')]),
      inService,
      ['False', 'Recovered', 'node-1 was emptied as it had failed, and is wanted in service again'],
    ],
    [
      'it is being emptied as it has failed',
      'NodeFailure',
      contextOf({ maintenance: 'ha' }, {}, [conditionOf('NodeFailure', 'True', 'HandedOver')]),
      inService,
      null,
    ],
    [
      'it has failed and is judged',
      'NodeFailure',
      contextOf({}, {}, [conditionOf('NodeFailure', 'True', 'NoWitness')]),
      inService,
      null,
    ],
    ['', 'Tainted', contextOf(), inService, ['False', 'NoKubectl', '🟢']],
    [
      'a user wrote it by kubectl',
      'Tainted',
      contextOf({ touchedByKubectl: true }),
      inService,
      ['True', 'Kubectl', '⚠️'],
    ],
    ['nothing of an end is said of a host that stays', 'Terminating', contextOf(), inService, null],
    ['', 'Offboarded', contextOf(), inService, null],
    ['', 'Evicting', contextOf(), inService, null],
    ['', 'AgentPodsEvicted', contextOf(), inService, null],

    [
      'no custom traits are traits too (H3)',
      'TraitsUpdated',
      contextOf({ customTraits: [], appliedTraits: [] }, { provider: providerOf({ traits: [] }) }, [
        onboarding('handover'),
      ]),
      inService,
      ['True', 'Succeeded', 'Traits successfully updated'],
    ],
    [
      'Nova’s own are named',
      'TraitsUpdated',
      contextOf({ customTraits: ['CUSTOM_FAST', 'HW_CPU_X86_AVX'] }),
      inService,
      ['True', 'Succeeded', 'Traits successfully updated; left to Nova: HW_CPU_X86_AVX'],
    ],
    [
      'names that are none',
      'TraitsUpdated',
      contextOf({ customTraits: ['fast'] }),
      inService,
      ['False', 'Failed', 'Failed to update traits in placement: no names of traits: fast'],
    ],
    [
      'no provider',
      'TraitsUpdated',
      contextOf({}, { provider: null }),
      inService,
      ['False', 'Failed', 'Failed to get current traits from placement: no resource provider hypervisor-id'],
    ],
    [
      'what is still to be done is not said to be done',
      'TraitsUpdated',
      contextOf({}, { provider: providerOf({ traits: [] }) }),
      inService,
      null,
    ],
    ['nor of aggregates', 'AggregatesUpdated', contextOf({}, { aggregates: aggregatesWith() }), inService, null],
    [
      'missing ones are named',
      'AggregatesUpdated',
      contextOf({ aggregates: ['x', 'y'] }),
      inService,
      ['False', 'Failed', 'failed to apply aggregates: aggregates not found: [x y]'],
    ],
    [
      'a host that was not tested is not put where guests come (H13)',
      'AggregatesUpdated',
      contextOf({}, {}, []),
      inService,
      null,
    ],

    [
      'the stage, and what it waits for',
      'Onboarding',
      contextOf({}, {}, [onboarding('testing', 'before')]),
      wait('the next attempt of ovs'),
      ['True', 'Testing', 'Running onboarding tests. Waiting for the next attempt of ovs'],
    ],
    [
      '',
      'Ready',
      contextOf({}, {}, [onboarding('testing', 'before')]),
      wait('the next attempt of ovs'),
      ['False', 'Onboarding', 'Onboarding in progress: Running onboarding tests. Waiting for the next attempt of ovs'],
    ],
    [
      '',
      'HaEnabled',
      contextOf({}, {}, [onboarding('testing')]),
      inService,
      ['False', 'Onboarding', 'HA disabled before onboarding'],
    ],
    [
      'a check that passed',
      'Check.libvirt',
      tested(testOf('libvirt', null)),
      inService,
      ['True', 'Passed', 'Expected libvirt to work; saw that it works (1.5 s, attempt 1)'],
    ],
    [
      'a check that failed',
      'Check.ovs',
      tested(testOf('ovs', 'NovaUnavailable', { attempts: 2 })),
      inService,
      ['False', 'NovaUnavailable', 'Expected ovs to work; saw that it does not (1.5 s, attempt 2)'],
    ],

    [
      'another party’s disable is told from drover’s',
      'HypervisorDisabled',
      contextOf({}, { nova: disabledFor('broken') }),
      inService,
      ['True', 'Succeeded', 'Hypervisor is disabled, not for its maintenance: broken'],
    ],
    [
      '',
      'HypervisorDisabled',
      contextOf({}, { nova: disabledFor('drover: maintenance manual') }),
      inService,
      ['True', 'Succeeded', 'Hypervisor is disabled'],
    ],
    [
      'a failed eviction (H10)',
      'Evicting',
      contextOf({ maintenance: 'manual' }, { ...empty, evictions: [ownEvictionOf('failed', { message: 'no room' })] }),
      inService,
      [
        'Unknown',
        'Failed',
        'Eviction node-1: no room. `drover describe node-1` names what stands in the way: remove it, then `drover retry` the Eviction',
      ],
    ],
    [
      'an empty host',
      'Evicting',
      contextOf({ maintenance: 'manual' }, empty),
      inService,
      ['False', 'Succeeded', 'Evicted'],
    ],
    [
      '',
      'HaEnabled',
      contextOf({ maintenance: 'manual' }, empty),
      inService,
      ['False', 'Evicted', 'HA disabled due to eviction'],
    ],
    [
      '',
      'Lifecycle',
      contextOf({ maintenance: 'manual' }, empty),
      reconciled('node-1 is disabled and empty'),
      ['True', 'Maintenance', 'node-1 is disabled and empty'],
    ],

    [
      'a Node that goes',
      'Terminating',
      contextOf({}, { node: terminating }),
      inService,
      ['True', 'Terminating', 'Node is terminating'],
    ],
    [
      'and one that does not after all (H15)',
      'Terminating',
      contextOf({}, {}, [onboarding('succeeded'), conditionOf('Terminating', 'True', 'Terminating')]),
      inService,
      ['False', 'NotTerminating', 'Node is not terminating'],
    ],
    [
      'by when it has to be empty',
      'Offboarded',
      contextOf({}, { node: terminating }),
      wait('Eviction node-1: 3 of 9'),
      [
        'False',
        'Offboarding',
        'Waiting for Eviction node-1: 3 of 9. The machine is taken away at 2026-01-01T02:00:00.000Z',
      ],
    ],
    [
      'and that it is getting late',
      'Offboarded',
      contextOf({}, { node: terminating }, undefined, {}, beginMs + 60 * minute),
      wait('Eviction node-1: 3 of 9'),
      [
        'False',
        'Offboarding',
        'Waiting for Eviction node-1: 3 of 9. The machine is taken away at 2026-01-01T02:00:00.000Z, and more than half of the time is over',
      ],
    ],
    [
      'a user who takes it out has no deadline',
      'Offboarded',
      contextOf({ maintenance: 'termination' }),
      blocked('no room'),
      ['False', 'Offboarding', 'no room'],
    ],
    [
      'in the middle',
      'Offboarded',
      contextOf({ maintenance: 'termination' }),
      execute([{ kind: 'taintNode', summary: 'Taint', phase: 'Any' }]),
      ['False', 'Offboarding', 'Hypervisor is being offboarded, removing host from nova'],
    ],
    [
      'agents',
      'AgentPodsEvicted',
      contextOf({}, { agentPods: ['b/y', 'a/x'], node: nodeOf({ offboardingTaint: true }) }),
      inService,
      ['False', 'AgentPodsRunning', '2 agent pod(s) still running on node: a/x, b/y'],
    ],
    [
      'no agents',
      'AgentPodsEvicted',
      contextOf({}, { agentPods: [], node: nodeOf({ offboardingTaint: true }) }),
      inService,
      ['True', 'NoAgentPods', 'No agent pods are running on this node'],
    ],
    [
      'gone from Nova',
      'Offboarded',
      contextOf({ maintenance: 'termination' }, { nova: null, provider: null, aggregates: [] }),
      reconciled('Offboarding successful'),
      ['True', 'Offboarded', 'Offboarding successful'],
    ],
    [
      '',
      'Ready',
      contextOf({ maintenance: 'termination' }, { nova: null, provider: null, aggregates: [] }),
      reconciled('Offboarding successful'),
      ['False', 'Offboarded', 'Hypervisor has been offboarded'],
    ],
    [
      '',
      'Lifecycle',
      contextOf({ maintenance: 'termination' }, { nova: null, provider: null, aggregates: [] }),
      reconciled('Offboarding successful'),
      ['True', 'Decommissioned', 'Offboarding successful'],
    ],
  ];

  test.each(rows)('%s %s', (_why, type, context, plan, says) => {
    const condition = findCondition(said(context, plan).conditions as Condition[], type);
    expect(condition === undefined ? null : [condition.status, condition.reason, condition.message]).toEqual(says);
  });

  test('evicted is true only while the host is empty and disabled, and is taken back with the maintenance', () => {
    const of = (context: Context): [evicted: boolean | null, removed: string[]] => {
      const { evicted = null, removed = [] } = said(context);
      return [evicted, removed];
    };
    const was = {
      ...contextOf().observed.recorded,
      conditions: [onboarding('succeeded'), conditionOf('Evicting', 'False', 'Succeeded')],
      hypervisorId: 'hypervisor-id',
      serviceId: 'service-id',
      evicted: true,
      libVirtVersion: null,
    };
    expect(of(contextOf({ maintenance: 'manual' }, empty))).toEqual([true, []]);
    expect(
      of(
        contextOf(
          { maintenance: 'manual' },
          { ...empty, recorded: was, nova: disabledFor('drover: maintenance manual', { servers: 1 }) },
        ),
      ),
    ).toEqual([false, ['Evicting']]);
    expect(of(contextOf({}, { ...empty, recorded: was }))).toEqual([false, ['Evicting']]);
    expect(of(contextOf())).toEqual([null, []]);
  });

  describe('an Eviction on its way out', () => {
    const running = { ...conditionOf('Evicting', 'True', 'Running'), observedGeneration: 1 };
    const nova = disabledFor('drover: maintenance manual', { servers: 1 });
    const of = (generation: number, before: readonly Condition[], isGone: boolean) => {
      const evictions = isGone ? [] : [ownEvictionOf('running', { deleting: true })];
      const conditions = [onboarding('succeeded'), ...before];
      const context = contextOf({ maintenance: 'manual', generation }, { nova, evictions }, conditions);
      const { conditions: updates, removed = [], evicted = null } = said(context);
      return {
        says: updates.filter(({ type }) => type === 'Evicting'),
        removed,
        evicted,
        plan: planEmptying(context, 'manual'),
      };
    };

    test('of the maintenance before: it is awaited, nothing is said of it, and another one follows', () => {
      expect(of(3, [], false)).toMatchObject({ says: [], removed: [], evicted: false, plan: { kind: 'wait' } });
      expect(of(3, [], true)).toMatchObject({ says: [], plan: { steps: [{ kind: 'createEviction' }] } });
    });

    test('that a user deletes: what was said of it stays, and tells that once it is gone', () => {
      expect(of(1, [running], false)).toMatchObject({ says: [], removed: [], evicted: false, plan: { kind: 'wait' } });
      expect(of(1, [running], true)).toMatchObject({
        says: [{ status: 'Unknown', reason: 'Stopped' }],
        plan: { kind: 'done', outcome: 'blocked' },
      });
    });
  });

  test('ids, traits and aggregates are what was observed', () => {
    expect(said(contextOf())).toMatchObject({
      hypervisorId: 'hypervisor-id',
      serviceId: 'service-id',
      traits: ['CUSTOM_FAST', 'HW_CPU_X86_VMX'],
      internalIp: '192.0.2.1',
      aggregates: [
        { name: 'zone-a', uuid: 'uuid-of-zone-a', metadata: { availability_zone: 'zone-a' } },
        { name: 'tenants', uuid: 'uuid-of-tenants', metadata: {} },
      ],
    });
  });

  test('where the lifecycle is not driven they are not drover’s to write', () => {
    const { hypervisorId, serviceId, traits, aggregates } = said(contextOf({ lifecycleEnabled: false }));
    expect([hypervisorId, serviceId, traits, aggregates]).toEqual([null, null, null, null]);
  });

  test('the node agent’s libvirt version stays; until there is one, the check’s is written', () => {
    const { observed, ...context } = tested(testOf('libvirt', null, { libVirtVersion: '11.3.0' }));
    expect(said({ ...context, observed }).libVirtVersion).toBeNull();
    const recorded = { ...observed.recorded, libVirtVersion: null };
    expect(said({ ...context, observed: { ...observed, recorded } }).libVirtVersion).toBe('11.3.0');
  });

  test('what could not be read changes nothing that was said, but for what it waits for', () => {
    const failure = { reason: 'NovaUnavailable', message: 'Nova is away', retryable: true, retryAtMs: 0 };
    const conditions = [onboarding('succeeded'), conditionOf('Lifecycle', 'True', 'Maintenance')];
    const status = said(
      contextOf({ maintenance: 'manual' }, { failure, nova: null, provider: null }, conditions),
      wait('Nova is away'),
    );
    expect(status.conditions.map(({ type }) => type)).toEqual(['Onboarding', 'Lifecycle']);
    expect(Object.keys(status)).toEqual(['conditions']);
    expect(setConditions(conditions, status.conditions, '').map(({ type, reason }) => [type, reason])).toEqual([
      ['Onboarding', 'Succeeded'],
      ['Lifecycle', 'Maintenance'],
    ]);
  });

  test('everything that is said speaks of the generation', () => {
    expect(
      new Set(said(contextOf({ generation: 7 })).conditions.map(({ observedGeneration }) => observedGeneration)),
    ).toEqual(new Set([7]));
  });
});

describe('whether it is said already', () => {
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: 'ready',
    observedGeneration: 2,
  } as const;
  const fields = {
    hypervisorId: 'h',
    serviceId: 's',
    evicted: false,
    traits: ['CUSTOM_A'],
    aggregates: [{ name: 'zone-a', uuid: 'u', metadata: {} }],
    internalIp: '192.0.2.1',
  };
  const recorded: RecordedStatus = {
    conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    libVirtVersion: '9.0.0',
    ...fields,
  };
  const status: HypervisorStatusPatch = {
    conditions: [condition],
    removed: ['Evicting'],
    libVirtVersion: null,
    annotations: null,
    ...fields,
  };

  test('what says the same is not said again', () => expect(isSaid({ recorded }, status)).toBe(true));

  const news: [what: string, change: Partial<HypervisorStatusPatch>][] = [
    ['another status', { conditions: [{ ...condition, status: 'False' }] }],
    ['another message', { conditions: [{ ...condition, message: 'not yet' }] }],
    ['a newer generation', { conditions: [{ ...condition, observedGeneration: 3 }] }],
    ['another condition', { conditions: [condition, { ...condition, type: 'Evicting' }] }],
    ['a condition that goes', { removed: ['Ready'] }],
    ['another id', { hypervisorId: 'i' }],
    ['that it is empty', { evicted: true }],
    ['a version', { libVirtVersion: '9.1.0' }],
    ['a trait', { traits: ['CUSTOM_A', 'CUSTOM_B'] }],
    ['no aggregate', { aggregates: [] }],
    ['another address', { internalIp: '192.0.2.2' }],
    ['an annotation', { annotations: { 'drover.dev/retry-handled': 'now' } }],
  ];
  test.each(news)('%s is news', (_what, change) => expect(isSaid({ recorded }, { ...status, ...change })).toBe(false));

  test('a field of null, or that is left out, stays as it is', () => {
    const untouched = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    expect(isSaid({ recorded }, { ...status, ...untouched })).toBe(true);
    expect(isSaid({ recorded }, { conditions: [condition] })).toBe(true);
  });
});

describe('what is said of a plan', () => {
  const of = (context: Context, plan: Plan<HypervisorStep>): HypervisorStatusPatch | null =>
    statusOf({ ...context, askedMs: 0 }, plan);
  const lifecycleOf = (status: HypervisorStatusPatch | null) => {
    const { status: is, message } = findCondition(status?.conditions as Condition[], 'Lifecycle') ?? {};
    return [is, message];
  };
  const planned = (context: Context): Plan<HypervisorStep> => planHypervisor({ ...context, askedMs: 0 });

  test('that a run of the host’s failure is signalled is nothing of the host’s', () => {
    const context = contextOf({}, { node: nodeOf({ ready: false }) });
    const plan = planned(context);
    expect(plan.kind === 'execute' && plan.steps[0]?.kind).toBe('signalNodeFailure');
    expect(lifecycleOf(of(context, plan))).toEqual(['True', 'node-1 is in service']);
  });

  test('while an operator is waited for, it is blocked', () => {
    const deadline = new Date(beginMs + 120 * minute).toISOString();
    const evictions = [ownEvictionOf('failed', { message: 'no room', deadline })];
    const context = contextOf(
      {},
      {
        node: nodeOf({ terminatingSinceMs: beginMs }),
        nova: disabledFor('drover: maintenance termination'),
        evictions,
      },
    );
    const plan = planned(context);
    expect(plan).toMatchObject({
      kind: 'wait',
      message: 'an operator, as Eviction node-1 has not emptied node-1: no room. `drover describe node-1` says why',
    });
    expect(lifecycleOf(of(context, plan))).toEqual([
      'False',
      'Eviction node-1 has not emptied node-1: no room. `drover describe node-1` says why',
    ]);
  });

  test('a run that was cancelled says so, and leaves a retry to the next', () => {
    const context = contextOf({ retry: 'now' });
    const plan = done('blocked', 'Cancelled', 'The run was cancelled');
    expect(lifecycleOf(of(context, plan))).toEqual(['False', 'The run was cancelled']);
    expect(of(context, plan)?.annotations).toBeNull();
    expect(of(context, planned(context))?.annotations).toEqual({ 'drover.dev/retry-handled': 'now' });
  });

  test('what drover only observes is all that it says, as the other conditions are another operator’s', () => {
    const context = contextOf({}, {}, undefined, { mode: 'observe' });
    const observed = (message: string) => [
      { type: 'Observed', status: 'True', reason: 'Observed', message, observedGeneration: 1 },
    ];
    const intent = done('blocked', 'ObserveOnly', 'drover only observes. It would: Disable node-1');
    expect(of(context, intent)).toEqual({ conditions: observed('drover only observes. It would: Disable node-1') });
    expect(of(context, planned(context))).toEqual({
      conditions: observed('drover only observes, and would change nothing: node-1 is in service'),
    });
  });

  test('nothing of one that is being deleted, or is not there', () => {
    const context = contextOf({ deleting: true });
    expect(of(context, planned(context))).toBeNull();
    expect(statusOf({ ...context, desired: null, askedMs: 0 }, planned(context))).toBeNull();
  });
});

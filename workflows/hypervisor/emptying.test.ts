import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  MaintenanceMode,
} from '../../contracts/hypervisor/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import {
  beginMs,
  conditionOf,
  contextOf,
  disabledFor,
  minute,
  nodeOf,
  novaOf,
  onboarding,
  ownEvictionOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { judgeEmptying, judgeEvicting, planEmptying } from './emptying.ts';
import type { Emptying } from './emptying.ts';

describe('how the emptying stands', () => {
  const bare = disabledFor('drover: maintenance manual');
  const running = conditionOf('Evicting', 'True', 'Running');
  const evicted = conditionOf('Evicting', 'False', 'Succeeded');
  const stopped = conditionOf('Evicting', 'Unknown', 'Stopped');
  const down = { ...bare, service: { ...bare.service, state: 'down' as const } };

  interface Given extends Partial<HypervisorObservation> {
    mode?: MaintenanceMode;
    before?: Condition;
    generation?: number;
    retry?: string;
  }
  type Row = [
    why: string,
    given: Given,
    emptying: Emptying,
    says: [status: string | null, reason: string | null, evicted: boolean] | null,
  ];
  const rows: Row[] = [
    ['nothing has begun', { nova: bare }, 'open', null],
    [
      'the Eviction waits',
      { nova: bare, evictions: [ownEvictionOf('waiting')] },
      'running',
      ['True', 'Running', false],
    ],
    [
      'it runs',
      { nova: disabledFor(null, { servers: 2 }), evictions: [ownEvictionOf('running')] },
      'running',
      ['True', 'Running', false],
    ],
    [
      'it succeeded, and nothing is there',
      { nova: bare, evictions: [ownEvictionOf('succeeded')] },
      'empty',
      ['False', 'Succeeded', true],
    ],
    [
      'it succeeded, and something came',
      { nova: disabledFor(null, { servers: 1 }), evictions: [ownEvictionOf('succeeded')] },
      'open',
      null,
    ],
    [
      'a migration on its way here',
      { nova: disabledFor(null, { migrations: 1 }), evictions: [ownEvictionOf('succeeded')] },
      'open',
      null,
    ],
    [
      'an unconfirmed resize',
      { nova: disabledFor(null, { unconfirmedResizes: 1 }), evictions: [ownEvictionOf('succeeded')] },
      'open',
      null,
    ],
    [
      'an allocation',
      { nova: disabledFor(null, { allocations: 1 }), evictions: [ownEvictionOf('succeeded')] },
      'open',
      null,
    ],
    [
      'a host that is enabled is not empty, as anything may come',
      { evictions: [ownEvictionOf('succeeded')] },
      'open',
      null,
    ],
    [
      'it failed: not evicted (H10)',
      { nova: bare, evictions: [ownEvictionOf('failed')] },
      'failed',
      ['Unknown', 'Failed', false],
    ],
    [
      'it was cancelled',
      { nova: bare, evictions: [ownEvictionOf('stopped')] },
      'stopped',
      ['Unknown', 'Stopped', false],
    ],
    [
      'nothing new is said of one that has stopped on its way out: drover may have deleted it',
      { nova: bare, evictions: [ownEvictionOf('stopped', { deleting: true })] },
      'stopped',
      [null, null, false],
    ],
    ['it was deleted in the middle', { nova: bare, before: running }, 'stopped', ['Unknown', 'Stopped', false]],
    ['that holds', { nova: bare, before: stopped }, 'stopped', ['Unknown', 'Stopped', false]],
    ['until the spec changes', { nova: bare, before: stopped, generation: 2 }, 'open', null],
    ['or a user asks', { nova: bare, before: stopped, retry: 'now' }, 'open', null],
    [
      'one that failed and was deleted is made again',
      { nova: bare, before: conditionOf('Evicting', 'Unknown', 'Failed') },
      'open',
      null,
    ],
    [
      'one that succeeded and was tidied away has emptied the host',
      { nova: bare, before: evicted },
      'empty',
      ['False', 'Succeeded', true],
    ],
    [
      'what another operator said of a host that is not empty is no proof (H10)',
      { nova: disabledFor(null, { servers: 3 }), before: evicted },
      'open',
      null,
    ],
    [
      'another party’s Eviction is no proof for this maintenance',
      { nova: bare, evictions: [ownEvictionOf('succeeded', { ownerUid: null })] },
      'open',
      null,
    ],
    [
      'nor is one of a Hypervisor of the same name before',
      { nova: bare, evictions: [ownEvictionOf('succeeded', { ownerUid: 'another' })] },
      'open',
      null,
    ],
    [
      'nothing moves where nova-compute is down, and nothing is there',
      { nova: down },
      'empty',
      ['False', 'Succeeded', true],
    ],
    ['something is there', { nova: { ...down, servers: 1 } }, 'open', null],
    [
      'one that is on its way out is waited for, and not said to run for this maintenance',
      { nova: bare, evictions: [ownEvictionOf('running', { deleting: true })] },
      'running',
      [null, null, false],
    ],
    [
      'nor one whose host was emptied, and got something since',
      { nova: disabledFor(null, { servers: 1 }), evictions: [ownEvictionOf('succeeded', { deleting: true })] },
      'running',
      [null, null, false],
    ],
    [
      'one on its way out has emptied the host all the same',
      { nova: bare, evictions: [ownEvictionOf('succeeded', { deleting: true })] },
      'empty',
      ['False', 'Succeeded', true],
    ],
    [
      'a new one comes before one on its way out',
      { nova: bare, evictions: [ownEvictionOf('stopped', { deleting: true, name: 'old' }), ownEvictionOf('running')] },
      'running',
      ['True', 'Running', false],
    ],
    ['Nova has no such host', { nova: null }, 'absent', null],
  ];

  test.each(rows)('%s', (_why, { mode = 'manual', before, generation = 1, retry, ...observed }, emptying, says) => {
    const context = contextOf({ maintenance: mode, generation, retry: retry ?? null }, observed, [
      onboarding('succeeded'),
      ...(before === undefined ? [] : [before]),
    ]);
    expect(judgeEmptying(context)).toBe(emptying);
    const judged = judgeEvicting(context);
    const { status = null, reason = null } = judged?.condition ?? {};
    expect(judged === null ? null : [status, reason, judged.evicted]).toEqual(says);
  });

  test('out of maintenance nothing is said', () => {
    expect(judgeEvicting(contextOf({}, { nova: bare, evictions: [ownEvictionOf('succeeded')] }))).toBeNull();
  });

  test('a Node that terminates is a maintenance too', () => {
    expect(
      judgeEvicting(
        contextOf({}, { nova: bare, node: nodeOf({ terminatingSinceMs: 1 }), evictions: [ownEvictionOf('succeeded')] }),
      )?.evicted,
    ).toBe(true);
  });
});

describe('what is done', () => {
  interface Given extends Partial<HypervisorObservation> {
    mode?: Exclude<MaintenanceMode, ''>;
    before?: Condition;
    desired?: Partial<DesiredHypervisor>;
  }
  const ours = disabledFor('drover: maintenance manual', { servers: 2 });
  const theirs = disabledFor('disk is broken', { servers: 2 });
  const terminating = nodeOf({ terminatingSinceMs: beginMs });
  const inTime = new Date(beginMs + 120 * minute).toISOString();

  const rows: [why: string, given: Given, plan: string | RegExp][] = [
    [
      'scheduling stops first, with the mode and why',
      { desired: { maintenanceReason: 'new disks' } },
      'execute disable "drover: maintenance manual: new disks", createEviction node-1 admin',
    ],
    [
      'one that is enabled meanwhile is disabled again (H11)',
      { nova: novaOf({ servers: 2 }), evictions: [ownEvictionOf('running')] },
      'execute disable "drover: maintenance manual"',
    ],
    [
      'it is disabled alone where an Eviction need not follow',
      { evictions: [ownEvictionOf('running')] },
      'execute disable "drover: maintenance manual"',
    ],
    [
      'or where a retry has to be taken up first',
      { desired: { retry: 'now' } },
      'execute disable "drover: maintenance manual"',
    ],
    [
      'or where another party’s Eviction goes first',
      { evictions: [ownEvictionOf('running', { ownerUid: null })] },
      'execute disable "drover: maintenance manual"',
    ],
    [
      'or where it is down and bare',
      { nova: novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: false } }) },
      'execute disable "drover: maintenance manual"',
    ],
    [
      'also once it is empty',
      { evictions: [ownEvictionOf('succeeded')] },
      'execute disable "drover: maintenance manual"',
    ],
    ['another party’s disable keeps its reason', { nova: theirs }, 'execute createEviction node-1 admin'],
    ['servers of the tests are deleted, not moved', { nova: ours, testServers: ['t'] }, 'execute deleteTestServers'],
    ['a user’s maintenance stops at obstacles', { nova: ours }, 'execute createEviction node-1 admin'],
    [
      'a rolling update carries them along',
      { mode: 'auto', nova: ours },
      'execute createEviction node-1 rolling-update',
    ],
    ['a failing host too', { mode: 'ha', nova: ours }, 'execute createEviction node-1 termination'],
    [
      'and a Node that terminates',
      { mode: 'termination', nova: ours, node: terminating },
      'execute createEviction node-1 termination',
    ],
    [
      'a user’s decommissioning stops at them',
      { mode: 'termination', desired: { maintenance: 'termination' }, nova: ours },
      'execute createEviction node-1 decommission',
    ],
    [
      'nothing can be moved off a host that is down',
      { mode: 'ha', nova: { ...ours, service: { ...ours.service, state: 'down' } } },
      /^wait: what becomes of a host that is down/,
    ],
    [
      'a name that is taken is left to its owner',
      { nova: ours, evictions: [ownEvictionOf('failed', { ownerUid: null })] },
      'execute createEviction node-1-manual-1 admin',
    ],
    [
      'another party’s Eviction ends first',
      { nova: ours, evictions: [ownEvictionOf('running', { ownerUid: null, name: 'theirs' })] },
      'wait: Eviction theirs, which this Hypervisor did not create, to end: running so far',
    ],
    [
      'its own is waited for',
      { nova: ours, evictions: [ownEvictionOf('running', { message: '1 of 2 servers have left' })] },
      'wait: Eviction node-1: 1 of 2 servers have left',
    ],
    [
      'a failed one stops',
      { nova: ours, evictions: [ownEvictionOf('failed', { message: '1 not migratable. vm-1 (a): no room' })] },
      'blocked: Eviction node-1 has not emptied node-1: 1 not migratable. `drover describe node-1` says why',
    ],
    [
      'one that failed before the Node began to terminate is made again: there is a deadline now, and time until it',
      { mode: 'termination', nova: ours, node: terminating, evictions: [ownEvictionOf('failed')] },
      'execute deleteEviction',
    ],
    [
      'so is one of a cause that obstacles refuse',
      {
        mode: 'termination',
        nova: ours,
        node: terminating,
        evictions: [ownEvictionOf('failed', { cause: 'decommission', deadline: inTime })],
      },
      'execute deleteEviction',
    ],
    [
      'and one whose deadline was nearer, and has passed',
      {
        mode: 'termination',
        nova: ours,
        node: terminating,
        evictions: [ownEvictionOf('failed', { deadline: new Date(beginMs - minute).toISOString() })],
      },
      'execute deleteEviction',
    ],
    [
      'one that had the time that there is has tried what there is to try',
      {
        mode: 'termination',
        nova: ours,
        node: terminating,
        evictions: [ownEvictionOf('failed', { deadline: inTime, message: '1 skipped' })],
      },
      'blocked: Eviction node-1 has not emptied node-1: 1 skipped. `drover describe node-1` says why',
    ],
    [
      'what stayed on the host longer than it waited has gone since',
      {
        mode: 'termination',
        nova: disabledFor('drover: maintenance termination'),
        node: terminating,
        evictions: [ownEvictionOf('failed', { deadline: inTime, reason: 'NotEmpty' })],
      },
      'execute deleteEviction',
    ],
    [
      'or is there still',
      {
        mode: 'termination',
        nova: disabledFor('drover: maintenance termination', { unconfirmedResizes: 1 }),
        node: terminating,
        evictions: [ownEvictionOf('failed', { deadline: inTime, reason: 'NotEmpty', message: '1 unconfirmed resize' })],
      },
      'blocked: Eviction node-1 has not emptied node-1: 1 unconfirmed resize. `drover describe node-1` says why',
    ],
    [
      'a user’s stop holds, whatever the Node does',
      { mode: 'termination', nova: ours, node: terminating, evictions: [ownEvictionOf('stopped')] },
      /^blocked: Eviction node-1 has not emptied node-1/,
    ],
    [
      'a retry clears it away',
      { nova: ours, evictions: [ownEvictionOf('failed')], desired: { retry: 'now' } },
      'execute deleteEviction',
    ],
    [
      'and makes another, once',
      { nova: ours, before: conditionOf('Evicting', 'Unknown', 'Failed'), desired: { retry: 'now' } },
      'become , and take up the retry',
    ],
    [
      'one that is on its way out is waited for',
      { nova: ours, evictions: [ownEvictionOf('failed', { deleting: true })], desired: { retry: 'now' } },
      'wait: Eviction node-1 to be gone',
    ],
    [
      'a deleted one is not made again',
      { nova: ours, before: conditionOf('Evicting', 'True', 'Running') },
      'blocked: The Eviction of node-1 was deleted before it had ended',
    ],
    [
      'unless a user asks',
      { nova: ours, before: conditionOf('Evicting', 'Unknown', 'Stopped'), desired: { retry: 'now' } },
      'become , and take up the retry',
    ],
    [
      'what came after the Eviction is moved by another',
      { nova: ours, evictions: [ownEvictionOf('succeeded')] },
      'execute deleteEviction',
    ],
    ['empty', { nova: disabledFor('drover: maintenance manual'), evictions: [ownEvictionOf('succeeded')] }, 'nothing'],
    ['Nova has no such host', { nova: null }, 'nothing'],
    [
      'the deadline goes along',
      {
        mode: 'termination',
        nova: ours,
        node: terminating,
        evictions: [ownEvictionOf('running', { deadline: inTime })],
      },
      'wait: Eviction node-1: running so far',
    ],
    [
      'an Eviction from before gets it',
      { mode: 'termination', nova: ours, node: terminating, evictions: [ownEvictionOf('running')] },
      `execute deadline ${inTime}`,
    ],
    [
      'and when it comes nearer',
      {
        mode: 'termination',
        nova: ours,
        node: nodeOf({ terminatingSinceMs: beginMs, ready: false, readySinceMs: beginMs + minute }),
        evictions: [ownEvictionOf('running', { deadline: inTime })],
      },
      `execute deadline ${new Date(beginMs + 6 * minute).toISOString()}`,
    ],
    [
      'not when it is farther off',
      {
        mode: 'termination',
        nova: ours,
        node: terminating,
        evictions: [ownEvictionOf('running', { deadline: '2026-01-01T00:06:00Z' })],
      },
      'wait: Eviction node-1: running so far',
    ],
  ];

  test.each(rows)('%s', (_why, { mode = 'manual', before, desired, ...observed }, plan) => {
    const context = contextOf({ maintenance: mode, ...desired }, observed, [
      onboarding('succeeded'),
      ...(before === undefined ? [] : [before]),
    ]);
    const text = shown(
      planEmptying(
        mode === 'termination' && desired?.maintenance === undefined
          ? { ...context, desired: { ...context.desired, maintenance: '' } }
          : context,
        mode,
      ),
    );
    if (typeof plan === 'string') expect(text).toBe(plan);
    else expect(text).toMatch(plan);
  });

  test('how an Eviction ended is said before it is replaced, as it would be missed else', () => {
    const before = conditionOf('Evicting', 'True', 'Running');
    const context = contextOf(
      { maintenance: 'manual', retry: 'now' },
      { nova: ours, evictions: [ownEvictionOf('failed')] },
      [before],
    );
    expect(planEmptying(context, 'manual')).toMatchObject({ steps: [{ kind: 'deleteEviction', publish: 'before' }] });
  });

  test('an Eviction carries its owner, its deadline and the labels, and does not enable the host', () => {
    const context = contextOf(
      { maintenanceReason: 'gone', labels: { 'kubernetes.io/hostname': 'node-1', other: 'x' } },
      { nova: ours, node: terminating },
    );
    const plan = planEmptying(context, 'termination');
    expect(
      plan?.kind === 'execute' && plan.steps[0]?.kind === 'createEviction' ? plan.steps[0].eviction : null,
    ).toEqual({
      name: 'node-1',
      hypervisor: 'node-1',
      ownerUid: 'hv-1',
      reason: 'Hypervisor node-1: maintenance termination: gone',
      cause: 'termination',
      deadline: inTime,
      reEnable: false,
      labels: { 'kubernetes.io/hostname': 'node-1' },
    });
  });
});

import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
} from '../../contracts/hypervisor/hypervisor.ts';
import { onboardingRetryMessage } from '../../contracts/hypervisor/conditions.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import {
  aggregatesWith,
  beginMs,
  beyondHost,
  conditionOf,
  contextOf,
  disabledFor,
  loneServiceOf,
  minute,
  nodeOf,
  novaOf,
  onboarding,
  ownEvictionOf,
  passedTests,
  providerOf,
  testOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { planOnboarding } from './onboarding.ts';
import type { HypervisorMemory } from './types.ts';

describe('the way into service', () => {
  interface Given
    extends
      Partial<HypervisorObservation>,
      Partial<Pick<HypervisorMemory, 'tests' | 'refusal' | 'registeringSinceMs'>> {
    state?: Parameters<typeof onboarding>[0];
    message?: string;
    desired?: Partial<DesiredHypervisor>;
    settings?: Partial<HypervisorSettings>;
    nowMs?: number;
    /** It is begun again by itself. */
    retried?: true;
  }
  const inTests = { aggregates: aggregatesWith('zone-a', 'tenant_filter_tests') };
  const leaky = inTests.aggregates.map((aggregate) =>
    aggregate.name === 'tenant_filter_tests' ? { ...aggregate, metadata: {} } : aggregate,
  );
  const late = { nowMs: beginMs + 31 * minute, registeringSinceMs: beginMs };
  const withSmoke = { settings: { checks: ['smoke' as const] } };

  const rows: [why: string, given: Given, plan: string | RegExp][] = [
    ['it begins', {}, 'become Initial: Initial onboarding'],
    ['not where it is not wanted', { desired: { lifecycleEnabled: false } }, 'nothing'],
    ['not where the Node goes', { desired: { maintenance: 'termination' } }, 'nothing'],
    ['it is over', { state: 'succeeded' }, 'nothing'],
    ['an aborted one stays', { state: 'aborted', message: 'no zone' }, 'blocked: Onboarding was aborted: no zone'],
    [
      'one whose cause is not its own rests at first',
      { state: 'aborted', message: 'no aggregate', retried: true },
      'blocked: Onboarding was aborted: no aggregate',
    ],
    [
      'one whose cause is not its own is begun again',
      { state: 'aborted', retried: true, nowMs: beginMs + 60 * minute },
      'become Initial: Initial onboarding',
    ],
    [
      'not where it may not be onboarded',
      { state: 'aborted', retried: true, nowMs: beginMs + 60 * minute, desired: { lifecycleEnabled: false } },
      'blocked: Onboarding was aborted: ',
    ],
    ['until a user asks', { state: 'aborted', desired: { retry: 'now' } }, 'become Initial: Initial onboarding'],
    [
      'which cannot bring a Node back that goes',
      { state: 'aborted', desired: { retry: 'now', maintenance: 'termination' } },
      'blocked: Onboarding was aborted: ',
    ],

    [
      'switched off in the middle',
      { state: 'testing', desired: { lifecycleEnabled: false } },
      'become Aborted: Aborted due to LifecycleEnabled being false',
    ],
    [
      'terminated in the middle',
      { state: 'initial', node: nodeOf({ terminatingSinceMs: 1 }) },
      'become Aborted: Aborted due to MaintenanceTermination',
    ],
    [
      'what the tests made goes first',
      { state: 'testing', testServers: ['t'], desired: { lifecycleEnabled: false } },
      'execute deleteTestServers',
    ],
    [
      'a step that cannot succeed ends it with the cause',
      { state: 'testing', refusal: 'hypervisor.ovs is not set' },
      'become Aborted: hypervisor.ovs is not set [OnboardingRetry CauseBeyondHost]',
    ],
    [
      'and what the tests made goes first',
      { state: 'testing', refusal: 'hypervisor.ovs is not set', testServers: ['t'] },
      'execute deleteTestServers',
    ],
    ['which is nothing to an onboarding that is over', { state: 'succeeded', refusal: 'x' }, 'nothing'],
    [
      'nothing is done to a host that is held',
      { state: 'handover', hold: { reason: 'Fenced', message: 'it was fenced' } },
      'wait: the end of what holds the host: it was fenced',
    ],

    [
      'nor to one that another party empties',
      { state: 'handover', evictions: [ownEvictionOf('running', { ownerUid: null })] },
      'wait: Eviction node-1, which this Hypervisor did not create, to end: running so far',
    ],

    ['registration is waited for', { state: 'initial', nova: null }, 'wait: nova-compute to register node-1 in Nova'],
    [
      'for a bounded time',
      { state: 'initial', nova: null, ...late },
      'become Aborted: Waited 30 min in vain for nova-compute to register node-1 in Nova',
    ],
    [
      'counted from when that wait began, however long ago the onboarding did',
      { state: 'initial', nova: null, ...late, registeringSinceMs: beginMs + 2 * minute },
      'wait: nova-compute to register node-1 in Nova',
    ],
    [
      'and it begins now where nothing was waited for before, as after an outage',
      { state: 'initial', nova: null, ...late, registeringSinceMs: null },
      'wait: nova-compute to register node-1 in Nova',
    ],
    [
      'it is said where to look',
      { state: 'initial', nova: null, loneService: loneServiceOf('up') },
      /^wait: nova-compute to register node-1 in Nova: its service service-id on node-1 is up, and has no hypervisor\. .*discover_hosts/,
    ],
    [
      'libvirt’s certificate is asked for before',
      { state: 'initial', nova: null, certificate: 'missing' },
      'execute ensureCertificate',
    ],
    ['in Placement too', { state: 'initial', provider: null }, 'wait: nova-compute to register node-1 in Placement'],
    [
      'so is the zone',
      { state: 'initial', desired: { labels: {} } },
      'wait: the label topology.kubernetes.io/zone on Node node-1',
    ],
    [
      'for a bounded time as well',
      { state: 'initial', desired: { labels: {} }, ...late },
      /^become Aborted: Waited 30 min in vain for the label/,
    ],
    [
      'aggregates that do not exist abort at once, all named',
      { state: 'initial', desired: { aggregates: ['x', 'zone-a', 'y'] } },
      'become Aborted: failed to apply aggregates: aggregates not found: [x y] [OnboardingRetry CauseBeyondHost]',
    ],
    [
      'the test aggregate too',
      { state: 'initial', settings: { testAggregate: 'nowhere' } },
      'become Aborted: failed to apply aggregates: aggregates not found: [nowhere] [OnboardingRetry CauseBeyondHost]',
    ],
    [
      'one that lets every project in aborts before a server is started on the host',
      { state: 'initial', aggregates: leaky, ...withSmoke },
      /^become Aborted: failed to apply aggregates: aggregate tenant_filter_tests lets every project in.*CauseBeyondHost/,
    ],
    [
      'also where it has come to that meanwhile',
      { state: 'testing', aggregates: leaky, ...withSmoke },
      /^become Aborted: aggregate tenant_filter_tests lets every project in.*CauseBeyondHost/,
    ],
    [
      'where no server is started it is only said',
      { state: 'initial', aggregates: leaky },
      'become Testing: Running onboarding tests',
    ],
    [
      'names that are no traits abort',
      { state: 'initial', ...inTests, desired: { customTraits: ['fast'] } },
      'become Aborted: Failed to update traits in placement: no names of traits: fast',
    ],
    [
      'traits go first',
      { state: 'initial', provider: providerOf({ traits: [] }) },
      'execute updateTraits, +tenant_filter_tests -tenants',
    ],
    ['then guests are kept off: add before remove', { state: 'initial' }, 'execute +tenant_filter_tests -tenants'],
    ['then it is tested', { state: 'initial', ...inTests }, 'become Testing: Running onboarding tests'],
    [
      'without custom traits too (H3)',
      {
        state: 'initial',
        ...inTests,
        desired: { customTraits: [], appliedTraits: [] },
        provider: providerOf({ traits: [] }),
      },
      'become Testing: Running onboarding tests',
    ],

    ['the checks run', { state: 'testing', ...inTests }, 'execute check libvirt 1 ovs 1 ceph 1'],
    [
      'a pause between attempts',
      {
        state: 'testing',
        ...inTests,
        tests: [
          testOf('libvirt', null),
          testOf('ceph', null),
          testOf('ovs', 'NovaUnavailable', { atMs: beginMs + 2 * minute }),
        ],
      },
      /^wait: the next attempt of ovs/,
    ],
    [
      'a check that fails for good aborts',
      { state: 'testing', ...inTests, tests: [testOf('ovs', 'NovaUnavailable', { attempts: 3 })] },
      'become Aborted: Check ovs failed 3 times: Check.ovs expected ovs to work, saw that it does not [NovaUnavailable]',
    ],
    [
      'and leaves no server behind',
      { state: 'testing', ...inTests, testServers: ['t'], tests: [testOf('ovs', 'NovaUnavailable', { attempts: 3 })] },
      'execute deleteTestServers',
    ],
    [
      'they have passed',
      { state: 'testing', ...inTests, tests: passedTests() },
      'become Handover: Waiting for other controllers to take over [Tested Passed]',
    ],
    [
      'and leave no server behind',
      { state: 'testing', ...inTests, tests: passedTests(), testServers: ['t'] },
      'execute deleteTestServers',
    ],
    [
      'skipTests',
      { state: 'testing', ...inTests, desired: { skipTests: true } },
      'become Handover: Waiting for other controllers to take over [Tested Skipped]',
    ],
    [
      'where no check is configured it says so',
      { state: 'testing', ...inTests, settings: { checks: [] } },
      'become Handover: Waiting for other controllers to take over [Tested NoChecksConfigured]',
    ],
    [
      'what is not the host’s to mend is waited for, however often it was tried',
      {
        state: 'testing',
        ...inTests,
        nowMs: beginMs + minute,
        tests: [testOf('libvirt', null), testOf('ovs', null), beyondHost('CephUnhealthy', { attempts: 3 })],
      },
      /^wait: what is not the host’s own: ceph: CephHealthy expected HEALTH_OK/,
    ],
    [
      'by an operator, where it does not pass by itself',
      {
        state: 'testing',
        ...inTests,
        nowMs: beginMs + minute,
        tests: [testOf('libvirt', null), testOf('ovs', null), beyondHost('CephPoolMissing')],
      },
      /^wait: an operator to mend what is not the host’s own: ceph/,
    ],
    ['Nova has lost it', { state: 'testing', nova: null }, 'become Initial: Initial onboarding'],
    [
      'a smoke test needs the test aggregate',
      { state: 'testing', ...withSmoke },
      'execute +tenant_filter_tests -tenants',
    ],
    [
      'and the zone: until that is known the host is still where guests come, and stays disabled',
      {
        state: 'testing',
        ...withSmoke,
        desired: { labels: {} },
        nova: disabledFor('drover: maintenance manual'),
      },
      /^wait: the label topology.kubernetes.io\/zone on Node node-1: without its zone/,
    ],
    [
      'and an enabled service',
      { state: 'testing', ...withSmoke, ...inTests, nova: disabledFor('drover: maintenance manual') },
      'execute enable "drover: maintenance manual"',
    ],
    [
      'which another party may have disabled',
      { state: 'testing', ...withSmoke, ...inTests, nova: disabledFor('broken') },
      /^wait: an operator to enable node-1.*broken/,
    ],
    [
      'or fenced',
      {
        state: 'testing',
        ...withSmoke,
        ...inTests,
        nova: novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: true } }),
      },
      /^wait: Nova to have node-1 no longer forced down/,
    ],
    ['then it runs', { state: 'testing', ...withSmoke, ...inTests }, 'execute check smoke 1'],

    [
      'after the tests, traits',
      { state: 'handover', ...inTests, provider: providerOf({ traits: [] }) },
      'execute updateTraits',
    ],
    ['then the aggregates of the spec', { state: 'handover', ...inTests }, 'execute +tenants -tenant_filter_tests'],
    [
      'that may be gone meanwhile',
      { state: 'handover', ...inTests, desired: { aggregates: ['x'] } },
      'become Aborted: failed to apply aggregates: aggregates not found: [x] [OnboardingRetry CauseBeyondHost]',
    ],
    [
      'then scheduling',
      { state: 'handover', nova: disabledFor('drover: maintenance auto') },
      'execute enable "drover: maintenance auto"',
    ],
    [
      'also after Nova’s own default',
      { state: 'handover', nova: disabledFor('New compute service disabled due to config option.') },
      /^execute enable/,
    ],
    [
      'or the replaced operator’s maintenance',
      { state: 'handover', nova: disabledFor('Hypervisor CRD: spec.maintenance=manual') },
      /^execute enable/,
    ],
    [
      'never over another party’s disable',
      { state: 'handover', nova: disabledFor('broken') },
      'become Succeeded: Onboarding completed',
    ],
    [
      'nor over an eviction that leaves the host disabled',
      { state: 'handover', nova: disabledFor('drover: eviction node-1: new disks') },
      'become Succeeded: Onboarding completed',
    ],
    ['then it is over', { state: 'handover' }, 'become Succeeded: Onboarding completed'],
  ];

  test.each(rows)(
    '%s',
    (
      _why,
      {
        state,
        message,
        desired,
        settings,
        nowMs,
        retried,
        tests = [],
        refusal = null,
        registeringSinceMs = null,
        ...observed
      },
      plan,
    ) => {
      const conditions: Condition[] = [
        ...(state === undefined ? [] : [onboarding(state, message)]),
        ...(retried
          ? [conditionOf('OnboardingRetry', 'True', 'CauseBeyondHost', onboardingRetryMessage(beginMs + 60 * minute))]
          : []),
      ];
      const text = shown(
        planOnboarding(
          contextOf(desired, observed, conditions, settings, nowMs, { tests, refusal, registeringSinceMs }),
        ),
      );
      if (typeof plan === 'string') expect(text).toBe(plan);
      else expect(text).toMatch(plan);
    },
  );
});

import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { onboardingRetryMessage } from '../../contracts/hypervisor/conditions.ts';
import { condition, hypervisorOf, serviceOf } from '../../test/fixtures/activities/drift.ts';
import { type HostNow, judgeDrift } from './judge-drift.ts';

const nowMs = Date.parse('2026-02-01T00:00:00Z');
const now = (more: Partial<HostNow> = {}): HostNow => ({
  service: serviceOf('node-1'),
  aggregates: ['tenants', 'zone-a'],
  lostTraits: [],
  isFailureRunMissing: false,
  nowMs,
  ...more,
});
const disabled = serviceOf('node-1', { status: 'disabled', disabledReason: 'drover: maintenance manual' });
const inMaintenance = hypervisorOf('node-1', {
  conditions: [condition('Lifecycle', 'True', 'Maintenance'), condition('HypervisorDisabled', 'True', 'Succeeded')],
});
const out = hypervisorOf('node-1', {
  conditions: [condition('Lifecycle', 'True', 'Decommissioned'), condition('Offboarded', 'True', 'Offboarded')],
});
const down = now({ service: serviceOf('node-1', { state: 'down' }) });
const unjudged = (service: Parameters<typeof serviceOf>[1]): HostNow =>
  now({ service: serviceOf('node-1', service), isFailureRunMissing: true });
const withHa = (...more: ReturnType<typeof condition>[]): Hypervisor =>
  hypervisorOf('node-1', {
    conditions: [condition('Lifecycle', 'True', 'Active'), condition('HaEnabled', 'True', 'Succeeded'), ...more],
  });

/** Its onboarding was aborted, and is to begin again at that time. */
const aborted = (retryMs: number, spec: object = {}, ...more: ReturnType<typeof condition>[]): Hypervisor =>
  hypervisorOf(
    'node-1',
    {
      conditions: [
        condition('Lifecycle', 'False', 'Aborted'),
        { ...condition('OnboardingRetry', 'True', 'CauseBeyondHost'), message: onboardingRetryMessage(retryMs) },
        ...more,
      ],
    },
    {},
    spec,
  );

const fenced = (...more: ReturnType<typeof condition>[]): Hypervisor =>
  hypervisorOf(
    'node-1',
    { conditions: [condition('Lifecycle', 'False', 'Maintenance'), ...more] },
    { annotations: { 'drover.dev/hold': 'NodeFailure: node-1 has failed' } },
  );

const rows: [why: string, hypervisor: Hypervisor, observed: HostNow, drift: string | RegExp | null][] = [
  ['all is as it is said', hypervisorOf('node-1'), now(), null],
  [
    'an onboarding that was aborted for what is not its own begins again',
    aborted(nowMs),
    now(),
    'its onboarding was aborted for what is not its own, and is begun again',
  ],
  ['also where Nova has no such host yet', aborted(nowMs), now({ service: null }), /begun again/u],
  ['not before its time', aborted(nowMs + 1), now(), null],
  ['nor where the host is in maintenance', aborted(nowMs, { maintenance: 'manual' }), now(), null],
  ['nor where its Node goes', aborted(nowMs, {}, condition('Terminating', 'True', 'Terminating')), now(), null],
  ['nor where its lifecycle is not driven', aborted(nowMs, { lifecycleEnabled: false }), now(), null],
  ['in maintenance too', inMaintenance, now({ service: disabled }), null],
  ['a host in maintenance was enabled (H11)', inMaintenance, now(), 'its compute service was enabled'],
  [
    'or disabled one in service',
    hypervisorOf('node-1'),
    now({ service: serviceOf('node-1', { status: 'disabled', disabledReason: 'CHG-1' }) }),
    'its compute service was disabled: CHG-1',
  ],
  [
    'with whatever reason, once it is said',
    inMaintenance,
    now({ service: serviceOf('node-1', { status: 'disabled', disabledReason: 'CHG-1' }) }),
    null,
  ],
  [
    'taken out of an aggregate',
    hypervisorOf('node-1'),
    now({ aggregates: ['zone-a'] }),
    'its aggregates are zone-a, no longer tenants, zone-a',
  ],
  [
    'put into another, in maintenance',
    inMaintenance,
    now({ service: disabled, aggregates: ['zone-a', 'tenants', 'gold'] }),
    /^its aggregates are gold, tenants, zone-a, no longer/u,
  ],
  ['out of all', hypervisorOf('node-1'), now({ aggregates: [] }), 'its aggregates are none, no longer tenants, zone-a'],
  [
    'where none were said yet, nothing is compared',
    hypervisorOf('node-1', { aggregates: undefined }),
    now({ aggregates: [] }),
    null,
  ],
  [
    'a trait is gone',
    hypervisorOf('node-1'),
    now({ lostTraits: ['CUSTOM_FAST'] }),
    'its resource provider has lost CUSTOM_FAST',
  ],
  [
    'the service is gone',
    hypervisorOf('node-1'),
    now({ service: null, aggregates: [] }),
    'Nova has no compute service service-of-node-1 any more',
  ],
  [
    'a host that never registered has none to lose',
    hypervisorOf('node-1', { serviceId: undefined }),
    now({ service: null, aggregates: [] }),
    null,
  ],
  ['taken out of Nova, and gone', out, now({ service: null, aggregates: [] }), null],
  [
    'taken out of Nova, and back',
    out,
    now({ service: serviceOf('node-1', { id: 'new' }) }),
    /^nova-compute has registered again, as service new/u,
  ],

  ['nova-compute is down where failed hosts are handled', withHa(), down, 'its nova-compute is down'],
  ['not where they are not', hypervisorOf('node-1'), down, null],
  ['not while a failure is said', withHa(condition('NodeFailure', 'True', 'ComputeDown')), down, null],
  ['nor while it is watched', withHa(condition('NodeFailure', 'Unknown', 'ComputeDown')), down, null],
  ['nor where a user has cancelled its run', withHa(condition('NodeFailure', 'False', 'Cancelled')), down, null],
  [
    'until it is up: what was cancelled may be over',
    withHa(condition('NodeFailure', 'False', 'Cancelled')),
    now(),
    'its nova-compute is up, so the failure that a user has cancelled may be over',
  ],
  [
    'again after the last one',
    withHa(condition('NodeFailure', 'False', 'Recovered')),
    down,
    'its nova-compute is down',
  ],

  [
    'it was fenced, and the run that restores it was terminated',
    fenced(condition('NodeFailure', 'True', 'Dead')),
    unjudged({ state: 'down' }),
    'it is held because it was fenced, and no run restores it',
  ],
  [
    'where a user has cancelled that run, its Node may be Ready since',
    { ...withHa(condition('NodeFailure', 'False', 'Cancelled')), metadata: fenced().metadata },
    down,
    'its nova-compute is down',
  ],
  ['not while that run is open', fenced(condition('NodeFailure', 'True', 'Dead')), down, null],
  [
    'where Nova has it no more there is nothing to restore, and that is said as of any host',
    fenced(),
    now({ service: null, aggregates: [], isFailureRunMissing: true }),
    'Nova has no compute service service-of-node-1 any more',
  ],
  [
    'a run that judges its failure was terminated',
    withHa(condition('NodeFailure', 'True', 'NoWitness')),
    unjudged({ state: 'down' }),
    'it is said to have failed, and no run judges it any more',
  ],
  [
    'also where it has come back since',
    withHa(condition('NodeFailure', 'Unknown', 'Silent')),
    unjudged({}),
    'it is said to have failed, and no run judges it any more',
  ],
  [
    'or has left Nova',
    withHa(condition('NodeFailure', 'True', 'NoWitness')),
    now({ service: null, aggregates: [], isFailureRunMissing: true }),
    'it is said to have failed, and no run judges it any more',
  ],

  [
    'a run is on its way',
    hypervisorOf('node-1', { conditions: [condition('Lifecycle', 'Unknown', 'Evicting')] }),
    now({ aggregates: [] }),
    null,
  ],
  ['or will be, for a newer spec', hypervisorOf('node-1', {}, { generation: 2 }), now({ aggregates: [] }), null],
  ['it is not driven yet', hypervisorOf('node-1', { conditions: [] }), now({ aggregates: [] }), null],
  [
    'it is being deleted',
    hypervisorOf('node-1', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    now({ aggregates: [] }),
    null,
  ],
  [
    'it only wants to be observed',
    hypervisorOf('node-1', {}, { annotations: { 'drover.dev/mode': 'observe' } }),
    now({ aggregates: [] }),
    null,
  ],
  [
    'of a lifecycle that is not driven, aggregates do not count',
    hypervisorOf('node-1', {}, {}, { lifecycleEnabled: false }),
    now({ aggregates: [] }),
    null,
  ],
  [
    'but its maintenance is',
    { ...inMaintenance, spec: { lifecycleEnabled: false, maintenance: 'manual' } } as Hypervisor,
    now({ aggregates: [] }),
    'its compute service was enabled',
  ],
];

test.each(rows)('%s', (_why, hypervisor, observed, drift) => {
  const found = judgeDrift(hypervisor, observed);
  if (drift instanceof RegExp) expect(found).toMatch(drift);
  else expect(found).toBe(drift);
});

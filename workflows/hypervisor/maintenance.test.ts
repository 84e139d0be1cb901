import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
  MaintenanceMode,
} from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import {
  aggregatesWith,
  conditionOf,
  contextOf,
  disabledFor,
  nodeOf,
  novaOf,
  onboarding,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { beginRollingUpdate, clearRollingUpdate, planActive, planMaintenance } from './maintenance.ts';
import { execute } from './types.ts';
import type { Draft } from './types.ts';

describe('into maintenance', () => {
  type Mode = Exclude<MaintenanceMode, '' | 'termination'>;
  const updating = nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [nodeMetadata.selectedForUpdate]: 'true' } });
  const empty = { nova: disabledFor('drover: maintenance'), evictions: [ownEvictionOf('succeeded')] };
  const clear = 'execute patch [{"annotations":{"drover.dev/rolling-update":null},"spec":{"maintenance":""}}]';
  const failed = nodeOf({ cordoned: true, labels: { ...nodeOf().labels, [nodeMetadata.updateResult]: 'failed' } });

  const rows: [
    why: string,
    mode: Mode,
    desired: Partial<DesiredHypervisor>,
    observed: Partial<HypervisorObservation>,
    plan: string | RegExp,
  ][] = [
    [
      'an active host is disabled',
      'manual',
      {},
      {},
      'execute disable "drover: maintenance manual", createEviction node-1 admin',
    ],
    ['by whatever mode', 'ha', {}, {}, 'execute disable "drover: maintenance ha", createEviction node-1 termination'],
    [
      'then emptied',
      'auto',
      {},
      { nova: disabledFor('drover: maintenance auto', { servers: 1 }) },
      'execute createEviction node-1 rolling-update',
    ],
    [
      'then it is in maintenance',
      'manual',
      { maintenanceReason: 'disks' },
      empty,
      'reconciled: node-1 is disabled and empty: disks',
    ],
    [
      'another party’s auto is not drover’s to end',
      'auto',
      {},
      { ...empty, node: nodeOf({ bootId: 'boot-2' }) },
      'reconciled: node-1 is disabled and empty',
    ],
    [
      'a host that Nova does not know has nothing to empty',
      'manual',
      {},
      { nova: null },
      /^wait: spec.maintenance to be cleared/,
    ],
    [
      'its aggregates are kept meanwhile',
      'manual',
      {},
      { ...empty, aggregates: aggregatesWith('zone-a') },
      'execute +tenants',
    ],
    [
      'a problem with them does not disturb the maintenance',
      'manual',
      { aggregates: ['nowhere'] },
      empty,
      'reconciled: node-1 is disabled and empty',
    ],
    [
      'a rolling update is waited for',
      'auto',
      { rollingUpdateBootId: 'boot-1' },
      { ...empty, node: updating },
      /^wait: Node node-1 to come back from its update: Ready, open for pods, and booted anew/,
    ],
    ['a Node that is back ends it', 'auto', { rollingUpdateBootId: 'boot-0' }, empty, clear],
    ['so does one that was not booted', 'auto', { rollingUpdateBootId: 'boot-1' }, empty, clear],
    [
      'also when it came back before the host was empty',
      'auto',
      { rollingUpdateBootId: 'boot-0' },
      { nova: disabledFor('drover: maintenance auto', { servers: 1 }), evictions: [ownEvictionOf('failed')] },
      clear,
    ],
    [
      'an update that failed leaves it',
      'auto',
      { rollingUpdateBootId: 'boot-0' },
      { ...empty, node: failed },
      /^blocked: .*the update of its Node has failed/,
    ],
    [
      'a user who made it manual ends it',
      'manual',
      { rollingUpdateBootId: 'boot-0' },
      empty,
      'reconciled: node-1 is disabled and empty',
    ],
  ];

  test.each(rows)('%s', (_why, mode, desired, observed, plan) => {
    const text = shown(planMaintenance(contextOf({ maintenance: mode, ...desired }, observed), mode));
    if (typeof plan === 'string') expect(text).toBe(plan);
    else expect(text).toMatch(plan);
  });

  test('a host that was never onboarded keeps its aggregates', () => {
    expect(
      shown(
        planMaintenance(
          contextOf({ maintenance: 'manual' }, { ...empty, aggregates: aggregatesWith() }, [onboarding('aborted')]),
          'manual',
        ),
      ),
    ).toMatch(/^reconciled/);
  });

  const step = (one: Draft | null): string => (one === null ? 'nothing' : shown(execute(one)));
  const begins = 'execute patch [{"annotations":{"drover.dev/rolling-update":"boot-1"},"spec":{"maintenance":"auto"}}]';

  test.each<[why: string, desired: Partial<DesiredHypervisor>, observed: Partial<HypervisorObservation>, plan: string]>(
    [
      ['an update of the Node begins a maintenance', {}, { node: updating }, begins],
      ['a cordon does not', {}, { node: nodeOf({ cordoned: true }) }, 'nothing'],
      ['not where there is one', { maintenance: 'manual' }, { node: updating }, 'nothing'],
      ['nor where drover is not to drive it', { lifecycleEnabled: false }, { node: updating }, 'nothing'],
      ['nor again after a user ended it', { rollingUpdateBootId: 'boot-1' }, { node: updating }, 'nothing'],
      ['the next update does', { rollingUpdateBootId: 'boot-0' }, { node: updating }, begins],
    ],
  )('%s', (_why, desired, observed, plan) => {
    expect(step(beginRollingUpdate(contextOf(desired, observed)))).toBe(plan);
  });

  test.each<[why: string, desired: Partial<DesiredHypervisor>, observed: Partial<HypervisorObservation>, plan: string]>(
    [
      [
        'a maintenance that a user ended is forgotten once the update is over',
        { rollingUpdateBootId: 'boot-0' },
        {},
        'execute patch [{"annotations":{"drover.dev/rolling-update":null}}]',
      ],
      ['not before', { rollingUpdateBootId: 'boot-1' }, { node: updating }, 'nothing'],
      ['not while it lasts', { rollingUpdateBootId: 'boot-0', maintenance: 'auto' }, {}, 'nothing'],
      ['there is none', {}, {}, 'nothing'],
    ],
  )('%s', (_why, desired, observed, plan) => {
    expect(step(clearRollingUpdate(contextOf(desired, observed)))).toBe(plan);
  });
});

describe('in service', () => {
  interface Given extends Partial<HypervisorObservation> {
    desired?: Partial<DesiredHypervisor>;
    settings?: Partial<HypervisorSettings>;
  }
  const returning = { nova: disabledFor('drover: maintenance manual: disks') };
  const hold = { reason: 'Fenced', message: 'it was fenced' };

  const rows: [why: string, given: Given, plan: string | RegExp][] = [
    ['in service', {}, 'reconciled: node-1 is in service'],
    ['Nova has lost it', { nova: null }, 'wait: nova-compute to register node-1 in Nova again'],
    ['libvirt’s certificate is asked for', { certificate: 'missing' }, 'execute ensureCertificate'],
    [
      'the Eviction of a maintenance goes with it',
      { ...returning, evictions: [ownEvictionOf('succeeded')] },
      'execute deleteEviction',
    ],
    [
      'and is waited for',
      { ...returning, evictions: [ownEvictionOf('stopped', { deleting: true })] },
      'wait: Eviction node-1 to be gone',
    ],
    ['back from maintenance it is tested again', returning, 'become Testing: Running onboarding tests'],
    [
      'not with skipTests',
      { ...returning, desired: { skipTests: true } },
      'execute enable "drover: maintenance manual: disks"',
    ],
    [
      'nor without checks',
      { ...returning, settings: { checks: [] } },
      'execute enable "drover: maintenance manual: disks"',
    ],
    [
      'nor where the lifecycle is not driven',
      { ...returning, desired: { lifecycleEnabled: false } },
      'execute enable "drover: maintenance manual: disks"',
    ],
    [
      'the replaced operator’s maintenance is lifted too',
      { nova: disabledFor('Hypervisor CRD: spec.maintenance=auto'), desired: { skipTests: true } },
      'execute enable "Hypervisor CRD: spec.maintenance=auto"',
    ],
    [
      'another party’s disable stays',
      { nova: disabledFor('broken') },
      'blocked: node-1 stays disabled, as it was not for a maintenance of this Hypervisor: broken',
    ],
    ['without a reason too', { nova: disabledFor(null) }, /^blocked: node-1 stays disabled.*no reason given/],
    [
      'an eviction that leaves its host disabled does so on purpose',
      { nova: disabledFor('drover: eviction node-1: disks') },
      /^blocked: node-1 stays disabled/,
    ],
    [
      'nor is a host put into service that is not driven',
      { nova: disabledFor('New compute service disabled due to config option.'), desired: { lifecycleEnabled: false } },
      /^blocked: node-1 stays disabled/,
    ],
    [
      'a host that is held is not enabled',
      { ...returning, hold },
      'blocked: node-1 is held out of service: it was fenced',
    ],
    [
      'nor one that is forced down',
      { nova: novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: true } }) },
      /^wait: Nova to have node-1 no longer forced down/,
    ],
    [
      'another party’s Eviction is not disturbed, the node agent’s before a reboot included (H14)',
      {
        nova: disabledFor('drover: eviction node-1', { servers: 1 }),
        evictions: [ownEvictionOf('running', { ownerUid: null, name: 'node-1', message: 'on its way' })],
      },
      'wait: Eviction node-1, which this Hypervisor did not create, to end: on its way',
    ],
    [
      'nor enabled over while the service is still on (H14)',
      { evictions: [ownEvictionOf('waiting', { ownerUid: null, message: 'not begun yet' })] },
      'wait: Eviction node-1, which this Hypervisor did not create, to end: not begun yet',
    ],
    [
      'one that has ended does not count',
      { evictions: [ownEvictionOf('failed', { ownerUid: null })] },
      'reconciled: node-1 is in service',
    ],
    ['traits are kept', { provider: providerOf({ traits: [] }) }, 'execute updateTraits'],
    ['aggregates too', { aggregates: aggregatesWith('zone-a') }, 'execute +tenants'],
    [
      'what cannot be is said, and the host stays in service',
      { desired: { aggregates: ['x'] } },
      'blocked: node-1 is in service, but failed to apply aggregates: aggregates not found: [x]',
    ],
    [
      'not where the lifecycle is not driven',
      { aggregates: aggregatesWith(), desired: { lifecycleEnabled: false } },
      'reconciled: node-1 is in service',
    ],
  ];

  test.each(rows)('%s', (_why, { desired, settings, ...observed }, plan) => {
    const text = shown(planActive(contextOf(desired, observed, undefined, settings)));
    if (typeof plan === 'string') expect(text).toBe(plan);
    else expect(text).toMatch(plan);
  });

  test('that the maintenance is over is said before its Eviction is deleted, which a user would have deleted else', () => {
    const context = contextOf({}, { ...returning, evictions: [ownEvictionOf('running')] }, [
      conditionOf('Evicting', 'True', 'Running'),
    ]);
    expect(planActive(context)).toMatchObject({ steps: [{ kind: 'deleteEviction', publish: 'before' }] });
  });
});

import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
} from '../../contracts/hypervisor/hypervisor.ts';
import { planActive } from './plan-active.ts';
import {
  aggregatesWith,
  contextOf,
  disabledFor,
  novaOf,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';

interface Given extends Partial<HypervisorObservation> {
  desired?: Partial<DesiredHypervisor>;
  settings?: Partial<HypervisorSettings>;
}
const returning = { nova: disabledFor('drover: maintenance manual: disks') };
const hold = { reason: 'Fenced', message: 'it was fenced' };

const rows: [why: string, given: Given, plan: string | RegExp][] = [
  ['in service', {}, 'done: node-1 is in service'],
  ['Nova has lost it', { nova: null }, 'wait: nova-compute to register node-1 in Nova again'],
  [
    'the Eviction of a maintenance goes with it',
    { ...returning, evictions: [ownEvictionOf('succeeded')] },
    'act deleteEviction',
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
    'act enable "drover: maintenance manual: disks"',
  ],
  ['nor without checks', { ...returning, settings: { checks: [] } }, 'act enable "drover: maintenance manual: disks"'],
  [
    'nor where the lifecycle is not driven',
    { ...returning, desired: { lifecycleEnabled: false } },
    'act enable "drover: maintenance manual: disks"',
  ],
  [
    'the replaced operator’s maintenance is lifted too',
    { nova: disabledFor('Hypervisor CRD: spec.maintenance=auto'), desired: { skipTests: true } },
    'act enable "Hypervisor CRD: spec.maintenance=auto"',
  ],
  [
    'somebody else’s disable stays',
    { nova: disabledFor('broken') },
    'rest: node-1 stays disabled, as it was not for a maintenance of this Hypervisor: broken',
  ],
  ['without a reason too', { nova: disabledFor(null) }, /^rest: node-1 stays disabled.*no reason given/],
  [
    'an eviction that leaves its host disabled does so on purpose',
    { nova: disabledFor('drover: eviction node-1: disks') },
    /^rest: node-1 stays disabled/,
  ],
  [
    'nor is a host put into service that nobody drives',
    { nova: disabledFor('New compute service disabled due to config option.'), desired: { lifecycleEnabled: false } },
    /^rest: node-1 stays disabled/,
  ],
  ['a host that is held is not enabled', { ...returning, hold }, 'rest: node-1 is held out of service: it was fenced'],
  [
    'nor one that is forced down',
    { nova: novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: true } }) },
    /^wait: Nova to have node-1 no longer forced down/,
  ],
  [
    'somebody’s Eviction is not disturbed, the node agent’s before a reboot included (H14)',
    {
      nova: disabledFor('drover: eviction node-1', { servers: 1 }),
      evictions: [ownEvictionOf('running', { ownerUid: null, name: 'node-1', message: 'on its way' })],
    },
    'wait: Eviction node-1: on its way',
  ],
  [
    'nor enabled over while the service is still on (H14)',
    { evictions: [ownEvictionOf('waiting', { ownerUid: null, message: 'not begun yet' })] },
    'wait: Eviction node-1: not begun yet',
  ],
  [
    'one that has ended does not count',
    { evictions: [ownEvictionOf('failed', { ownerUid: null })] },
    'done: node-1 is in service',
  ],
  ['traits are kept', { provider: providerOf({ traits: [] }) }, 'act updateTraits'],
  ['aggregates too', { aggregates: aggregatesWith('zone-a') }, 'act +tenants'],
  [
    'what cannot be is said, and the host stays in service',
    { desired: { aggregates: ['x'] } },
    'rest: node-1 is in service, but failed to apply aggregates: aggregates not found: [x]',
  ],
  [
    'not where the lifecycle is not driven',
    { aggregates: aggregatesWith(), desired: { lifecycleEnabled: false } },
    'done: node-1 is in service',
  ],
];

test.each(rows)('%s', (_why, { desired, settings, ...observed }, plan) => {
  const text = shown(planActive(contextOf(desired, observed, undefined, settings)));
  if (typeof plan === 'string') expect(text).toBe(plan);
  else expect(text).toMatch(plan);
});

import type { HypervisorStatusPatch, RecordedStatus, ShownStatus } from '../../contracts/hypervisor/hypervisor.ts';
import { isSaid } from './is-said.ts';

const condition = { type: 'Ready', status: 'True', reason: 'Ready', message: 'ready', observedGeneration: 2 } as const;
const recorded: RecordedStatus = {
  conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  hypervisorId: 'h',
  serviceId: 's',
  evicted: false,
  libVirtVersion: '9.0.0',
};
const shown: ShownStatus = {
  traits: ['CUSTOM_A'],
  aggregates: [{ name: 'zone-a', uuid: 'u', metadata: {} }],
  internalIp: '192.0.2.1',
};
const status: HypervisorStatusPatch = {
  conditions: [condition],
  removed: ['Evicting'],
  hypervisorId: 'h',
  serviceId: 's',
  evicted: false,
  libVirtVersion: null,
  ...shown,
};

test('what says the same is not said again', () => expect(isSaid(recorded, shown, status)).toBe(true));

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
];
test.each(news)('%s is news', (_what, change) => expect(isSaid(recorded, shown, { ...status, ...change })).toBe(false));

test('null leaves a field as it is', () => {
  const untouched = {
    hypervisorId: null,
    serviceId: null,
    evicted: null,
    libVirtVersion: null,
    traits: null,
    aggregates: null,
    internalIp: null,
  };
  expect(isSaid(recorded, shown, { ...status, ...untouched })).toBe(true);
});

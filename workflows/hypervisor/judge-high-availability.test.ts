import { judgeHighAvailability } from './judge-high-availability.ts';
import type { HighAvailabilityFacts } from './judge-high-availability.ts';

const facts: HighAvailabilityFacts = { wanted: true, handled: true, evicted: false, onboarding: 'succeeded' };

const rows: [why: string, facts: Partial<HighAvailabilityFacts>, status: string, reason: string, message: string][] = [
  ['in service', {}, 'True', 'Succeeded', 'HA is enabled'],
  ['from when its tests have passed', { onboarding: 'handover' }, 'True', 'Succeeded', 'HA is enabled'],
  ['not before', { onboarding: 'testing' }, 'False', 'Onboarding', 'HA disabled before onboarding'],
  ['nor when it was aborted', { onboarding: 'aborted' }, 'False', 'Onboarding', 'HA disabled before onboarding'],
  ['an empty host has nothing to save', { evicted: true }, 'False', 'Evicted', 'HA disabled due to eviction'],
  ['nobody wants it', { wanted: false, evicted: true }, 'False', 'Succeeded', 'HA disabled per spec'],
  [
    'nobody does it',
    { handled: false },
    'False',
    'Succeeded',
    'HA disabled by drover’s settings: failed nodes are not handled',
  ],
];

test.each(rows)('%s', (_why, more, status, reason, message) => {
  expect(judgeHighAvailability({ ...facts, ...more })).toEqual({ type: 'HaEnabled', status, reason, message });
});

import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';
import { contextOf, novaOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { describeForcedDown, liftForcedDown } from './forced-down.ts';
import { execute } from './types.ts';

const forced = novaOf({ service: { status: 'enabled', disabledReason: null, state: 'down', forcedDown: true } });
const hold = { reason: 'NodeFailure', message: 'it was fenced' };
const by = 'jane doe 2026-01-31T12:00:00Z';
const consent = { consent: ['lift-forced-down' as const], consentBy: by };

const rows: [
  why: string,
  desired: Partial<DesiredHypervisor>,
  observed: Partial<HypervisorObservation>,
  step: string,
][] = [
  ['by consent it is taken back', consent, { nova: forced }, `lift forced down by ${by}`],
  ['not without', {}, { nova: forced }, 'nothing'],
  ['another consent is none', { ...consent, consent: ['delete-allocations'] }, { nova: forced }, 'nothing'],
  ['a host that goes is not held up by it', { ...consent, maintenance: 'termination' }, { nova: forced }, 'nothing'],
  [
    'one that drover has fenced is restored by the run of its failure, and the consent is none for the next time',
    consent,
    { nova: forced, hold },
    'patch [{"annotations":{"drover.dev/consent":null,"drover.dev/consent-by":null}}]',
  ],
  [
    'the consent is good once',
    consent,
    {},
    'patch [{"annotations":{"drover.dev/consent":null,"drover.dev/consent-by":null}}]',
  ],
  [
    'others stay',
    { ...consent, consent: ['delete-allocations', 'lift-forced-down'] },
    {},
    'patch [{"annotations":{"drover.dev/consent":"delete-allocations"}}]',
  ],
  ['what is not known is left', consent, { nova: null }, 'nothing'],
];

test.each(rows)('%s', (_why, desired, observed, step) => {
  const found = liftForcedDown(contextOf(desired, observed));
  expect(found === null ? 'nothing' : shown(execute(found)).replace('execute ', '')).toBe(step);
});

test.each([
  ['another party', { nova: forced }, 'ByOthers', /drover hosts --adopt node-1 --consent/u],
  ['drover', { nova: forced, hold }, 'Fenced', /drover fenced the host/u],
])('who has forced it down is said: %s', (_who, observed, reason, message) => {
  expect(describeForcedDown(contextOf({}, observed))).toMatchObject({
    type: 'ForcedDown',
    status: 'True',
    reason,
    message: expect.stringMatching(message) as string,
  });
});

test('nothing is said of a host that is not', () => {
  expect(describeForcedDown(contextOf())).toBeNull();
});

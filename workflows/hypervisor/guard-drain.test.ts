import type { Condition } from '../../contracts/conditions.ts';
import type { DesiredHypervisor, HypervisorObservation } from '../../contracts/hypervisor/hypervisor.ts';
import { guardDrain } from './guard-drain.ts';
import { beginMs, contextOf, nodeOf, onboarding, providerOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { shown } from '../../test/fixtures/workflows/hypervisor-plans.ts';

const terminating = nodeOf({ terminatingSinceMs: beginMs });
/** Nothing of the host is left in Nova and Placement. */
const gone = {
  node: nodeOf({ terminatingSinceMs: beginMs, offboardingTaint: true }),
  nova: null,
  provider: null,
  aggregates: [],
  agentPods: [],
};

const rows: [
  why: string,
  conditions: Condition[],
  observed: Partial<HypervisorObservation>,
  desired: Partial<DesiredHypervisor>,
  step: string,
][] = [
  ['a new host is not ready', [], {}, {}, 'guard 1 not ready'],
  ['nor one that is being tested', [onboarding('testing')], {}, {}, 'guard 1 not ready'],
  ['an onboarded one is', [onboarding('succeeded')], {}, {}, 'guard 1 ready'],
  ['what is so stays', [onboarding('succeeded')], { drainGuard: { minAvailable: 1, ready: true } }, {}, 'nothing'],
  [
    'the drain is held back while the Node terminates',
    [onboarding('succeeded')],
    { node: terminating },
    {},
    'guard 1 ready',
  ],
  ['until the host is out of Nova', [onboarding('succeeded')], gone, {}, 'guard 0 ready'],
  ['also where it was never onboarded', [onboarding('aborted')], gone, {}, 'guard 0 not ready'],
  ['not while a provider is left', [onboarding('succeeded')], { ...gone, provider: providerOf() }, {}, 'guard 1 ready'],
  ['nor while agents run', [onboarding('succeeded')], { ...gone, agentPods: ['a/b'] }, {}, 'guard 1 ready'],
  ['without a Node there is nothing to guard', [], { node: null }, {}, 'nothing'],
  ['nor where the lifecycle is not driven', [], {}, { lifecycleEnabled: false }, 'nothing'],
];

test.each(rows)('%s', (_why, conditions, observed, desired, step) => {
  const found = guardDrain(contextOf(desired, observed, conditions, { guardsDrain: true }));
  expect(found === null ? 'nothing' : shown({ next: 'act', steps: [found] }).replace('act ', '')).toBe(step);
});

test('it is an option', () => {
  expect(guardDrain(contextOf())).toBeNull();
});

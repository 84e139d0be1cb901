import { violations } from '../../invariants/violations.ts';
import {
  breaks,
  eviction,
  good,
  hypervisor,
  objects,
  policy,
  running,
  andThen,
  watchEvent,
  virtualMachine,
} from './sample.ts';

/** What objects say of themselves. */

breaks([
  [
    'an Eviction that says nothing',
    objects({ ...eviction('Succeeded'), status: {} }),
    /^invariant 17: Eviction node-1 says nothing of generation 1$/,
  ],
  [
    'an Eviction whose change was passed over',
    objects(running({ generation: 2 })),
    /^invariant 17: Eviction node-1 is Running of generation 1, and has 2$/,
  ],
  [
    'a Hypervisor that waits and does not say for what',
    objects(hypervisor('Onboarding', { status: 'Unknown', message: '' })),
    /^invariant 17: Hypervisor node-4 is Onboarding Unknown, and does not say why$/,
  ],
  [
    'a Hypervisor whose change was passed over',
    objects(hypervisor('Active', { generation: 3 })),
    /^invariant 17: Hypervisor node-4 is Active of generation 1, and has 3$/,
  ],
  [
    'a VirtualMachine whose change was passed over',
    objects(virtualMachine({ observedGeneration: 1 })),
    /^invariant 17: VirtualMachine team\/web is Reconciled of generation 1, and has 2$/,
  ],
  [
    'a policy whose change was passed over',
    objects(policy(1)),
    /^invariant 17: VirtualMachineSetResourcePolicy team\/apart is Made of generation 1, and has 2$/,
  ],
  [
    'a policy that says nothing',
    objects(policy(null)),
    /^invariant 17: VirtualMachineSetResourcePolicy team\/apart says nothing of generation 2$/,
  ],
  [
    'a status that speaks of an older generation',
    andThen(
      watchEvent(eviction('Succeeded', { generation: 2, condition: { observedGeneration: 2 } })),
      watchEvent(eviction('Succeeded', { generation: 2 })),
    ),
    /^invariant 18: Eviction node-1 at resourceVersion 7: Evicting speaks of generation 1 after 2$/,
  ],
  [
    'a change that is dated back',
    andThen(
      watchEvent(
        eviction('Succeeded', {
          condition: { status: 'Unknown', lastTransitionTime: '2026-01-31T11:00:00Z' },
          annotations: { 'drover.dev/retry': '1' },
        }),
      ),
    ),
    /^invariant 18: Eviction node-1 at resourceVersion 7: Evicting changed at 2026-01-31T11:00:00Z, before 2026-01-31T12:00:00Z$/,
  ],
  [
    'a change that was none',
    andThen(watchEvent(eviction('Failed', { condition: { lastTransitionTime: '2026-01-31T12:00:05Z' } }))),
    /^invariant 18: .* Evicting is still False, and says that it changed at 2026-01-31T12:00:05Z$/,
  ],
  [
    'an end that is taken back',
    andThen(watchEvent(running({ condition: { lastTransitionTime: '2026-01-31T12:00:05Z' } }))),
    /^invariant 18: .* it was over \(Succeeded\), and is Running again of the same generation$/,
  ],
  [
    'a policy that is less made',
    andThen(watchEvent(policy(1))),
    /^invariant 18: VirtualMachineSetResourcePolicy team\/apart at resourceVersion 10: generation 1 is made after 2$/,
  ],
]);

test('in the middle of things a generation may be unreported, and a module without its policy', () => {
  expect(violations({ ...good, isQuiet: false, ...objects(policy(1, [])) })).toEqual([]);
  // Nothing is in progress.
  expect(violations({ ...good, modes: {}, ...objects(hypervisor('Active', { generation: 3 })) })).toEqual([]);
});
test('what has ended begins again when a user asks: by an annotation, or by another spec', () => {
  const later = { lastTransitionTime: '2026-01-31T12:00:05Z' };
  const requested = { 'drover.dev/retry': '1' };
  expect(
    violations({
      ...good,
      ...andThen(
        watchEvent(eviction('Succeeded', { annotations: requested })),
        watchEvent(running({ annotations: { ...requested, 'drover.dev/retry-handled': '1' }, condition: later })),
      ),
    }),
  ).toEqual([]);
  expect(
    violations({
      ...good,
      ...andThen(watchEvent(running({ generation: 2, condition: { ...later, observedGeneration: 2 } }))),
    }),
  ).toEqual([]);
});

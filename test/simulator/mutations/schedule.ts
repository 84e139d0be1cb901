import type { NewVm } from '../../../activities/vsphere/specs/new-vm.ts';
import type { ForcedDownRequest } from '../../../contracts/node-failure/fencing.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { renameEachAttempt } from '../../faults/blind-clone.ts';
import { blindStart } from '../../faults/blind-start.ts';
import { asked, type Mutation, policyChangeSkipped, sizeUntrue, skipped } from './mutation.ts';
import { nodeFailureMutations } from './node-failure.ts';
import type { EventKind, Schedule, ScheduledEvent } from '../schedules/schedule.ts';

/**
 * Verbs of every lifecycle that are broken on purpose, and the schedule that notices: what a random one has to find.
 */

const at = (atMs: number, kind: EventKind, which = 0, forMs = 20_001): ScheduledEvent => ({ atMs, kind, which, forMs });
const after = (...events: ScheduledEvent[]): Schedule => ({ seed: 1, migrations: [['ok'], ['ok'], ['ok']], events });

const minuteMs = 60_000;
/** A machine is among the hosts after those without Nodes. */
const firstMachine = 2;

const onboarded = at(1_000, 'onboard');
const failed = after(
  onboarded,
  at(90_000, 'createServer', firstMachine),
  at(150_000, 'cutPower'),
  at(200_000, 'confirmOff'),
);
const created = at(1_000, 'createVm', 0, 20_000);
const withPolicy = at(1_000, 'createPolicy');

/** One for each simulation: it outlives the workers. */
const renames = new WeakMap<Clock, ReturnType<typeof renameEachAttempt>>();

export const scheduleMutations: readonly Mutation[] = [
  // Evictions.
  {
    name: 'blindStart',
    breaks: 'a migration is started once, also where its start is asked for again',
    caughtBy: after(at(1_000, 'evict'), at(1_625, 'killWorker', 0, 1_000)),
    mutate: (activity, _, { openNova, clock }) =>
      activity === 'startLiveMigration' ? (subject) => blindStart(openNova(), clock, subject) : null,
  },
  // Hypervisors.
  {
    name: 'notEnabledAgain',
    breaks: 'a hypervisor that is in service again is enabled in Nova',
    caughtBy: after(onboarded, at(2 * minuteMs, 'maintain', firstMachine)),
    mutate: skipped('ensureServiceEnabled', true),
  },
  {
    name: 'noMember',
    breaks: 'a hypervisor that is in service is in the aggregates that its Node names',
    caughtBy: after(onboarded),
    mutate: skipped('changeAggregates'),
  },
  {
    name: 'serviceLeft',
    breaks: 'a hypervisor that is decommissioned is no service of Nova',
    caughtBy: after(onboarded, at(2 * minuteMs, 'decommission'), at(3 * minuteMs, 'crashCompute')),
    mutate: skipped('ensureServiceDeleted'),
  },
  // Virtual machines.
  {
    name: 'blindClone',
    breaks: 'a VirtualMachine has one VM, also where its making is asked for again',
    // While the clone is under way.
    caughtBy: after(created, at(1_470, 'killWorker', 0, 3_000)),
    says: /invariant 13/u,
    mutate: (activity, original, { clock }) => {
      if (activity !== 'submitNewVm') return null;
      const rename = renames.get(clock) ?? renameEachAttempt();
      renames.set(clock, rename);
      return (request: NewVm) => original(rename(request) as never);
    },
  },
  {
    name: 'poweredUnasked',
    breaks: 'a VM is in the power state that its spec names',
    caughtBy: after(created, at(2 * minuteMs, 'powerVm', 0, 20_000)),
    mutate: skipped('submitPower', null),
  },
  {
    name: 'vmLeft',
    breaks: 'a VirtualMachine is let go only after its VM is gone',
    caughtBy: after(created, at(2 * minuteMs, 'deleteVm')),
    mutate: skipped('submitDestroy', null),
  },
  {
    name: 'classKept',
    breaks: 'a VM has the class that its spec names',
    caughtBy: after(created, at(minuteMs, 'powerVm'), at(2 * minuteMs, 'resizeVm', 0, 20_000)),
    mutate: skipped('submitReconfigure', null),
  },
  {
    name: 'sizeUntrueAtRandom',
    breaks: 'a VM has the size that drover observes',
    caughtBy: after(created, at(minuteMs, 'powerVm'), at(2 * minuteMs, 'resizeVm', 0, 20_000)),
    says: /invariant 13: .* CPUs instead of 2/u,
    mutate: sizeUntrue,
  },
  // Policies.
  {
    name: 'partsNotMade',
    breaks: 'a policy that is reconciled has what it names',
    caughtBy: after(withPolicy),
    mutate: policyChangeSkipped('make'),
  },
  {
    name: 'partsLeft',
    breaks: 'what a policy named is removed',
    caughtBy: after(withPolicy, at(2 * minuteMs, 'deletePolicy')),
    mutate: policyChangeSkipped('remove'),
  },
  {
    name: 'finalizerKept',
    breaks: 'a policy is let go when what it named is gone',
    caughtBy: after(withPolicy, at(2 * minuteMs, 'deletePolicy')),
    mutate: skipped('patchPolicyFinalizer', true),
  },
  // Hosts that fail.
  {
    name: 'backOffLost',
    breaks: 'a step that is refused backs off, whatever the BMC answers meanwhile',
    caughtBy: failed,
    says: /again and again/u,
    mutate: asked('ensureForcedDown', (request) => ({
      ...request,
      proof: { ...(request as ForcedDownRequest).proof, by: 'restart' },
    })),
    rewrite: { from: /problem: isOver \? null : state\.problem/u, to: 'problem: null' },
  },
  ...nodeFailureMutations
    .filter(({ name }) => ['lifeUnheeded', 'forcedDownLeft'].includes(name))
    .map((mutation): Mutation => ({ ...mutation, name: `${mutation.name}AtRandom`, caughtBy: failed, says: /kvm-1/u })),
];

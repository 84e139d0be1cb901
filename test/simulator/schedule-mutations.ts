import type { NewVm } from '../../activities/vsphere/specs/new-vm.ts';
import type { Along } from '../../contracts/virtual-machine/activities.ts';
import { blindClone } from '../faults/blind-clone.ts';
import { blindStart } from '../faults/blind-start.ts';
import { idle, type Mutation } from './mutation.ts';
import { nodeFailureMutations } from './node-failure-mutations.ts';
import type { EventKind, Schedule, ScheduledEvent } from './schedules/schedule.ts';

/** Verbs of every lifecycle that are broken on purpose, and the schedule that notices: what a random one has to find. */

const at = (atMs: number, kind: EventKind, which = 0, forMs = 20_001): ScheduledEvent => ({ atMs, kind, which, forMs });
const after = (...events: ScheduledEvent[]): Schedule => ({ seed: 1, migrations: [['ok'], ['ok'], ['ok']], events });

const minuteMs = 60_000;
/** Which of the systems `disruptions.ts` breaks. */
const nova = 0;
const vsphere = 4;
/** A machine is among the hosts after those without Nodes. */
const firstMachine = 2;

const onboarded = at(1_000, 'onboard');
const withServer = [onboarded, at(90_000, 'createServer', firstMachine)];
const created = at(1_000, 'createVm', 0, 20_000);

export const scheduleMutations: readonly Mutation[] = [
  // Evictions.
  {
    name: 'blindStart',
    breaks: 'a migration is started once, also where its start is asked for again',
    caughtBy: after(at(1_000, 'evict'), at(1_100, 'loseAnswers', nova, 3_000)),
    mutate: (activity, _, { openNova, clock }) =>
      activity === 'startLiveMigration' ? (subject) => blindStart(openNova(), clock, subject) : null,
  },
  // Hypervisors.
  {
    name: 'notEnabledAgain',
    breaks: 'a hypervisor that is in service again is enabled in Nova',
    caughtBy: after(onboarded, at(2 * minuteMs, 'maintain', firstMachine)),
    says: /kvm-1 is not in service/u,
    mutate: idle('ensureServiceEnabled', true),
  },
  {
    name: 'noMember',
    breaks: 'a hypervisor that is in service is in the aggregates that its Node names',
    caughtBy: after(onboarded),
    says: /kvm-1 is not in service/u,
    mutate: idle('changeAggregates'),
  },
  {
    name: 'serviceLeft',
    breaks: 'a hypervisor that is decommissioned is no service of Nova',
    caughtBy: after(onboarded, at(2 * minuteMs, 'decommission')),
    mutate: idle('ensureServiceDeleted'),
  },
  // Virtual machines.
  {
    name: 'blindClone',
    breaks: 'a VirtualMachine has one VM, also where its making is asked for again',
    caughtBy: after(created, at(1_500, 'loseAnswers', vsphere, 600)),
    says: /invariant 13/u,
    mutate: (activity, _, { openVcenter, clock, activities: { patchVirtualMachine } }) =>
      activity === 'submitNewVm'
        ? async (request: NewVm & Along) => {
            const written = request.notes && (await patchVirtualMachine?.(request.notes as never));
            return { ...(await blindClone(openVcenter(), clock, request)), written };
          }
        : null,
  },
  {
    name: 'poweredUnasked',
    breaks: 'a VM is in the power state that its spec names',
    caughtBy: after(created, at(2 * minuteMs, 'powerVm', 0, 20_000)),
    mutate: idle('submitPower', null),
  },
  {
    name: 'vmLeft',
    breaks: 'a VirtualMachine is let go only after its VM is gone',
    caughtBy: after(created, at(2 * minuteMs, 'deleteVm')),
    mutate: idle('submitDestroy', null),
  },
  {
    name: 'classKept',
    breaks: 'a VM has the class that its spec names',
    caughtBy: after(created, at(minuteMs, 'powerVm'), at(2 * minuteMs, 'resizeVm', 0, 20_000)),
    mutate: idle('submitReconfigure', null),
  },
  // Policies.
  {
    name: 'partsNotMade',
    breaks: 'a policy that is reconciled has what it names',
    caughtBy: after(at(1_000, 'createPolicy')),
    mutate: idle('changePolicyInVcenter', null),
  },
  {
    name: 'partsLeft',
    breaks: 'a policy is let go when what it named is gone',
    caughtBy: after(at(1_000, 'createPolicy'), at(2 * minuteMs, 'deletePolicy')),
    mutate: idle('patchPolicyFinalizer', true),
  },
  {
    name: 'policyUntold',
    breaks: 'a policy says how it goes',
    caughtBy: after(at(1_000, 'createPolicy'), at(2 * minuteMs, 'changePolicy')),
    mutate: idle('publishResourcePolicy'),
  },
  // Hosts that fail.
  ...nodeFailureMutations
    .filter(({ name }) => ['lifeUnheeded', 'forcedDownLeft'].includes(name))
    .map(({ says: _, ...mutation }): Mutation => ({
      ...mutation,
      name: `${mutation.name}AtRandom`,
      caughtBy: after(...withServer, at(150_000, 'cutPower'), at(200_000, 'confirmOff')),
    })),
];

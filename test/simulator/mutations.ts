import { nodeFailureMutations } from './node-failure-mutations.ts';
import { plannerMutations } from './planner-mutations.ts';
import type { AnyActivity, Mutate, Mutation } from './mutation.ts';

export type { AnyActivity, Mutate, Mutation };

/** The activity of that name is called with another request. */
const asked =
  (name: string, change: (request: object) => object): Mutate =>
  (activity, original) =>
    activity === name
      ? (...args: never[]) => original(change(args[0] as unknown as object) as never, ...args.slice(1))
      : null;

/** The activity of that name does nothing, and gives this answer. */
const skipped =
  (name: string, answer?: unknown): Mutate =>
  (activity) =>
    activity === name ? () => Promise.resolve(answer) : null;

/** The activity of that name does its work, and gives another answer. */
const answered =
  (name: string, change: (answer: object) => object): Mutate =>
  (activity, original) =>
    activity === name ? async (...args: never[]) => change((await original(...args)) as object) : null;

/** What a policy names is not made, or not removed. */
const policyChangeSkipped =
  (verb: 'make' | 'remove'): Mutate =>
  (activity, original) =>
    activity === 'changePolicyInVcenter'
      ? (request: { change: { kind: string } }) =>
          request.change.kind.startsWith(verb) ? Promise.resolve(null) : original(request as never)
      : null;

export const mutations: readonly Mutation[] = [
  // Evictions.
  {
    name: 'foreignReason',
    breaks: 'a service that drover disables carries its reason',
    caughtBy: 'happy',
    mutate: asked('ensureServiceDisabled', (request) => ({ ...request, reason: 'maintenance' })),
  },
  {
    name: 'silentEviction',
    breaks: 'an Eviction says how it goes',
    caughtBy: 'happy',
    mutate: skipped('publishEviction', { migrations: {}, gone: false }),
  },
  {
    name: 'blindEmpty',
    breaks: 'a host counts as empty when Nova and Placement have nothing there',
    caughtBy: 'immovable',
    mutate: answered('observeHost', (host) => ({ ...host, instances: [], allocations: [], migrations: [] })),
  },
  // Hypervisors.
  {
    name: 'aggregatesSkipped',
    breaks: 'a hypervisor in service is in the aggregates that its Node names',
    caughtBy: 'onboarding',
    mutate: skipped('changeAggregates'),
  },
  {
    name: 'traitsSkipped',
    breaks: 'a hypervisor in service has the traits that its Node names',
    caughtBy: 'onboarding',
    mutate: skipped('updateTraits'),
  },
  {
    name: 'notEnabled',
    breaks: 'a hypervisor that is Active is enabled in Nova',
    caughtBy: 'activation',
    mutate: skipped('ensureServiceEnabled', true),
  },
  // Virtual machines.
  {
    name: 'powerSkipped',
    breaks: 'a VM that is Reconciled is in the power state that its spec names',
    caughtBy: 'made',
    mutate: skipped('submitPower', null),
  },
  {
    name: 'destroyForgotten',
    breaks: 'a VirtualMachine is let go only after its VM is gone',
    caughtBy: 'deleted',
    mutate: skipped('submitDestroy', null),
  },
  {
    name: 'reconfigureSkipped',
    breaks: 'a VM that is Reconciled has the class that its spec names',
    caughtBy: 'changed',
    mutate: skipped('submitReconfigure', null),
  },
  // Policies.
  {
    name: 'partNotMade',
    breaks: 'a policy that is Made has what it names',
    caughtBy: 'provided',
    mutate: policyChangeSkipped('make'),
  },
  {
    name: 'partLeft',
    breaks: 'a policy is let go only after what it named is gone',
    caughtBy: 'withdrawn',
    mutate: policyChangeSkipped('remove'),
  },
  {
    name: 'policyUnsaid',
    breaks: 'a policy says how it goes',
    caughtBy: 'provided',
    mutate: skipped('publishResourcePolicy'),
  },
  ...plannerMutations,
  // Hosts that fail.
  ...nodeFailureMutations,
];

import { nodeFailureMutations } from './node-failure.ts';
import { plannerMutations } from './planner.ts';
import { answered, asked, type Mutation, policyChangeSkipped, sizeUntrue, skipped } from './mutation.ts';
import { scheduleMutations } from './schedule.ts';

/** A digest without its Secrets. */
const watchedOf = (read: { digest?: string | null }): string | null => read.digest?.split(' ')[0] ?? null;

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
  {
    name: 'sizeUntrue',
    breaks: 'a VM has the size that drover observes',
    caughtBy: 'changed',
    says: /^the VM has 1 CPUs and 1024 MiB/u,
    mutate: sizeUntrue,
  },
  {
    name: 'lackUnnamed',
    breaks: 'the digest that a run leaves names the Secrets that its VM lacks',
    caughtBy: 'forgotten',
    says: /ended as BootstrapNotReady/u,
    mutate: answered('observeVirtualMachine', (read) => ({ ...read, digest: watchedOf(read) })),
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
  ...scheduleMutations,
  // Hosts that fail.
  ...nodeFailureMutations,
];

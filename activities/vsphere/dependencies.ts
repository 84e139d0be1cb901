import type { ReadBackup } from '../../contracts/virtual-machine/backup.ts';
import type { ReadBootstrap } from '../../contracts/virtual-machine/bootstrap.ts';
import type { MutationRequest } from '../../contracts/virtual-machine/activities.ts';
import type { VcenterPlaces } from '../../runtime/config/vsphere-config.ts';
import type { ActivityContext, ForActivities } from '../lib/context.ts';
import { mutate, type Mutation } from '../lib/mutate.ts';
import type { VcenterRest } from './rest/client.ts';
import type { VcenterGateway } from './types.ts';
import type { RecentObservations } from './watch/recent-observations.ts';

/** What the composition root gives to the activities of one vCenter. */
export interface VsphereDependencies extends ForActivities<ActivityContext> {
  gateway: VcenterGateway;
  /** Of the same vCenter. */
  rest: VcenterRest;
  places: VcenterPlaces;
  /** Of Kubernetes, in this process: what they read goes into the VM, and nowhere else. */
  readBootstrap: ReadBootstrap;
  readBackup: ReadBackup;
  /** Records what runs change and observe of VMs. Default: nothing is recorded. */
  recent?: RecentObservations;
}

/** The same, for one execution. */
export type Tools = Pick<VsphereDependencies, 'gateway' | 'recent'> & ActivityContext;

/** One change of a VM. */
export interface VmMutation<Result> extends Pick<Mutation, 'action' | 'before' | 'after'> {
  request: MutationRequest;
  submit: () => Promise<Result>;
  /** vCenter's own id of what was begun. */
  idOf?: (result: Result) => string;
}

export const mutateVm = <Result>(
  tools: Tools,
  { request: owner, submit, idOf, ...mutation }: VmMutation<Result>,
): Promise<Result> =>
  mutate(
    tools,
    {
      ...mutation,
      object: `${owner.owner.kind === 'VsphereAgent' ? 'agent' : 'vm'}/${owner.owner.namespacedName}`,
      cause: owner.cause,
    },
    () => {
      tools.recent?.noteMutation(owner.owner.namespacedName, tools.clock.now());
      return submit();
    },
    (result) => ({ requestId: idOf?.(result) ?? null }),
  );

/** One that is a task. */
export const mutateVmByTask = (tools: Tools, mutation: Omit<VmMutation<string>, 'idOf'>): Promise<string> =>
  mutateVm(tools, { ...mutation, idOf: (taskId) => taskId });

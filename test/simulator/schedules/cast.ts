import type { WorkflowHandle } from '@temporalio/client';
import type { Session } from '../../../lab/openstack/session.ts';
import type { VcenterWitness } from '../../../lab/vsphere/witness.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Expected, OwnChange } from '../../flows/world-base.ts';
import type { Deployment } from '../deployment.ts';
import type { Disruptions } from './call-fates.ts';
import type { ScheduledEvent } from './schedule.ts';

/** What the events of a schedule are about, and what a judge has to know of them. */
export interface Cast {
  deployment: Deployment;
  /** Hosts that drover knows from the beginning, without Nodes. */
  hosts: readonly string[];
  /** Hosts whose Hypervisors come from their Nodes. */
  machines: readonly string[];
  namespace: string;
  vms: readonly string[];
  policies: readonly string[];
  /** Servers as the schedule has made and deleted them. */
  expected: Map<string, Expected>;
  ownChanges: OwnChange[];
  disruptions: Disruptions;
}

/** What an event does. It throws where there is nothing to do it to, or where that is refused. */
export type Action = (cast: Cast, event: ScheduledEvent) => unknown;

/** No caller waits longer than a simulation. */
export const patience: AbortSignal = new AbortController().signal;

/** There is nothing that the event could happen to. */
export class NothingToDo extends Error {}

/** @throws NothingToDo where there is none */
export function choose<Item>(items: readonly Item[], { which }: Pick<ScheduledEvent, 'which'>): Item {
  const item = items[which % Math.max(1, items.length)];
  if (item === undefined) throw new NothingToDo();
  return item;
}

/** Half of the events go one way, half the other. */
export const isEven = ({ forMs }: Pick<ScheduledEvent, 'forMs'>): boolean => forMs % 2 === 0;

export const sessionOf = ({ deployment: { openstack } }: Cast): Session => (openstack ?? lacking('OpenStack')).admin;
export const fleetOf = ({ deployment: { openstack } }: Cast) => (openstack ?? lacking('OpenStack')).fleet;
export const witnessOf = ({ deployment: { vcenter } }: Cast): VcenterWitness => (vcenter ?? lacking('vCenter')).witness;

const lacking = (what: string): never => {
  throw new Error(`the simulation has no ${what}`);
};

const request = ({ deployment }: Cast, method: string, path: string, more: object = {}): Promise<unknown> =>
  deployment.kubernetes.admin.request({ method, path, ...more } as never, patience);

export const create = (cast: Cast, path: string, body: object): Promise<unknown> =>
  request(cast, 'POST', path, { body });
export const patch = (cast: Cast, path: string, body: object): Promise<unknown> =>
  request(cast, 'PATCH', path, { patchType: 'merge', body });
export const remove = (cast: Cast, path: string): Promise<unknown> => request(cast, 'DELETE', path);

export const kvmPath = (plural: 'evictions' | 'hypervisors', name?: string): string =>
  resourcePath('kvm.cloud.sap/v1', plural, name === undefined ? {} : { name });
export const nodePath = (name: string, subresource?: string): string =>
  resourcePath('v1', 'nodes', { name, ...(subresource !== undefined && { subresource }) });
export const vmoperator = 'vmoperator.vmware.com/v1alpha6';
export const vmPath = ({ namespace }: Cast, plural: string, name?: string): string =>
  resourcePath(vmoperator, plural, { namespace, ...(name !== undefined && { name }) });

export const run = ({ deployment }: Cast, workflowId: string): WorkflowHandle =>
  deployment.simulation.client.workflow.getHandle(workflowId);

type IdOf = (cast: Cast, event: ScheduledEvent) => string;
export const cancel =
  (idOf: IdOf): Action =>
  (cast, event) =>
    run(cast, idOf(cast, event)).cancel();
export const terminate =
  (idOf: IdOf): Action =>
  (cast, event) =>
    run(cast, idOf(cast, event)).terminate('schedule');

export type Actions<Kind extends string> = Readonly<Record<Kind, Action>>;

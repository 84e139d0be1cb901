import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { GuestWatchInput } from '../../contracts/node-failure/guest-watch.ts';
import {
  apiServerSafetyId,
  guestWatchId,
  overshootSafetyId,
  vcenterWatchId,
  workflowQueue,
  workflowTypes,
} from '../../contracts/ids.ts';
import type { ApiServerSafetyInput } from '../../contracts/machine-safety/api-server-safety.ts';
import type { VcenterWatchInput } from '../../contracts/virtual-machine/vcenter-watch.ts';
import { attributeKeys } from './search-attribute-keys.ts';
import { limited, type OwnLimits } from './temporal.ts';

/** A run that a worker starts and that goes on until a user ends it. */
interface SystemWorkflow {
  workflowType: string;
  workflowId: string;
  input: GuestWatchInput | VcenterWatchInput | ApiServerSafetyInput;
  kind: string;
  /** What it is about; null: nothing of its own. */
  object: string | null;
  summary: string;
  details: string;
}

const defaultTimeoutMs = 20_000;

/** Begins them. One that is open already goes on. */
async function startAll(
  client: Client,
  cluster: string,
  runs: readonly SystemWorkflow[],
  limits: OwnLimits,
): Promise<void> {
  const start = ({
    workflowType,
    workflowId,
    input,
    kind,
    object,
    summary,
    details,
  }: SystemWorkflow): Promise<unknown> =>
    client.workflow.start(workflowType, {
      workflowId,
      taskQueue: workflowQueue(cluster),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      typedSearchAttributes: [
        { key: attributeKeys.kind, value: kind },
        ...(object === null ? [] : [{ key: attributeKeys.object, value: object }]),
      ],
      memo: { startedBy: 'a worker' },
      staticSummary: summary,
      staticDetails: details,
    });
  await limited(client, { timeoutMs: defaultTimeoutMs, ...limits }, () => Promise.all(runs.map(start)));
}

/** Has the guests of every shard watched. */
export const startGuestWatches = (
  client: Client,
  { shards, cluster }: { shards: number; cluster: string },
  limits: OwnLimits,
): Promise<void> =>
  startAll(
    client,
    cluster,
    Array.from({ length: shards }, (_, shard) => ({
      workflowType: workflowTypes.watchGuests,
      workflowId: guestWatchId(shard, cluster),
      input: { shard },
      kind: 'GuestWatch',
      object: null,
      summary: `Listen to guests, shard ${shard}`,
      details:
        'Keeps a connection to the libvirt of each hypervisor of its shard, and signals the run of a host’s failure when too many of its guests fail: docs/node-failure.md. Cancelling it stops no other run.',
    })),
    limits,
  );

/** Has the VMs of these vCenters watched. */
export const startVcenterWatches = (
  client: Client,
  { vcenters, cluster }: { vcenters: readonly string[]; cluster: string },
  limits: OwnLimits,
): Promise<void> =>
  startAll(
    client,
    cluster,
    vcenters.map((vcenter) => ({
      workflowType: workflowTypes.watchVcenter,
      workflowId: vcenterWatchId(vcenter, cluster),
      input: { vcenter },
      kind: 'VcenterWatch',
      object: vcenter,
      summary: `Watch the VMs of vCenter ${vcenter}`,
      details: `Watches **${vcenter}** for VMs that change, and signals the run of their VirtualMachine: docs/virtual-machine.md. Its progress is in the heartbeat of its activity. Cancelling it stops no other run.`,
    })),
    limits,
  );

/** Has the API servers of these namespaces' Machines probed, and their MachineSets counted. */
export const startMachineSafety = (
  client: Client,
  { namespaces, cluster }: { namespaces: readonly string[]; cluster: string },
  limits: OwnLimits,
): Promise<void> =>
  startAll(
    client,
    cluster,
    namespaces.flatMap((namespace) => [
      {
        workflowType: workflowTypes.watchApiServers,
        workflowId: apiServerSafetyId(namespace, cluster),
        input: { namespace },
        kind: 'ApiServerSafety',
        object: namespace,
        summary: `Freeze Machines of ${namespace} while an API server is away`,
        details: `Probes the API servers of the Machines of **${namespace}** and of their Nodes. While one does not answer, or this run is not open, Machines are frozen and no VM is swept: docs/machine-safety.md. \`drover safety\` says what it knows.`,
      },
      {
        workflowType: workflowTypes.watchOvershoot,
        workflowId: overshootSafetyId(namespace, cluster),
        input: { namespace },
        kind: 'OvershootSafety',
        object: namespace,
        summary: `Freeze MachineSets of ${namespace} with too many Machines`,
        details: `Counts the Machines of each MachineSet of **${namespace}**, and freezes those that have far more than they should: docs/machine-safety.md. Cancelling it stops no other run.`,
      },
    ]),
    limits,
  );

/** Cancels the watches over these vCenters, where there are any. */
export async function endVcenterWatches(
  client: Client,
  { vcenters, cluster }: { vcenters: readonly string[]; cluster: string },
  limits: OwnLimits,
): Promise<void> {
  const end = async (vcenter: string): Promise<void> => {
    try {
      await client.workflow.getHandle(vcenterWatchId(vcenter, cluster)).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
  await limited(client, { timeoutMs: defaultTimeoutMs, ...limits }, () => Promise.all(vcenters.map(end)));
}

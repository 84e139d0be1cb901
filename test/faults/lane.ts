import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import type { Drover } from '../../lab/drover.ts';
import { startDrover } from '../../lab/drover.ts';
import type { Lab } from '../../lab/lab.ts';
import { connectFleet } from '../../lab/openstack/fleet.ts';
import { openSession } from '../../lab/openstack/session.ts';
import type { Session } from '../../lab/openstack/session.ts';
import type { Fleet } from '../../lab/openstack/fleet.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { kubectl } from '../../lab/kubectl.ts';
import { stopServices } from '../../lab/processes.ts';
import { connectKubernetes } from '../../runtime/kubernetes.ts';
import type { Kubernetes } from '../../runtime/kubernetes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal.ts';
import { removeObjects } from '../flows/clear-leftovers.ts';
import type { EvictionLog } from '../flows/eviction-log.ts';
import { openEvictionLog } from '../flows/eviction-log.ts';
import type { Switchboard } from './switchboard.ts';
import { openSwitchboard } from './switchboard.ts';

/** So much larger than the others that the scheduler sends every server there. */
const sink = { vcpus: 8_000, memoryMiB: 33_554_432, diskGiB: 1_600_000 };
const sinks = ['node-5', 'node-6'];

/** What all lanes of one lab share. */
export interface Ground {
  lab: Lab;
  api: Kubernetes;
  session: Session;
  fleet: Fleet;
  evictions: EvictionLog;
  close(): Promise<void>;
}

/** A part of a lab where one scenario runs at a time, beside others: hosts, a Temporal namespace and a worker of its own. */
export interface Lane {
  name: string;
  ground: Ground;
  hosts: readonly string[];
  client: Client;
  drover: Drover;
  switchboard: Switchboard;
  close(): Promise<void>;
}

export async function openGround(lab: Lab): Promise<Ground> {
  const { openstack, kubernetes } = lab.handles;
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const fleet = connectFleet(openstack);
  for (const host of sinks) await fleet.change(host, sink);
  await kubectl(kubernetes, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } }));
  // What a matrix that was interrupted has left.
  const lanes = join(lab.dir, 'faults');
  for (const name of existsSync(lanes) ? readdirSync(lanes) : []) await stopServices(join(lanes, name));
  await removeObjects(api);
  const evictions = await openEvictionLog(api);
  return {
    lab,
    api,
    session: await openSession(openstack),
    fleet,
    evictions,
    async close() {
      await evictions.close();
      await api.close();
    },
  };
}

export interface LaneOptions {
  name: string;
  hosts: readonly string[];
  settings: object;
  /** One tells of all objects of a cluster, so that a lane with one is alone. */
  bridge: boolean;
  /** Of {@link ../faults/mutations.ts}. */
  mutation?: string;
}

export async function openLane(ground: Ground, { name, hosts, settings, bridge, mutation }: LaneOptions): Promise<Lane> {
  const { lab, fleet } = ground;
  for (const host of hosts) await fleet.change(host, {});
  await applyHypervisors(lab.handles.kubernetes, Object.fromEntries([...sinks, ...hosts].map((host) => [host, {}])));
  const client = openClient(readTemporalSettings({ ...lab.exports, TEMPORAL_NAMESPACE: name }));
  await ensureNamespace(client, name);
  const switchboard = await openSwitchboard();
  const hangUp = async (): Promise<void> => {
    await switchboard.close();
    await client.connection.close();
  };
  const dir = join(lab.dir, 'faults', name);
  await stopServices(dir);
  try {
    const drover = await startDrover(
      { ...lab, exports: { ...lab.exports, TEMPORAL_NAMESPACE: name } },
      { dir, settings, bridge, workerArgs: [join(checkoutDirectory, 'test/faults/worker.ts'), switchboard.url, ...(mutation === undefined ? [] : [mutation])] },
    );
    return {
      name,
      ground,
      hosts,
      client,
      drover,
      switchboard,
      async close() {
        await drover.stop();
        await hangUp();
      },
    };
  } catch (error) {
    // What stays open keeps the program from ending, and its person from reading why.
    await hangUp();
    throw error;
  }
}

const keyword = 2;
const dayMs = 86_400;

/** A namespace with drover's search attributes, as an operator makes one. */
async function ensureNamespace({ connection, workflowService }: Client, namespace: string): Promise<void> {
  const known = await workflowService.describeNamespace({ namespace }).catch(() => null);
  if (known === null) await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: dayMs as never } });
  const attributes = Object.fromEntries(Object.values(searchAttributes).map((attribute) => [attribute, keyword]));
  // The server takes some seconds to know a new namespace everywhere.
  for (let attempt = 1; ; attempt += 1) {
    try {
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      if (Object.keys(attributes).every((attribute) => attribute in customAttributes)) return;
    } catch (error) {
      if (attempt > 60) throw error;
    }
    await delay(500);
  }
}

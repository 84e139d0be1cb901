import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import type { Drover } from '../../lab/drover.ts';
import { startDrover } from '../../lab/drover.ts';
import type { PartName } from '../../lab/part.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { stopServices } from '../../lab/processes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal.ts';
import type { Ground, MatrixLab } from './ground.ts';
import { regionOf, sinks } from './ground.ts';
import type { SubjectKind } from './subjects.ts';
import { isInVcenter, subjects } from './subjects.ts';
import type { Switchboard } from './switchboard.ts';
import { openSwitchboard } from './switchboard.ts';
import { openNamespace } from './virtual-machine-objects.ts';

/** A part of a lab where one scenario runs at a time, beside others: hosts or a namespace, a Temporal namespace and a worker of its own. */
export interface Lane {
  name: string;
  ground: Ground;
  /** What the objects are called that scenarios are about: their hosts, or `namespace/name`. */
  hosts: readonly string[];
  client: Client;
  drover: Drover;
  switchboard: Switchboard;
  close(): Promise<void>;
}

export interface LaneOptions {
  name: string;
  subject: SubjectKind;
  hosts: readonly string[];
  settings: object;
  /** Of {@link ../faults/mutations.ts}. */
  mutation?: string;
}

export async function openLane(ground: Ground, { name, subject, hosts, settings, mutation }: LaneOptions): Promise<Lane> {
  const { lab } = ground;
  const { parts, bridge } = subjects[subject];
  const ofGround = isInVcenter(subject) ? await openNamespace(ground, name) : await openHosts(ground, hosts);
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
      { handles: only(lab.handles, parts), exports: { ...lab.exports, TEMPORAL_NAMESPACE: name } },
      { dir, settings: { ...settings, ...ofGround }, bridge, workerArgs: [join(checkoutDirectory, 'test/faults/worker.ts'), switchboard.url, ...(mutation === undefined ? [] : [mutation])] },
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

/** Hosts that are Hypervisors, and those that take their servers. */
async function openHosts(ground: Ground, hosts: readonly string[]): Promise<object> {
  const { fleet } = regionOf(ground);
  for (const host of hosts) await fleet.change(host, {});
  await applyHypervisors(ground.lab.handles.kubernetes, Object.fromEntries([...sinks, ...hosts].map((host) => [host, {}])));
  return {};
}

/** Of what else is in the lab, drover serves nothing here. */
const only = (handles: MatrixLab['handles'], parts: readonly PartName[]): MatrixLab['handles'] =>
  Object.fromEntries(Object.entries(handles).filter(([name]) => (parts as readonly string[]).includes(name))) as unknown as MatrixLab['handles'];

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

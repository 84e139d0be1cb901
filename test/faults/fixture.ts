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
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { KnownByTest } from '../flows/world-base.ts';
import { readWorld } from '../read-world.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import type { Environment, LabEnvironment, MatrixLab } from './environment.ts';
import { regionOf, sinks } from './environment.ts';
import type { SubjectKind } from './subjects.ts';
import { isInVcenter, subjects } from './subjects.ts';
import type { Roles } from './step.ts';
import type { Injection, Recording } from './fault-control.ts';
import { openFaultControl } from './fault-control.ts';
import { openNamespace } from './virtual-machine-objects.ts';

/**
 * Where one scenario runs at a time: its hosts or namespace, a Temporal namespace and a worker of its own, in a lab or
 * in a simulation.
 */
export interface Fixture {
  name: string;
  environment: Environment;
  /** What the objects are called that scenarios are about: their hosts, or `namespace/name`. */
  hosts: readonly string[];
  client: Client;
  /** From now on calls are named by these roles, and the faults are injected into the targeted ones. */
  record(roles: Roles, injections: readonly Injection[]): Recording;
  /** kill -9, and a new one. */
  replaceWorker(): Promise<void>;
  /** The world, for the invariants. */
  readWorld(seen: KnownByTest): Promise<Snapshot>;
}

/** In a lab, beside others. */
export interface LabFixture extends Fixture {
  environment: LabEnvironment;
  drover: Drover;
  close(): Promise<void>;
}

export interface FixtureOptions {
  name: string;
  subject: SubjectKind;
  hosts: readonly string[];
  settings: object;
  /** Of {@link ../faults/mutations.ts}. */
  mutation?: string;
}

export async function openFixture(
  environment: LabEnvironment,
  { name, subject, hosts, settings, mutation }: FixtureOptions,
): Promise<LabFixture> {
  const { lab } = environment;
  const { parts, bridge } = subjects[subject];
  const ofEnvironment = isInVcenter(subject)
    ? await openNamespace(environment, name)
    : await openHosts(environment, hosts);
  const client = openClient(readTemporalSettings({ ...lab.exports, TEMPORAL_NAMESPACE: name }));
  await ensureNamespace(client, name);
  const faultControl = await openFaultControl();
  const hangUp = async (): Promise<void> => {
    await faultControl.close();
    await client.connection.close();
  };
  const dir = join(lab.dir, 'faults', name);
  await stopServices(dir);
  try {
    const drover = await startDrover(
      { handles: only(lab.handles, parts), exports: { ...lab.exports, TEMPORAL_NAMESPACE: name } },
      {
        dir,
        settings: { ...settings, ...ofEnvironment },
        bridge,
        workerArgs: [
          join(checkoutDirectory, 'test/faults/worker.ts'),
          faultControl.url,
          ...(mutation === undefined ? [] : [mutation]),
        ],
      },
    );
    return {
      name,
      environment,
      hosts,
      client,
      drover,
      record: (roles, injections) => faultControl.record(roles, injections),
      async replaceWorker() {
        await drover.kill('worker');
        await drover.restart('worker');
      },
      readWorld: ({ sinceMs, expected, ownChanges }) => {
        const { api, region, vcenter, objectLog } = environment;
        const strangers = vcenter?.strangers.get(name);
        const common = { lab, api, client, drover, dir: drover.dir, sinceMs, objectLog };
        return readWorld(
          {
            ...common,
            ...(region !== null && { ...region, expected, ownChanges }),
            ...(strangers !== undefined && { vms: { namespace: name, strangers } }),
          },
          hosts,
        );
      },
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
async function openHosts(environment: LabEnvironment, hosts: readonly string[]): Promise<object> {
  const { fleet } = regionOf(environment);
  for (const host of hosts) await fleet.change(host, {});
  await applyHypervisors(environment.api, Object.fromEntries([...sinks, ...hosts].map((host) => [host, {}])));
  return {};
}

/** Of what else is in the lab, drover serves nothing here. */
const only = (handles: MatrixLab['handles'], parts: readonly PartName[]): MatrixLab['handles'] =>
  Object.fromEntries(
    Object.entries(handles).filter(([name]) => (parts as readonly string[]).includes(name)),
  ) as unknown as MatrixLab['handles'];

const keyword = 2;
const dayMs = 86_400;

/** A namespace with drover's search attributes, as an operator makes one. */
async function ensureNamespace({ connection, workflowService }: Client, namespace: string): Promise<void> {
  const known = await workflowService.describeNamespace({ namespace }).catch(() => null);
  if (known === null)
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: dayMs as never },
    });
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

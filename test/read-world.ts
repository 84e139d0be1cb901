import type { Client } from '@temporalio/client';
import { findCondition } from '../contracts/conditions.ts';
import type { VirtualMachineClass } from '../contracts/crds/virtual-machine-class.ts';
import type { DroverLab } from '../lab/drover.ts';
import { readApiCalls, readMigrationEvents } from '../lab/openstack/journal.ts';
import type { Session } from '../lab/openstack/session.ts';
import { openGovcWitness } from '../lab/vsphere/witness.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import type { AgentLog } from './flows/agent-log.ts';
import type { ObjectLog } from './flows/object-log.ts';
import { objectPaths } from './flows/object-log.ts';
import type { VolumeLog } from './flows/volume-log.ts';
import type { World } from './flows/world.ts';
import { objectsOf } from './invariants/objects.ts';
import type { ObservedDrover } from './invariants/read-drover.ts';
import {
  readAccountTokens,
  readAudit,
  readLimit,
  readLogs,
  readMetrics,
  readModes,
  readSecrets,
  readSweepGates,
} from './invariants/read-drover.ts';
import { noAgents } from './invariants/read-agents.ts';
import { listMachines } from './invariants/read-machines.ts';
import { noVolumes } from './invariants/read-volumes.ts';
import { noRegion, readRegion } from './invariants/read-region.ts';
import { readRuns } from './invariants/read-runs.ts';
import type { ObservedVms } from './invariants/read-vcenter.ts';
import { noVcenter, readVcenter } from './invariants/read-vcenter.ts';
import type { DroverObject, Snapshot } from './invariants/snapshot.ts';

/** Intervals of the tests are of seconds. */
const waitingEventsPerSecond = 8;

/** What is read of a lab; OpenStack and vCenter are optional. */
export type Observed = ObservedDrover & {
  api: Kubernetes;
  client: Client;
  sinceMs: number;
  lab: Pick<DroverLab, 'handles'>;
  objectLog: Pick<ObjectLog, 'events'>;
  vms?: ObservedVms;
  /** Undefined: no machine has a BMC. */
  readPower?: () => Promise<Snapshot['power']>;
  /** Undefined: there are no pools of agents. */
  agentLog?: Pick<AgentLog, 'read'>;
  /** Undefined: there are no volumes. */
  volumeLog?: Pick<VolumeLog, 'read'>;
  /** Of the Machines; undefined: there are none. */
  machineNamespace?: string;
  /** In the place of what is read here, where the world is a simulation. */
  readSnapshot?: ((hosts: readonly string[] | null) => Promise<Snapshot> | undefined) | undefined;
} & Partial<Pick<World, 'expected' | 'fleet' | 'session' | 'ownChanges' | 'planted' | 'outputs'>>;

/**
 * Takes the snapshot that the invariants are checked on: Kubernetes first, so that what it claims is compared with what
 * is true after.
 */
export async function readWorld(world: Observed, hosts: readonly string[] | null = null): Promise<Snapshot> {
  const { api, lab, client, dir, sinceMs, vms, session, fleet, expected, machineNamespace } = world;
  const objects = (await Promise.all(Object.values(objectPaths).map((path) => list<DroverObject>(api, path))))
    .flat()
    .filter((object) => isObserved(world, object));
  const events = await list<object>(api, resourcePath('events.k8s.io/v1', 'events'));
  const runs = await readRuns(client, sinceMs);
  const metrics = await readMetrics(world);
  const emptied = objectsOf({ objects }, 'Eviction')
    .filter(
      ({ spec, status }) =>
        findCondition(status?.conditions, 'Evicting')?.reason === 'Succeeded' &&
        (hosts?.includes(spec.hypervisor) ?? true),
    )
    .map(({ spec }) => spec.hypervisor);
  const { vsphere } = lab.handles;
  return {
    atMs: Date.now(),
    hosts,
    isQuiet: true,
    waitingEventsPerSecond,
    runs: runs.map(({ run }) => run),
    objects,
    watchEvents: world.objectLog.events.filter(
      ({ atMs, object }) => isObserved(world, object) && (atMs >= sinceMs || object.kind === 'Eviction'),
    ),
    vmClasses: vms === undefined ? [] : await list<VirtualMachineClass>(api, classesPath),
    ...((await world.agentLog?.read()) ?? noAgents),
    ...((await world.volumeLog?.read()) ?? noVolumes),
    machines: machineNamespace === undefined ? [] : await listMachines(api, machineNamespace),
    ...(session === undefined || fleet === undefined
      ? noRegion
      : await readRegion({
          session,
          fleet,
          expected: expected?.values() ?? [],
          journal: journalOf(session, sinceMs),
          emptied,
        })),
    power: (await world.readPower?.()) ?? {},
    ...(vms === undefined || vsphere === undefined
      ? noVcenter
      : await readVcenter(openGovcWitness(vsphere), vms, sinceMs)),
    modes: readModes(world, metrics),
    migrationsPerRegion: readLimit(world),
    sweepGates: readSweepGates(world),
    audit: readAudit(dir),
    ownChanges: world.ownChanges ?? [],
    secrets: [...readSecrets(lab.handles), ...readAccountTokens(dir), ...(world.planted ?? [])],
    texts: [
      ...runs.map(({ run, text }) => ({ where: `the history of ${run.workflowId} (${run.runId})`, text })),
      ...readLogs(world),
      ...metrics,
      ...(world.outputs ?? []),
      { where: 'the objects', text: JSON.stringify(objects) },
      { where: 'the events', text: JSON.stringify(events) },
    ],
  };
}

const journalOf = ({ handle }: Session, sinceMs: number) => ({
  novaCalls: readApiCalls(handle, 'nova', sinceMs),
  migrationEvents: readMigrationEvents(handle, sinceMs),
});

const classesPath = resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachineclasses');

const list = async <Item>(api: Kubernetes, path: string): Promise<Item[]> =>
  ((await api.request({ method: 'GET', path }, AbortSignal.timeout(20_000))) as { items: Item[] }).items;

/** VMs and policies of other namespaces are other tests'. */
function isObserved({ vms }: Observed, { kind, metadata }: DroverObject): boolean {
  return kind !== 'VirtualMachine' && kind !== 'VirtualMachineSetResourcePolicy'
    ? true
    : metadata.namespace === vms?.namespace;
}

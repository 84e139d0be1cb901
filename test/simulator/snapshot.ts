import type { VirtualMachineClass } from '../../contracts/crds/virtual-machine-class.ts';
import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import { machineKind } from '../../contracts/kinds/machine.ts';
import { kinds } from '../../contracts/kinds/table.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { KnownByTest } from '../flows/world-base.ts';
import { objectPaths } from '../flows/object-log.ts';
import { objectsOf } from '../invariants/objects.ts';
import { noAgents, readAgents, type ReadAgentObject } from '../invariants/read-agents.ts';
import { machineFacts, type ReadMachine } from '../invariants/read-machines.ts';
import { noVolumes, volumeFacts, volumeKinds, type ReadVolumeObject } from '../invariants/read-volumes.ts';
import { noRegion, readRegion } from '../invariants/read-region.ts';
import type { ObservedVms } from '../invariants/read-vcenter.ts';
import { noVcenter, readVcenter } from '../invariants/read-vcenter.ts';
import { textOf } from '../invariants/read-runs.ts';
import { observedRunOf } from '../invariants/observed-run.ts';
import type { DroverObject, OfAgents, OfVolumes, Snapshot } from '../invariants/snapshot.ts';
import type { Deployment } from './deployment.ts';

export interface SeenInSimulation extends KnownByTest {
  /** Compute hosts that are looked at; null: all. */
  hosts: readonly string[] | null;
  /** Null: none are looked at. */
  vms: ObservedVms | null;
}

/** Drover's kinds, as `Change.resource.plural` names them. */
const plurals = new Map(Object.entries(objectPaths).map(([kind, path]) => [path.split('/').at(-1) ?? '', kind]));

/**
 * A look each 0.7 s, the shortest interval of scenarios and flows, is some eleven events; a lab's own latency makes it
 * half as many.
 */
const waitingEventsPerSecond = 16;

const agentPlurals: readonly string[] = ['vsphereagents', 'vsphereagentpools'];

async function readPools({ kubernetes, vcenter }: Deployment): Promise<OfAgents> {
  const changes = kubernetes.changes.filter(
    ({ resource: { plural, group } }) =>
      agentPlurals.includes(plural) || (plural === 'machines' && group === 'cluster.x-k8s.io'),
  );
  if (vcenter === null || !changes.some(({ resource }) => agentPlurals.includes(resource.plural))) return noAgents;
  return await readAgents({
    changes: changes.map(({ atMs, type, object }) => ({ atMs, type, object: object as unknown as ReadAgentObject })),
    pools: kubernetes.objects('vsphereagentpools') as unknown as VsphereAgentPool[],
    witness: vcenter.witness,
    below: inventory.vmFolder,
  });
}

function readVolumes({ kubernetes, storage }: Deployment): OfVolumes {
  if (storage === null) return noVolumes;
  const changes = kubernetes.changes
    .filter(({ resource }) => volumeKinds.includes(resource.kind))
    .map(({ atMs, type, object }) => ({ atMs, type, object: object as unknown as ReadVolumeObject }));
  const drivers = storage.drivers.map((driver) => ({
    name: driver.options.name,
    volumes: driver.volumes.map(({ id, capacityBytes }) => ({ id, bytes: capacityBytes })),
    snapshots: driver.snapshots,
    history: (id: string) => driver.history(id),
  }));
  return volumeFacts(changes, drivers);
}

/** What the invariants are checked on, from the models themselves. */
export async function snapshotOf(deployment: Deployment, seen: SeenInSimulation): Promise<Snapshot> {
  const { simulation, kubernetes, openstack, vcenter, audit, log } = deployment;
  const { sinceMs, expected, ownChanges, hosts } = seen;
  const objects = [...plurals.keys()].flatMap((plural) => kubernetes.objects(plural) as unknown as DroverObject[]);
  const runs = simulation.runs();
  const histories = simulation.histories();
  const emptied = objectsOf({ objects }, 'Eviction')
    .filter(
      ({ spec, status }) =>
        findCondition(status?.conditions, 'Evicting')?.reason === 'Succeeded' &&
        (hosts?.includes(spec.hypervisor) ?? true),
    )
    .map(({ spec }) => spec.hypervisor);
  return {
    atMs: simulation.clock.now(),
    hosts,
    isQuiet: true,
    waitingEventsPerSecond,
    runs: runs.map(({ workflowId, runId, type, status, startMs, closeMs }, index) =>
      observedRunOf(
        { workflowId, runId, type, status, startedAtMs: startMs, closedAtMs: closeMs },
        histories[index]?.history ?? {},
      ),
    ),
    objects,
    watchEvents: kubernetes.changes
      .filter(({ resource }) => plurals.has(resource.plural))
      .map(({ atMs, type, object }) => ({ atMs, type, object: object as unknown as DroverObject })),
    vmClasses: kubernetes.objects('virtualmachineclasses') as unknown as VirtualMachineClass[],
    machines: machineFacts(
      kubernetes.changes
        .filter(({ resource }) => resource.plural === machineKind.plural && resource.group === machineKind.group)
        .map(({ atMs, type, object }) => ({ atMs, type, object: object as unknown as ReadMachine })),
    ),
    ...(await readPools(deployment)),
    ...readVolumes(deployment),
    ...(openstack === null
      ? noRegion
      : await readRegion({
          session: openstack.admin,
          fleet: openstack.fleet,
          journal: {
            novaCalls: openstack.journal.apiCalls('nova', sinceMs),
            migrationEvents: openstack.journal.migrationEvents(sinceMs),
          },
          expected: expected.values(),
          emptied,
        })),
    power: Object.fromEntries(deployment.hosts.all.map(({ name, bmc }) => [name, bmc.read(name).powered])),
    ...(vcenter === null || seen.vms === null ? noVcenter : await readVcenter(vcenter.witness, seen.vms, sinceMs)),
    modes: Object.fromEntries(
      kinds.flatMap((kind) => (deployment.config.modes[kind] === 'off' ? [] : [[kind, deployment.config.modes[kind]]])),
    ),
    migrationsPerRegion: deployment.config.limits.migrationsPerRegion,
    sweepGates: deployment.config.machines.sweep,
    audit: audit.map(({ atMs, ...line }) => ({ ...line, time: new Date(atMs).toISOString() })),
    ownChanges,
    secrets: deployment.secrets,
    texts: [
      ...histories.map(({ workflowId, history }) => ({
        where: `the history of ${workflowId}`,
        text: (history.events ?? []).map(textOf).join('\n'),
      })),
      { where: 'the log', text: log.join('') },
      { where: 'the audit log', text: JSON.stringify(audit) },
      { where: 'the objects', text: JSON.stringify(objects) },
      { where: 'the events', text: JSON.stringify(kubernetes.objects('events')) },
    ],
  };
}

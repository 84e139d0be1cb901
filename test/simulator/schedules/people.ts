import { annotations, evictionId, hypervisorId, virtualMachineId } from '../../../contracts/ids.ts';
import { messages } from '../../../contracts/messages.ts';
import { changeService, listServices } from '../../../lab/openstack/hosts.ts';
import { listServers, requestInstance } from '../../../lab/openstack/seed.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import { vmManifest, vmScene } from '../../../lab/vsphere/scene.ts';
import { resourcePath } from '../../../runtime/kubernetes.ts';
import type { Expected, OwnChange } from '../../flows/world-base.ts';
import type { NetworkCall } from '../network.ts';
import type { Deployment } from '../deployment.ts';
import type { ScheduledEvent } from './schedule.ts';

/** What the schedule's events are about. */
export interface Cast {
  deployment: Deployment;
  /** Hosts that are emptied, and hypervisors that are maintained. */
  hosts: readonly string[];
  namespace: string;
  vms: readonly string[];
  expected: Map<string, Expected>;
  ownChanges: OwnChange[];
  /** Answers of systems that are lost until then. */
  losing: Map<NetworkCall['system'], number>;
}

const buildMs = 10_000;
const systems = ['nova', 'placement', 'keystone', 'kubernetes', 'vsphere', 'temporal'] as const;
const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const kvm = (plural: string, name?: string): string => resourcePath('kvm.cloud.sap/v1', plural, name === undefined ? {} : { name });

/** Makes the event happen. What there is nothing to do to, and what is refused, is no event. */
export async function perform(cast: Cast, event: ScheduledEvent): Promise<void> {
  try {
    await actions[event.kind](cast, event);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** No such object, run or state: users are told, and go on. */
const isRefusal = (error: unknown): boolean => /not found|already|Not ?Found|completed|409|404|refuse|cannot|exists|has no|InvalidPowerState/iu.test(`${(error as Error).name} ${(error as Error).message}`);

type Action = (cast: Cast, event: ScheduledEvent) => unknown;

const hostOf = ({ hosts }: Cast, { which }: ScheduledEvent): string => hosts[which % hosts.length] ?? '';
const vmOf = ({ vms }: Cast, { which }: ScheduledEvent): string => vms[which % vms.length] ?? '';
const vmPath = ({ namespace }: Cast, name?: string): string =>
  resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace, ...(name !== undefined && { name }) });
const patch = ({ deployment }: Cast, path: string, body: object): Promise<unknown> =>
  deployment.kubernetes.admin.request({ method: 'PATCH', patchType: 'merge', path, body }, signal());
const run = ({ deployment }: Cast, workflowId: string) => deployment.simulation.client.workflow.getHandle(workflowId);

const cancel = (idOf: (cast: Cast, event: ScheduledEvent) => string): Action => (cast, event) => run(cast, idOf(cast, event)).cancel();
const terminate = (idOf: (cast: Cast, event: ScheduledEvent) => string): Action => (cast, event) => run(cast, idOf(cast, event)).terminate('schedule');
const ofEviction = (cast: Cast, event: ScheduledEvent): string => evictionId(hostOf(cast, event));
const ofHypervisor = (cast: Cast, event: ScheduledEvent): string => hypervisorId(hostOf(cast, event));
const ofVm = (cast: Cast, event: ScheduledEvent): string => virtualMachineId(cast.namespace, vmOf(cast, event));

const sessionOf = ({ deployment: { openstack } }: Cast) => openstack?.admin ?? raise('there is no OpenStack');

async function setService(cast: Cast, event: ScheduledEvent, enabled: boolean): Promise<void> {
  const host = hostOf(cast, event);
  const reason = enabled ? null : 'a person';
  await changeService(sessionOf(cast), host, enabled ? { status: 'enabled' } : { status: 'disabled', disabled_reason: reason });
  cast.ownChanges.push({ host, atMs: cast.deployment.simulation.clock.now(), enabled, reason });
}

const actions: Readonly<Record<ScheduledEvent['kind'], Action>> = {
  evict: (cast, event) => {
    const name = hostOf(cast, event);
    const body = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name }, spec: { hypervisor: name, reason: 'schedule' } };
    return cast.deployment.kubernetes.admin.request({ method: 'POST', path: kvm('evictions'), body }, signal());
  },
  deleteEviction: (cast, event) => cast.deployment.kubernetes.admin.request({ method: 'DELETE', path: kvm('evictions', hostOf(cast, event)) }, signal()),
  editEviction: (cast, event) => patch(cast, kvm('evictions', hostOf(cast, event)), { spec: { reason: `schedule ${event.atMs}` } }),
  retryEviction: (cast, event) => patch(cast, kvm('evictions', hostOf(cast, event)), { metadata: { annotations: { [annotations.retry]: String(event.atMs) } } }),
  cancelEviction: cancel(ofEviction),
  terminateEviction: terminate(ofEviction),
  pauseEviction: (cast, event) => run(cast, ofEviction(cast, event)).signal(messages.pause, { by: 'schedule' }),
  resumeEviction: (cast, event) => run(cast, ofEviction(cast, event)).signal(messages.resume, { by: 'schedule' }),

  maintain: (cast, event) => patch(cast, kvm('hypervisors', hostOf(cast, event)), { spec: { maintenance: 'manual', maintenanceReason: 'schedule' } }),
  activate: (cast, event) => patch(cast, kvm('hypervisors', hostOf(cast, event)), { spec: { maintenance: '' } }),
  cancelHypervisor: cancel(ofHypervisor),
  terminateHypervisor: terminate(ofHypervisor),

  createVm: (cast, event) => cast.deployment.kubernetes.admin.request({ method: 'POST', path: vmPath(cast), body: vmManifest(cast.namespace, vmOf(cast, event)) }, signal()),
  deleteVm: (cast, event) => cast.deployment.kubernetes.admin.request({ method: 'DELETE', path: vmPath(cast, vmOf(cast, event)) }, signal()),
  powerVm: (cast, event) => patch(cast, vmPath(cast, vmOf(cast, event)), { spec: { powerState: event.forMs % 2 === 0 ? 'PoweredOn' : 'PoweredOff' } }),
  resizeVm: (cast, event) => patch(cast, vmPath(cast, vmOf(cast, event)), { spec: { className: event.forMs % 2 === 0 ? vmScene.classes.large : vmScene.classes.small } }),
  cancelVm: cancel(ofVm),
  terminateVm: terminate(ofVm),

  enableService: (cast, event) => setService(cast, event, true),
  disableService: (cast, event) => setService(cast, event, false),
  async deleteServer(cast, { which }) {
    const servers = [...cast.expected.values()].filter(({ status }) => status !== null);
    const server = servers[which % Math.max(1, servers.length)];
    if (server === undefined) return;
    cast.expected.set(server.id, { ...server, status: null });
    await sessionOf(cast).compute('DELETE', `/servers/${server.id}`);
  },
  async createServer(cast, event) {
    const host = hostOf(cast, event);
    const services = await listServices(sessionOf(cast));
    if (services.find((service) => service.host === host)?.status !== 'enabled') return;
    const name = `${host}-later-${event.atMs}`;
    const id = await requestInstance(sessionOf(cast), { name, host, seconds: 0.5 });
    // Until it is built it is on no host.
    const { clock } = cast.deployment.simulation;
    clock.after(buildMs, async () => {
      const built = (await listServers(sessionOf(cast))).find((server) => server.id === id);
      if (built?.status === 'ACTIVE') cast.expected.set(id, { id, name, host, status: 'ACTIVE' });
    });
  },
  powerVmOutside: (cast, event) =>
    cast.deployment.vcenter?.witness.setPower(`${inventory.vmFolder}/${cast.namespace}/${vmOf(cast, event)}`, event.forMs % 2 === 0 ? 'on' : 'off'),

  killWorker: ({ deployment }, { forMs }) => deployment.simulation.killWorker(forMs),
  killBridge: ({ deployment: { bridge, simulation } }, { forMs }) => {
    bridge?.kill();
    simulation.clock.after(forMs, () => {
      if (bridge?.process === null) bridge.start();
    });
  },
  outage: ({ deployment: { simulation } }, { which, forMs }) => {
    const system = systems[which % systems.length] ?? 'nova';
    simulation.network.setAway(system, true);
    simulation.clock.after(forMs, () => simulation.network.setAway(system, false));
  },
  endWatches: ({ deployment }) => deployment.kubernetes.endWatches('broken'),
  compact: ({ deployment }) => {
    deployment.kubernetes.compact();
    deployment.kubernetes.endWatches('ended');
  },
  loseAnswers: ({ losing, deployment: { simulation } }, { which, forMs }) => void losing.set(systems[which % systems.length] ?? 'nova', simulation.clock.nowMs + Math.min(forMs, 3_000)),
};

const raise = (message: string): never => {
  throw new Error(message);
};

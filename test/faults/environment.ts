import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DroverLab } from '../../lab/drover.ts';
import { kubectl } from '../../lab/kubectl.ts';
import { connectFleet } from '../../lab/openstack/fleet.ts';
import type { Fleet } from '../../lab/openstack/fleet.ts';
import type { OpenStackHandle } from '../../lab/openstack/handle.ts';
import { openSession } from '../../lab/openstack/session.ts';
import type { Session } from '../../lab/openstack/session.ts';
import type { Handles } from '../../lab/parts.ts';
import { stopServices } from '../../lab/processes.ts';
import { connectVcenterControl } from '../../lab/vsphere/control.ts';
import type { VcenterControl } from '../../lab/vsphere/control.ts';
import { vcenterSettings } from '../../lab/vsphere/vm-fixture.ts';
import { openGovcWitness, type VcenterWitness } from '../../lab/vsphere/witness.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { removeObjects } from '../flows/clear-leftovers.ts';
import type { EvictionLog } from '../flows/eviction-log.ts';
import { evictionsIn } from '../flows/eviction-log.ts';
import type { ObjectLog } from '../flows/object-log.ts';
import { openObjectLog } from '../flows/object-log.ts';
import { raise } from '../raise.ts';
import { loseGuests } from './lose-guests.ts';

/** So much larger than the others that the scheduler sends every server there. */
export const sink = { vcpus: 8_000, memoryMiB: 33_554_432, diskGiB: 1_600_000 };
export const sinks = ['node-5', 'node-6'];

/** A lab with what its scenarios need; OpenStack, vSphere and libvirt where some do. */
export type MatrixLab = DroverLab & {
  readonly dir: string;
  readonly handles: DroverLab['handles'] & Partial<Pick<Handles, 'libvirt'>>;
};

/** The outside systems that scenarios act on and judge by: those of a lab, or of a simulation. */
export interface Environment {
  api: Kubernetes;
  /** Null: no scenario needs one. */
  region: Region | null;
  /** Null: no scenario needs one. */
  vcenter: Vcenter | null;
  /** Null: no scenario needs one. */
  libvirt: LibvirtHost | null;
  /** Null: there is none. */
  bmc: BmcHost | null;
  /** Null: there is none. */
  ceph: CephOfHosts | null;
}

/** What all fixtures of one lab share. */
export interface LabEnvironment extends Environment {
  lab: MatrixLab;
  objectLog: ObjectLog;
  close(): Promise<void>;
}

/** The libvirt daemon that stands for the scenario's hypervisor. */
export interface LibvirtHost {
  /** As the Node's InternalIP. */
  address: string;
  /** `hypervisor.libvirt` of drover's settings. */
  settings: object;
  /** Starts so many guests, and kills their QEMUs as the kernel's out-of-memory killer does. */
  loseGuests(count: number): Promise<void>;
}

/** The machine that stands for the scenario's hypervisor, as its BMC has it. */
export interface BmcHost {
  /** `nodeFailure.bmc` of drover's settings. */
  settings: object;
  /** Its plug is pulled, and put back. */
  setPower(power: 'On' | 'Off'): void;
}

/** The cluster that hypervisors have their disks on. */
export interface CephOfHosts {
  /** `hypervisor.ceph` of drover's settings. */
  settings: object;
  /** It warns of something that is none of a host's. */
  warn(): void;
  heal(): void;
}

export interface Vcenter {
  /** The section `vsphere` of drover's settings. */
  settings: object;
  witness: VcenterWitness;
  control: VcenterControl;
  /** What fixtures have planted that is not drover's, by namespace. */
  strangers: Map<string, Stranger[]>;
}

/** Something in vCenter that drover has no business with: a VM, a disk. */
export interface Stranger {
  what: string;
  /** As it was, and as it is; null: it is gone. */
  before: string;
  read: () => Promise<string | null>;
}

export interface Region {
  session: Session;
  fleet: Fleet;
  evictions: EvictionLog;
  /** Nova does not reach Placement when it removes the service of that host. A lab has no way to that. */
  loseProviderOf?: (host: string) => void;
}

export const regionOf = ({ region }: Pick<Environment, 'region'>): Region =>
  region ?? raise(new Error('the lab has no OpenStack'));
export const libvirtOf = ({ libvirt }: Pick<Environment, 'libvirt'>): LibvirtHost =>
  libvirt ?? raise(new Error('the lab has no libvirt'));
export const cephOf = ({ ceph }: Pick<Environment, 'ceph'>): CephOfHosts =>
  ceph ?? raise(new Error('there is no Ceph'));
export const bmcOf = ({ bmc }: Pick<Environment, 'bmc'>): BmcHost => bmc ?? raise(new Error('there is no BMC'));
export const vcenterOf = ({ vcenter }: Pick<Environment, 'vcenter'>): Vcenter =>
  vcenter ?? raise(new Error('the lab has no vCenter'));

/** Of the lab's libvirt daemons, the one that is the host's. */
const machine = 'node-1';

export async function openEnvironment(lab: MatrixLab): Promise<LabEnvironment> {
  const { openstack, vsphere, kubernetes, libvirt } = lab.handles;
  // The client library is 1,500 modules: simulations, which have no use for them, import this one too.
  const { connectKubernetes } = await import('../../runtime/kubernetes/kubernetes.ts');
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  // What a matrix that was interrupted has left.
  const fixtures = join(lab.dir, 'faults');
  for (const name of existsSync(fixtures) ? readdirSync(fixtures) : []) await stopServices(join(fixtures, name));
  const objectLog = await openObjectLog(api);
  const region = openstack === undefined ? null : await openRegion(lab, openstack, api, objectLog);
  return {
    lab,
    api,
    objectLog,
    region,
    vcenter:
      vsphere === undefined
        ? null
        : {
            settings: vcenterSettings(vsphere),
            witness: openGovcWitness(vsphere),
            control: connectVcenterControl(vsphere),
            strangers: new Map(),
          },
    bmc: null,
    ceph: null,
    libvirt:
      libvirt === undefined
        ? null
        : {
            address: libvirt.addresses[machine] ?? '',
            settings: { connectUri: libvirt.tcpUri, minimumVersion: '8.0.0' },
            loseGuests: (count) => loseGuests(libvirt, machine, count),
          },
    async close() {
      await objectLog.close();
      await api.close();
    },
  };
}

async function openRegion(
  { handles }: MatrixLab,
  openstack: OpenStackHandle,
  api: Kubernetes,
  objectLog: ObjectLog,
): Promise<Region> {
  const fleet = connectFleet(openstack);
  for (const host of sinks) await fleet.change(host, sink);
  await kubectl(
    handles.kubernetes,
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } }),
  );
  await removeObjects(api);
  return { session: await openSession(openstack), fleet, evictions: evictionsIn(objectLog) };
}

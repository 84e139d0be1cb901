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
import type { VsphereHandle } from '../../lab/vsphere/handle.ts';
import { connectKubernetes } from '../../runtime/kubernetes.ts';
import type { Kubernetes } from '../../runtime/kubernetes.ts';
import { removeObjects } from '../flows/clear-leftovers.ts';
import type { EvictionLog } from '../flows/eviction-log.ts';
import { openEvictionLog } from '../flows/eviction-log.ts';

/** So much larger than the others that the scheduler sends every server there. */
const sink = { vcpus: 8_000, memoryMiB: 33_554_432, diskGiB: 1_600_000 };
export const sinks = ['node-5', 'node-6'];

/** A lab with what its scenarios need; OpenStack, vSphere and libvirt where some do. */
export type MatrixLab = DroverLab & { readonly dir: string; readonly handles: DroverLab['handles'] & Partial<Pick<Handles, 'libvirt'>> };

/** What all lanes of one lab share. */
export interface Ground {
  lab: MatrixLab;
  api: Kubernetes;
  /** Null: no scenario needs one. */
  region: Region | null;
  /** Null: no scenario needs one. */
  vcenter: Vcenter | null;
  close(): Promise<void>;
}

export interface Vcenter {
  handle: VsphereHandle;
  control: VcenterControl;
  /** What lanes have planted that is nobody's of drover's, by namespace. */
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
}

export const regionOf = ({ region }: Pick<Ground, 'region'>): Region => region ?? raise('the lab has no OpenStack');
export const vcenterOf = ({ vcenter }: Pick<Ground, 'vcenter'>): Vcenter => vcenter ?? raise('the lab has no vCenter');

const raise = (message: string): never => {
  throw new Error(message);
};

export async function openGround(lab: MatrixLab): Promise<Ground> {
  const { openstack, vsphere, kubernetes } = lab.handles;
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  // What a matrix that was interrupted has left.
  const lanes = join(lab.dir, 'faults');
  for (const name of existsSync(lanes) ? readdirSync(lanes) : []) await stopServices(join(lanes, name));
  const region = openstack === undefined ? null : await openRegion(lab, openstack, api);
  return {
    lab,
    api,
    region,
    vcenter: vsphere === undefined ? null : { handle: vsphere, control: connectVcenterControl(vsphere), strangers: new Map() },
    async close() {
      await region?.evictions.close();
      await api.close();
    },
  };
}

async function openRegion({ handles }: MatrixLab, openstack: OpenStackHandle, api: Kubernetes): Promise<Region> {
  const fleet = connectFleet(openstack);
  for (const host of sinks) await fleet.change(host, sink);
  await kubectl(handles.kubernetes, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } }));
  await removeObjects(api);
  const evictions = await openEvictionLog(api);
  return { session: await openSession(openstack), fleet, evictions };
}

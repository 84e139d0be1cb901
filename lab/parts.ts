import type { OpenStackHandle } from './openstack/handle.ts';
import type { LibvirtHandle } from './libvirt/handle.ts';
import type { CsiHandle } from './csi/handle.ts';
import type { Part, PartName } from './part.ts';
import { cephPart } from './parts/ceph.ts';
import type { CephHandle } from './parts/ceph-handle.ts';
import type { IsosHandle } from './iso/handle.ts';
import { csi } from './parts/csi.ts';
import { isos } from './parts/isos.ts';
import { kubernetes } from './parts/kubernetes.ts';
import type { KubernetesHandle } from './parts/kubernetes-handle.ts';
import { type LibvirtOptions, libvirtPart } from './parts/libvirt.ts';
import { type OpenStackOptions, openStackPart } from './parts/openstack.ts';
import { type OvsOptions, ovsPart } from './parts/ovs.ts';
import type { OvsHandle } from './parts/ovs-handle.ts';
import { redfish } from './parts/redfish.ts';
import { tctl, type TctlHandle } from './parts/tctl.ts';
import { temporal, type TemporalHandle } from './parts/temporal.ts';
import { vsphere } from './parts/vsphere.ts';
import type { RedfishHandle } from './redfish/handle.ts';
import type { VsphereHandle } from './vsphere/handle.ts';

/** What each part hands to those who use it. */
export interface Handles {
  temporal: TemporalHandle;
  tctl: TctlHandle;
  kubernetes: KubernetesHandle;
  openstack: OpenStackHandle;
  libvirt: LibvirtHandle;
  ovs: OvsHandle;
  ceph: CephHandle;
  redfish: RedfishHandle;
  vsphere: VsphereHandle;
  isos: IsosHandle;
  csi: CsiHandle;
}

/** A part whose types are its own business; `lab.ts` only passes what one method returned to the next. */
export type AnyPart = Part<object, unknown>;

/** What comes up by default: all that an eviction needs. */
export const defaultPartNames = ['temporal', 'tctl', 'kubernetes', 'openstack'] as const satisfies readonly PartName[];
export type DefaultPartName = (typeof defaultPartNames)[number];

export const partNames = [
  ...defaultPartNames,
  'libvirt',
  'ovs',
  'ceph',
  'redfish',
  'vsphere',
  'isos',
  'csi',
] as const satisfies readonly PartName[];

export type Parts = Readonly<Record<PartName, AnyPart>>;

/** What can be chosen per lab; it matters when a part is started, not when it is attached to. */
export interface PartOptions {
  readonly openstack?: OpenStackOptions;
  readonly libvirt?: LibvirtOptions;
  readonly ovs?: OvsOptions;
}

export function createParts(options: PartOptions = {}): Parts {
  return {
    temporal,
    tctl,
    kubernetes,
    openstack: openStackPart(options.openstack),
    libvirt: libvirtPart(options.libvirt),
    ovs: ovsPart(options.ovs),
    ceph: cephPart,
    redfish,
    vsphere,
    isos,
    csi,
  };
}

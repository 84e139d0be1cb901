import type { OpenStackHandle } from './openstack/handle.ts';
import type { Part, PartName } from './part.ts';
import { cephPart } from './parts/ceph.ts';
import type { CephHandle } from './parts/ceph-handle.ts';
import { kubernetes } from './parts/kubernetes.ts';
import type { KubernetesHandle } from './parts/kubernetes-handle.ts';
import { type OpenStackOptions, openStackPart } from './parts/openstack.ts';
import { type OvsOptions, ovsPart } from './parts/ovs.ts';
import type { OvsHandle } from './parts/ovs-handle.ts';
import { tctl, type TctlHandle } from './parts/tctl.ts';
import { temporal, type TemporalHandle } from './parts/temporal.ts';

/** What each part hands to those who use it. */
export interface Handles {
  temporal: TemporalHandle;
  tctl: TctlHandle;
  kubernetes: KubernetesHandle;
  openstack: OpenStackHandle;
  ovs: OvsHandle;
  ceph: CephHandle;
}

/** A part whose types are its own business; `lab.ts` only passes what one method returned to the next. */
export type AnyPart = Part<object, unknown>;

export const partNames = ['temporal', 'tctl', 'kubernetes', 'openstack', 'ovs', 'ceph'] as const satisfies readonly PartName[];

/** What comes up when nobody says what: what an eviction needs. The others need packages of the system, and are asked for by name. */
export const defaultPartNames = ['temporal', 'tctl', 'kubernetes', 'openstack'] as const satisfies readonly PartName[];
export type DefaultPartName = (typeof defaultPartNames)[number];

export type Parts = Readonly<Record<PartName, AnyPart>>;

/** What can be chosen per lab; it matters when a part is started, not when it is attached to. */
export interface PartOptions {
  readonly openstack?: OpenStackOptions;
  readonly ovs?: OvsOptions;
}

export function createParts(options: PartOptions = {}): Parts {
  return { temporal, tctl, kubernetes, openstack: openStackPart(options.openstack), ovs: ovsPart(options.ovs), ceph: cephPart };
}

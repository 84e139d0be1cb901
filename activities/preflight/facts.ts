import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { sameShortName } from '../nova/find-host.ts';

/** What the node agent reports of a host in its Hypervisor, as far as an eviction cares. Null: not known. */
export interface HypervisorFacts {
  /** Name of the Hypervisor, which is the node's: Nova's host with or without its domain. */
  name: string;
  /** Nova's hypervisor, and Placement's provider. */
  hypervisorId: string | null;
  /** As `10.0.0`. */
  libVirtVersion: string | null;
  /** As `9.2.0`. */
  hypervisorVersion: string | null;
  osUpdateInProgress: boolean;
  /** `manual`, `auto`, `ha` or `termination`; empty for none. */
  maintenance: string;
}

export const hypervisorFacts = ({ metadata, spec, status }: Hypervisor): HypervisorFacts => ({
  name: metadata.name,
  hypervisorId: status?.hypervisorId || null,
  libVirtVersion: known(status?.libVirtVersion),
  hypervisorVersion: known(status?.hypervisorVersion),
  osUpdateInProgress: status?.updateStatus?.inProgress ?? false,
  maintenance: spec?.maintenance ?? '',
});

/** The node agent writes `unknown` until it has asked libvirt. */
const known = (version: string | undefined): string | null =>
  version === undefined || version === '' || version === 'unknown' ? null : version;

/** The facts of one host; null where no Hypervisor, or more than one, can be its own. */
export function factsOf(
  host: { id: string; serviceHost: string; hypervisorHostname: string },
  all: readonly HypervisorFacts[],
): HypervisorFacts | null {
  const byId = all.find(({ hypervisorId }) => hypervisorId === host.id);
  if (byId !== undefined) return byId;
  const names = [host.serviceHost, host.hypervisorHostname];
  const exact = all.filter(({ name }) => names.includes(name));
  const matches = exact.length > 0 ? exact : all.filter(({ name }) => names.some((one) => sameShortName(one, name)));
  return matches.length === 1 ? matches[0]! : null;
}

/** An Eviction that still has servers to place, as far as anybody can tell. */
export interface OpenEviction {
  uid: string;
  hypervisor: string;
  /** RFC 3339. */
  createdAt: string;
}

/** Those that have not ended and that nobody has deleted. */
export const openEvictions = (evictions: readonly Eviction[]): OpenEviction[] =>
  evictions
    .filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && findCondition(status?.conditions, 'Evicting')?.status !== 'False',
    )
    .map(({ metadata, spec }) => ({
      uid: metadata.uid,
      hypervisor: spec.hypervisor,
      createdAt: metadata.creationTimestamp,
    }));

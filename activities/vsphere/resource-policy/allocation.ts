import { z } from 'zod';

import type { PoolAllocation } from '../../../contracts/resource-policy/resource-policy.ts';
import { slowest } from '../observation/place.ts';
import { traversal } from '../properties.ts';
import type { VcenterGateway } from '../types.ts';
import type { ManagedObjectReference } from '../wire/values.ts';
import type { ResourceConfigSpec } from '../wire/vim/types.ts';

/** What is read of a pool: what it has, and what is in it. */
export const poolPaths = ['owner', 'vm', 'resourcePool', 'config.cpuAllocation', 'config.memoryAllocation'] as const;

/**
 * vCenter counts them in MHz and MiB; -1: no limit. A new pool needs all of it, and its shares are of no account at
 * this level.
 */
const allocation = (reservation: number, limit: number | null) => ({
  reservation,
  expandableReservation: true,
  limit: limit ?? -1,
  shares: { shares: 0, level: 'normal' },
});

/** @param cpuMHz of the slowest host of the cluster. Pure */
export const allocationOf = (
  { reservationCores, limitCores, reservationMiB, limitMiB }: PoolAllocation,
  cpuMHz: number,
): ResourceConfigSpec => ({
  cpuAllocation: allocation(
    Math.ceil(reservationCores * cpuMHz),
    limitCores === null ? null : Math.ceil(limitCores * cpuMHz),
  ),
  memoryAllocation: allocation(reservationMiB, limitMiB),
});

/** Whether cores are asked for, which vCenter counts by the speed of its hosts. Pure. */
export const countsCores = ({ reservationCores, limitCores }: PoolAllocation): boolean =>
  reservationCores > 0 || (limitCores ?? 0) > 0;

const poolAllocation = z.object({ reservation: z.number().default(0), limit: z.number().default(-1) });

/** Whether a pool has it already. Pure. */
export function isAllocated(properties: Readonly<Record<string, unknown>>, wanted: ResourceConfigSpec): boolean {
  return (['cpuAllocation', 'memoryAllocation'] as const).every((what) => {
    const { reservation, limit } = poolAllocation.safeParse(properties[`config.${what}`]).data ?? {};
    return reservation === wanted[what].reservation && limit === wanted[what].limit;
  });
}

const propSet = [{ type: 'HostSystem', pathSet: ['summary.hardware.cpuMhz'] }];
const speed = z.number().catch(0);

/**
 * Of the slowest host of a resource pool: what a core is there at least. 0: it has none that says so. It begins at the
 * pool, as the id of what owns it does not show whether that is a cluster or a single host, and vCenter finds objects
 * by their type, too.
 */
export async function readCpuMHz(
  gateway: Pick<VcenterGateway, 'retrieve'>,
  pool: ManagedObjectReference,
  signal: AbortSignal,
): Promise<number> {
  const selectSet = [traversal('ResourcePool', 'owner', [traversal('ComputeResource', 'host')])];
  const hosts = await gateway.retrieve({ propSet, objectSet: [{ obj: pool, skip: true, selectSet }] }, signal);
  return slowest(hosts.map(({ properties }) => ({ cpuMHz: speed.parse(properties['summary.hardware.cpuMhz']) })));
}

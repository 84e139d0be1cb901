import { z } from 'zod';

import { slowest } from '../observation/place.ts';
import { traversal } from '../properties.ts';
import type { VcenterGateway } from '../types.ts';
import type { ManagedObjectReference } from '../wire/values.ts';

const propSet = [{ type: 'HostSystem', pathSet: ['summary.hardware.cpuMhz'] }];
const speed = z.number().catch(0);

/**
 * Of the slowest host of a resource pool: what a core is there at least. 0: it has none that says so. It begins at the pool, as the id of what
 * owns it does not tell whether that is a cluster or a single host, and vCenter finds objects by their type, too.
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

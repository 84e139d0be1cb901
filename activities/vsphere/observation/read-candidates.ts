import { z } from 'zod';

import type { ObservedTask } from '../../../contracts/virtual-machine/observation.ts';
import type { Tools } from '../dependencies.ts';
import { observedPaths } from './vm.ts';
import { traversal, type ReadObject } from '../properties.ts';
import { toVm } from './read-vm.ts';
import { vmRef } from '../wire/values.ts';
import type { VirtualMachine } from '../types.ts';

/** A VM and what it is in. */
export interface FoundVm {
  vm: VirtualMachine;
  host: { name: string; cpuMHz: number } | null;
  pool: { parent: string | null; owner: string | null } | null;
  folder: { parent: string | null } | null;
  /** A task that has not ended. */
  task: ObservedTask | null;
}

const selectSet = ['runtime.host', 'resourcePool', 'parent', 'recentTask'].map((path) =>
  traversal('VirtualMachine', path),
);

const propSet = [
  { type: 'VirtualMachine', pathSet: [...observedPaths] },
  { type: 'HostSystem', pathSet: ['name', 'summary.hardware.cpuMhz'] },
  { type: 'ResourcePool', pathSet: ['parent', 'owner'] },
  { type: 'Folder', pathSet: ['parent'] },
  { type: 'Task', pathSet: ['info.entity', 'info.state', 'info.descriptionId', 'info.progress'] },
];

/** All of them with what they are in, in one call; those that are gone are left out. */
export async function readCandidates(
  { gateway, scope: { signal } }: Pick<Tools, 'gateway' | 'scope'>,
  vmIds: readonly string[],
): Promise<FoundVm[]> {
  if (vmIds.length === 0) return [];
  const read = await gateway.retrieve(
    { propSet, objectSet: vmIds.map((id) => ({ obj: vmRef(id), selectSet })) },
    signal,
  );
  const byId = new Map(read.map((object) => [object.ref.value, object]));
  return read
    .filter(({ ref }) => ref.type === 'VirtualMachine')
    .map((object) => toFound(toVm({ name: gateway.vcenter }, object), byId, read));
}

const reference = z.object({ value: z.string() });
const idOf = (ref: unknown): string | null => reference.safeParse(ref).data?.value ?? null;

function toFound(vm: VirtualMachine, byId: ReadonlyMap<string, ReadObject>, read: readonly ReadObject[]): FoundVm {
  const of = (id: string | null): Readonly<Record<string, unknown>> | null => byId.get(id ?? '')?.properties ?? null;
  const host = of(vm.hostId);
  const pool = of(vm.resourcePoolId);
  const folder = of(vm.folderId);
  return {
    vm,
    host:
      host === null
        ? null
        : {
            name: z.string().catch('').parse(host['name']),
            cpuMHz: z.number().catch(0).parse(host['summary.hardware.cpuMhz']),
          },
    pool: pool === null ? null : { parent: idOf(pool['parent']), owner: idOf(pool['owner']) },
    folder: folder === null ? null : { parent: idOf(folder['parent']) },
    task: read.flatMap((object) => toTask(object, vm.id))[0] ?? null,
  };
}

const task = z.object({
  'info.entity': reference.optional(),
  'info.state': z.enum(['queued', 'running']),
  'info.descriptionId': z.string().default(''),
  'info.progress': z.number().nullable().default(null),
});

/** None where it has ended. */
function toTask({ ref, properties }: ReadObject, vmId: string): ObservedTask[] {
  const parsed = ref.type === 'Task' ? task.safeParse(properties).data : undefined;
  return parsed === undefined || parsed['info.entity']?.value !== vmId
    ? []
    : [{ id: ref.value, descriptionId: parsed['info.descriptionId'], progress: parsed['info.progress'] }];
}

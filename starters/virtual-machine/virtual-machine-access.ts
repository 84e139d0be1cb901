import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';
import { shownVirtualMachines } from './virtual-machine-objects.ts';

/** VirtualMachines as commands use them. Every call fails with a row of the error table. */
export interface VirtualMachineAccess {
  /** All that fit the schema, and `namespace/name` of those that do not. @param namespace null: of all */
  list(namespace: string | null): Promise<{ machines: VirtualMachineObject[]; unreadable: string[] }>;
  /** Null: there is none. @throws CommandError for one that does not fit the schema */
  read(namespace: string, name: string): Promise<VirtualMachineObject | null>;
  /** Sets annotations of that very object, and leaves the others. @throws ObjectConflict where it is another one of the same name by now */
  annotate(
    object: Pick<VirtualMachineObject, 'namespace' | 'name' | 'uid'>,
    annotations: Readonly<Record<string, string>>,
  ): Promise<VirtualMachineObject>;
}

export const virtualMachineAccess = (
  kubernetes: Pick<KubernetesAccess, 'list' | 'get' | 'patch'>,
): VirtualMachineAccess => ({
  async list(namespace) {
    const { found, unreadable } = await kubernetes.list(shownVirtualMachines, namespace ?? undefined);
    return { machines: found, unreadable };
  },
  read: (namespace, name) => kubernetes.get(shownVirtualMachines, { namespace, name }),
  annotate: ({ namespace, name, uid }, annotations) =>
    kubernetes.patch(shownVirtualMachines, { namespace, name, uid }, { metadata: { annotations } }),
});

/** All that there are, for a suggestion only: who may not list gets none. */
export async function listForSuggestion(
  access: VirtualMachineAccess,
  abort: AbortSignal,
): Promise<VirtualMachineObject[]> {
  try {
    return (await access.list(null)).machines;
  } catch {
    abort.throwIfAborted();
    return [];
  }
}

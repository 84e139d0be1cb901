import { virtualMachineKind } from '../../contracts/kinds/virtual-machine.ts';
import { fieldManager } from '../../contracts/ids.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import type { VirtualMachineObject } from './virtual-machine-facts.ts';
import { parseVirtualMachine } from './virtual-machine-objects.ts';

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

const { group, version, plural } = virtualMachineKind;
const path = (namespace: string, name: string): string =>
  `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`;

export function virtualMachineAccess(
  kubernetes: Pick<KubernetesAccess, 'open' | 'listAll'>,
  abort: AbortSignal,
): VirtualMachineAccess {
  return {
    async list(namespace) {
      const items = (await kubernetes.listAll(virtualMachineKind, namespace ?? undefined)).map((item) => ({
        item,
        parsed: parseVirtualMachine(item),
      }));
      return {
        machines: items.flatMap(({ parsed }) => parsed ?? []),
        unreadable: items.flatMap(({ item, parsed }) => (parsed === null ? [nameOf(item)] : [])),
      };
    },
    async read(namespace, name) {
      try {
        return wellFormed(
          await (await kubernetes.open()).request({ method: 'GET', path: path(namespace, name) }, abort),
          namespace,
          name,
        );
      } catch (error) {
        if (isFailure(error, 'ObjectNotFound')) return null;
        throw error;
      }
    },
    async annotate({ namespace, name, uid }, annotations) {
      const request = {
        method: 'PATCH',
        path: path(namespace, name),
        query: { fieldManager },
        patchType: 'merge',
        body: { metadata: { uid, annotations } },
      } as const;
      return wellFormed(await (await kubernetes.open()).request(request, abort), namespace, name);
    },
  };
}

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

function wellFormed(answer: unknown, namespace: string, name: string): VirtualMachineObject {
  const machine = parseVirtualMachine(answer);
  if (machine === null)
    throw new CommandError(
      `VirtualMachine ${namespace}/${name} is not as its schema says, so drover leaves it alone.`,
      exitCodes.refused,
      '`drover doctor` compares the CRD that is installed; `drover crds` prints drover’s.',
    );
  return machine;
}

function nameOf(item: unknown): string {
  const { namespace, name } = (item as { metadata?: { namespace?: unknown; name?: unknown } } | null)?.metadata ?? {};
  return typeof namespace === 'string' && typeof name === 'string' ? `${namespace}/${name}` : 'one without a name';
}

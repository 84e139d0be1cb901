import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { fieldManager, nodeMarks } from '../../contracts/ids.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { HypervisorObject, SpeakingNode } from './hypervisor-objects.ts';
import { parseHypervisor, parseNode } from './hypervisor-objects.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';

/** What a command changes of a Hypervisor, as a merge patch says it: null takes away. */
export interface HypervisorChange {
  annotations?: Record<string, string | null>;
  spec?: {
    lifecycleEnabled?: boolean;
    skipTests?: boolean;
    maintenance?: MaintenanceMode;
    maintenanceReason?: string | null;
  };
}

/** Hypervisors and their Nodes as commands use them. Every call fails with a row of the error table. */
export interface HypervisorAccess {
  /** All that fit the schema, and the names of those that do not. */
  list(): Promise<{ hypervisors: HypervisorObject[]; unreadable: string[] }>;
  /** Null: there is none. @throws CommandError for one that does not fit the schema */
  read(name: string): Promise<HypervisorObject | null>;
  /** @throws ObjectConflict where somebody changed it since it was read */
  patch(
    version: Pick<HypervisorObject, 'name' | 'resourceVersion'>,
    change: HypervisorChange,
  ): Promise<HypervisorObject>;
  readNode(name: string): Promise<SpeakingNode | null>;
  /** Sets the label that switches the lifecycle on. @throws ObjectConflict */
  labelNode(version: Pick<SpeakingNode, 'name' | 'resourceVersion'>, lifecycle: string): Promise<SpeakingNode>;
}

const path = (name?: string): string =>
  `/apis/${hypervisorKind.group}/${hypervisorKind.version}/${hypervisorKind.plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const nodePath = (name: string): string => `/api/v1/nodes/${encodeURIComponent(name)}`;

export function hypervisorAccess(
  kubernetes: Pick<KubernetesAccess, 'open' | 'listAll'>,
  abort: AbortSignal,
): HypervisorAccess {
  const readOrNull = async (at: string): Promise<unknown> => {
    try {
      return await (await kubernetes.open()).request({ method: 'GET', path: at }, abort);
    } catch (error) {
      if (isFailure(error, 'ObjectNotFound')) return null;
      throw error;
    }
  };
  const patch = async (at: string, body: object): Promise<unknown> =>
    (await kubernetes.open()).request(
      { method: 'PATCH', path: at, query: { fieldManager }, patchType: 'merge', body },
      abort,
    );

  return {
    async list() {
      const items = (await kubernetes.listAll(hypervisorKind)).map((item) => ({
        item,
        parsed: parseHypervisor(item),
      }));
      const unreadable = items.flatMap(({ item, parsed }) => (parsed === null ? [nameOf(item)] : []));
      return { hypervisors: items.flatMap(({ parsed }) => parsed ?? []), unreadable };
    },
    async read(name) {
      const answer = await readOrNull(path(name));
      return answer === null ? null : wellFormed(answer, name);
    },
    patch: async ({ name, resourceVersion }, { annotations, spec }) =>
      wellFormed(
        await patch(path(name), {
          metadata: { resourceVersion, ...(annotations && { annotations }) },
          ...(spec && { spec }),
        }),
        name,
      ),
    readNode: async (name) => parseNode(await readOrNull(nodePath(name))),
    async labelNode({ name, resourceVersion }, lifecycle) {
      const node = parseNode(
        await patch(nodePath(name), { metadata: { resourceVersion, labels: { [nodeMarks.lifecycle]: lifecycle } } }),
      );
      if (node === null)
        throw new CommandError(
          `kube-apiserver answered with something that is no Node ${name}.`,
          exitCodes.unreachable,
        );
      return node;
    },
  };
}

function wellFormed(answer: unknown, name: string): HypervisorObject {
  const hypervisor = parseHypervisor(answer);
  if (hypervisor === null)
    throw new CommandError(
      `Hypervisor ${name} is not as its schema says, so drover leaves it alone.`,
      exitCodes.refused,
      '`drover doctor` compares the CRD that is installed; `drover crds` prints drover’s.',
    );
  return hypervisor;
}

function nameOf(item: unknown): string {
  const name = (item as { metadata?: { name?: unknown } } | null)?.metadata?.name;
  return typeof name === 'string' ? name : 'one without a name';
}

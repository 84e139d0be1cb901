import { evictionSchema } from '../../contracts/crds/eviction.ts';
import { evictionKind } from '../../contracts/kinds/eviction.ts';
import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import { apiVersionOf, type Resource } from '../../contracts/kinds/object.ts';
import { migration } from '../../contracts/kinds/resources.ts';
import { migrationSchema } from '../../contracts/crds/migration.ts';
import { fieldManager, labels } from '../../contracts/ids.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { CommandContext } from './context.ts';
import {
  describeEviction,
  describeMigration,
  type EvictionObject,
  type MigrationObject,
} from '../eviction/eviction-objects.ts';
import { explainError } from './explain-error.ts';

/**
 * Kubernetes as commands use it. Nothing is opened before the first call, so a command that can do without Kubernetes runs where there is
 * none. Every call fails with a row of the error table.
 */
export interface KubernetesAccess {
  /** Every Eviction; one that is not as its schema says is left out. */
  evictions(): Promise<EvictionObject[]>;
  /** Names of all Hypervisors. */
  hypervisors(): Promise<string[]>;
  createEviction(eviction: EvictionManifest): Promise<EvictionObject>;
  /** Sets annotations, and leaves the others. */
  annotate(eviction: string, annotations: Readonly<Record<string, string>>): Promise<EvictionObject>;
  /** The Migration objects of the Eviction. */
  migrations(evictionUid: string): Promise<MigrationObject[]>;
  /** Every object of a kind, as kube-apiserver serves it: of all namespaces, or of one. */
  listAll(resource: Resource, namespace?: string): Promise<unknown[]>;
  /** kube-apiserver itself. */
  open(): Promise<Kubernetes>;
}

export interface EvictionManifest {
  metadata: { name: string; annotations: Record<string, string> };
  spec: { hypervisor: string; reason: string };
}

const pageSize = 500;

/** Runs `use` with Kubernetes at hand, and cuts the connections. */
export async function withKubernetes<Result>(
  { context, config, abort }: { context: CommandContext; config: Config; abort: AbortSignal },
  use: (access: KubernetesAccess) => Promise<Result>,
): Promise<Result> {
  let opened: Promise<Kubernetes> | null = null;
  const open = (): Promise<Kubernetes> => (opened ??= context.openKubernetes(config));
  try {
    return await use(accessBy(open, config, abort));
  } finally {
    await (opened as Promise<Kubernetes> | null)?.then((kubernetes) => kubernetes.close()).catch(() => undefined);
  }
}

function accessBy(open: () => Promise<Kubernetes>, config: Config, abort: AbortSignal): KubernetesAccess {
  const mode = config.modes.Eviction === 'observe' ? 'observe' : 'act';
  const describe = (answer: unknown): EvictionObject => describeEviction(evictionSchema.parse(answer), mode);
  const list = async (resource: Resource, query: Record<string, string> = {}, namespace?: string): Promise<unknown[]> =>
    await listAll(await open(), resource, query, namespace, abort);

  return {
    open,
    listAll: (resource, namespace) => list(resource, {}, namespace),
    async evictions() {
      const parsed = (await list(evictionKind)).map((item) => evictionSchema.safeParse(item));
      return parsed.flatMap(({ data }) => (data === undefined ? [] : [describeEviction(data, mode)]));
    },
    async hypervisors() {
      return (await list(hypervisorKind)).map((item) => (item as { metadata: { name: string } }).metadata.name);
    },
    async createEviction(manifest) {
      const kubernetes = await open();
      const body = { apiVersion: apiVersionOf(evictionKind), kind: evictionKind.kind, ...manifest };
      return describe(
        await kubernetes.request({ method: 'POST', path: pathOf(evictionKind), query: { fieldManager }, body }, abort),
      );
    },
    async annotate(name, annotations) {
      const kubernetes = await open();
      const request = {
        method: 'PATCH',
        path: pathOf(evictionKind, { name }),
        query: { fieldManager },
        patchType: 'merge',
        body: { metadata: { annotations } },
      } as const;
      return describe(await kubernetes.request(request, abort));
    },
    async migrations(evictionUid) {
      const items = await list(
        migration,
        { labelSelector: `${labels.evictionUid}=${evictionUid}` },
        config.kubernetes.migrationNamespace,
      );
      return items
        .map((item) => migrationSchema.safeParse(item))
        .flatMap(({ data }) => (data === undefined ? [] : [describeMigration(data)]));
    },
  };
}

const pathOf = (resource: Resource, place: { name?: string; namespace?: string } = {}): string =>
  resourcePath(apiVersionOf(resource), resource.plural, place);

async function listAll(
  kubernetes: Kubernetes,
  resource: Resource,
  query: Record<string, string>,
  namespace: string | undefined,
  abort: AbortSignal,
): Promise<unknown[]> {
  const path = pathOf(resource, namespace === undefined ? {} : { namespace });
  const items: unknown[] = [];
  let next: string | undefined;
  do {
    const answer = await kubernetes.request(
      { method: 'GET', path, query: { ...query, limit: pageSize, continue: next } },
      abort,
    );
    const page = answer as { items?: unknown[]; metadata?: { continue?: string } };
    items.push(...(page.items ?? []));
    next = page.metadata?.continue === '' ? undefined : page.metadata?.continue;
  } while (next !== undefined);
  return items;
}

/** What of Kubernetes can be shown: the Evictions, or why there are none to show. */
export async function readEvictions(
  access: KubernetesAccess,
): Promise<{ objects: EvictionObject[]; problem: string | null }> {
  try {
    return { objects: await access.evictions(), problem: null };
  } catch (error) {
    return { objects: [], problem: explainError(error).message };
  }
}

import { z } from 'zod';

import { evictionSchema } from '../../contracts/crds/eviction.ts';
import { migrationSchema } from '../../contracts/crds/migration.ts';
import { labels } from '../../contracts/ids.ts';
import { evictionKind } from '../../contracts/kinds/eviction.ts';
import { hypervisorKind } from '../../contracts/kinds/hypervisor.ts';
import { migration } from '../../contracts/kinds/resources.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import {
  type KubernetesObjects,
  type ObjectChange,
  type ObjectKey,
  type ObjectVersion,
  type Resource,
  openObjects,
} from '../../runtime/kubernetes/objects.ts';
import { typed } from '../../runtime/kubernetes/resources.ts';
import {
  describeEviction,
  describeMigration,
  type EvictionObject,
  type MigrationObject,
} from '../eviction/eviction-objects.ts';
import type { CommandContext } from './context.ts';
import { CommandError } from './error.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';

/**
 * Kubernetes as commands use it. Nothing is opened before the first call, so a command that can do without Kubernetes
 * runs where there is none. Every call fails with a row of the error table.
 */
export interface KubernetesAccess {
  /** Every Eviction; one that is not as its schema says is left out. */
  evictions(): Promise<EvictionObject[]>;
  /** Names of all Hypervisors. */
  hypervisors(): Promise<string[]>;
  createEviction(eviction: EvictionManifest): Promise<EvictionObject>;
  /**
   * Sets annotations of that very Eviction, and leaves the others.
   *
   * @throws ObjectConflict where it is another version, or another Eviction of that name, by now
   */
  annotate(
    eviction: Pick<EvictionObject, 'name' | 'uid' | 'resourceVersion'>,
    annotations: Readonly<Record<string, string>>,
  ): Promise<EvictionObject>;
  /** The Migration objects of the Eviction. */
  migrations(evictionUid: string): Promise<MigrationObject[]>;
  /** Every object of a kind that fits its schema, and the names of those that do not; of all namespaces, or of one. */
  list<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    namespace?: string,
  ): Promise<{ found: z.output<Schema>[]; unreadable: string[] }>;
  /** Null: there is none. @throws CommandError for one that does not fit the schema */
  get<Schema extends z.ZodType>(resource: Resource<Schema>, key: ObjectKey): Promise<z.output<Schema> | null>;
  /** @throws ObjectConflict where it is another version, or another object of that name; CommandError as `get` */
  patch<Schema extends z.ZodType>(
    resource: Resource<Schema>,
    version: ObjectVersion,
    change: ObjectChange<Schema>,
  ): Promise<z.output<Schema>>;
  /** kube-apiserver itself. */
  open(): Promise<Kubernetes>;
}

export interface EvictionManifest {
  metadata: { name: string; annotations: Record<string, string> };
  spec: { hypervisor: string; reason: string };
}

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

export function accessBy(open: () => Promise<Kubernetes>, config: Config, abort: AbortSignal): KubernetesAccess {
  const mode = config.modes.Eviction === 'observe' ? 'observe' : 'act';
  const evictions = typed(
    evictionKind,
    evictionSchema.transform((eviction) => describeEviction(eviction, mode)),
  );
  const objects = async (): Promise<KubernetesObjects> => openObjects(await open());
  const patch: KubernetesAccess['patch'] = async (resource, version, change) =>
    wellFormed(resource, version, (await objects()).patch(resource, version, change, abort));

  return {
    open,
    async list(resource, namespace) {
      const items = await (await objects()).list({ ...resource, schema: z.unknown() }, { namespace }, abort);
      const parsed = items.map((item) => ({ item, read: resource.schema.safeParse(item) }));
      return {
        found: parsed.flatMap(({ read }) => (read.success ? [read.data] : [])),
        unreadable: parsed.flatMap(({ item, read }) => (read.success ? [] : [nameOf(item)])),
      };
    },
    get: async (resource, key) => wellFormed(resource, key, (await objects()).get(resource, key, abort)),
    patch,
    evictions: async () => (await objects()).listValid(evictions, {}, abort),
    async hypervisors() {
      const found = await (await objects()).list({ ...hypervisorKind, schema: namedSchema }, {}, abort);
      return found.map(({ metadata }) => metadata.name);
    },
    async createEviction(manifest) {
      const made = await (await objects()).create(evictions, { ...manifest }, abort);
      if (made === null)
        throw droverFailure('ObjectConflict', `There is an Eviction ${manifest.metadata.name} already`);
      return made;
    },
    annotate: ({ name, uid, resourceVersion }, annotations) =>
      patch(evictions, { name, uid, resourceVersion }, { metadata: { annotations } }),
    migrations: async (evictionUid) =>
      (await objects()).listValid(
        typed(migration, migrationSchema.transform(describeMigration)),
        { namespace: config.kubernetes.migrationNamespace, labelSelector: `${labels.evictionUid}=${evictionUid}` },
        abort,
      ),
  };
}

async function wellFormed<Read>(
  { kind }: Resource,
  { namespace, name }: ObjectKey,
  read: Promise<Read>,
): Promise<Read> {
  try {
    return await read;
  } catch (error) {
    if (!isFailure(error, 'AnswerMalformed')) throw error;
    throw new CommandError(
      `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name} is not as its schema says, so drover leaves it alone.`,
      exitCodes.refused,
      '`drover doctor` compares the CRD that is installed; `drover crds` prints drover’s.',
      error,
    );
  }
}

const namedSchema = z.object({ metadata: z.object({ namespace: z.string().optional(), name: z.string() }) });

function nameOf(item: unknown): string {
  const { namespace, name } = namedSchema.safeParse(item).data?.metadata ?? {};
  if (name === undefined) return 'one without a name';
  return namespace === undefined ? name : `${namespace}/${name}`;
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

import type { EvictionSettings } from '../../../contracts/eviction/eviction.ts';
import type { Mode } from '../../../contracts/kinds/kind.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Stop } from '../../../runtime/stop.ts';
import type { Audit } from '../../../runtime/telemetry/audit.ts';
import type { ActivityScope } from '../../lib/context.ts';
import { z } from 'zod';

import { evictionSchema } from '../../../contracts/crds/eviction.ts';
import type { Eviction, EvictionStatus } from '../../../contracts/crds/eviction.ts';
import { hypervisorSchema } from '../../../contracts/crds/hypervisor.ts';
import type { Hypervisor } from '../../../contracts/crds/hypervisor.ts';
import { migrationSchema } from '../../../contracts/crds/migration.ts';
import type { Migration, MigrationStatus } from '../../../contracts/crds/migration.ts';
import { fieldManager, labels } from '../../../contracts/ids.ts';
import { isAlreadyExists } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import type { EventClient } from '../lib/write-event.ts';
import { createObjectRequests } from '../lib/object-requests.ts';

/** What a Node says of itself that decisions need. */
interface NodeObservation {
  bootId: string;
  /** Condition `Ready` is True. */
  ready: boolean;
}

/** What a new Eviction is made of. */
export interface NewEviction {
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  spec: Eviction['spec'];
}

/** The version of an object that was read; a write on another one is refused with ObjectConflict. */
export type Version = Pick<Eviction['metadata'], 'name' | 'resourceVersion'>;

/** Which Migration: its name is the server's id. */
export interface MigrationKey {
  namespace: string;
  name: string;
}

/** What is drover's of a Migration's metadata. */
type MigrationLabels = Record<(typeof labels)['evictionUid'], string> & Record<string, string>;

/**
 * kube-apiserver, as far as evictions need it. Every answer is checked against its schema. Failures are rows of contracts/errors.ts; what
 * is not there is null. Nothing is tried again here.
 */
export interface KubernetesClient extends EventClient {
  listEvictions(signal: AbortSignal): Promise<Eviction[]>;
  getEviction(name: string, signal: AbortSignal): Promise<Eviction | null>;
  /** Null when the name is taken. */
  createEviction(eviction: NewEviction, signal: AbortSignal): Promise<Eviction | null>;
  patchEvictionMetadata(
    version: Version,
    change: { annotations?: Record<string, string>; finalizers?: string[] },
    signal: AbortSignal,
  ): Promise<Eviction>;
  patchEvictionStatus(version: Version, change: Partial<EvictionStatus>, signal: AbortSignal): Promise<Eviction>;
  listHypervisors(signal: AbortSignal): Promise<Hypervisor[]>;
  getHypervisor(name: string, signal: AbortSignal): Promise<Hypervisor | null>;
  getNode(name: string, signal: AbortSignal): Promise<NodeObservation | null>;
  listMigrations(namespace: string, evictionUid: string, signal: AbortSignal): Promise<Migration[]>;
  getMigration(key: MigrationKey, signal: AbortSignal): Promise<Migration | null>;
  /** Server-side apply, never forced. @throws ObjectConflict where another manager owns a field with another value */
  applyMigration(key: MigrationKey, owned: MigrationLabels, signal: AbortSignal): Promise<Migration>;
  /** Server-side apply of the status: exactly these fields are drover's afterwards. */
  applyMigrationStatus(key: MigrationKey, status: Partial<MigrationStatus>, signal: AbortSignal): Promise<Migration>;
}

const core = 'kvm.cloud.sap/v1';
const nodeAgent = 'kvm.cloud.sap/v1alpha1';

const nodeSchema = z.object({
  status: z
    .object({
      nodeInfo: z.object({ bootID: z.string() }).optional(),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
    })
    .optional(),
});

export function createKubernetesClient(kubernetes: Kubernetes): KubernetesClient {
  const { read, readOrNull, list: listItems } = createObjectRequests(kubernetes);

  /** Items that do not fit the schema are left out: one odd object must not hold up every other. */
  const list = async <Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    query: KubernetesRequest['query'],
    signal: AbortSignal,
  ): Promise<z.output<Schema>[]> =>
    (await listItems(path, query, signal)).flatMap((item) => schema.safeParse(item).data ?? []);

  const evictionPath = (name: string, subresource?: string): string =>
    resourcePath(core, 'evictions', { name, ...(subresource !== undefined && { subresource }) });
  const patch = { method: 'PATCH', patchType: 'merge', query: { fieldManager } } as const;
  const apply = { method: 'PATCH', patchType: 'apply', query: { fieldManager } } as const;

  return {
    listEvictions: (signal) => list(evictionSchema, resourcePath(core, 'evictions'), {}, signal),

    getEviction: (name, signal) => readOrNull(evictionSchema, evictionPath(name), signal),

    async createEviction({ spec, ...metadata }, signal) {
      const body = { apiVersion: core, kind: 'Eviction', metadata, spec };
      try {
        return await read(
          evictionSchema,
          { method: 'POST', path: resourcePath(core, 'evictions'), query: { fieldManager }, body },
          signal,
        );
      } catch (error) {
        if (isAlreadyExists(error)) return null;
        throw error;
      }
    },

    patchEvictionMetadata: ({ name, resourceVersion }, change, signal) =>
      read(
        evictionSchema,
        { ...patch, path: evictionPath(name), body: { metadata: { resourceVersion, ...change } } },
        signal,
      ),

    patchEvictionStatus: ({ name, resourceVersion }, status, signal) =>
      read(
        evictionSchema,
        { ...patch, path: evictionPath(name, 'status'), body: { metadata: { resourceVersion }, status } },
        signal,
      ),

    listHypervisors: (signal) => list(hypervisorSchema, resourcePath(core, 'hypervisors'), {}, signal),

    getHypervisor: (name, signal) => readOrNull(hypervisorSchema, resourcePath(core, 'hypervisors', { name }), signal),

    async getNode(name, signal) {
      const node = await readOrNull(nodeSchema, resourcePath('v1', 'nodes', { name }), signal);
      if (node === null) return null;
      const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
      return { bootId: node.status?.nodeInfo?.bootID ?? '', ready };
    },

    ...openObjects(kubernetes),

    listMigrations: (namespace, evictionUid, signal) =>
      list(
        migrationSchema,
        resourcePath(nodeAgent, 'migrations', { namespace }),
        { labelSelector: `${labels.evictionUid}=${evictionUid}` },
        signal,
      ),

    getMigration: (key, signal) => readOrNull(migrationSchema, resourcePath(nodeAgent, 'migrations', key), signal),

    applyMigration: (key, owned, signal) =>
      read(
        migrationSchema,
        {
          ...apply,
          path: resourcePath(nodeAgent, 'migrations', key),
          body: { apiVersion: nodeAgent, kind: 'Migration', metadata: { ...key, labels: owned }, spec: {} },
        },
        signal,
      ),

    applyMigrationStatus: (key, status, signal) =>
      read(
        migrationSchema,
        {
          ...apply,
          path: resourcePath(nodeAgent, 'migrations', { ...key, subresource: 'status' }),
          body: { apiVersion: nodeAgent, kind: 'Migration', metadata: key, status },
        },
        signal,
      ),
  };
}

/** What the composition root gives to the activities on Evictions. */
export interface EvictionObjectDependencies {
  client: KubernetesClient;
  settings: EvictionSettings;
  /** Of the kind Eviction. */
  mode: Mode;
  /** Where Migration objects are. */
  migrationNamespace: string;
  /** Signals the run of the host, starting it if need be, with `{ hypervisor }` alone. */
  signalWithStartEviction: (hypervisor: string, startedBy: string | null) => Promise<void>;
  /** The stop that holds for evictions here; undefined: none does. */
  findStop: (signal: AbortSignal) => Promise<Stop | undefined>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The same, for one execution. */
export type Tools = Omit<EvictionObjectDependencies, 'scope'> & { scope: ActivityScope };

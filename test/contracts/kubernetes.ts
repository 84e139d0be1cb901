import { labClock } from '../../lab/clock.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { httpStatusOf } from '../../k8s-bridge/reflector.ts';

/** A kube-apiserver with drover's CRDs that a contract runs on: the lab's, or the simulated one. */
export interface KubernetesCounterpart {
  kubernetes: Kubernetes;
  /** Of this test alone: a namespace that is there and empty, and the name for objects that have none. */
  name: string;
  /**
   * Makes what has been unreadable, as an etcd that is compacted and a kube-apiserver that is started again: all
   * connections break.
   */
  loseHistory: () => Promise<void>;
}

/** Declares a test of a contract: the body runs in the time of the counterpart (`labClock`). */
export type ContractTest = (name: string, body: (counterpart: KubernetesCounterpart) => Promise<void>) => void;

/** An object as any answer has it. */
export interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation?: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    managedFields?: { manager: string; operation: string; subresource?: string; fieldsV1: object }[];
  };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface ObjectList {
  kind: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: AnyObject[];
}

/** What a test does to a counterpart, in a word each. */
export interface Requests {
  get: <Answer = AnyObject>(path: string, query?: KubernetesRequest['query']) => Promise<Answer>;
  post: (path: string, body: unknown, query?: KubernetesRequest['query']) => Promise<AnyObject>;
  put: (path: string, body: unknown, query?: KubernetesRequest['query']) => Promise<AnyObject>;
  /** A merge patch. */
  patch: (path: string, body: unknown, manager?: string) => Promise<AnyObject>;
  /** Server-side apply. */
  apply: (path: string, body: unknown, manager: string, query?: KubernetesRequest['query']) => Promise<AnyObject>;
  remove: (path: string, body?: unknown, query?: KubernetesRequest['query']) => Promise<AnyObject>;
}

const never = new AbortController().signal;

export function requestsOf(kubernetes: Kubernetes): Requests {
  const ask = (request: KubernetesRequest): Promise<AnyObject> =>
    kubernetes.request(request, never) as Promise<AnyObject>;
  return {
    get: <Answer>(path: string, query: KubernetesRequest['query'] = {}) =>
      ask({ method: 'GET', path, query }) as Promise<Answer>,
    post: (path, body, query = {}) => ask({ method: 'POST', path, body, query }),
    put: (path, body, query = {}) => ask({ method: 'PUT', path, body, query }),
    patch: (path, body, fieldManager) =>
      ask({ method: 'PATCH', patchType: 'merge', path, body, query: { fieldManager } }),
    apply: (path, body, fieldManager, query = {}) =>
      ask({ method: 'PATCH', patchType: 'apply', path, body, query: { ...query, fieldManager } }),
    remove: (path, body, query = {}) => ask({ method: 'DELETE', path, query, ...(body !== undefined && { body }) }),
  };
}

/** A refusal as drover gets it. @param words of its message */
export const refusal = (type: string, httpStatus: number, reason: string, words = ''): object => ({
  type,
  message: expect.stringContaining(words),
  details: [expect.objectContaining({ httpStatus, reason })],
});

export const refused = (words: string): object => refusal('ObjectRefused', 422, 'Invalid', words);
export const conflicting = (words = 'Operation cannot be fulfilled'): object =>
  refusal('ObjectConflict', 409, 'Conflict', words);
export const missing = (words = 'not found'): object => refusal('ObjectNotFound', 404, 'NotFound', words);

/** Asks until kube-apiserver serves, which it does not at once after it was started. */
export async function onceServed<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (![0, 429, 503].includes(httpStatusOf(error) ?? -1)) throw error;
      await labClock().sleep(50);
    }
  }
}

interface Of {
  name?: string;
  subresource?: string;
}

const group = 'kvm.cloud.sap';

export const evictions = (of: Of = {}): string => resourcePath(`${group}/v1`, 'evictions', of);
export const hypervisors = (of: Of = {}): string => resourcePath(`${group}/v1`, 'hypervisors', of);
export const migrations = (namespace: string, of: Of = {}): string =>
  resourcePath(`${group}/v1alpha1`, 'migrations', { namespace, ...of });
export const nodes = (of: Of = {}): string => resourcePath('v1', 'nodes', of);
export const leases = (namespace: string, of: Of = {}): string =>
  resourcePath('coordination.k8s.io/v1', 'leases', { namespace, ...of });
export const configMaps = (namespace: string, of: Of = {}): string =>
  resourcePath('v1', 'configmaps', { namespace, ...of });

export const eviction = (
  name: string,
  { metadata = {}, spec = {}, ...more }: { metadata?: object; spec?: object; status?: object } = {},
) => ({
  apiVersion: `${group}/v1`,
  kind: 'Eviction',
  metadata: { name, ...metadata },
  spec: { hypervisor: 'host', reason: 'test', ...spec },
  ...more,
});

export const hypervisor = (name: string, spec: object = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Hypervisor',
  metadata: { name },
  spec,
});

export const migration = (namespace: string, name: string, metadata: object = {}) => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'Migration',
  metadata: { namespace, name, ...metadata },
  spec: {},
});

export const condition = (more: object = {}): object => ({
  type: 'Evicting',
  status: 'True',
  reason: 'Running',
  message: 'words',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...more,
});

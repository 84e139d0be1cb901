import type { Condition } from '../contracts/conditions.ts';
import { findCondition } from '../contracts/conditions.ts';
import { isAlreadyExists } from '../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import { labClock } from './clock.ts';
import type { KubernetesHandle } from './parts/kubernetes-handle.ts';

/** An object as a manifest has it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [field: string]: unknown };
  [field: string]: unknown;
}

const timeoutMs = 20_000;

/** `virtualmachineclasses`, `resourcepolicies`: as Kubernetes forms them. */
const pluralOf = (kind: string): string => {
  const singular = kind.toLowerCase();
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`;
  return singular.endsWith('s') ? `${singular}es` : `${singular}s`;
};

/** Of an object; of its collection, where the name is empty. */
export const objectPath = (
  { apiVersion, kind, metadata: { namespace, name } }: Manifest,
  subresource?: string,
): string =>
  resourcePath(apiVersion, pluralOf(kind), {
    ...(namespace !== undefined && { namespace }),
    ...(name !== '' && { name }),
    ...(subresource !== undefined && { subresource }),
  });

/** Creates the object, or merges the manifest into the one that is there. */
export async function applyObject(kubernetes: Kubernetes, manifest: object): Promise<void> {
  const body = manifest as Manifest;
  const collection = objectPath({ ...body, metadata: { ...body.metadata, name: '' } });
  try {
    await kubernetes.request({ method: 'POST', path: collection, body }, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await mergeObject(kubernetes, body);
  }
}

const establishMs = 30_000;
const establishPollMs = 100;

/** Applies a CustomResourceDefinition, and waits until kube-apiserver serves its kind. May be asked for again. */
export async function applyDefinition(kubernetes: Kubernetes, manifest: Manifest): Promise<void> {
  await applyObject(kubernetes, manifest);
  const path = objectPath(manifest);
  for (const signal = AbortSignal.timeout(establishMs); ; await labClock().sleep(establishPollMs)) {
    const { status } = (await kubernetes.request({ method: 'GET', path }, signal)) as {
      status?: { conditions?: Condition[] };
    };
    if (findCondition(status?.conditions, 'Established')?.status === 'True') return;
  }
}

/** Merges fields into an object that is there. @throws ObjectNotFound */
export async function mergeObject(kubernetes: Kubernetes, manifest: object, subresource?: string): Promise<void> {
  const path = objectPath(manifest as Manifest, subresource);
  await kubernetes.request(
    { method: 'PATCH', patchType: 'merge', path, body: manifest },
    AbortSignal.timeout(timeoutMs),
  );
}

/**
 * Merges fields into the status of an object that is there, as its controller or agent would.
 * @throws ObjectNotFound
 */
export const mergeStatus = (kubernetes: Kubernetes, manifest: object): Promise<void> =>
  mergeObject(kubernetes, manifest, 'status');

/** A connection as the lab's administrator, for as long as `use` takes. */
export async function withKubernetes<Result>(
  { kubeconfig }: Pick<KubernetesHandle, 'kubeconfig'>,
  use: (kubernetes: Kubernetes) => Promise<Result>,
): Promise<Result> {
  // The client library is 1,500 modules: simulations, which have no use for them, import this one too.
  const { connectKubernetes } = await import('../runtime/kubernetes/kubernetes.ts');
  const kubernetes = connectKubernetes({ kubeconfig });
  try {
    return await use(kubernetes);
  } finally {
    await kubernetes.close();
  }
}

import {
  clusterVirtualMachineImageSchema,
  virtualMachineImageSchema,
} from '../../../contracts/crds/virtual-machine-image.ts';
import { fieldManager, labels } from '../../../contracts/ids.ts';
import { checkAnswer, isAlreadyExists, isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { createObjectRequests } from '../lib/object-requests.ts';
import type { AnyImage } from '../virtual-machine/client.ts';

/** kube-apiserver, as far as the images of content libraries need it. Null as namespace: ClusterVirtualMachineImages. Failures as VirtualMachineClient has them. */
export interface LibraryImagesClient {
  /** Those with the label of the library. */
  list(namespace: string | null, libraryId: string, signal: AbortSignal): Promise<AnyImage[]>;
  /** Null: there is one of that name, whosever it is. */
  create(namespace: string | null, libraryId: string, name: string, signal: AbortSignal): Promise<AnyImage | null>;
  patchStatus(image: AnyImage, status: Record<string, unknown>, signal: AbortSignal): Promise<void>;
  /** The one that was read, or none. */
  remove(image: AnyImage, signal: AbortSignal): Promise<void>;
}

const group = 'vmoperator.vmware.com/v1alpha6';
const pathOf = (namespace: string | null, object: { name?: string; subresource?: string } = {}): string =>
  namespace === null
    ? resourcePath(group, 'clustervirtualmachineimages', object)
    : resourcePath(group, 'virtualmachineimages', { namespace, ...object });

export function createLibraryImagesClient(kubernetes: Kubernetes): LibraryImagesClient {
  const { list } = createObjectRequests(kubernetes);
  const check = (namespace: string | null, answer: unknown, what: string): AnyImage =>
    namespace === null
      ? checkAnswer(clusterVirtualMachineImageSchema, answer, what)
      : checkAnswer(virtualMachineImageSchema, answer, what);
  const namespaceOf = ({ kind, metadata }: AnyImage): string | null =>
    kind === 'ClusterVirtualMachineImage' ? null : (metadata.namespace ?? '');
  return {
    async list(namespace, libraryId, signal) {
      const kind = namespace === null ? 'ClusterVirtualMachineImage' : 'VirtualMachineImage';
      const items = await list(pathOf(namespace), { labelSelector: `${labels.contentLibrary}=${libraryId}` }, signal);
      // Items of a list do not say what they are.
      return items.map((item) => check(namespace, { ...(item as object), apiVersion: group, kind }, `LIST ${kind}`));
    },

    async create(namespace, libraryId, name, signal) {
      const kind = namespace === null ? 'ClusterVirtualMachineImage' : 'VirtualMachineImage';
      const metadata = {
        name,
        labels: { [labels.contentLibrary]: libraryId },
        ...(namespace !== null && { namespace }),
      };
      try {
        const made = await kubernetes.request(
          {
            method: 'POST',
            path: pathOf(namespace),
            query: { fieldManager },
            body: { apiVersion: group, kind, metadata, spec: {} },
          },
          signal,
        );
        return check(namespace, made, `POST ${kind}`);
      } catch (error) {
        if (isAlreadyExists(error)) return null;
        throw error;
      }
    },

    async patchStatus(image, status, signal) {
      const { name, uid, resourceVersion } = image.metadata;
      await kubernetes.request(
        {
          method: 'PATCH',
          patchType: 'merge',
          query: { fieldManager },
          path: pathOf(namespaceOf(image), { name, subresource: 'status' }),
          body: { metadata: { uid, resourceVersion }, status },
        },
        signal,
      );
    },

    async remove(image, signal) {
      const { name, uid, resourceVersion } = image.metadata;
      try {
        await kubernetes.request(
          {
            method: 'DELETE',
            path: pathOf(namespaceOf(image), { name }),
            body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } },
          },
          signal,
        );
      } catch (error) {
        if (!isFailure(error, 'ObjectNotFound')) throw error;
      }
    },
  };
}

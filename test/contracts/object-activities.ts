import { applyObject, type Manifest, objectPath } from '../../lab/kubernetes-objects.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';

/** A kube-apiserver that the activities on objects run on: the lab's, or the simulated one. */
export interface ObjectsCounterpart {
  /** With drover's permissions. */
  worker: Kubernetes;
  /** For what users and other controllers do. */
  admin: Kubernetes;
  /** Different for each test: for names. */
  number: number;
}

/** Declares a test of a contract: the body runs in the time of the counterpart (`labClock`). */
export type ObjectsTest = (name: string, body: (counterpart: ObjectsCounterpart) => Promise<void>) => void;

/** Which object. */
export type Reference = Pick<Manifest, 'apiVersion' | 'kind'> & { metadata: { namespace?: string; name: string } };

/** What users and other controllers do to objects. */
export interface ObjectAccess {
  create: <Kind>(manifest: object) => Promise<Kind>;
  /** Creates the object, or merges the manifest into the one that is there. */
  apply: (manifest: object) => Promise<void>;
  /** Null: there is none. */
  find: <Kind>(of: Reference) => Promise<Kind | null>;
  /** @throws ObjectNotFound */
  read: <Kind>(of: Reference) => Promise<Kind>;
  /** All of the kind; of its namespace, where it has one. */
  list: <Kind>(of: Omit<Reference, 'metadata'>, namespace?: string) => Promise<Kind[]>;
  /** @param manager under whose name */
  merge: (of: Reference, change: object, manager?: string) => Promise<void>;
  mergeStatus: (of: Reference, status: object, manager?: string) => Promise<void>;
  remove: (of: Reference) => Promise<void>;
}

const never = new AbortController().signal;

export function objectAccess(admin: Kubernetes): ObjectAccess {
  const patch = async (path: string, body: object, fieldManager: string | undefined): Promise<void> =>
    void (await admin.request({ method: 'PATCH', patchType: 'merge', path, body, query: { fieldManager } }, never));
  const read = async <Kind>(of: Reference): Promise<Kind> =>
    (await admin.request({ method: 'GET', path: objectPath(of) }, never)) as Kind;
  return {
    create: async <Kind>(manifest: object) => {
      const { metadata, ...rest } = manifest as Manifest;
      const path = objectPath({ ...rest, metadata: { ...metadata, name: '' } });
      return (await admin.request({ method: 'POST', path, body: manifest }, never)) as Kind;
    },
    apply: (manifest) => applyObject(admin, manifest),
    read,
    find: async <Kind>(of: Reference) => {
      try {
        return await read<Kind>(of);
      } catch (error) {
        if (isFailure(error, 'ObjectNotFound')) return null;
        throw error;
      }
    },
    list: async <Kind>(of: Omit<Reference, 'metadata'>, namespace?: string) => {
      const path = objectPath({ ...of, metadata: { name: '', ...(namespace !== undefined && { namespace }) } });
      return ((await admin.request({ method: 'GET', path }, never)) as { items: Kind[] }).items;
    },
    merge: (of, change, manager) => patch(objectPath(of), change, manager),
    mergeStatus: (of, status, manager) => patch(objectPath(of, 'status'), { status }, manager),
    remove: async (of) => void (await admin.request({ method: 'DELETE', path: objectPath(of) }, never)),
  };
}

/** The client, with another writer at work on the same object in the moment before the first such call. */
export function interrupted<Client extends object>(
  client: Client,
  call: keyof Client,
  interrupt: () => Promise<unknown>,
): Client {
  const real = client[call] as (...args: unknown[]) => Promise<unknown>;
  let isDone = false;
  const racing = async (...args: unknown[]): Promise<unknown> => {
    if (!isDone) {
      isDone = true;
      await interrupt();
    }
    return await real(...args);
  };
  return { ...client, [call]: racing };
}

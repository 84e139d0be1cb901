import type { ReadObject, SecretVersion } from '../../../contracts/kinds/digest.ts';
import { fullNameOf, type KubeObject } from '../../../contracts/kinds/object.ts';
import { secret } from '../../../contracts/kinds/resources.ts';
import type { KubernetesObjects, Resource } from '../../../runtime/kubernetes/objects.ts';

export interface RecordedReads {
  client: KubernetesObjects;
  /** What has been read by the client so far, for the digest of an observation. */
  read: readonly ReadObject[];
  /** Of a Secret, its version is known and nothing else; of one that is missing, that it is. */
  secrets: readonly SecretVersion[];
}

/** The same client, and what is read by it from now on. */
export function recordReads(client: KubernetesObjects): RecordedReads {
  const read: ReadObject[] = [];
  const secrets: SecretVersion[] = [];
  const record = ({ kind }: Resource, found: unknown): void => {
    const object = found as KubeObject;
    if (kind === secret.kind)
      secrets.push({ fullName: fullNameOf(object), resourceVersion: object.metadata.resourceVersion });
    else read.push({ kind, object });
  };
  const recording: KubernetesObjects = {
    ...client,
    async get(resource, key, signal) {
      const found = await client.get(resource, key, signal);
      if (found !== null) record(resource, found);
      else if (resource.kind === secret.kind)
        secrets.push({ fullName: `${key.namespace ?? ''}/${key.name}`, resourceVersion: null });
      return found;
    },
    async list(resource, query, signal) {
      const found = await client.list(resource, query, signal);
      for (const one of found) record(resource, one);
      return found;
    },
    async listValid(resource, query, signal) {
      const found = await client.listValid(resource, query, signal);
      for (const one of found) record(resource, one);
      return found;
    },
  };
  return { client: recording, read, secrets };
}

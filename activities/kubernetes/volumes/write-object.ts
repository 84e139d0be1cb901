import type { z } from 'zod';

import { droverFailure, failureDetail } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { NewObject, ObjectChange, ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { mutate } from '../../lib/mutate.ts';
import type { VolumeTools } from './dependencies.ts';

interface Written {
  metadata: { uid: string; resourceVersion?: string | undefined };
}

type Writer = Pick<VolumeTools, 'client' | 'scope' | 'stopGate' | 'audit'>;

const nameOf = ({ kind }: Resource, { namespace, name }: ObjectVersion): string =>
  [kind.toLowerCase(), ...(namespace === undefined ? [] : [namespace]), name].join('/');

/** @throws QuotaExceeded */
async function withinQuota<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden') || !error.message.includes('exceeded quota:')) throw error;
    throw droverFailure('QuotaExceeded', failureDetail(error));
  }
}

/** @returns null where the name is taken. @throws QuotaExceeded */
export const createObject = <Schema extends z.ZodType>(
  tools: Writer,
  resource: Resource<Schema>,
  object: NewObject<Schema>,
  cause: string,
): Promise<z.output<Schema> | null> =>
  withinQuota(() =>
    mutate(
      tools,
      {
        action: `create${resource.kind}`,
        cause,
        object: nameOf(resource, object.metadata),
        before: null,
        after: object.spec ?? null,
      },
      () => tools.client.create(resource, object, tools.scope.signal),
    ),
  );

/** @returns the object then. @throws ObjectConflict, ObjectNotFound, QuotaExceeded */
export const patchObject = <Schema extends z.ZodType>(
  tools: Writer,
  resource: Resource<Schema>,
  version: ObjectVersion,
  { change, before = null, cause }: { change: ObjectChange<Schema>; before?: unknown; cause: string },
): Promise<z.output<Schema>> =>
  withinQuota(() =>
    mutate(
      tools,
      { action: `patch${resource.kind}`, cause, object: nameOf(resource, version), before, after: change },
      () => tools.client.patch(resource, version, change, tools.scope.signal),
    ),
  );

/** One that is gone is well. @throws ObjectConflict where it is another version */
export const deleteObject = (
  tools: Writer,
  resource: Resource,
  { metadata }: Written & { metadata: ObjectVersion },
  cause: string,
): Promise<void> =>
  mutate(
    tools,
    {
      action: `delete${resource.kind}`,
      cause,
      object: nameOf(resource, metadata),
      before: { uid: metadata.uid },
      after: null,
    },
    () => tools.client.delete(resource, versionOf(metadata), tools.scope.signal),
  );

/** Of an object as it was read: a write on another version is a conflict. */
export const versionOf = ({ namespace, name, uid, resourceVersion }: ObjectVersion): ObjectVersion => ({
  ...(namespace !== undefined && { namespace }),
  name,
  ...(uid !== undefined && { uid }),
  ...(resourceVersion !== undefined && { resourceVersion }),
});

/** Of an object whatever its version. */
export const identityOf = ({ resourceVersion: _any, ...metadata }: ObjectVersion): ObjectVersion => versionOf(metadata);

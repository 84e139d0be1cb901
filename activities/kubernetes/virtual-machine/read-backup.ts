import { stringify } from 'yaml';

import type { DiskClaim, StoredObject } from '../../../contracts/virtual-machine/backup.ts';
import type { ObjectName } from '../../../contracts/virtual-machine/mutations.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { type WholeVirtualMachine, claimResource, wholeVirtualMachines } from './schemas.ts';

/**
 * The object as it is stored with its VM, and whose the attached disks are.
 *
 * @throws ObjectNotFound the object is gone, or one of that name that was made later; InvalidObject it is nested too
 *   deeply to be written as YAML; what the client throws
 */
export async function readBackup(
  client: KubernetesObjects,
  { namespace, name, uid }: ObjectName,
  signal: AbortSignal,
): Promise<StoredObject> {
  const object = await client.get(wholeVirtualMachines, { namespace, name }, signal);
  if (object?.metadata.uid !== uid)
    throw droverFailure('ObjectNotFound', `There is no VirtualMachine ${namespace}/${name} of uid ${uid}`);
  const claims = await Promise.all(
    attachedClaims(object).map(async ({ diskUuid, name: claim }): Promise<DiskClaim[]> => {
      const found = await client.get(claimResource, { namespace, name: claim }, signal);
      return found === null ? [] : [{ diskUuid, name: claim, accessModes: found.spec?.accessModes ?? [] }];
    }),
  );
  return {
    generation: object.metadata.generation,
    yaml: toYaml(object, `${namespace}/${name}`),
    claims: claims.flat(),
  };
}

/** Its own fields take about ten. The writer of YAML needs the square of them as time, and a stack as deep. */
const mostLevels = 500;

/** @throws InvalidObject the object is nested more deeply than the writer of YAML can follow */
function toYaml(object: WholeVirtualMachine, fullName: string): string {
  if (isDeeper(object, mostLevels))
    throw droverFailure(
      'InvalidObject',
      `VirtualMachine ${fullName} is nested too deeply to be stored: more than ${mostLevels} levels`,
    );
  return writeYaml(object);
}

function isDeeper(value: unknown, levels: number): boolean {
  let layer = [value];
  for (let level = 0; layer.length > 0; level += 1) {
    if (level > levels) return true;
    layer = layer.flatMap((item): unknown[] => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Readers of YAML 1.1, as Kubernetes' are, would take a bare `on` for true. The status is left out: a restored VM gets
 * one of its own.
 */
function writeYaml({
  status: _status,
  metadata: { managedFields: _managedFields, resourceVersion: _resourceVersion, annotations, ...metadata },
  ...rest
}: WholeVirtualMachine): string {
  const { [lastApplied]: _lastApplied, ...kept } = annotations ?? {};
  return stringify(
    { ...rest, metadata: { ...metadata, ...(annotations !== undefined && { annotations: kept }) } },
    { version: '1.1', lineWidth: 0 },
  );
}

function attachedClaims({ spec, status }: WholeVirtualMachine): Pick<DiskClaim, 'diskUuid' | 'name'>[] {
  const named = new Map(
    (spec?.volumes ?? []).map(({ name, persistentVolumeClaim: claim }) => [name, claim?.claimName] as const),
  );
  return (status?.volumes ?? []).flatMap(({ name, attached, diskUUID }) => {
    const claim = named.get(name);
    return attached === true && diskUUID !== undefined && diskUUID !== '' && claim !== undefined
      ? [{ diskUuid: diskUUID, name: claim }]
      : [];
  });
}

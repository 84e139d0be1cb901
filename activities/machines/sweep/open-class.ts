import { z } from 'zod';

import { machineClassSchema } from '../../../contracts/crds/machine-class.ts';
import { secret } from '../../../contracts/kinds/resources.ts';
import type { DriverSecret, MachineDriver, MachineDrivers } from '../../../contracts/machine-safety/driver.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources, typed } from '../../../runtime/kubernetes/resources.ts';
import { registerSecret } from '../../../runtime/redaction.ts';

/** A MachineClass as it was listed: one that is odd is a failure of its own, and of no other. */
const foundSchema = z.looseObject({ metadata: z.looseObject({ name: z.string(), uid: z.string() }) });
export type FoundClass = z.output<typeof foundSchema>;
export const foundClasses = typed(resources.MachineClass, foundSchema);

const secrets = typed(secret, z.object({ data: z.record(z.string(), z.string()).optional() }));

export interface ClassTools {
  client: Pick<KubernetesObjects, 'get'>;
  drivers: Pick<MachineDrivers, 'open'>;
}

export const providerOf = ({ provider }: FoundClass): string => (typeof provider === 'string' ? provider : '');

/**
 * The driver of a class, with its credential as it is now: that of `credentialsSecretRef`, else that of `secretRef`,
 * either of which may be in another namespace.
 *
 * @throws InvalidObject naming what the class or its Secret lacks; KubernetesForbidden, KubernetesUnavailable
 */
export async function openClass(
  { client, drivers }: ClassTools,
  namespace: string,
  found: FoundClass,
  signal: AbortSignal,
): Promise<MachineDriver> {
  const { data: machineClass, error } = machineClassSchema.safeParse(found);
  const { name } = found.metadata;
  if (machineClass === undefined) {
    const [issue] = error.issues;
    throw droverFailure(
      'InvalidObject',
      `MachineClass ${name}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it cannot be read'}`,
    );
  }
  const { credentialsSecretRef, secretRef, provider = '', providerSpec, nodeTemplate } = machineClass;
  const reference = credentialsSecretRef?.name === undefined ? secretRef : credentialsSecretRef;
  const field = credentialsSecretRef?.name === undefined ? 'secretRef' : 'credentialsSecretRef';
  if (!reference?.name) throw droverFailure('InvalidObject', `MachineClass ${name} names no Secret in ${field}`);
  const key = { namespace: reference.namespace || namespace, name: reference.name };
  const read = await client.get(secrets, key, signal);
  if (read === null)
    throw droverFailure(
      'InvalidObject',
      `There is no Secret ${key.namespace}/${key.name}, which MachineClass ${name} names in ${field}`,
    );
  return drivers.open(
    { namespace, name, provider, providerSpec, region: nodeTemplate?.region ?? null },
    decode(read.data ?? {}),
  );
}

/** Of a credential; the user data is a document, and never shown. */
const secretKey = /(?:password|secret|token|key)$/iu;

function decode(data: Readonly<Record<string, string>>): DriverSecret {
  const decoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
  for (const [key, value] of Object.entries(decoded)) if (secretKey.test(key)) registerSecret(value);
  return decoded;
}

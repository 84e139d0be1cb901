import { createHash } from 'node:crypto';
import { z } from 'zod';

import { providerIdKey } from '../contracts/machine-safety/provider-id.ts';
import { isFailure } from './kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from './kubernetes/objects.ts';

/**
 * `drover sweep keep`: VMs that no sweep deletes, whatever it finds. They are kept in a ConfigMap beside drover's own
 * objects, so that they outlive every process and every run, and are read once more right before
 * each deletion (docs/machine-safety.md#sweeps).
 */
export const sweepConfigMap = 'drover-sweep';

export interface SweepKeep {
  /** As the user gave it. */
  providerId: string;
  /** Who keeps it, as the command line knew them. */
  by: string;
  reason: string;
  /** RFC 3339. */
  at: string;
}

/** Which VMs are kept. */
export interface SweepKeeps {
  readonly all: readonly SweepKeep[];
  find(providerId: string): SweepKeep | undefined;
}

type Client = Pick<KubernetesObjects, 'get' | 'patch' | 'create'>;

const noteSchema = z.object({ providerId: z.string(), by: z.string(), reason: z.string(), at: z.string() });
const configMaps = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  // What has no name is no ConfigMap, and not one that keeps nothing.
  schema: z.object({
    metadata: z.object({ name: z.literal(sweepConfigMap) }),
    data: z.record(z.string(), z.string()).optional(),
  }),
};

const prefix = 'keep.';

/**
 * Key in the ConfigMap: `keep.vsphere.<BIOS UUID>`, and a digest for what cannot be one. Spellings of one id
 * have one key.
 */
export function keepKey(providerId: string): string {
  const readable = prefix + providerIdKey(providerId).replace(' ', '.');
  if (/^[-._a-zA-Z0-9]{1,253}$/u.test(readable)) return readable;
  return `${prefix}sha256.${createHash('sha256').update(providerIdKey(providerId)).digest('hex')}`;
}

/** The VMs that users keep. @throws KubernetesUnavailable, KubernetesForbidden: then it is not known */
export async function readKeeps(
  client: Pick<Client, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<SweepKeeps> {
  const found = await client.get(configMaps, { namespace, name: sweepConfigMap }, signal);
  const keeps = new Map(
    Object.entries(found?.data ?? {})
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, text]) => [key, readNote(key, text)] as const),
  );
  return { all: [...keeps.values()], find: (providerId) => keeps.get(keepKey(providerId)) };
}

/** Keeps a VM, or says anew who does and why. */
export async function setKeep(client: Client, namespace: string, keep: SweepKeep, signal: AbortSignal): Promise<void> {
  const data = { [keepKey(keep.providerId)]: JSON.stringify(keep) };
  if (await patch(client, namespace, data, signal)) return;
  const made = await client.create(configMaps, { metadata: { namespace, name: sweepConfigMap }, data }, signal);
  // Another user kept something at the same moment.
  if (made === null) await patch(client, namespace, data, signal);
}

/** Lifts a keep. Null: there was none. */
export async function liftKeep(
  client: Client,
  namespace: string,
  providerId: string,
  signal: AbortSignal,
): Promise<SweepKeep | null> {
  const keep = (await readKeeps(client, namespace, signal)).find(providerId);
  if (keep === undefined) return null;
  await patch(client, namespace, { [keepKey(providerId)]: null }, signal);
  return keep;
}

/** False when there is no such ConfigMap. */
async function patch(
  client: Pick<Client, 'patch'>,
  namespace: string,
  data: Record<string, string | null>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.patch(configMaps, { namespace, name: sweepConfigMap }, { data }, signal);
    return true;
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return false;
    throw error;
  }
}

/** A note that cannot be read keeps all the same. */
function readNote(key: string, text: string): SweepKeep {
  try {
    return noteSchema.parse(JSON.parse(text));
  } catch {
    return { providerId: key.slice(prefix.length), by: 'unknown', reason: text, at: 'an unknown time' };
  }
}

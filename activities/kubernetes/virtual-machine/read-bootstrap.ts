import { createHash } from 'node:crypto';

import type { VirtualMachine } from '../../../contracts/crds/virtual-machine.ts';
import type { GuestCustomization, GuestSetup } from '../../../contracts/virtual-machine/bootstrap.ts';
import type { BootstrapKind } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { ObjectName } from '../../../contracts/virtual-machine/mutations.ts';
import type { ObservedBootstrap, Fetched } from '../../../contracts/virtual-machine/observation.ts';
import { readVirtualMachine } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { fetchObject } from '../lib/fetch-object.ts';
import { type SecretData, openSecrets, valueOf } from './bootstrap-secrets.ts';
import { type CloudInitData, readCloudInit, toExtraConfig } from './cloud-init.ts';
import { hasDefault, readIdentity } from './guest-identity.ts';
import { readInterfaces } from './guest-network.ts';
import type { HashSecret } from './hash-secret.ts';
import { secretResource } from './schemas.ts';

export interface BootstrapTools {
  client: KubernetesObjects;
  hashSecret: HashSecret;
}

/** What decisions need of a bootstrap. Null: the spec asks for none. */
export async function readBootstrapFacts(
  { client, hashSecret }: BootstrapTools,
  object: VirtualMachine,
  signal: AbortSignal,
): Promise<Fetched<ObservedBootstrap> | null> {
  const { bootstrap } = object.spec ?? {};
  const isDefault = bootstrap === undefined;
  if (isDefault ? !hasDefault(object) : bootstrap.disabled === true) return null;
  return fetchObject(
    'Secrets of the bootstrap',
    signal,
    () => readSetup({ client, hashSecret }, object, signal),
    ({ missingKeys, config, custom }) => ({
      kind: 'found',
      value: { missingKeys, configHash: config?.hash ?? null, customHash: custom?.hash ?? null, isDefault },
    }),
  );
}

/**
 * What the guest is set up with, as object and Secrets are now. The activity that applies it compares the hash with the
 * planned one.
 *
 * @throws ObjectNotFound the object or a Secret is gone; InvalidObject user data that cannot be read; ObjectConflict
 * the bootstrap is of another kind by now; what the client throws
 */
export async function readBootstrap(
  { client, hashSecret }: BootstrapTools,
  { namespace, name, uid }: ObjectName,
  kind: BootstrapKind | null,
  signal: AbortSignal,
): Promise<GuestSetup> {
  const object = await client.get(resources.VirtualMachine, { namespace, name }, signal);
  if (object?.metadata.uid !== uid)
    throw droverFailure('ObjectNotFound', `There is no VirtualMachine ${namespace}/${name} of uid ${uid}`);
  if (readVirtualMachine(object).bootstrap.kind !== kind)
    throw droverFailure(
      'ObjectConflict',
      `The bootstrap of VirtualMachine ${namespace}/${name} is of another kind by now`,
    );
  return readSetup({ client, hashSecret }, object, signal);
}

async function readSetup(
  { client, hashSecret }: BootstrapTools,
  object: VirtualMachine,
  signal: AbortSignal,
): Promise<GuestSetup> {
  const { uid, namespace = '' } = object.metadata;
  const missing: string[] = [];
  const read = async (name: string): Promise<[string, SecretData]> => {
    const found = await client.get(secretResource, { namespace, name }, signal);
    if (found === null) missing.push(name);
    const decoded = Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]);
    return [name, Object.fromEntries(decoded) as SecretData];
  };
  // What it is made of says which Secrets it needs: it is made once without them, to learn their names.
  const named = new Set<string>();
  composeGuest(object, (name) => {
    named.add(name);
    return {};
  });
  const secrets = new Map(await Promise.all([...named].map(read)));
  if (missing.length > 0) throw droverFailure('ObjectNotFound', `There is no Secret ${missing.toSorted().join(', ')}`);
  const { missingKeys, cloudInit, vAppProperties, custom } = composeGuest(object, (name) => secrets.get(name) ?? {});
  if (missingKeys.length > 0) return { missingKeys, config: null, custom: null };
  const hasConfig = cloudInit !== null || Object.keys(vAppProperties).length > 0;
  return {
    missingKeys,
    config: hasConfig
      ? {
          hash: await hashSecret(
            JSON.stringify([cloudInit?.metadata([]) ?? null, cloudInit?.userData ?? null, vAppProperties]),
            uid,
          ),
          extraConfig: (macAddresses) => (cloudInit === null ? {} : toExtraConfig(cloudInit, macAddresses)),
          vAppProperties,
        }
      : null,
    custom:
      custom === null
        ? null
        : {
            // Without a bootstrap there is nothing secret in it, and it is read again and again for VMs that have been
            // set up long ago.
            hash: hasDefault(object) ? plainHash(custom) : await hashSecret(JSON.stringify(custom), uid),
            ...custom,
          },
  };
}

const plainHash = (custom: object): string =>
  createHash('sha256').update(JSON.stringify(custom)).digest('hex').slice(0, 40);

interface Guest {
  missingKeys: string[];
  cloudInit: CloudInitData | null;
  vAppProperties: Record<string, string>;
  custom: Omit<GuestCustomization, 'hash'> | null;
}

/** Pure, but that it asks for Secrets. */
function composeGuest(object: VirtualMachine, read: (name: string) => SecretData): Guest {
  const secrets = openSecrets(read);
  const { bootstrap = {}, network = {} } = object.spec ?? {};
  const { cloudInit, vAppConfig } = bootstrap;
  const properties = (vAppConfig?.properties ?? []).map(
    ({ key, value }) => [key, valueOf(value, secrets) ?? ''] as const,
  );
  const identity = readIdentity(object, secrets);
  const guest = {
    cloudInit: cloudInit === undefined ? null : readCloudInit(object, cloudInit, secrets),
    vAppProperties: {
      ...Object.fromEntries(properties),
      ...(vAppConfig?.rawProperties !== undefined && secrets.all(vAppConfig.rawProperties)),
    },
    custom:
      identity === null
        ? null
        : {
            identity,
            nameservers: network.nameservers ?? [],
            searchDomains: network.searchDomains ?? [],
            interfaces: readInterfaces(network),
          },
  };
  return { ...guest, missingKeys: secrets.missing() };
}

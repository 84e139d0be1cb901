import { z } from 'zod';

import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { type ErrorCode, errors } from '../../../contracts/errors.ts';
import { secret } from '../../../contracts/kinds/resources.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { VcenterCredential, VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';
import { registerSecret } from '../../../runtime/redaction.ts';
import { sessionKey, shareSessions } from '../../lib/shared-sessions.ts';
import type { Vim } from '../../vsphere/client.ts';
import { openGateway } from '../../vsphere/gateway.ts';
import { type Inventory, openInventory } from '../../vsphere/observation/inventory.ts';
import type { VcenterRest } from '../../vsphere/rest/client.ts';
import type { VcenterGateway } from '../../vsphere/types.ts';
import { isWritable } from '../../vsphere/wire/xml.ts';

/** The vCenter of a pool, with the pool's credential. */
export interface PoolVcenter {
  /** As drover's settings call it: its creates and destroys are limited with those of all other runs. */
  name: string;
  /** Address, trust and budget are those of drover's settings. */
  settings: VcenterSettings;
  vim: Vim;
  gateway: VcenterGateway;
  rest: VcenterRest;
  /** What the pools of one credential have in common. */
  inventory: Inventory;
}

/** What is read of a pool to reach its vCenter. */
export interface PoolOfVcenter {
  metadata: Pick<VsphereAgentPool['metadata'], 'namespace' | 'name'>;
  spec: { vsphere: Pick<VsphereAgentPool['spec']['vsphere'], 'credentialsSecretRef'> };
}

/** The vCenters that pools may name, with one session for each credential. */
export interface PoolVcenters {
  /**
   * The credential is read anew, and the session of it stays open for the work.
   *
   * @throws InvalidObject for what the Secret lacks, or one that is in another namespace; InvalidConfiguration for a
   * vCenter that is not in drover's settings; KubernetesForbidden, KubernetesUnavailable; what the work throws
   */
  use<Result>(
    pool: PoolOfVcenter,
    signal: AbortSignal,
    work: (vcenter: PoolVcenter) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

export interface PoolVcenterPorts {
  client: Pick<KubernetesObjects, 'get'>;
  /** Of drover's settings: pools reach no others. */
  vcenters: readonly VcenterSettings[];
  /** drover's own: Secrets of pools may be there, too. */
  systemNamespace: string;
  openVcenter: (settings: VcenterSettings) => Vim;
  openRest: (settings: VcenterSettings) => VcenterRest;
  clock: Clock;
}

/** Sessions that stay open while they are not used. */
const mostIdle = 32;

export function openPoolVcenters(ports: PoolVcenterPorts): PoolVcenters {
  const { clock } = ports;
  const sessions = shareSessions<PoolVcenter & { close(): Promise<void> }>(mostIdle);
  return {
    async use(pool, signal, work) {
      const { key, settings } = await readSettings(ports, pool, signal);
      const open = () => {
        const vim = ports.openVcenter(settings);
        const rest = ports.openRest(settings);
        const gateway = openGateway(vim, settings.budget, clock);
        return {
          name: settings.name,
          settings,
          vim,
          gateway,
          rest,
          inventory: openInventory(gateway, clock),
          close: async () => void (await Promise.allSettled([vim.close(), rest.close()])),
        };
      };
      return await sessions.use(key, open, work);
    },
    close: () => sessions.close(),
  };
}

const secrets = typed(secret, z.object({ data: z.record(z.string(), z.string()).optional() }));

async function readSettings(
  { client, vcenters, systemNamespace }: PoolVcenterPorts,
  { metadata: { namespace = '', name }, spec }: PoolOfVcenter,
  signal: AbortSignal,
): Promise<{ key: string; settings: VcenterSettings }> {
  const reference = spec.vsphere.credentialsSecretRef;
  const at = { namespace: reference.namespace || namespace, name: reference.name };
  if (at.namespace !== namespace && at.namespace !== systemNamespace)
    throw droverFailure(
      'InvalidObject',
      `Pool ${namespace}/${name} names the Secret ${at.namespace}/${at.name}, and drover reads those of the namespace of the pool and of ${systemNamespace} only`,
    );
  const found = await client.get(secrets, at, signal);
  if (found === null)
    throw droverFailure(
      'InvalidObject',
      `There is no Secret ${at.namespace}/${at.name}, which pool ${namespace}/${name} names in spec.vsphere.credentialsSecretRef`,
    );
  const { host, credential } = readCredential(found.data ?? {}, `Secret ${at.namespace}/${at.name}`);
  const vcenter = vcenters.find(({ url }) => new URL(url).host.toLowerCase() === host);
  if (vcenter === undefined)
    throw droverFailure(
      'InvalidConfiguration',
      `Secret ${at.namespace}/${at.name} names the vCenter ${host}, which is not in drover’s settings: add it to vsphere.vcenters`,
    );
  const { username, password } = credential;
  return {
    settings: { ...vcenter, credential: () => Promise.resolve(credential) },
    key: sessionKey([vcenter.name, username, password]),
  };
}

/** `vcenter.example`, `vcenter.example:8443`, `https://vcenter.example/sdk`. */
const serverForm = /^(?:https:\/\/)?([^\s/@?#]+)(?:\/(?:sdk\/?)?)?$/iu;

/** `insecure` is of no account: what certificates are trusted, drover's settings say. @throws InvalidObject */
function readCredential(
  data: Readonly<Record<string, string>>,
  where: string,
): { host: string; credential: VcenterCredential } {
  const valueOf = (key: string): string => {
    const value = Buffer.from(data[key] ?? '', 'base64')
      .toString('utf8')
      .replace(/\r?\n$/u, '');
    if (value === '') throw droverFailure('InvalidObject', `${where} has no ${key}`);
    if (!isWritable(value))
      throw droverFailure('InvalidObject', `${key} in ${where} holds a character that cannot be sent to vCenter`);
    return value;
  };
  const password = valueOf('password');
  registerSecret(password);
  const [, server] = serverForm.exec(valueOf('server').trim()) ?? [];
  const host = server === undefined ? undefined : URL.parse(`https://${server}`)?.host.toLowerCase();
  if (host === undefined || host === '')
    throw droverFailure('InvalidObject', `server in ${where} is no vCenter: expected HOST or HOST:PORT`);
  return { host, credential: { username: valueOf('username'), password } };
}

/** What a user has to put right before anything can be asked of the vCenter of a pool. */
const problems: readonly (string | null)[] = [
  'InvalidObject',
  'InvalidConfiguration',
  'KubernetesForbidden',
  'VsphereCredentialRefused',
  'VsphereNotPermitted',
  'VsphereObjectNotFound',
  'CertificateNotTrusted',
] satisfies ErrorCode[];

/** For a condition. Null: the failure says nothing of the pool, such as a vCenter that does not answer. */
export function vcenterProblem(error: unknown): { reason: string; message: string } | null {
  const code = failureCode(error);
  return code === null || !problems.includes(code)
    ? null
    : { reason: errors[code].reason, message: (error as Error).message };
}

/** The same, of a vCenter that does not answer, or not as it should. */
export function passingProblem(error: unknown): { reason: string; message: string } | null {
  const code = failureCode(error);
  return code === null || !(code.startsWith('Vsphere') || code === 'AnswerMalformed')
    ? null
    : { reason: errors[code].reason, message: (error as Error).message };
}

import { createHash } from 'node:crypto';
import type { VsphereAgentPool } from '../crds/vsphere-agent-pool.ts';

/** Names of what a pool creates. They follow from what is there, so that a repeated step finds the same. */

const hashOf = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);

/** Of kube-apiserver. */
const longestName = 253;
/** Of a DNS label, which a hostname is. */
const longestLabel = 63;

/** At most as long, as it ends with `suffix`. */
const cut = (text: string, suffix: string, longest: number): string =>
  `${text.slice(0, longest - suffix.length).replace(/[-.]+$/u, '')}${suffix}`;

/** A name as the value of a label, which is shorter. */
export const labelValue = (name: string): string =>
  name.length <= longestLabel ? name : cut(name, `-${hashOf(name, 10)}`, longestLabel);

export interface NewName {
  namespace: string;
  pool: string;
  agentMachineNamespace: string;
  agentMachine: string;
}

/** Of a VsphereAgent: that of the AgentMachine, and where another has it, one that no other VsphereAgent gets. */
export function nameAgent(
  { namespace, pool, agentMachineNamespace, agentMachine }: NewName,
  isTaken: (name: string) => boolean,
): string {
  if (!isTaken(agentMachine)) return agentMachine;
  for (let n = 1; ; n += 1) {
    const digest = hashOf(`${namespace}/${pool}/${agentMachineNamespace}/${agentMachine}/${n}`, 10);
    const name = cut(agentMachine, `-${digest}`, longestName);
    if (!isTaken(name)) return name;
  }
}

/** Of a VsphereAgent that is made for no AgentMachine. */
export function nameSurge(namespace: string, pool: string, isTaken: (name: string) => boolean): string {
  for (let n = 1; ; n += 1) {
    const name = cut(pool, `-${hashOf(`${namespace}/${pool}/surge/${n}`, 10)}`, longestName);
    if (!isTaken(name)) return name;
  }
}

/** Of a VM and its host. @param isTaken names of other VMs of the pool */
export function nameVm(name: string, prefix: string, isTaken: (vmName: string) => boolean): string {
  if (prefix === '' && name.length <= longestLabel && !name.includes('.') && !isTaken(name)) return name;
  const stem = prefix === '' ? name.replaceAll('.', '-') : prefix;
  const lengths = prefix === '' ? [10, 20, 40] : [5, 10, 20, 40];
  const names = lengths.map((length) => cut(stem, `-${hashOf(name, length)}`, longestLabel));
  return names.find((vmName) => !isTaken(vmName)) ?? names.at(-1)!;
}

/**
 * Of all that a VM is made of. The credential and the ISO are no part of it: they make no other VM. Nor are the tags,
 * which VMs get when they are there, and the prefix of the name.
 */
export function templateDigest({ template, vsphere, hostedClusterRef }: VsphereAgentPool['spec']): string {
  const { namePrefix: _prefix, ...hardware } = template;
  const { credentialsSecretRef: _secret, isoDatastore: _iso, vmTags: _tags, ...placement } = vsphere;
  const canonical = {
    ...hardware,
    ...placement,
    diskEagerlyScrub: vsphere.diskEagerlyScrub === true,
    folder: vsphere.folder || hostedClusterRef.name,
  };
  return hashOf(JSON.stringify(Object.entries(canonical).toSorted(([a], [b]) => (a < b ? -1 : 1))), 16);
}

import type { HostSigns } from '../../contracts/node-failure/node-failure.ts';

/** What on the host speaks, as a sentence; null where all is silent. A host that speaks is not off. */
export function speaks({ host, node, compute, libvirt }: HostSigns): string | null {
  if (node !== null && node.ready !== 'Unknown') return `the kubelet of ${host} reports`;
  if (compute?.state === 'up') return `nova-compute on ${host} reports`;
  return libvirt !== null && libvirt.verdict !== 'silent' ? `libvirt on ${host} answers` : null;
}

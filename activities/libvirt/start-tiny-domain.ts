import type { Random } from '../../runtime/random.ts';
import type { DomainState, LibvirtConnection } from './types.ts';
import { isOwn, newCheckName, tinyDomainXml } from './xml.ts';

export interface TinyDomain {
  /** `kvm` where the host has it, else `qemu`. */
  type: string;
  /** What it was before it was destroyed. */
  state: DomainState;
}

/**
 * Starts a VM of its own name, looks at it and destroys it. QEMU's driver destroys it with the connection. Others cannot: there, what an
 * earlier check left behind is destroyed first, and only what drover made.
 */
export async function startTinyDomain(
  libvirt: LibvirtConnection,
  { kernelPath, random }: { kernelPath: string | null; random: Random },
  signal: AbortSignal,
): Promise<TinyDomain> {
  const autodestroy = libvirt.uri.startsWith('qemu:');
  if (!autodestroy) await removeLeftovers(libvirt, signal);
  const { domainTypes } = await libvirt.capabilities(signal);
  const type = domainType(libvirt.uri, domainTypes);
  const domain = await libvirt.createDomain(
    tinyDomainXml(newCheckName(random), type, kernelPath),
    { autodestroy },
    signal,
  );
  try {
    return { type, state: await libvirt.domainState(domain, signal) };
  } finally {
    // Also when the signal was aborted: nothing is left behind.
    await libvirt.removeDomain(domain, new AbortController().signal);
  }
}

async function removeLeftovers(libvirt: LibvirtConnection, signal: AbortSignal): Promise<void> {
  for (const domain of await libvirt.domains(signal)) if (isOwn(domain)) await libvirt.removeDomain(domain, signal);
}

/** Cloud Hypervisor is always KVM; libvirt's test driver only knows its own. Pure. */
export function domainType(uri: string, offered: readonly string[]): string {
  if (uri.startsWith('test:')) return 'test';
  return uri.startsWith('ch:') || offered.includes('kvm') ? 'kvm' : 'qemu';
}

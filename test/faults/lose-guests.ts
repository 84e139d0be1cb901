import { connectLibvirt } from '../../activities/libvirt/client.ts';
import { endpointOf } from '../../activities/libvirt/endpoint.ts';
import { domainType } from '../../activities/libvirt/check-libvirt.ts';
import type { Domain } from '../../activities/libvirt/types.ts';
import { newCheckName, tinyDomainXml } from '../../activities/libvirt/xml.ts';
import type { LibvirtHandle } from '../../lab/libvirt/handle.ts';
import { killDomain } from '../../lab/parts/libvirt-faults.ts';
import { until } from '../flows/until.ts';
import { systemClock } from '../../runtime/clock.ts';

const startMs = 60_000;

/**
 * Starts so many guests on a machine of the lab, and kills their QEMUs, as its out-of-memory killer would. Nothing of
 * them stays.
 */
export async function loseGuests(handle: LibvirtHandle, machine: string, count: number): Promise<void> {
  const signal = AbortSignal.timeout(startMs * count);
  const libvirt = await connectLibvirt(
    endpointOf(handle.tcpUri, handle.addresses[machine] ?? ''),
    { certificate: null, credential: null },
    { clock: systemClock, timeouts: { startMs } },
    signal,
  );
  try {
    const { domainTypes } = await libvirt.capabilities(signal);
    const guests: Domain[] = [];
    for (let number = 1; number <= count; number += 1)
      guests.push(
        await libvirt.createDomain(
          tinyDomainXml(newCheckName(Math.random), domainType(libvirt.uri, domainTypes), null),
          { autodestroy: true },
          signal,
        ),
      );
    for (const { name } of guests) killDomain(name);
    // What is there when the connection is closed, libvirt destroys: then no guest would have crashed.
    await until('libvirt to have noticed', startMs, async () => {
      const left = (await libvirt.domains(signal)).filter(({ name }) => guests.some((guest) => guest.name === name));
      return left.length === 0 || left.map(({ name }) => name).join();
    });
  } finally {
    await libvirt.close();
  }
}

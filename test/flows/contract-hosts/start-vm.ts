import { connectLibvirt } from '../../../activities/libvirt/client.ts';
import { endpointOf } from '../../../activities/libvirt/endpoint.ts';
import { domainType } from '../../../activities/libvirt/check-libvirt.ts';
import { newCheckName, tinyDomainXml } from '../../../activities/libvirt/xml.ts';
import { systemClock } from '../../../runtime/clock.ts';

/** A process that starts a VM, prints its name and lives on until it is killed: `start-vm.ts CONNECT_URI ADDRESS`. */

const [, , connectUri = '', address = ''] = process.argv;
const never = new AbortController().signal;
const libvirt = await connectLibvirt(
  endpointOf(connectUri, address),
  { certificate: null, credential: null },
  { clock: systemClock, timeouts: { startMs: 60_000 } },
  never,
);
const { domainTypes } = await libvirt.capabilities(never);
const { name } = await libvirt.createDomain(
  tinyDomainXml(newCheckName(Math.random), domainType(libvirt.uri, domainTypes), null),
  { autodestroy: true },
  never,
);
process.stdout.write(`${name}\n`);

import { createDomainEvents } from './domain-events.ts';
import { unless, virErrors } from './faults.ts';
import type { Request, Rpc } from './rpc.ts';
import { createStorage } from './storage.ts';
import { type Domain, type DomainState, type LibvirtConnection, type LibvirtTimeouts, domainStates } from './types.ts';
import { readCapabilities } from './xml.ts';

/** VIR_DOMAIN_START_AUTODESTROY. */
const autodestroyFlag = 2;

/** The verbs of a connection that is open. */
export function createOperations(
  rpc: Rpc,
  request: Request,
  timeouts: LibvirtTimeouts,
): Omit<LibvirtConnection, 'uri' | 'close'> {
  const domainState = async (domain: Domain, signal: AbortSignal): Promise<DomainState> => {
    const { state } = await request('domainGetState', { domain: wire(domain), flags: 0 }, signal);
    return domainStates[state] ?? 'none';
  };

  return {
    versions: async (signal) => {
      const [libvirt, hypervisor, { type }, { hostname }] = await Promise.all([
        request('connectGetLibVersion', {}, signal),
        request('connectGetVersion', {}, signal, timeouts.startMs),
        request('connectGetType', {}, signal),
        request('connectGetHostname', {}, signal),
      ]);
      return {
        libvirt: versionText(libvirt.version),
        hypervisor: versionText(hypervisor.version),
        driver: type,
        hostname,
      };
    },

    capabilities: async (signal) =>
      readCapabilities((await request('connectGetCapabilities', {}, signal, timeouts.startMs)).xml),

    domains: async (signal) => {
      const { domains } = await request('connectListAllDomains', { needResults: 1, flags: 0 }, signal);
      const listed = domains.map(async ({ uuid, name }) => {
        const state = await unless([virErrors.noDomain], domainState({ uuid, name }, signal));
        return state === null ? [] : [{ uuid, name, state }];
      });
      return (await Promise.all(listed)).flat();
    },

    domainState,

    createDomain: async (xml, { autodestroy }, signal) => {
      const { domain } = await request(
        'domainCreateXml',
        { xml, flags: autodestroy ? autodestroyFlag : 0 },
        signal,
        timeouts.startMs,
      );
      return { uuid: domain.uuid, name: domain.name };
    },

    removeDomain: async (domain, signal) => {
      const whole = { domain: wire(domain), flags: 0 };
      const { noDomain, operationInvalid } = virErrors;
      // Refused where it does not run: Cloud Hypervisor's driver keeps what it has destroyed for a while, as if
      // it were defined.
      await unless([noDomain, operationInvalid], request('domainDestroyFlags', whole, signal, timeouts.startMs));
      await unless([noDomain, operationInvalid], request('domainUndefineFlags', whole, signal));
    },

    resetDomain: async (domain, signal) =>
      void (await request('domainReset', { domain: wire(domain), flags: 0 }, signal)),

    domainEvents: createDomainEvents(rpc, request),
    ...createStorage(request, timeouts),
  };
}

/** The daemon finds a domain by its UUID; the id is for those that know it. */
const wire = ({ uuid, name }: Domain) => ({ uuid, name, id: -1 });

/** libvirt’s way to put a version into a number: major × 1,000,000 + minor × 1,000 + release. */
export const versionText = (version: bigint): string =>
  `${version / 1_000_000n}.${(version / 1_000n) % 1_000n}.${version % 1_000n}`;

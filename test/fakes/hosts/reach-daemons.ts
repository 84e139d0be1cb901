import type { LibvirtEndpoint } from '../../../activities/libvirt/endpoint.ts';
import { transportFault } from '../../../activities/libvirt/faults.ts';
import type { LibvirtAccess } from '../../../activities/libvirt/types.ts';
import { type OvsdbOptions, nameOf, socketFailure } from '../../../activities/ovs/ovsdb.ts';
import type { OvsdbRemote } from '../../../activities/ovs/types.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { LibvirtDaemon } from './libvirt-daemon.ts';
import type { Ovsdb } from './ovsdb.ts';

/** PEM texts, as far as the fake compares them: the authority of all daemons, and a client that they accept. */
export const fakeCertificates = {
  ca: 'the CA of the hosts',
  cert: 'the certificate of drover',
  key: 'the key of drover',
} as const;

/** What listens on a host. */
interface Listening {
  name: string;
  address: string;
  power: 'On' | 'Off';
  libvirt: LibvirtDaemon;
  ovs: Ovsdb;
}

/**
 * Finds the daemons of hosts by name or address.
 * @throws as the real clients do: no such name, a certificate that is refused
 */
export function reachDaemons(hosts: ReadonlyMap<string, Listening>) {
  /** null: a machine without power does not answer. */
  const reached = (where: string, unresolved: () => Error): Listening | null => {
    const found = [...hosts.values()].find(({ name, address }) => name === where || address === where);
    if (found === undefined) throw unresolved();
    return found.power === 'On' ? found : null;
  };
  const isTrusted = (ca: string | undefined): boolean => ca === fakeCertificates.ca;

  const libvirtAt = (
    { host, port, transport }: LibvirtEndpoint,
    certificate: LibvirtAccess['certificate'],
  ): LibvirtDaemon | null => {
    const fault = (code: string): Error => {
      const { code: type, words } = transportFault(Object.assign(new Error(code), { code }));
      return droverFailure(type, `libvirt at ${host}:${port}: ${words}`);
    };
    const found = reached(host, () => fault('ENOTFOUND'));
    if (found === null || transport === 'tcp') return found?.libvirt ?? null;
    if (found.libvirt.service.state !== 'down') {
      if (!isTrusted(certificate?.ca)) throw fault('SELF_SIGNED_CERT_IN_CHAIN');
      const closed = `libvirt at ${host}:${port} closed the connection after the TLS handshake`;
      if (certificate?.cert === null)
        throw droverFailure(
          'LibvirtCredentialRefused',
          `${closed}: it asks for a client certificate, and drover has none`,
        );
      if (certificate?.cert !== fakeCertificates.cert)
        throw droverFailure('LibvirtCredentialRefused', `${closed}: it does not take drover’s client certificate`);
    }
    return found.libvirt;
  };

  const ovsAt = (remote: OvsdbRemote, credential: OvsdbOptions['credential']): Ovsdb | null => {
    const fault = (code: string): Error =>
      socketFailure(Object.assign(new Error(code), { code }), `the OVSDB server ${nameOf(remote)}`);
    if (remote.protocol === 'ssl' && (credential === null || credential === undefined))
      throw droverFailure(
        'InvalidConfiguration',
        `ssl:${remote.host}:${remote.port} needs a CA, a client certificate and its key`,
      );
    const found = reached(remote.host, () => fault('ENOTFOUND'));
    if (found === null || remote.protocol === 'tcp' || found.ovs.service.state === 'down') return found?.ovs ?? null;
    if (!isTrusted(credential?.ca)) throw fault('SELF_SIGNED_CERT_IN_CHAIN');
    if (credential?.certificate !== fakeCertificates.cert) throw fault('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA');
    return found.ovs;
  };

  return { libvirtAt, ovsAt };
}

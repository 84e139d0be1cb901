import { createHash } from 'node:crypto';

import type { Random } from '../../runtime/random.ts';
import type { LibvirtCapabilities, RbdPool } from './types.ts';

/** What drover gives libvirt to read, and the little that it reads of libvirt's XML. */

/** Of what drover makes on a host for a check: the proof of ownership, together with the UUID's beginning. */
export const checkPrefix = 'drover-check-';
/** `drover` in hexadecimal digits. */
const ownUuidPrefix = '64726f76-6572-';

/** Whether drover made it for a check. Name and UUID are set in the call that makes it. */
export const isOwn = ({ name, uuid }: { name: string; uuid: string }): boolean =>
  name.startsWith(checkPrefix) && uuid.startsWith(ownUuidPrefix);

/** For something of that name; the same each time. */
export function ownUuid(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex');
  return `${ownUuidPrefix}8${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`;
}

/** A unique name. */
export const newCheckName = (random: Random): string =>
  `${checkPrefix}${Math.floor(random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')}`;

const tinyMemoryMiB = 32;

/**
 * The smallest VM that shows that the host starts VMs: no disk, no network, no display.
 *
 * @param kernelPath on the host; for Cloud Hypervisor, which boots nothing else
 */
export function tinyDomainXml(name: string, type: string, kernelPath: string | null): string {
  const kernel = kernelPath === null ? '' : `<kernel>${escapeXml(kernelPath)}</kernel>`;
  return (
    `<domain type='${escapeXml(type)}'><name>${escapeXml(name)}</name><uuid>${ownUuid(name)}</uuid>` +
    `<memory unit='MiB'>${tinyMemoryMiB}</memory><vcpu>1</vcpu><os><type>hvm</type>${kernel}</os>` +
    `<devices>${kernelPath === null ? "<controller type='usb' model='none'/><memballoon model='none'/>" : ''}</devices></domain>`
  );
}

/** A pool of type `rbd`. libvirt reads Ceph's addresses from here, never from the host's ceph.conf. */
export function rbdPoolXml({ name, uuid, cephPool, monitors, auth }: RbdPool): string {
  const hosts = monitors.map(({ host, port }) => `<host name='${escapeXml(host)}' port='${port}'/>`).join('');
  const login =
    auth === null
      ? ''
      : `<auth username='${escapeXml(auth.user)}' type='ceph'><secret uuid='${escapeXml(auth.secretUuid)}'/></auth>`;
  return `<pool type='rbd'><name>${escapeXml(name)}</name><uuid>${escapeXml(uuid)}</uuid><source><name>${escapeXml(cephPool)}</name>${hosts}${login}</source></pool>`;
}

/** A secret that libvirt keeps in memory and never returns. */
export const cephSecretXml = (uuid: string, user: string): string =>
  `<secret ephemeral='yes' private='yes'><uuid>${escapeXml(uuid)}</uuid><usage type='ceph'><name>client.${escapeXml(user)} ${escapeXml(uuid)}</name></usage></secret>`;

/** What the capabilities say of CPU and domain types; a driver may say next to nothing. */
export function readCapabilities(xml: string): LibvirtCapabilities {
  const architecture = /<arch>([a-z0-9_]{1,32})<\/arch>/u.exec(xml)?.[1] ?? null;
  const types = [...xml.matchAll(/<domain type='([a-z]{1,32})'/gu)].flatMap(([, type]) =>
    type === undefined ? [] : [type],
  );
  return { architecture, domainTypes: [...new Set(types)] };
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&apos;', '"': '&quot;' };
const escapeXml = (text: string): string => text.replaceAll(/[&<>'"]/gu, (letter) => entities[letter] ?? '');

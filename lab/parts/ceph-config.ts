import { randomBytes, randomUUID } from 'node:crypto';

export interface CephPorts {
  readonly monitorV1: number;
  readonly monitorV2: number;
  readonly dashboard: number;
}

/** Who may do what in the cluster. */
const capabilities = {
  'mon.': { mon: 'allow *' },
  'client.admin': { mon: 'allow *', osd: 'allow *', mgr: 'allow *', mds: 'allow *' },
  'mgr.x': { mon: 'allow profile mgr', osd: 'allow *', mds: 'allow *' },
  'osd.0': { mon: 'allow profile osd', mgr: 'allow profile osd', osd: 'allow *' },
  'client.libvirt': { mon: 'profile rbd', osd: 'profile rbd pool=vms', mgr: 'profile rbd pool=vms' },
} as const satisfies Record<string, Record<string, string>>;

export type CephKeys = Record<keyof typeof capabilities, string>;

/** New keys for all accounts. */
export function makeKeys(): CephKeys {
  return Object.fromEntries(Object.keys(capabilities).map((name) => [name, cephKey()])) as CephKeys;
}

/** AES key in Ceph's encoding: type 1, seconds and nanoseconds of its creation, length, 16 bytes; little-endian. */
function cephKey(): string {
  const head = Buffer.alloc(12);
  head.writeUInt16LE(1, 0);
  head.writeUInt32LE(Math.floor(Date.now() / 1_000), 2);
  head.writeUInt16LE(16, 10);
  return Buffer.concat([head, randomBytes(16)]).toString('base64');
}

/** All keys with what they open: given to the monitor when it is made, so that none is added later. */
export const keyring = (keys: CephKeys): string =>
  Object.entries(capabilities)
    .map(([name, caps]) =>
      [
        `[${name}]`,
        `key = ${keys[name as keyof CephKeys]}`,
        ...Object.entries(caps).map(([service, cap]) => `caps ${service} = "${cap}"`),
      ].join('\n'),
    )
    .join('\n');

export interface CephIdentity {
  readonly fsid: string;
  readonly osdUuid: string;
}

export const newIdentity = (): CephIdentity => ({ fsid: randomUUID(), osdUuid: randomUUID() });

export const monitorAddress = ({ monitorV1, monitorV2 }: CephPorts): string =>
  `[v2:127.0.0.1:${monitorV2},v1:127.0.0.1:${monitorV1}]`;

/**
 * ceph.conf of a cluster of one monitor, one manager and one OSD in memory. Its log is what it writes
 * to standard error.
 */
export function cephConfig(dir: string, { fsid, osdUuid }: CephIdentity, ports: CephPorts): string {
  const sections: Record<string, Record<string, string | number>> = {
    global: {
      fsid,
      'mon host': monitorAddress(ports),
      'public addr': '127.0.0.1',
      'cluster addr': '127.0.0.1',
      'ms bind ipv6': 'false',
      'auth cluster required': 'cephx',
      'auth service required': 'cephx',
      'auth client required': 'cephx',
      'auth allow insecure global id reclaim': 'false',
      keyring: `${dir}/keyring`,
      'run dir': `${dir}/run`,
      'crash dir': `${dir}/run`,
      // A lab may lie deeper than a UNIX socket's path may be long.
      'admin socket': '',
      'pid file': '',
      'log file': '',
      'log to stderr': 'true',
      'err to stderr': 'true',
      'mon cluster log to stderr': 'false',
      'mon cluster log file': '/dev/null',
      // One OSD is all there is.
      'osd crush chooseleaf type': 0,
      'osd pool default size': 1,
      'osd pool default min size': 1,
      'osd pool default pg num': 8,
      'osd pool default pgp num': 8,
      'osd pool default pg autoscale mode': 'off',
      'mon allow pool size one': 'true',
      'mon warn on pool no redundancy': 'false',
      'mon pg warn min per osd': 0,
      'mon allow pool delete': 'true',
      // The disk is shared with everything else of this machine.
      'mon data avail warn': 2,
      'mon data avail crit': 1,
      // The monitor reads it. Without it another one is switched on which fails on Debian 12, and that alone
      // is a warning.
      'mgr initial modules': 'dashboard',
      // Quick to agree, and to notice who is gone.
      'paxos propose interval': 0.05,
      'paxos min wait': 0.01,
      'mon tick interval': 1,
      'mgr tick period': 1,
      'osd beacon report interval': 2,
      'mon osd report timeout': 8,
    },
    'mon.a': { 'mon data': `${dir}/mon` },
    mgr: { 'mgr data': `${dir}/mgr`, 'mgr module path': `${dir}/mgr-modules`, 'mgr pool': 'false' },
    osd: {
      'osd data': `${dir}/osd`,
      'osd objectstore': 'memstore',
      'osd uuid': osdUuid,
      'memstore device bytes': 4 * 1024 ** 3,
      'osd scrub load threshold': 100,
    },
  };
  return Object.entries(sections)
    .map(([name, options]) =>
      [`[${name}]`, ...Object.entries(options).map(([option, value]) => `${option} = ${value}`)].join('\n'),
    )
    .join('\n')
    .concat('\n');
}

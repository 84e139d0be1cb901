import { readLibvirtAccess, type LibvirtSettings } from '../../../activities/libvirt/access.ts';
import { endpointOf } from '../../../activities/libvirt/endpoint.ts';
import type { ConnectLibvirt, LibvirtConnection, LibvirtTimeouts } from '../../../activities/libvirt/types.ts';
import type { ObserveCall } from '../../../runtime/telemetry/outside-calls.ts';
import type { Random } from '../../../runtime/random.ts';
import type { ReadText } from '../../../runtime/read-text.ts';
import { never, type Subject } from './subject.ts';

/** libvirt with QEMU on the hosts node-1, and node-2, which asks for a password over TLS. */
export interface LibvirtSubject extends Subject {
  connectLibvirt: (...args: [...Parameters<ConnectLibvirt>, observe?: ObserveCall]) => ReturnType<ConnectLibvirt>;
  readText: ReadText;
  random: Random;
  addressOf: (host: string) => string;
  /** `qemu+tcp://{host}:16509/system` */
  tcpUri: string;
  tlsUri: string;
  /** Files of the certificates that all daemons accept. */
  tls: NonNullable<LibvirtSettings['tls']>;
  sasl: NonNullable<LibvirtSettings['sasl']>;
  wrongPasswordFile: string;
  /** kill -9 of the QEMU of that name. */
  killQemu: (name: string) => Promise<void>;
  /** kill -9 of the daemon, and of its VMs. */
  killDaemon: (host: string) => Promise<void>;
  restartDaemon: (host: string) => Promise<void>;
  /** Connections stand, and nothing is answered. */
  freeze: (host: string) => void;
  thaw: (host: string) => void;
  /** Another process starts a VM on node-1 with autodestroy. */
  startVmElsewhere: () => Promise<{ name: string; killProcess: () => void }>;
}

export const openHost = 'node-1';
export const withPassword = 'node-2';
const startMs = 60_000;
/** Of a test: a VM without KVM on a machine that is busy. */
export const testTimeoutMs = 120_000;

export const settingsOf = (
  { tcpUri, tls }: LibvirtSubject,
  changes: Partial<LibvirtSettings> = {},
): LibvirtSettings => ({
  connectUri: tcpUri,
  tls,
  sasl: null,
  minimumVersion: '8.0.0',
  kernelPath: null,
  timeouts: { startMs },
  ...changes,
});

export async function connect(
  subject: LibvirtSubject,
  {
    host = openHost,
    settings = settingsOf(subject),
    timeouts = {},
    observe,
  }: { host?: string; settings?: LibvirtSettings; timeouts?: Partial<LibvirtTimeouts>; observe?: ObserveCall } = {},
): Promise<LibvirtConnection> {
  const access = await readLibvirtAccess(settings, subject.readText, never);
  return subject.connectLibvirt(
    endpointOf(settings.connectUri, subject.addressOf(host)),
    access,
    { timeouts: { ...settings.timeouts, ...timeouts } },
    never,
    observe,
  );
}

/** Names of the domains of a host. */
export async function namesOn(
  subject: LibvirtSubject,
  host: string,
  settings = settingsOf(subject),
): Promise<string[]> {
  const libvirt = await connect(subject, { host, settings });
  try {
    return (await libvirt.domains(never)).map(({ name }) => name);
  } finally {
    await libvirt.close();
  }
}

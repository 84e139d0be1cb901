import { accessSync, constants, globSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { type DebianPrograms, ensureDebianPrograms } from '../debian.ts';
import { LabError } from '../lab-error.ts';
import { prepareDaemon } from '../libvirt/daemon.ts';
import type { LibvirtHandle } from '../libvirt/handle.ts';
import { ensurePki } from '../libvirt/pki.ts';
import { ensureSasl } from '../libvirt/sasl.ts';
import type { LabContext, Part } from '../part.ts';

export interface LibvirtOptions {
  /** Names of the hypervisors, default node-1 and node-2; at most 200. */
  readonly hosts?: readonly string[];
  /** Those of them that ask for a password over TLS, default none. */
  readonly withPassword?: readonly string[];
}

/** 127.0.0.1 is used by everything else. */
const FIRST_ADDRESS = 11;
const MOST_HOSTS = 200;
const READY_TIMEOUT_MS = 30_000;

const qemu =
  process.arch === 'arm64'
    ? { program: 'qemu-system-aarch64', package: 'qemu-system-arm' }
    : { program: 'qemu-system-x86_64', package: 'qemu-system-x86' };

/** What the part needs of the machine. */
export const libvirtPrograms: DebianPrograms = {
  what: 'libvirt',
  packages: [
    'libvirt-daemon',
    'libvirt-daemon-driver-qemu',
    'libvirt-daemon-driver-storage-rbd',
    qemu.package,
    'sasl2-bin',
    'libsasl2-modules',
    'openssl',
  ],
  missing: () => [
    ...['libvirtd', qemu.program, 'saslpasswd2', 'openssl', 'unshare'].filter((name) => !isOnPath(name)),
    ...(globSync('/usr/lib{,64}/{*/,}libvirt/storage-backend/libvirt_storage_backend_rbd.so').length > 0
      ? []
      : ['libvirt’s storage backend rbd']),
  ],
  usually: '1 min',
};

/**
 * libvirt daemons side by side, one per hypervisor, each on a loopback address of its own: what a hypervisor's libvirt
 * is to drover, over TCP and TLS. Their VMs are real ones of QEMU, emulated where there is no KVM.
 */
export function libvirtPart(options: LibvirtOptions = {}): Part<LibvirtHandle> {
  return {
    name: 'libvirt',
    title: 'libvirt daemons with QEMU',
    usually: { cold: '1 min', warm: '1 s' },
    build: (context) => ensureDebianPrograms(context, libvirtPrograms),
    start: (context) => start(context, options),
    describe: (handle) => ({
      urls: Object.fromEntries(
        Object.entries(handle.addresses).map(([name, address]) => [
          `libvirt on ${name}`,
          handle.tlsUri.replace('{host}', address),
        ]),
      ),
      exports: { LIBVIRT_DEFAULT_URI: handle.tcpUri.replace('{host}', Object.values(handle.addresses)[0] ?? '') },
    }),
  };
}

async function start(
  context: LabContext,
  { hosts = ['node-1', 'node-2'], withPassword = [] }: LibvirtOptions,
): Promise<LibvirtHandle> {
  if (process.platform !== 'linux')
    throw new LabError(
      'libvirt daemons of the lab need Linux: they run in namespaces and on several loopback addresses.',
    );
  if (hosts.length > MOST_HOSTS)
    throw new LabError(`at most ${MOST_HOSTS} libvirt daemons fit onto the loopback addresses of a lab`);
  const isRoot = process.getuid?.() === 0;
  const ports = await context.ports('tcp', 'tls');
  const addresses = Object.fromEntries(hosts.map((name, index) => [name, `127.0.0.${FIRST_ADDRESS + index}`]));
  const [pki, sasl] = await Promise.all([ensurePki(context, Object.values(addresses)), ensureSasl(context)]);
  const qemuPath = isRoot ? '/system' : '/session';
  const handle: LibvirtHandle = {
    dir: context.dir,
    addresses,
    ports,
    qemuPath,
    tcpUri: `qemu+tcp://{host}:${ports.tcp}${qemuPath}`,
    tlsUri: `qemu+tls://{host}:${ports.tls}${qemuPath}`,
    caFile: pki.caFile,
    certFile: pki.clientCertFile,
    keyFile: pki.clientKeyFile,
    user: sasl.user,
    passwordFile: sasl.passwordFile,
  };
  await Promise.all(
    Object.entries(addresses).map(([name, address]) =>
      context.spawn({
        name: libvirtService(name),
        ...prepareDaemon({
          dir: join(context.dir, name),
          address,
          ports,
          pki,
          saslDir: withPassword.includes(name) ? sasl.dir : null,
          isRoot,
        }),
        ready: (signal) => libvirtListens(handle, name, signal),
        readyTimeoutMs: READY_TIMEOUT_MS,
        // unshare does not pass SIGTERM on; nothing that a daemon holds has to be written.
        stopTimeoutMs: 1,
      }),
    ),
  );
  return handle;
}

/** The service of one hypervisor. */
export const libvirtService = (host: string): string => `libvirtd-${host}`;

/** Whether the daemon takes connections on both ports. */
export async function libvirtListens(
  { addresses, ports }: LibvirtHandle,
  host: string,
  signal: AbortSignal,
): Promise<boolean> {
  const takes = (port: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect({ host: addresses[host] ?? '', port, signal });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    return promise.finally(() => socket.destroy());
  };
  return (await takes(ports.tcp)) && takes(ports.tls);
}

function isOnPath(program: string): boolean {
  return [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

import { requireText, type ReadText } from '../../runtime/read-text.ts';
import { endpointOf } from './endpoint.ts';
import type { ConnectLibvirt, LibvirtAccess, LibvirtConnection, LibvirtTimeouts } from './types.ts';

/** How drover reaches libvirt on every hypervisor. Names of files, never what is in them. */
export interface LibvirtSettings {
  /** `qemu+tls://{host}/system`; `{host}` stands for the hypervisor's name or address. */
  connectUri: string;
  /** PEM files; read for every connection, so that renewed ones are taken. null: plain TCP. */
  tls: { caFile: string; certFile: string | null; keyFile: string | null } | null;
  /** For daemons with `auth_tls = "sasl"`. */
  sasl: { user: string; passwordFile: string } | null;
  /** Of the daemon. */
  minimumVersion: string;
  /** Path on the hypervisors of the kernel or firmware that the tiny VM boots; Cloud Hypervisor needs one. */
  kernelPath: string | null;
  timeouts: Partial<LibvirtTimeouts>;
}

/** @throws InvalidConfiguration where a file cannot be read */
export async function readLibvirtAccess(
  { tls, sasl }: Pick<LibvirtSettings, 'tls' | 'sasl'>,
  readText: ReadText,
  signal: AbortSignal,
): Promise<LibvirtAccess> {
  const text = (file: string): Promise<string> => requireText(readText, file, 'What opens libvirt', signal);
  const optionalText = async (file: string | null): Promise<string | null> => (file === null ? null : text(file));
  return {
    certificate:
      tls === null
        ? null
        : { ca: await text(tls.caFile), cert: await optionalText(tls.certFile), key: await optionalText(tls.keyFile) },
    credential:
      sasl === null ? null : { user: sasl.user, password: (await text(sasl.passwordFile)).replace(/\r?\n$/u, '') },
  };
}

/** By what libvirt is opened, as it is composed. */
export interface LibvirtOpener {
  connectLibvirt: ConnectLibvirt;
  readText: ReadText;
}

export interface LibvirtTarget {
  libvirt: Pick<LibvirtSettings, 'connectUri' | 'tls' | 'sasl'>;
  /** The hypervisor's name or address, where its libvirt listens. */
  address: string;
  /** Left out: the client's own. */
  timeouts?: Partial<LibvirtTimeouts>;
}

/**
 * A connection for the caller to close.
 * @throws InvalidConfiguration where a file cannot be read; what the client throws
 */
export async function openLibvirt(
  { connectLibvirt, readText }: LibvirtOpener,
  { libvirt, address, timeouts }: LibvirtTarget,
  signal: AbortSignal,
): Promise<LibvirtConnection> {
  const endpoint = endpointOf(libvirt.connectUri, address);
  const access = await readLibvirtAccess(libvirt, readText, signal);
  return await connectLibvirt(endpoint, access, timeouts === undefined ? {} : { timeouts }, signal);
}

/**
 * A connection that is closed when it was used, also where that fails.
 * @throws as {@link openLibvirt}, and what `use` throws
 */
export async function withLibvirt<Result>(
  opener: LibvirtOpener,
  target: LibvirtTarget,
  signal: AbortSignal,
  use: (connection: LibvirtConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await openLibvirt(opener, target, signal);
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

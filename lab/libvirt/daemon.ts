import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDirectory, writePrivateFile } from '../private-files.ts';
import type { Pki } from './pki.ts';

/** How one libvirtd is to run. */
export interface DaemonPlan {
  /** Its own directory: what would be in /etc, /var and /run. */
  readonly dir: string;
  readonly address: string;
  readonly ports: { readonly tcp: number; readonly tls: number };
  readonly pki: Pki;
  /** The directory with `libvirt.conf` of SASL where TLS asks for a password besides the certificate. */
  readonly saslDir: string | null;
  readonly isRoot: boolean;
}

export interface DaemonCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** As Debian's libvirt-daemon-system makes it; without that package there is none, and QEMU's driver does not start. */
const PASSWD_LINE = 'libvirt-qemu:x:64055:64055:Libvirt Qemu:/var/lib/libvirt:/usr/sbin/nologin';
const GROUP_LINE = 'libvirt-qemu:x:64055:';

/** What libvirt has compiled in, and where the lab's own lies instead. */
const BOUND = {
  etc: '/etc/libvirt',
  lib: '/var/lib/libvirt',
  cache: '/var/cache/libvirt',
  run: '/run/libvirt',
  log: '/var/log/libvirt',
} as const;

/**
 * Writes the files of one libvirtd, and says how it is started: in a PID namespace, so that its VMs end with it,
 * whatever ends it. The shell in front reaps what VMs leave. Root's daemons have a mount namespace as well, and touch
 * nothing of the machine's own libvirt.
 */
export function prepareDaemon(plan: DaemonPlan): DaemonCommand {
  const { dir, isRoot, saslDir } = plan;
  const configFile = join(dir, 'libvirtd.conf');
  for (const folder of ['', 'home', 'home/.config/libvirt', ...Object.keys(BOUND)])
    ensurePrivateDirectory(join(dir, folder));
  writePrivateFile(configFile, libvirtdConf(plan));
  writePrivateFile(join(dir, isRoot ? 'etc/qemu.conf' : 'home/.config/libvirt/qemu.conf'), qemuConf(isRoot));
  if (isRoot) writeAccounts(dir);

  const namespaces = isRoot ? ['--mount', '--propagation', 'private'] : ['--user', '--map-current-user'];
  const mounts = isRoot ? rootMounts : [];
  const script = ['set -e', ...mounts, `libvirtd --listen -f "$1" -p "$2" &`, 'wait $!'].join('\n');
  return {
    command: 'unshare',
    args: [
      ...namespaces,
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-c',
      script,
      'libvirtd',
      configFile,
      join(dir, 'libvirtd.pid'),
      dir,
    ],
    env: {
      PATH: `/usr/sbin:/sbin:${process.env['PATH'] ?? '/usr/bin:/bin'}`,
      HOME: join(dir, 'home'),
      XDG_RUNTIME_DIR: join(dir, 'run'),
      XDG_CONFIG_HOME: join(dir, 'home/.config'),
      XDG_CACHE_HOME: join(dir, 'cache'),
      ...(saslDir === null ? {} : { SASL_CONF_PATH: saslDir }),
    },
  };
}

function libvirtdConf({ address, ports, pki, saslDir, dir, isRoot }: DaemonPlan): string {
  return `${[
    'listen_tcp = 1',
    'listen_tls = 1',
    `listen_addr = "${address}"`,
    `tcp_port = "${ports.tcp}"`,
    `tls_port = "${ports.tls}"`,
    'auth_tcp = "none"',
    `auth_tls = "${saslDir === null ? 'none' : 'sasl'}"`,
    'auth_unix_ro = "none"',
    'auth_unix_rw = "none"',
    // Root's own is bound to a short path: a socket's must not be long.
    `unix_sock_dir = "${isRoot ? BOUND.run : join(dir, 'run')}"`,
    `ca_file = "${pki.caFile}"`,
    `cert_file = "${pki.serverCertFile}"`,
    `key_file = "${pki.serverKeyFile}"`,
    'log_outputs = "3:stderr"',
  ].join('\n')}\n`;
}

/** For a machine without systemd, virtlogd, AppArmor and a user of QEMU's own. */
const qemuConf = (isRoot: boolean): string =>
  `${[
    ...(isRoot ? ['user = "root"', 'group = "root"'] : []),
    'security_driver = "none"',
    'stdio_handler = "file"',
    'namespaces = [ ]',
    'cgroup_controllers = [ ]',
    'remember_owner = 0',
    'dynamic_ownership = 0',
  ].join('\n')}\n`;

/** Copies of the machine's accounts, with QEMU's: the driver resolves it before it reads its own settings. */
function writeAccounts(dir: string): void {
  const withLine = (file: string, line: string): string => {
    const text = readFileSync(file, 'utf8');
    return text.includes('\nlibvirt-qemu:') ? text : `${text.trimEnd()}\n${line}\n`;
  };
  writePrivateFile(join(dir, 'passwd'), withLine('/etc/passwd', PASSWD_LINE), 0o644);
  writePrivateFile(join(dir, 'group'), withLine('/etc/group', GROUP_LINE), 0o644);
}

/** `$3` is the daemon's directory. */
const rootMounts: readonly string[] = [
  `mkdir -p ${Object.values(BOUND).join(' ')}`,
  ...Object.entries(BOUND).map(([name, target]) => `mount --bind "$3/${name}" ${target}`),
  'mount --bind "$3/passwd" /etc/passwd',
  'mount --bind "$3/group" /etc/group',
];

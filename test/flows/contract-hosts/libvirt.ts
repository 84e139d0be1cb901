import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectLibvirt } from '../../../activities/libvirt/client.ts';
import type { LibvirtHandle } from '../../../lab/libvirt/handle.ts';
import { startOsd, stopOsd } from '../../../lab/parts/ceph-faults.ts';
import type { CephHandle } from '../../../lab/parts/ceph-handle.ts';
import {
  freezeLibvirtd,
  killDomain,
  killHypervisor,
  restartHypervisor,
  thawLibvirtd,
} from '../../../lab/parts/libvirt-faults.ts';
import { runCommand } from '../../../lab/run-command.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { readTextFile } from '../../../runtime/read-text.ts';
import type { StorageSubject } from '../../contracts/hosts/libvirt-storage.ts';
import { openHost } from '../../contracts/hosts/libvirt-subject.ts';

const rbdTimeoutMs = 60_000;

/** The lab's libvirt and Ceph. @param dir for files of the tests */
export function libvirtOfLab(handle: LibvirtHandle, ceph: CephHandle, dir: string): StorageSubject {
  const wrongPasswordFile = join(dir, 'wrong-password');
  writeFileSync(wrongPasswordFile, 'not-the-password\n', { mode: 0o600 });
  return {
    clock: systemClock,
    run: (body) => body(),
    connectLibvirt: (endpoint, access, options, signal, observe) =>
      connectLibvirt(endpoint, access, { clock: systemClock, ...options, ...(observe && { observe }) }, signal),
    readText: readTextFile,
    random: Math.random,
    addressOf: (host) => handle.addresses[host] ?? '',
    tcpUri: handle.tcpUri,
    tlsUri: handle.tlsUri,
    tls: { caFile: handle.caFile, certFile: handle.certFile, keyFile: handle.keyFile },
    sasl: { user: handle.user, passwordFile: handle.passwordFile },
    wrongPasswordFile,
    killQemu: (name) => Promise.resolve(killDomain(name)),
    killDaemon: (host) => killHypervisor(handle, host),
    restartDaemon: async (host) => void (await restartHypervisor(handle, host)),
    freeze: (host) => freezeLibvirtd(handle, host),
    thaw: (host) => thawLibvirtd(handle, host),
    startVmElsewhere: () => startVmElsewhere(handle),
    ceph: {
      monitors: [ceph.monitor],
      user: ceph.client.name,
      key: Buffer.from(readFileSync(ceph.client.keyFile, 'utf8').trim(), 'base64'),
      createImage: async (name) => void (await rbd(ceph, 'create', `${ceph.pool}/${name}`, '--size', '16M')),
      removeImage: async (name) => void (await rbd(ceph, 'rm', `${ceph.pool}/${name}`)),
      stopOsd: () => stopOsd(ceph),
      startOsd: async () => void (await startOsd(ceph)),
    },
  };
}

/** As a hypervisor does, with its own key. */
const rbd = ({ confFile, client }: CephHandle, ...args: string[]): Promise<string> =>
  runCommand({
    command: 'rbd',
    args: ['--id', client.name, '--keyfile', client.keyFile, '--client-mount-timeout=10', ...args],
    env: { CEPH_CONF: confFile },
    timeoutMs: rbdTimeoutMs,
  });

async function startVmElsewhere({ tcpUri, addresses }: LibvirtHandle) {
  const starter = spawn(
    process.execPath,
    ['--no-warnings', join(import.meta.dirname, 'start-vm.ts'), tcpUri, addresses[openHost] ?? ''],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(starter.stdout.setEncoding('utf8'), 'data')) as [string];
  return { name: line.trim(), killProcess: () => void starter.kill('SIGKILL') };
}

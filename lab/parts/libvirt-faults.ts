import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../lab-error.ts';
import type { LibvirtHandle } from '../libvirt/handle.ts';
import type { ProcessRecord } from '../part.ts';
import { killService, respawnService } from '../processes.ts';
import { libvirtListens, libvirtService } from './libvirt.ts';

const RESTART_TIMEOUT_MS = 60_000;

/** The power of one hypervisor is cut: its daemon ends, and all its VMs. */
export function killHypervisor(handle: LibvirtHandle, host: string): Promise<void> {
  return killService(handle.dir, libvirtService(host));
}

/** Starts the daemon again after `killHypervisor`, on the same address and data; resolves when it listens. */
export function restartHypervisor(
  handle: LibvirtHandle,
  host: string,
  signal = AbortSignal.timeout(RESTART_TIMEOUT_MS),
): Promise<ProcessRecord> {
  return respawnService(
    handle.dir,
    libvirtService(host),
    { ready: (attempt) => libvirtListens(handle, host, attempt) },
    signal,
  );
}

/**
 * kill -9 of the QEMU that runs a domain, as the machine's out-of-memory killer would.
 * @param domain its name, which no other VM has
 */
export function killDomain(domain: string): void {
  signalOne(`the domain ${domain}`, (args) => args.some((arg) => arg.startsWith(`guest=${domain},`)), 'SIGKILL');
}

function signalOne(what: string, isIt: (args: readonly string[]) => boolean, signal: NodeJS.Signals): void {
  const argsOf = (pid: string): string[] => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    } catch {
      return []; // ended
    }
  };
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && isIt(argsOf(entry)));
  if (pids.length !== 1) throw new LabError(`${pids.length} processes run ${what}`);
  process.kill(Number(pids[0]), signal);
}

/**
 * Makes the daemon of one hypervisor hang: connections stay open and nothing is answered, until `thawLibvirtd`. Its VMs
 * go on.
 */
export const freezeLibvirtd = (handle: LibvirtHandle, host: string): void => signalLibvirtd(handle, host, 'SIGSTOP');

export const thawLibvirtd = (handle: LibvirtHandle, host: string): void => signalLibvirtd(handle, host, 'SIGCONT');

/** The daemon itself, which is a child of the service: that is its namespaces'. */
function signalLibvirtd({ dir }: LibvirtHandle, host: string, signal: NodeJS.Signals): void {
  const config = join(dir, host, 'libvirtd.conf');
  signalOne(
    `libvirtd of ${host}`,
    (args) => args[0]?.endsWith('libvirtd') === true && args.includes('--listen') && args.includes(config),
    signal,
  );
}

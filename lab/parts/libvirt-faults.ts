import { readdirSync, readFileSync } from 'node:fs';
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
export function restartHypervisor(handle: LibvirtHandle, host: string, signal = AbortSignal.timeout(RESTART_TIMEOUT_MS)): Promise<ProcessRecord> {
  return respawnService(handle.dir, libvirtService(host), { ready: (attempt) => libvirtListens(handle, host, attempt) }, signal);
}

/** kill -9 of the QEMU that runs a domain, as the machine's out-of-memory killer would. @param domain its name, which no other VM has */
export function killDomain(domain: string): void {
  const isIt = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0guest=${domain},`);
    } catch {
      return false; // ended
    }
  };
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && isIt(entry));
  if (pids.length !== 1) throw new LabError(`${pids.length} processes run the domain ${domain}`);
  process.kill(Number(pids[0]), 'SIGKILL');
}

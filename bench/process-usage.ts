import { readFileSync } from 'node:fs';

/** Resident set of a process, MiB. */
export interface Memory {
  residentMiB: number;
  peakMiB: number;
}

/** Linux's unit of processor time in /proc, whatever the kernel's own is. */
const ticksPerSecond = 100;

/** Of Linux's /proc; undefined once the process has ended. */
export function readMemory(pid: number): Memory | undefined {
  const status = readProc(pid, 'status');
  if (status === undefined) return undefined;
  const mib = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1]) / 1024);
  return { residentMiB: mib('VmRSS'), peakMiB: mib('VmHWM') };
}

/** Processor time that a process has used, its threads' together, user and system; undefined once it has ended. */
export function readCpuSeconds(pid: number): number | undefined {
  // The name in parentheses may contain anything.
  const fields = readProc(pid, 'stat')
    ?.replace(/^.*\) /su, '')
    .split(' ');
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

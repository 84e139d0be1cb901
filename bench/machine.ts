import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What a figure was measured on: enough to compare, nothing that names the machine. */
export interface Machine {
  /** RFC 3339. */
  recordedAt: string;
  cores: number;
  cpu: string;
  memoryGiB: number;
  /** One-minute load average when the measurement began: above the number of cores the figures say little. */
  load: number;
  versions: Record<string, string>;
}

/** What makes two machines alike. */
export type MachineKind = Pick<Machine, 'cores' | 'cpu' | 'memoryGiB'>;

export const kindOf = ({ cores, cpu, memoryGiB }: MachineKind): MachineKind => ({ cores, cpu, memoryGiB });
export const isAlike = (one: MachineKind, other: MachineKind): boolean =>
  one.cores === other.cores && one.cpu === other.cpu && one.memoryGiB === other.memoryGiB;

const checkout = new URL('..', import.meta.url);

/** @param versions of the servers that were measured against */
export function describeMachine(versions: Readonly<Record<string, string>> = {}): Machine {
  return {
    recordedAt: new Date().toISOString(),
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
    versions: {
      drover: packageVersion('package.json'),
      node: process.versions.node,
      '@temporalio/worker': packageVersion('node_modules/@temporalio/worker/package.json'),
      ...versions,
    },
  };
}

const packageVersion = (file: string): string =>
  (JSON.parse(readFileSync(fileURLToPath(new URL(file, checkout)), 'utf8')) as { version: string }).version;

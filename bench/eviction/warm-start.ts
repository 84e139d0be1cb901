import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLab, stopLab } from '../../lab/lab.ts';
import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import { readProcesses, stopServices } from '../../lab/processes.ts';
import type { Machine } from '../machine.ts';
import { describeMachine } from '../machine.ts';
import type { Memory } from '../process-usage.ts';
import { readMemory } from '../process-usage.ts';

/** Figure 4: `npm start -- --once` in an empty lab, with everything built. */
export interface WarmStart {
  machine: Machine;
  /** From the command to the first server that is being copied. */
  firstMoveSeconds: number;
  /** From the command to its end. */
  wholeSeconds: number;
  /** Resident set last observed, at the end of the eviction. */
  worker: Memory;
  bridge: Memory;
}

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const pollMs = 500;
const limitMs = 300_000;
const unknown: Memory = { residentMiB: Number.NaN, peakMiB: Number.NaN };

export async function measureWarmStart(report: (line: string) => void, abort: AbortSignal): Promise<WarmStart> {
  const machine = describeMachine();
  const dir = mkdtempSync(join(tmpdir(), 'drover-bench-start-'));
  const labDir = join(dir, 'lab');
  const droverDir = join(labDir, 'drover');
  const memory: Record<string, Memory> = {};
  let journalDir: string | null = null;
  const startedMs = Date.now();
  const child = spawn('npm', ['start', '--silent', '--', '--once'], {
    cwd: checkout,
    env: { ...process.env, DROVER_LAB: labDir },
    stdio: ['ignore', 'pipe', 'inherit'],
    signal: AbortSignal.any([abort, AbortSignal.timeout(limitMs)]),
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  let lastLine = '';
  child.stdout
    .setEncoding('utf8')
    .on('data', (text: string) => (lastLine = text.trim().split('\n').at(-1) ?? lastLine));
  const polling = setInterval(() => {
    journalDir ??= readLab(labDir).handles.openstack?.journalDir ?? null;
    for (const { name, pid } of readProcesses(droverDir)) memory[name] = readMemory(pid) ?? memory[name] ?? unknown;
  }, pollMs);
  try {
    const [code] = await ended;
    const wholeMs = Date.now() - startedMs;
    report(lastLine);
    if (code !== 0 || journalDir === null)
      throw new Error(`npm start -- --once ended with ${String(code)}: ${lastLine}`);
    const first = readMigrationEvents({ journalDir }, startedMs).find(({ status }) => status === 'running');
    return {
      machine,
      firstMoveSeconds: seconds((first?.timeMs ?? Number.NaN) - startedMs),
      wholeSeconds: seconds(wholeMs),
      worker: memory['worker'] ?? unknown,
      bridge: memory['bridge'] ?? unknown,
    };
  } finally {
    clearInterval(polling);
    // It has stopped all by itself, unless it was killed.
    await stopServices(droverDir);
    await stopLab({ dir: labDir });
    rmSync(dir, { recursive: true, force: true });
  }
}

const seconds = (ms: number): number => Number((ms / 1000).toFixed(1));

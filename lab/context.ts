import { appendFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.ts';
import type { LabContext, PartName } from './part.ts';
import { reservePorts } from './ports.ts';
import { readHandle } from './part-handle.ts';
import { ensurePrivateDirectory, replaceLink, writePrivateFile } from './private-files.ts';
import { spawnService } from './processes.ts';
import { reportStep } from './progress.ts';
import { runCommand } from './run-command.ts';

export const checkoutDirectory = dirname(dirname(fileURLToPath(import.meta.url)));

export interface ContextOptions {
  readonly part: PartName;
  readonly labDir: string;
  readonly cacheDir: string;
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
}

/** What a part may use of the lab, bound to its directory. */
export function createContext({ part, labDir, cacheDir, signal, report }: ContextOptions): LabContext {
  const dir = join(labDir, part);
  const binDir = join(labDir, 'bin');
  ensurePrivateDirectory(dir);
  ensurePrivateDirectory(binDir);
  ensurePrivateDirectory(cacheDir);
  return {
    part,
    dir,
    binDir,
    checkoutDir: checkoutDirectory,
    cacheDir,
    signal,
    report,
    handleOf: (other) => readHandle(join(labDir, other)),
    step: (title, usually, action, logFile) =>
      reportStep(report, logFile === undefined ? { title, usually } : { title, usually, logFile }, action),
    ports: (...names) => reservePorts({ dir, cacheDir, signal }, names),
    exec: (command) => {
      if (command.logFile !== undefined)
        appendFileSync(command.logFile, `$ ${[command.command, ...command.args].join(' ')}\n`, { mode: 0o600 });
      return runCommand(command, signal);
    },
    spawn: (service) => spawnService(dir, service, signal),
    publish: async (name, program) => {
      if ('script' in program) writePrivateFile(join(binDir, name), program.script, 0o700);
      else replaceLink(join(binDir, name), program.target);
    },
    withLock: (name, action) =>
      withLock(join(cacheDir, 'locks'), name, action, {
        signal,
        onWait: (holder) =>
          report(
            holder?.pid === process.pid
              ? `waiting for a slot: ${name}`
              : `waits for ${holder === undefined ? 'another process' : `process ${holder.pid}`} to finish: ${name}`,
          ),
      }),
  };
}

/** How Node runs drover's processes: arguments, and variables of the environment. */
export const nodeSettings = JSON.parse(readFileSync(new URL('../bin/node.json', import.meta.url), 'utf8')) as {
  arguments: readonly string[];
  environment: Readonly<Record<string, string>>;
};

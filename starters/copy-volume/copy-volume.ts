import type { Command } from 'commander';
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';

import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError, usageError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { formatMemory } from '../render/progress.ts';
import { copyDevice } from './copy-device.ts';
import { copyTree } from './copy-tree.ts';
import { bytesOf, pathOf } from './paths.ts';
import { tellProgress } from './progress.ts';

export const copyVolumeCommand = (context: CommandContext): Command =>
  describedCommand(
    'copy-volume',
    'Copies what is in one volume into another: a directory into an empty one, or a block device onto another that is at least as large. Ends when both are equal, byte by byte. One that was interrupted goes on where it was. It is what the Job of a DataVolume runs whose storage cannot clone.',
    [
      ['drover copy-volume /source /target', 'the file systems that are mounted there'],
      ['drover copy-volume /dev/source /dev/target', 'block devices: what is on the target is lost'],
    ],
  )
    .argument('<source>', 'directory or block device')
    .argument('<target>', 'of the same kind')
    .action(async (source: string, target: string) => {
      const { terminal, clock } = context;
      const progress = tellProgress(clock, (line) => terminal.remark(line));
      const kind = await kindOf(source, target);
      const copy = kind === 'directory' ? copyTree : copyDevice;
      const { digest, differing, files, bytes } = await explained(() => copy(pathOf(source), pathOf(target), progress));
      if (differing.length > 0)
        throw new CommandError(
          `They differ after all: ${differing.join(', ')}.`,
          exitCodes.failed,
          'Is the source in use, or the storage of the target broken? Another attempt compares them again.',
        );
      const what = kind === 'directory' ? `${String(files)} ${files === 1 ? 'file' : 'files'}, ` : '';
      terminal.print(`Copied and compared: ${what}${formatMemory(bytes / 1024 ** 2)}, SHA-256 ${digest}`);
    });

/** @throws CommandError usage where they are of two kinds, or one is in the other */
async function kindOf(source: string, target: string): Promise<'directory' | 'device'> {
  const [from, to] = [await found(source, 'source'), await found(target, 'target')];
  const kinds = [from, to].map(({ stats }) => (stats.isDirectory() ? 'directory' : 'device'));
  if (kinds[0] !== kinds[1])
    throw usageError(
      `${source} is a ${kinds[0] ?? ''}, and ${target} a ${kinds[1] ?? ''}.`,
      'A directory is copied into a directory, a block device onto a block device.',
    );
  const isIn = (inner: string, outer: string): boolean => `${inner}/`.startsWith(outer === '/' ? '/' : `${outer}/`);
  if (isIn(from.path, to.path) || isIn(to.path, from.path))
    throw usageError(`${source} and ${target} are in one another.`, 'Name two volumes.');
  return from.stats.isDirectory() ? 'directory' : 'device';
}

async function found(text: string, what: string): Promise<{ path: string; stats: Stats }> {
  const path = bytesOf(pathOf(text));
  try {
    return { path: await realpath(path, { encoding: 'utf8' }), stats: await stat(path) };
  } catch (error) {
    throw usageError(`There is no ${what} ${text}: ${(error as Error).message}.`, 'Name what is mounted there.');
  }
}

/** What the system refuses, as a sentence. */
async function explained<Result>(copy: () => Promise<Result>): Promise<Result> {
  try {
    return await copy();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof CommandError || code === undefined) throw error;
    throw new CommandError(
      `The copy is not complete: ${message}.`,
      code === 'EIO' ? exitCodes.failed : exitCodes.refused,
      advice[code] ?? 'Another attempt goes on where this one was.',
      error,
    );
  }
}

const advice: Readonly<Record<string, string>> = {
  EBUSY: 'Something uses the target: it may be mounted.',
  ENOSPC: 'Make the target larger. Another attempt goes on where this one was.',
  EDQUOT: 'Make the target larger. Another attempt goes on where this one was.',
  EPERM: 'Only root keeps the owners of files.',
  EROFS: 'The target is read-only.',
};

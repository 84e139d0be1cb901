import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { copyContent, digestContent } from './copy-content.ts';
import { bytesOf, readable } from './paths.ts';
import type { Copied, Progress } from './progress.ts';

/** The system refuses to open a block device so that is mounted, or part of another one. */
const exclusively = constants.O_RDWR | constants.O_EXCL;

/**
 * One block device, or image, onto another that is at least as large; what lies beyond stays. Whatever is equal
 * is not written.
 *
 * @throws CommandError refused for a target that is too small
 */
export async function copyDevice(from: string, to: string, progress: Progress): Promise<Copied> {
  const source = await open(bytesOf(from), constants.O_RDONLY);
  try {
    const target = await open(bytesOf(to), exclusively);
    try {
      const sizeBytes = await sizeOf(source);
      const room = await sizeOf(target);
      if (room < sizeBytes)
        throw new CommandError(
          `${readable(to)} has ${String(room)} bytes, and ${readable(from)} ${String(sizeBytes)}. Nothing was written.`,
          exitCodes.refused,
          'Make the target larger.',
        );
      progress.begin({ files: 1, bytes: sizeBytes });
      await copyContent(source, target, sizeBytes, (bytes) => progress.copied({ bytes }));
      await target.sync();
      const [wanted, found] = [createHash('sha256'), createHash('sha256')];
      await digestContent(source, sizeBytes, wanted);
      await digestContent(target, sizeBytes, found);
      const [digest, copy] = [wanted.digest('hex'), found.digest('hex')];
      return { digest, differing: digest === copy ? [] : [readable(to)], files: 1, bytes: sizeBytes };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Of a block device `stat` knows no size; what cannot be read at its end is at once known. */
async function sizeOf(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  if (size > 0) return size;
  const one = Buffer.alloc(1);
  const isThere = async (at: number): Promise<boolean> => (await file.read(one, 0, 1, at)).bytesRead === 1;
  if (!(await isThere(0))) return 0;
  let least = 1;
  while (await isThere(least)) least *= 2;
  // The end lies between: the last byte that is there is looked for.
  let [there, beyond] = [Math.floor(least / 2), least];
  while (beyond - there > 1) {
    const middle = Math.floor((there + beyond) / 2);
    if (await isThere(middle)) there = middle;
    else beyond = middle;
  }
  return there + 1;
}

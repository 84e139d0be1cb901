import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';

/** So much is read at once. */
const chunkBytes = 4 * 1024 ** 2;
/** What is equal is left alone in parts of this size: what was never written stays so, and a thin volume thin. */
const partBytes = 64 * 1024;

/**
 * Writes what differs. A copy that was interrupted goes on so, and parts without data stay without.
 *
 * @param sizeBytes of the source
 * @param copied is told of the bytes that are equal now
 */
export async function copyContent(
  source: FileHandle,
  target: FileHandle,
  sizeBytes: number,
  copied: (bytes: number) => void,
): Promise<void> {
  const [wanted, found] = [Buffer.alloc(chunkBytes), Buffer.alloc(chunkBytes)];
  for (let at = 0; at < sizeBytes; at += chunkBytes) {
    const bytes = Math.min(chunkBytes, sizeBytes - at);
    const read = await readFull(source, wanted, bytes, at);
    if (read < bytes)
      throw new CommandError(
        `The source became shorter while it was copied: at byte ${String(at + read)}.`,
        exitCodes.failed,
        'Nothing may use it meanwhile. Another attempt goes on where this one was.',
      );
    // What is not there yet is read as zeros, as it would be once the file is as long.
    found.fill(0, await readFull(target, found, bytes, at), bytes);
    for (const { from, to } of differing(wanted, found, bytes)) await writeFull(target, wanted, from, to, at);
    copied(bytes);
  }
}

/** Parts that differ, as few as there can be. */
function differing(wanted: Buffer, found: Buffer, bytes: number): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = [];
  for (let from = 0; from < bytes; from += partBytes) {
    const to = Math.min(from + partBytes, bytes);
    if (wanted.compare(found, from, to, from, to) === 0) continue;
    const last = parts.at(-1);
    if (last?.to === from) last.to = to;
    else parts.push({ from, to });
  }
  return parts;
}

/** @returns fewer than `bytes` only at the end */
async function readFull(file: FileHandle, into: Buffer, bytes: number, at: number): Promise<number> {
  let read = 0;
  while (read < bytes) {
    const { bytesRead } = await file.read(into, read, bytes - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return read;
}

async function writeFull(file: FileHandle, of: Buffer, from: number, to: number, at: number): Promise<void> {
  let written = from;
  while (written < to) written += (await file.write(of, written, to - written, at + written)).bytesWritten;
}

/** @param sizeBytes what comes after that is left out */
export async function digestContent(
  file: FileHandle,
  sizeBytes: number,
  hash: Hash,
  read: (bytes: number) => void = () => undefined,
): Promise<void> {
  const chunk = Buffer.alloc(Math.min(chunkBytes, Math.max(1, sizeBytes)));
  for (let at = 0; at < sizeBytes;) {
    const bytes = await readFull(file, chunk, Math.min(chunk.length, sizeBytes - at), at);
    if (bytes === 0) break;
    hash.update(chunk.subarray(0, bytes));
    read(bytes);
    at += bytes;
  }
}

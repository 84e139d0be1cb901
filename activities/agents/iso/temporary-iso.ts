import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { droverFailure } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';

/** A file in the worker's own directory, hashed while it is written. */
export interface TemporaryIso {
  readonly path: string;
  readonly sizeBytes: number;
  /** @throws IsoRefused when it becomes too large; IsoUnavailable where the disk is full */
  append(piece: Uint8Array): Promise<void>;
  startAnew(): Promise<void>;
  /** SHA-256, in hexadecimal digits. Nothing is appended afterwards. */
  finish(): Promise<string>;
  /** By the mark of ISO 9660, which every disc image has at the same place. */
  isDiscImage(): Promise<boolean>;
  remove(): Promise<void>;
}

const prefix = 'drover-iso-';
/** In the first volume descriptor. */
const mark = { text: 'CD001', offset: 16 * 2_048 + 1 } as const;

export interface TemporaryIsoOptions {
  directory: string;
  maxBytes: number;
  /** Host, for people. */
  from: string;
  /** What is older was left by a worker that is gone. */
  staleMs: number;
  nowMs: number;
}

/** @throws IsoUnavailable where the directory cannot be written */
export async function openTemporaryIso({
  directory,
  maxBytes,
  from,
  staleMs,
  nowMs,
}: TemporaryIsoOptions): Promise<TemporaryIso> {
  const failed = (error: unknown) =>
    droverFailure(
      'IsoUnavailable',
      `The ISO at ${from} cannot be written into ${directory} (agentPools.iso.directory in drover’s settings): ${isError(error) ? error.message : String(error)}`,
    );
  const writing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw failed(error);
    }
  };
  const folder = await writing(async () => {
    await mkdir(directory, { recursive: true });
    await removeStale(directory, nowMs - staleMs);
    return await mkdtemp(join(directory, prefix));
  });
  const path = join(folder, 'disc.iso');
  const handle = await writing(() => open(path, 'wx+', 0o600)).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  let hash = createHash('sha256');
  let sizeBytes = 0;
  return {
    path,
    get sizeBytes() {
      return sizeBytes;
    },
    append: async (piece) => {
      if (sizeBytes + piece.length > maxBytes)
        throw droverFailure(
          'IsoRefused',
          `The ISO at ${from} has more than the ${maxBytes} bytes that agentPools.iso.maxBytes in drover’s settings allows`,
        );
      hash.update(piece);
      await writing(() => writeAll(handle, piece, sizeBytes));
      sizeBytes += piece.length;
    },
    startAnew: async () => {
      hash = createHash('sha256');
      sizeBytes = 0;
      await writing(() => handle.truncate(0));
    },
    finish: async () => {
      await writing(() => handle.sync());
      return hash.digest('hex');
    },
    isDiscImage: async () => {
      const found = Buffer.alloc(mark.text.length);
      await writing(() => handle.read(found, 0, found.length, mark.offset));
      return found.toString('latin1') === mark.text;
    },
    remove: async () => {
      await handle.close().catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A disk that is almost full takes a part. */
async function writeAll(handle: Awaited<ReturnType<typeof open>>, piece: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < piece.length;)
    written += (await handle.write(piece, written, piece.length - written, position + written)).bytesWritten;
}

async function removeStale(directory: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(prefix)) continue;
    const path = join(directory, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < beforeMs) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

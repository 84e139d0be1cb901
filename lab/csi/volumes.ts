import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { CsiHandle } from './handle.ts';
import { readImage, writeImage } from './rbd-image.ts';

/** Of a PersistentVolume, as much as says where its bytes are. */
export interface VolumeOfDriver {
  readonly spec: {
    readonly volumeMode?: string;
    readonly csi: { readonly driver: string; readonly volumeHandle: string };
  };
}

/** What a device may hold that is read as a whole. */
const MOST_BYTES = 64 * 1_024 ** 2;
/** The file of a file system that has a disk in it, as KubeVirt names it. */
const DISK_FILE = 'disk.img';

/**
 * Puts the bytes at the volume's start, as who uses it would; in a file system, into `disk.img`, which then
 * has nothing else.
 */
export async function writeVolume(handle: CsiHandle, volume: VolumeOfDriver, bytes: Buffer): Promise<void> {
  const place = placeOf(handle, volume);
  if (place.kind === 'image') return writeImage(place.rbd, place.image, bytes);
  if (place.kind === 'file') {
    // A copy that is made meanwhile has what was there or what comes, and nothing in between.
    const written = join(dirname(place.folder), `${DISK_FILE}.new`);
    writeFileSync(written, bytes);
    return renameSync(written, join(place.folder, DISK_FILE));
  }
  const device = openSync(place.path, 'r+');
  writeSync(device, bytes, 0, bytes.length, 0);
  closeSync(device);
}

/** What is in the volume, without the zeros at its end. */
export async function readVolume(handle: CsiHandle, volume: VolumeOfDriver): Promise<Buffer> {
  const place = placeOf(handle, volume);
  if (place.kind === 'image') return withoutZeros(await readImage(place.rbd, place.image));
  if (place.kind === 'file') {
    const file = join(place.folder, DISK_FILE);
    return existsSync(file) ? withoutZeros(readFileSync(file)) : Buffer.alloc(0);
  }
  const { blocks, size } = statSync(place.path);
  if (blocks * 512 > MOST_BYTES) throw new Error(`${place.path} holds more than ${MOST_BYTES} bytes`);
  const device = openSync(place.path, 'r');
  const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
  readSync(device, bytes, 0, bytes.length, 0);
  closeSync(device);
  return withoutZeros(bytes);
}

type Place =
  | { kind: 'file'; folder: string }
  | { kind: 'device'; path: string }
  | { kind: 'image'; rbd: NonNullable<CsiHandle['rbd']>; image: string };

function placeOf({ directories, rbd }: CsiHandle, { spec: { csi, volumeMode } }: VolumeOfDriver): Place {
  if (csi.driver === rbd?.name) return { kind: 'image', rbd, image: csi.volumeHandle };
  if (csi.driver !== directories.name) throw new Error(`${csi.driver} is no driver of this lab`);
  const folder = join(directories.root, 'volumes', csi.volumeHandle);
  return volumeMode === 'Block'
    ? { kind: 'device', path: join(folder, 'disk') }
    : { kind: 'file', folder: join(folder, 'data') };
}

const zeros = Buffer.alloc(64 * 1_024);

/** By chunks first: most of a device was never written. */
function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end >= zeros.length && bytes.subarray(end - zeros.length, end).equals(zeros)) end -= zeros.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

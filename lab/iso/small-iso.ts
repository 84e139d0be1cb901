/** A disc image by ISO 9660 (ECMA-119), small and complete: one file in its root. */

const sectorBytes = 2_048;
const sector = { volume: 16, end: 17, pathsLittle: 18, pathsBig: 19, root: 20, file: 21 } as const;
const pathTableBytes = 10;
const hidden = { self: '\0', parent: '\u0001' } as const;

/** @param text of its file, so that another text makes another image. @param sizeBytes at least so large */
export function makeSmallIso(text: string, sizeBytes = 0): Buffer {
  const content = Buffer.from(text);
  const sectors = Math.max(sector.file + sectorsOf(content.length), sectorsOf(sizeBytes));
  const image = Buffer.alloc(sectors * sectorBytes);
  const at = (index: number): Buffer => image.subarray(index * sectorBytes);

  const volume = at(sector.volume);
  volume.fill(' ', 8, 72).fill(' ', 190, 813).fill('0', 813, 881);
  volume.write('\u0001CD001\u0001', 0, 'latin1');
  volume.write('DROVER_LAB', 40, 'latin1');
  both32(volume, 80, sectors);
  both16(volume, 120, 1);
  both16(volume, 124, 1);
  both16(volume, 128, sectorBytes);
  both32(volume, 132, pathTableBytes);
  volume.writeUInt32LE(sector.pathsLittle, 140);
  volume.writeUInt32BE(sector.pathsBig, 148);
  record(hidden.self, sector.root, sectorBytes, true).copy(volume, 156);
  // The last character of a date is its time zone: that of UTC.
  for (const date of [813, 830, 847, 864]) volume.writeUInt8(0, date + 16);
  volume.writeUInt8(1, 881);
  at(sector.end).write('\u00ffCD001\u0001', 0, 'latin1');

  const little = at(sector.pathsLittle);
  little.writeUInt8(1, 0);
  little.writeUInt32LE(sector.root, 2);
  little.writeUInt16LE(1, 6);
  const big = at(sector.pathsBig);
  big.writeUInt8(1, 0);
  big.writeUInt32BE(sector.root, 2);
  big.writeUInt16BE(1, 6);

  Buffer.concat([
    record(hidden.self, sector.root, sectorBytes, true),
    record(hidden.parent, sector.root, sectorBytes, true),
    record('README.TXT;1', sector.file, content.length, false),
  ]).copy(at(sector.root));
  content.copy(at(sector.file));
  return image;
}

const sectorsOf = (bytes: number): number => Math.ceil(bytes / sectorBytes);

/** In both orders of bytes. */
function both32(target: Buffer, offset: number, value: number): void {
  target.writeUInt32LE(value, offset);
  target.writeUInt32BE(value, offset + 4);
}

function both16(target: Buffer, offset: number, value: number): void {
  target.writeUInt16LE(value, offset);
  target.writeUInt16BE(value, offset + 2);
}

/** Of a file or a folder in a folder. */
function record(name: string, extent: number, sizeBytes: number, isFolder: boolean): Buffer {
  const bytes = 33 + name.length + (name.length % 2 === 0 ? 1 : 0);
  const entry = Buffer.alloc(bytes);
  entry.writeUInt8(bytes, 0);
  both32(entry, 2, extent);
  both32(entry, 10, sizeBytes);
  // Years since 1900, month, day.
  entry.set([126, 1, 1], 18);
  entry.writeUInt8(isFolder ? 2 : 0, 25);
  both16(entry, 28, 1);
  entry.writeUInt8(name.length, 32);
  entry.write(name, 33, 'latin1');
  return entry;
}

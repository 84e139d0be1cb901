import { makeSmallIso } from './small-iso.ts';

const sectorBytes = 2_048;

test('it is whole: the descriptor says how large it is, and where its file is', () => {
  const image = makeSmallIso('the text', 100_000);
  const volume = image.subarray(16 * sectorBytes);
  expect(volume.toString('latin1', 1, 6)).toBe('CD001');
  expect(volume.readUInt32LE(80) * sectorBytes).toBe(image.length);
  expect(volume.readUInt32BE(84)).toBe(volume.readUInt32LE(80));
  const root = image.subarray(volume.readUInt32LE(156 + 2) * sectorBytes);
  // After the folder itself and its parent.
  const entry = root.subarray(root.readUInt8(0) + root.readUInt8(root.readUInt8(0)));
  expect(entry.toString('latin1', 33, 33 + entry.readUInt8(32))).toBe('README.TXT;1');
  const at = entry.readUInt32LE(2) * sectorBytes;
  expect(image.toString('utf8', at, at + entry.readUInt32LE(10))).toBe('the text');
});

test('another text makes another image of the same size', () => {
  expect(makeSmallIso('a', 100_000).equals(makeSmallIso('b', 100_000))).toBe(false);
  expect(makeSmallIso('a', 100_000)).toHaveLength(makeSmallIso('b', 100_000).length);
});

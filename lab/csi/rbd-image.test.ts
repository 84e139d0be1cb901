import { bytesOfDiff } from './rbd-image.ts';

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const diffOf = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(['rbd diff v1\n', ...parts].map((part) => Buffer.from(part)));

test.each([
  ['nothing', diffOf('e'), ''],
  ['only its size', diffOf('s', number(1 << 30), 'e'), ''],
  ['two places', diffOf('w', number(4), number(2), 'cd', 'w', number(0), number(2), 'ab', 'e'), 'ab\0\0cd'],
  ['zeros', diffOf('z', number(0), number(512), 'w', number(1), number(1), 'x', 'e'), '\0x'],
  ['the names of snapshots', diffOf('f', '\x02\0\0\0s1', 't', '\x01\0\0\0s', 'w', number(0), number(1), 'y', 'e'), 'y'],
])('a diff with %s', (_, diff, bytes) => {
  expect(bytesOfDiff(diff).toString('latin1')).toBe(bytes);
});

test.each([
  ['another format', Buffer.from('rbd diff v2\n'), 'that is no diff of rbd'],
  ['an unknown record', diffOf('?'), 'a diff of rbd has no record "?"'],
  ['no end', diffOf('w', number(0), number(1), 'x'), 'out of range'],
  ['half a number', diffOf('s', '\0\0'), 'out of range'],
])('%s is refused', (_, diff, complaint) => {
  expect(() => bytesOfDiff(diff)).toThrow(complaint);
});

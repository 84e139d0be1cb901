import * as fc from 'fast-check';

import {
  characters,
  decode,
  encode,
  int,
  list,
  MalformedMessage,
  opaque,
  optional,
  string,
  struct,
  uint,
  unsignedHyper,
  uuid,
} from './xdr.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

test.each([
  ['an unsigned number', encode(uint, 0x20008086), '20008086'],
  ['a signed one', encode(int, -1), 'ffffffff'],
  ['a large one', encode(unsignedHyper, 9_000_000n), '0000000000895440'],
  ['a text, padded', encode(string, 'vms'), '00000003 766d7300'],
  ['a text of four', encode(string, 'node'), '00000004 6e6f6465'],
  ['no pointer', encode(optional(string), null), '00000000'],
  ['a pointer', encode(optional(int), 5), '00000001 00000005'],
  ['a list', encode(list(int), [1, 2]), '00000002 00000001 00000002'],
  ['a UUID', encode(uuid, '8a3b1c5e-0000-4000-8000-000000000001'), '8a3b1c5e 00004000 80000000 00000001'],
  ['characters, four bytes each', encode(characters, Buffer.from('n,')), '00000002 0000006e 0000002c'],
])('%s', (_, bytes, expected) => expect(bytes).toEqual(hex(expected)));

const domain = struct({ name: string, uuid, id: int });
const anything = struct({
  name: optional(string),
  flags: uint,
  data: opaque,
  volumes: list(domain),
  size: unsignedHyper,
  said: characters,
});

test('what is written is read again', () => {
  const uuids = fc.uuid();
  const domains = fc.record({ name: fc.string(), uuid: uuids, id: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) });
  fc.assert(
    fc.property(
      fc.record({
        name: fc.option(fc.string({ unit: 'grapheme' })),
        flags: fc.nat(2 ** 32 - 1),
        data: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        volumes: fc.array(domains),
        size: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        said: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      }),
      (value) => expect(decode(anything, encode(anything, value))).toEqual(value),
    ),
  );
});

test.each([
  ['ends in a number', uint, '0000'],
  ['ends in a text', string, '00000005 6e6f'],
  ['ends in the padding', string, '00000003 766d73'],
  ['says that four gigabytes follow', string, 'ffffffff'],
  ['says that a million items follow', list(int), '000f4240'],
  ['has a pointer that is neither there nor not', optional(int), '00000002 00000001'],
  ['goes on', uint, '00000001 00000002'],
])('a message that %s is malformed', (_, codec, bytes) => {
  expect(() => decode(codec as typeof uint, hex(bytes))).toThrow(MalformedMessage);
});

test('what libvirt would not take is not sent', () => {
  expect(() => encode(string, 'x'.repeat(4_194_305))).toThrow(RangeError);
  expect(() => encode(list(int, 2), [1, 2, 3])).toThrow(RangeError);
  expect(() => encode(uuid, 'not-a-uuid')).toThrow(RangeError);
});

import { array, assert, infiniteStream, integer, property, string } from 'fast-check';
import { createLineDecoder } from './line-decoder.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const rows: [why: string, chunks: string[], lines: string[], partial: boolean][] = [
  ['nothing', [], [], false],
  ['one line', ['a\n'], ['a'], false],
  ['several in a chunk', ['a\nb\nc\n'], ['a', 'b', 'c'], false],
  ['one over several chunks', ['{"a"', ':', '1}\n'], ['{"a":1}'], false],
  ['a cut line is never given out', ['a\n{"b":1}'], ['a'], true],
  ['empty lines are nothing', ['\n\na\n\n'], ['a'], false],
  ['carriage returns go', ['a\r\nb\r\n'], ['a', 'b'], false],
];

test.each(rows)('%s', (_why, chunks, lines, partial) => {
  const decoder = createLineDecoder();
  expect(chunks.flatMap((chunk) => decoder.push(bytes(chunk)))).toEqual(lines);
  expect(decoder.isPartial()).toBe(partial);
});

test('wherever the bytes are cut, the lines are the same', () => {
  const lines = array(string({ unit: 'grapheme', minLength: 1 }).filter((line) => !/[\r\n]/u.test(line)));
  assert(
    property(lines, infiniteStream(integer({ min: 1, max: 5 })), (expected, sizes) => {
      const all = bytes(expected.map((line) => `${line}\n`).join(''));
      const decoder = createLineDecoder();
      const found: string[] = [];
      for (let at = 0; at < all.length;) {
        const size = sizes.next().value ?? 1;
        found.push(...decoder.push(all.subarray(at, at + size)));
        at += size;
      }
      expect(found).toEqual(expected);
    }),
  );
});

test('bytes that are no UTF-8 break the stream', () => {
  expect(() => createLineDecoder().push(new Uint8Array([0xff, 0x0a]))).toThrow(
    expect.objectContaining({ type: 'AnswerMalformed', message: expect.stringContaining('no UTF-8') }),
  );
});

test('a line without end breaks the stream instead of filling the memory', () => {
  const decoder = createLineDecoder();
  const chunk = new Uint8Array(8 * 1024 * 1024).fill(0x61);
  expect(() => {
    for (let count = 0; count < 5; count += 1) decoder.push(chunk);
  }).toThrow(/longer than/u);
});

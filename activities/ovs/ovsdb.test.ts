import * as fc from 'fast-check';

import { addressOf, nameOf, remoteOf, splitObjects } from './ovsdb.ts';

const rows: [template: string, host: string, protocol: string, name: string, port: number, shown: string][] = [
  ['ssl:{host}:6640', 'node-1', 'ssl', 'node-1', 6640, 'ssl:node-1:6640'],
  [
    'ssl:{host}.compute.example:6640',
    'node-1',
    'ssl',
    'node-1.compute.example',
    6640,
    'ssl:node-1.compute.example:6640',
  ],
  ['tcp:127.0.0.1:16640', 'node-1', 'tcp', '127.0.0.1', 16640, 'tcp:127.0.0.1:16640'],
  ['tcp:[::1]:6640', 'node-1', 'tcp', '::1', 6640, 'tcp:[::1]:6640'],
  ['ssl:{host}:6640', 'fd00::1', 'ssl', 'fd00::1', 6640, 'ssl:[fd00::1]:6640'],
];
test.each(rows)('%s of %s', (template, host, protocol, name, port, shown) => {
  const remote = remoteOf(addressOf(template, host));
  expect(remote).toEqual({ protocol, host: name, port });
  expect(nameOf(remote)).toBe(shown);
});

test.each([
  '',
  '{host}',
  'unix:/run/openvswitch/db.sock',
  'ptcp:6640',
  'ssl:{host}',
  'ssl::6640',
  'tcp:{host}:0',
  'tcp:{host}:65536',
  'tcp:{host}:6640:',
  'tcp:a b:6640',
  'tcp:::1:6640',
])('%s is InvalidConfiguration', (template) => {
  expect(() => remoteOf(addressOf(template, 'node-1'))).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration' }),
  );
});

describe('json stream', () => {
  const bytesOf = (text: string): Uint8Array => Buffer.from(text);
  const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 4 });

  test('finds the objects wherever the stream is cut', () => {
    fc.assert(
      fc.property(
        objects,
        fc.array(fc.nat(200), { maxLength: 6 }),
        fc.constantFrom('', ' ', '\n'),
        (sent, cuts, between) => {
          // Compared as JSON, which knows no -0.
          const expected = sent.map((one) => JSON.parse(JSON.stringify(one)) as unknown);
          const whole = bytesOf(sent.map((one) => JSON.stringify(one)).join(between));
          const take = splitObjects(1_000_000);
          const edges = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).toSorted((a, b) => a - b), whole.length];
          const got = edges.slice(1).flatMap((end, index) => take(whole.subarray(edges[index], end)));
          expect(got).toEqual(expected);
        },
      ),
    );
  });

  test('braces, quotes and backslashes within texts end nothing', () => {
    const tricky = { '}{"': '\\"}]', '\\': ['[{'] };
    expect(splitObjects(100)(bytesOf(JSON.stringify(tricky)))).toEqual([tricky]);
  });

  const refused: [what: string, text: string, words: RegExp][] = [
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n', /no JSON object/u],
    ['a TLS alert', '\u0015\u0003\u0001', /does it speak TLS/u],
    ['a bare list', '[1]', /no JSON object/u],
    ['a closing brace', '}', /no JSON object/u],
    ['broken JSON', '{"a":}', /is no JSON/u],
    ['brackets that do not match', '{"a":]', /is no JSON/u],
  ];
  test.each(refused)('%s is AnswerMalformed', (_, text, words) => {
    expect(() => splitObjects(100)(bytesOf(text))).toThrow(
      expect.objectContaining({ type: 'AnswerMalformed', message: expect.stringMatching(words) }),
    );
  });

  test('an object is as large as it may be, in one piece or in many', () => {
    const text = JSON.stringify({ a: 'x'.repeat(92) });
    expect(text).toHaveLength(100);
    expect(splitObjects(100)(bytesOf(text + text))).toHaveLength(2);
    expect(() => splitObjects(99)(bytesOf(text))).toThrow(/more than 99 bytes/u);
    const take = splitObjects(99);
    expect(take(bytesOf(text.slice(0, 60)))).toEqual([]);
    expect(() => take(bytesOf(text.slice(60)))).toThrow(/more than 99 bytes/u);
  });
});

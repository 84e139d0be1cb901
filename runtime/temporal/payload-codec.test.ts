import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import * as fc from 'fast-check';
import { createPayloadCodec, isEncrypted } from './payload-codec.ts';
import { noPayloadKeys, readPayloadKeys, type PayloadKeys } from './payload-keys.ts';
import { redactText } from '../redaction.ts';

const first = Buffer.alloc(32, 1);
const second = Buffer.alloc(32, 2);
const ring = (current: string | null, keys: Record<string, Buffer>): PayloadKeys => ({
  current,
  keys: new Map(Object.entries(keys)),
});
const codec = createPayloadCodec(ring('first', { first }));
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valueOf = (payload: Payload | undefined): unknown => defaultPayloadConverter.fromPayload(payload as Payload);
const one = async (payload: Payload): Promise<Payload> => (await codec.encode([payload]))[0] as Payload;

test('whatever was encrypted is the same when it is decrypted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.jsonValue(), fc.uint8Array(), fc.constant(undefined))), async (values) => {
      const decoded = await codec.decode(await codec.encode(values.map(payloadOf)));
      expect(decoded.map(valueOf)).toEqual(values.map((value) => valueOf(payloadOf(value))));
    }),
  );
});

test('nothing of a payload is left to read but how it is encrypted and with which key', async () => {
  const encrypted = await one({
    metadata: { encoding: Buffer.from('json/plain'), note: Buffer.from('canary-1') },
    data: Buffer.from('"canary-2"'),
  });
  expect(isEncrypted(encrypted)).toBe(true);
  expect(Object.keys(encrypted.metadata ?? {})).toEqual(['encoding', 'encryption-key-id']);
  expect(
    Buffer.concat([...Object.values(encrypted.metadata ?? {}), encrypted.data ?? Buffer.alloc(0)]).toString('latin1'),
  ).not.toMatch(/canary|json\/plain/u);
});

test('equal payloads do not look equal', async () => {
  const [a, b] = [await one(payloadOf('x')), await one(payloadOf('x'))];
  expect(Buffer.from(a.data ?? [])).not.toEqual(Buffer.from(b.data ?? []));
});

test('after a rotation, what was written with the older key is still read', async () => {
  const old = await one(payloadOf('old'));
  const rotated = createPayloadCodec(ring('second', { first, second }));
  const [fresh] = await rotated.encode([payloadOf('new')]);
  expect(Buffer.from(fresh?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('second');
  expect((await rotated.decode([old, fresh as Payload])).map(valueOf)).toEqual(['old', 'new']);
});

test('without keys nothing is encrypted, and what is plain is read with keys too', async () => {
  const plain = payloadOf('plain');
  expect(await createPayloadCodec(noPayloadKeys).encode([plain])).toEqual([plain]);
  expect(await codec.decode([plain])).toEqual([plain]);
});

const changed = (payload: Payload, at: number): Payload => {
  const data = Buffer.from(payload.data ?? []);
  const index = at < 0 ? data.length + at : at;
  data[index] = (data[index] ?? 0) ^ 1;
  return { ...payload, data };
};
const renamed = (payload: Payload, keyId: string): Payload => ({
  ...payload,
  metadata: { ...payload.metadata, 'encryption-key-id': Buffer.from(keyId) },
});
const refused: [what: string, keys: PayloadKeys, change: (payload: Payload) => Payload, code: string, words: RegExp][] =
  [
    [
      'no keys',
      noPayloadKeys,
      (payload) => payload,
      'PayloadKeyMissing',
      /encrypted with key "first"; this process has no keys.*DROVER_PAYLOAD_KEYS/u,
    ],
    [
      'another key only',
      ring('second', { second }),
      (payload) => payload,
      'PayloadKeyMissing',
      /encrypted with key "first"; this process has second/u,
    ],
    [
      'another key of the same id',
      ring('first', { first: second }),
      (payload) => payload,
      'PayloadUnreadable',
      /does not match its seal/u,
    ],
    ['a changed nonce', ring('first', { first }), (payload) => changed(payload, 0), 'PayloadUnreadable', /seal/u],
    ['a changed text', ring('first', { first }), (payload) => changed(payload, 13), 'PayloadUnreadable', /seal/u],
    ['a changed tag', ring('first', { first }), (payload) => changed(payload, -1), 'PayloadUnreadable', /seal/u],
    [
      'another key id',
      ring('first', { first, copy: first }),
      (payload) => renamed(payload, 'copy'),
      'PayloadUnreadable',
      /seal/u,
    ],
    ['no data', ring('first', { first }), (payload) => ({ ...payload, data: null }), 'PayloadUnreadable', /too short/u],
    [
      'no key id',
      ring('first', { first }),
      ({ metadata, data }) => ({ metadata: { encoding: metadata?.['encoding'] as Uint8Array }, data: data ?? null }),
      'PayloadKeyMissing',
      /key ""/u,
    ],
  ];
test.each(refused)('%s: the failure says so', async (_, keys, change, type, words) => {
  const encrypted = await one(payloadOf('x'));
  await expect(createPayloadCodec(keys).decode([change(encrypted)])).rejects.toMatchObject({
    type,
    message: expect.stringMatching(words),
  });
});

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-keys-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const write = (text: string, mode = 0o600): string => {
  const file = join(dir, 'keys.yaml');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
};
const good = `current: b\nkeys:\n  a: ${first.toString('base64')}\n  b: ${second.toString('base64')}\n`;

test.each([0o600, 0o400, 0o440, 0o640])(
  'a keyring of mode %o is read, and its keys are secrets from then on',
  (mode) => {
    const { current, keys } = readPayloadKeys(write(good, mode));
    expect([current, [...keys]]).toEqual([
      'b',
      [
        ['a', first],
        ['b', second],
      ],
    ]);
    expect(redactText(`key ${second.toString('base64')} ${second.toString('hex')}`)).toBe('key [redacted] [redacted]');
  },
);

const wrong: [what: string, text: string, mode: number, words: RegExp][] = [
  ['others can read', good, 0o644, /has mode 0644, so that others can read or change it: `chmod 600`/u],
  ['the group can change', good, 0o660, /has mode 0660/u],
  [
    'has a key of another length',
    'current: a\nkeys: { a: c2hvcnQ= }',
    0o600,
    /keys\.a: expected the base64 of 32 bytes/u,
  ],
  ['has a key that is a number', 'current: a\nkeys: { a: 7 }', 0o600, /keys\.a: .*expected text/u],
  [
    'lacks the current key',
    good.replace('current: b', 'current: c'),
    0o600,
    /current: expected the id of one of the keys/u,
  ],
  ['has odd ids', good.replace('current: b', 'current: "b c"'), 0o600, /current: expected a key id/u],
  ['is empty', '', 0o600, /the whole: /u],
];
test.each(wrong)('a keyring that %s is refused, and none of it is shown', (_, text, mode, words) => {
  const file = write(text, mode);
  expect(() => readPayloadKeys(file)).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration', message: expect.stringMatching(words) }),
  );
  expect(() => readPayloadKeys(file)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('c2hvcnQ') }),
  );
});

test('a keyring that is not there is named', () => {
  expect(() => readPayloadKeys(join(dir, 'nowhere'))).toThrow(/nowhere does not exist/u);
});

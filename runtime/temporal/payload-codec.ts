import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { droverFailure } from '../failure.ts';
import type { PayloadKeys } from './payload-keys.ts';

/** Of the wire: other programs read the same. */
const encoding = 'binary/encrypted';
const keyIdField = 'encryption-key-id';
const cipher = 'aes-256-gcm';

/** 96 random bits, as GCM is specified for; they come first in the data, the tag comes last. */
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts whole payloads with AES-256-GCM: arguments, results, signals, updates, memos, summaries, heartbeats and,
 * with runtime/temporal/failure-converter.ts, messages of failures. What is not encrypted is passed on as it is, so
 * that runs of before, and what people start with plain JSON, go on.
 */
export const createPayloadCodec = ({ current, keys }: PayloadKeys): PayloadCodec => ({
  encode: (payloads) =>
    Promise.resolve(
      current === null ? payloads : payloads.map((payload) => encrypt(payload, current, keyOf(keys, current))),
    ),
  // Rejects, as everything that is awaited does.
  decode: async (payloads) =>
    await Promise.all(payloads.map(async (payload) => (isEncrypted(payload) ? decrypt(payload, keys) : payload))),
});

export const isEncrypted = ({ metadata }: Payload): boolean => textOf(metadata?.['encoding']) === encoding;

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

/** Binds the ciphertext to how it says it is to be read. */
const additionalData = (keyId: string): Buffer => Buffer.from(JSON.stringify([encoding, cipher, keyId]));

function encrypt(payload: Payload, keyId: string, key: Buffer): Payload {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(additionalData(keyId));
  const plain = proto.temporal.api.common.v1.Payload.encode(payload).finish();
  const data = Buffer.concat([nonce, sealing.update(plain), sealing.final(), sealing.getAuthTag()]);
  return { metadata: { encoding: Buffer.from(encoding), [keyIdField]: Buffer.from(keyId) }, data };
}

/** @throws PayloadKeyMissing, PayloadUnreadable */
function decrypt({ metadata, data }: Payload, keys: PayloadKeys['keys']): Payload {
  const keyId = textOf(metadata?.[keyIdField]);
  const key = keyOf(keys, keyId);
  const bytes = Buffer.from(data ?? []);
  if (bytes.length < nonceBytes + tagBytes) throw unreadable(keyId, 'it is too short');
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      .setAAD(additionalData(keyId))
      .setAuthTag(bytes.subarray(-tagBytes));
    return proto.temporal.api.common.v1.Payload.decode(
      Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]),
    );
  } catch {
    // What OpenSSL says is the same for every cause, on purpose.
    throw unreadable(keyId, 'it does not match its seal');
  }
}

function keyOf(keys: PayloadKeys['keys'], keyId: string): Buffer {
  const key = keys.get(keyId);
  if (key !== undefined) return key;
  const known = keys.size === 0 ? 'this process has no keys' : `this process has ${[...keys.keys()].join(', ')}`;
  throw droverFailure(
    'PayloadKeyMissing',
    `A payload is encrypted with key ${JSON.stringify(keyId.slice(0, 63))}; ${known}`,
  );
}

const unreadable = (keyId: string, why: string) =>
  droverFailure(
    'PayloadUnreadable',
    `A payload that is encrypted with key ${JSON.stringify(keyId)} cannot be read: ${why}`,
  );

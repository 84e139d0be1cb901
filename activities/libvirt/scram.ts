import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

import { MalformedMessage } from './wire/xdr.ts';

/** SCRAM-SHA-256 (RFC 5802, RFC 7677), the client's side, without channel binding. */

export const scramMechanism = 'SCRAM-SHA-256';

/** RFC 7677 asks for at least so many; fewer would make the password easy to guess for who only plays the server. */
const fewestIterations = 4_096;
/** More would let a server keep this process busy. */
const mostIterations = 300_000;
const keyBytes = 32;

const derive = promisify(pbkdf2);

export interface ScramCredential {
  user: string;
  password: string;
}

export interface ScramExchange {
  /** What the client says first. */
  first: Buffer;
  /** The client's proof. @throws MalformedMessage where the challenge is none */
  answer(challenge: Buffer): Promise<ScramAnswer>;
}

interface ScramAnswer {
  proof: Buffer;
  /** Whether what the server says last proves that it knows the password too. */
  isServer: (final: Buffer) => boolean;
}

/** @param nonce printable, without commas; only tests choose it */
export function startScram(
  { user, password }: ScramCredential,
  nonce: string = randomBytes(18).toString('base64'),
): ScramExchange {
  const firstBare = `n=${escaped(user)},r=${nonce}`;
  return {
    first: Buffer.from(`n,,${firstBare}`),
    answer: async (challenge) => {
      const serverFirst = challenge.toString('utf8');
      const { salt, iterations, serverNonce } = readChallenge(serverFirst, nonce);
      const salted = await derive(password.normalize('NFKC'), salt, iterations, keyBytes, 'sha256');
      const clientKey = hmac(salted, 'Client Key');
      const withoutProof = `c=biws,r=${serverNonce}`;
      const authMessage = `${firstBare},${serverFirst},${withoutProof}`;
      const signature = hmac(createHash('sha256').update(clientKey).digest(), authMessage);
      const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
      const serverSignature = hmac(hmac(salted, 'Server Key'), authMessage);
      return {
        proof: Buffer.from(`${withoutProof},p=${proof.toString('base64')}`),
        isServer: (final) =>
          isSame(Buffer.from(attributesOf(final.toString('utf8')).get('v') ?? '', 'base64'), serverSignature),
      };
    },
  };
}

function readChallenge(text: string, nonce: string): { salt: Buffer; iterations: number; serverNonce: string } {
  const attributes = attributesOf(text);
  const serverNonce = attributes.get('r') ?? '';
  if (!serverNonce.startsWith(nonce) || serverNonce === nonce)
    throw new MalformedMessage('its SCRAM nonce does not go on from drover’s');
  const iterations = Number(attributes.get('i'));
  if (!Number.isInteger(iterations) || iterations < fewestIterations || iterations > mostIterations)
    throw new MalformedMessage(`its SCRAM iteration count is not between ${fewestIterations} and ${mostIterations}`);
  const salt = Buffer.from(attributes.get('s') ?? '', 'base64');
  if (salt.length === 0) throw new MalformedMessage('it has no SCRAM salt');
  return { salt, iterations, serverNonce };
}

const attributesOf = (text: string): Map<string, string> =>
  new Map(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));

const escaped = (user: string): string => user.normalize('NFKC').replaceAll('=', '=3D').replaceAll(',', '=2C');
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const isSame = (left: Buffer, right: Buffer): boolean => left.length === right.length && timingSafeEqual(left, right);

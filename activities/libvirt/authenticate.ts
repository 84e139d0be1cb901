import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

import { droverFailure } from '../../runtime/failure.ts';
import type { LibvirtEndpoint } from './endpoint.ts';
import type { LibvirtAccess } from './types.ts';
import type { ProcedureArgs, ProcedureName, ProcedureResult } from './wire/procedures.ts';
import { MalformedMessage } from './wire/xdr.ts';

/** remote_auth_type. */
const authTypes = { none: 0, sasl: 1 } as const;

/** Makes a call; every failure is thrown. */
export type Ask = <Name extends ProcedureName>(name: Name, args: ProcedureArgs<Name>) => Promise<ProcedureResult<Name>>;

/**
 * Gives the daemon what it asks for before anything else: nothing, or a password by SCRAM-SHA-256. A password goes over
 * TLS only, and the daemon must prove that it knows it too.
 *
 * @throws `LibvirtCredentialRefused`, `AnswerMalformed`, and what `ask` throws
 */
export async function authenticate(
  ask: Ask,
  endpoint: LibvirtEndpoint,
  credential: LibvirtAccess['credential'],
): Promise<void> {
  const { types } = await ask('authList', {});
  if (types.length === 0 || types.includes(authTypes.none)) return;
  if (!types.includes(authTypes.sasl))
    throw refused(endpoint, `it asks for authentication of type ${types.join(', ')}, which drover does not have`);
  if (endpoint.transport !== 'tls')
    throw refused(endpoint, 'it asks for SASL on plain TCP, where drover sends no password; use TLS');
  const { mechanisms } = await ask('authSaslInit', {});
  if (!mechanisms.split(/[ ,]+/u).includes(scramMechanism))
    throw refused(
      endpoint,
      `it offers ${mechanisms.slice(0, 200) || 'no mechanism'}; drover speaks ${scramMechanism} (mech_list in /etc/sasl2/libvirt.conf)`,
    );
  if (credential === null) throw refused(endpoint, 'it asks for a user and a password, and drover has none');
  try {
    await prove(ask, endpoint, credential);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    throw droverFailure(
      'AnswerMalformed',
      `The login of libvirt at ${endpoint.host}:${endpoint.port} cannot be followed: ${error.message}`,
    );
  }
}

async function prove(
  ask: Ask,
  endpoint: LibvirtEndpoint,
  credential: NonNullable<LibvirtAccess['credential']>,
): Promise<void> {
  const scram = startScram(credential);
  const challenge = await ask('authSaslStart', { mechanism: scramMechanism, isNull: 0, data: scram.first });
  const { proof, isServer } = await scram.answer(challenge.data);
  const final = await ask('authSaslStep', { isNull: 0, data: proof });
  if (!isServer(final.data)) throw refused(endpoint, 'it did not prove that it knows drover’s password');
  if (final.complete === 0) await ask('authSaslStep', { isNull: 0, data: Buffer.alloc(0) });
}

const refused = ({ host, port }: LibvirtEndpoint, what: string) =>
  droverFailure('LibvirtCredentialRefused', `libvirt at ${host}:${port}: ${what}`);

/** SCRAM-SHA-256 (RFC 5802, RFC 7677), the client's side, without channel binding. */

const scramMechanism = 'SCRAM-SHA-256';

/** RFC 7677 asks for at least so many; fewer would make the password easy to guess for who only plays the server. */
const fewestIterations = 4_096;
/** More would let a server keep this process busy. */
const mostIterations = 300_000;
const keyBytes = 32;

const derive = promisify(pbkdf2);

interface ScramCredential {
  user: string;
  password: string;
}

interface ScramExchange {
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

import { droverFailure } from '../../runtime/failure.ts';
import type { LibvirtEndpoint } from './endpoint.ts';
import { scramMechanism, startScram } from './scram.ts';
import type { LibvirtAccess } from './types.ts';
import type { ProcedureArgs, ProcedureName, ProcedureResult } from './wire/procedures.ts';
import { MalformedMessage } from './wire/xdr.ts';

/** remote_auth_type. */
const authTypes = { none: 0, sasl: 1 } as const;

/** Makes a call; every failure is thrown. */
export type Ask = <Name extends ProcedureName>(name: Name, args: ProcedureArgs<Name>) => Promise<ProcedureResult<Name>>;

/**
 * Gives the daemon what it asks for before anything else: nothing, or a password by SCRAM-SHA-256. A password goes over TLS only, and the
 * daemon must prove that it knows it too.
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

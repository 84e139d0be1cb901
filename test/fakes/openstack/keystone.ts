import type { Cloud } from './cloud.ts';
import type { KeystoneUser, Token } from './model.ts';
import { Refused, type WireAnswer } from './wire.ts';

/** Where the simulated services say they are. */
export const urls = {
  keystone: 'http://keystone.fake/v3',
  nova: 'http://nova.fake/v2.1',
  placement: 'http://placement.fake',
  glance: 'http://glance.fake/v2',
  cinder: 'http://cinder.fake/v3',
} as const;

const keystoneRefusal = (
  status: number,
  title: string,
  message: string,
  headers: Record<string, string> = {},
): Refused => new Refused({ status, body: { error: { code: status, title, message } }, headers });

const unauthenticated = (): Refused =>
  keystoneRefusal(401, 'Unauthorized', 'The request you have made requires authentication.', {
    'www-authenticate': `Keystone uri="${urls.keystone}"`,
  });

/** What Keystone's middleware in the other services answers to a token that is not, or no longer, good. */
export const tokenRefused = unauthenticated;

interface Login {
  auth?: {
    identity?: {
      application_credential?: { id?: string; secret?: string };
      password?: { user?: { name?: string; password?: string } };
    };
  };
}

/** `POST /v3/auth/tokens`, `DELETE /v3/auth/tokens`. */
export function answerKeystone(
  cloud: Cloud,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): WireAnswer {
  if (path !== '/auth/tokens') throw new Error(`the simulated Keystone does not know ${method} ${path}`);
  if (method === 'POST') return logIn(cloud, body as Login);
  if (method !== 'DELETE') throw new Error(`the simulated Keystone does not know ${method} ${path}`);
  userOf(cloud, headers['x-auth-token']);
  const token = cloud.model.keystone.tokens.get(headers['x-subject-token'] ?? '');
  if (token === undefined) throw keystoneRefusal(404, 'Not Found', 'Could not find token.');
  token.isRevoked = true;
  return { status: 204 };
}

function logIn(cloud: Cloud, { auth }: Login): WireAnswer {
  const { keystone } = cloud.model;
  const issuedMs = cloud.nowMs();
  const token: Token = {
    user: authenticate(cloud, auth?.identity ?? {}),
    issuedMs,
    expiresMs: issuedMs + keystone.tokenLifetimeMs,
    isRevoked: false,
  };
  // From a counter, so that the registry of secrets does not grow from one simulation to the next.
  const value = `simulated-token-${cloud.next('token')}`;
  keystone.tokens.set(value, token);
  return { status: 201, headers: { 'x-subject-token': value }, body: { token: viewToken(cloud, token) } };
}

function authenticate(
  { model: { keystone } }: Cloud,
  { application_credential: credential, password }: NonNullable<NonNullable<Login['auth']>['identity']>,
): KeystoneUser {
  if (credential !== undefined) {
    const { id, secret, userId } = keystone.applicationCredential;
    if (credential.id !== id)
      throw keystoneRefusal(404, 'Not Found', `Could not find Application Credential: ${credential.id}.`);
    const user = keystone.users.find((one) => one.id === userId);
    if (credential.secret !== secret || user === undefined) throw unauthenticated();
    return user;
  }
  const user = keystone.users.find(({ name }) => name === password?.user?.name);
  if (user === undefined || user.password !== password?.user?.password) throw unauthenticated();
  return user;
}

function viewToken({ region, model: { keystone, volumes } }: Cloud, { user, issuedMs, expiresMs }: Token): object {
  const domain = { id: 'default', name: 'Default' };
  const service = (type: string, name: string, url: string) => ({
    type,
    name,
    id: name,
    endpoints: ['public', 'internal'].map((face) => ({
      id: `${name}-${face}`,
      interface: face,
      region_id: region,
      region,
      url,
    })),
  });
  return {
    methods: ['password'],
    user: { id: user.id, name: user.name, domain, password_expires_at: null },
    project: { id: keystone.projectId, name: 'admin', domain },
    roles: user.roles.map((name) => ({ id: name, name })),
    issued_at: new Date(issuedMs).toISOString(),
    expires_at: new Date(expiresMs).toISOString(),
    audit_ids: [],
    catalog: [
      service('identity', 'keystone', urls.keystone),
      service('compute', 'nova', urls.nova),
      service('placement', 'placement', urls.placement),
      service('image', 'glance', urls.glance),
      ...(volumes === null ? [] : [service('volumev3', 'cinder', urls.cinder)]),
    ],
  };
}

/** @throws Refused a token that is unknown, revoked or expired */
export function userOf(cloud: Cloud, value: string | undefined): KeystoneUser {
  const token = cloud.model.keystone.tokens.get(value ?? '');
  if (token === undefined || token.isRevoked || cloud.nowMs() >= token.expiresMs) throw tokenRefused();
  return token.user;
}

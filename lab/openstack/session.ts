import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { CloudName, OpenStackHandle } from './handle.ts';

const REQUEST_TIMEOUT_MS = 60_000;
/** Evacuated servers come up as they were; from 2.95 on they stay off. */
const COMPUTE_MICROVERSION = '2.94';
const PLACEMENT_MICROVERSION = '1.39';

/** An answer of 400 or more. */
export class OpenStackError extends Error {
  override readonly name = 'OpenStackError';
  readonly status: number;
  readonly body: unknown;

  constructor(request: string, status: number, body: unknown) {
    super(`${request}: ${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

export interface RequestOptions {
  readonly body?: unknown;
  /** Compute's, default 2.94. */
  readonly microversion?: string;
}

/**
 * A login to the lab for seeding and checking: on its own, so that a test never asks drover's adapters whether drover
 * is right.
 */
export interface Session {
  readonly handle: OpenStackHandle;
  /** Resolves to the JSON answer, or undefined where there is none. @throws OpenStackError */
  compute<Answer>(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  placement<Answer>(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

interface Cloud {
  readonly auth: Readonly<Record<string, string>>;
}

export async function openSession(handle: OpenStackHandle, cloudName: CloudName = 'lab'): Promise<Session> {
  const { clouds } = parse(readFileSync(handle.cloudsFile, 'utf8')) as { clouds: Record<CloudName, Cloud> };
  const identity = authentication(clouds[cloudName].auth);
  let token = await logIn();

  async function logIn(): Promise<string> {
    const url = `${handle.authUrl}/auth/tokens`;
    const response = await send('POST', url, { 'Content-Type': 'application/json' }, { auth: identity });
    const body = await bodyOf(response);
    if (!response.ok) throw new OpenStackError(`POST ${url}`, response.status, body);
    return response.headers.get('X-Subject-Token') ?? '';
  }

  async function call<Answer>(
    method: string,
    url: string,
    version: string,
    body: unknown,
    again = true,
  ): Promise<Answer> {
    const response = await send(
      method,
      url,
      { 'X-Auth-Token': token, 'OpenStack-API-Version': version, 'Content-Type': 'application/json' },
      body,
    );
    const answer = await bodyOf(response);
    if (response.status === 401 && again) {
      token = await logIn();
      return call(method, url, version, body, false);
    }
    if (!response.ok) throw new OpenStackError(`${method} ${url}`, response.status, answer);
    return answer as Answer;
  }

  return {
    handle,
    compute: (method, path, options) =>
      call(method, handle.computeUrl + path, `compute ${options?.microversion ?? COMPUTE_MICROVERSION}`, options?.body),
    placement: (method, path, options) =>
      call(
        method,
        handle.placementUrl + path,
        `placement ${options?.microversion ?? PLACEMENT_MICROVERSION}`,
        options?.body,
      ),
  };
}

function send(method: string, url: string, headers: Record<string, string>, body: unknown): Promise<Response> {
  return fetch(url, {
    method,
    headers: { 'User-Agent': 'drover-lab', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  return response.headers.get('Content-Type')?.startsWith('application/json') ? JSON.parse(text) : text;
}

function authentication(auth: Readonly<Record<string, string>>): object {
  if (auth['application_credential_id'] !== undefined) {
    return {
      identity: {
        methods: ['application_credential'],
        application_credential: {
          id: auth['application_credential_id'],
          secret: auth['application_credential_secret'],
        },
      },
    };
  }
  const domain = { id: 'default' };
  return {
    identity: {
      methods: ['password'],
      password: { user: { name: auth['username'], domain, password: auth['password'] } },
    },
    scope: { project: { name: auth['project_name'], domain } },
  };
}

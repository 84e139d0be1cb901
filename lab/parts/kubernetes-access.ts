import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { LabError } from '../lab-error.ts';
import { writePrivateFile } from '../private-files.ts';
import type { KubernetesHandle } from './kubernetes-handle.ts';
import { ETCD_SOCKET } from './kubernetes-arguments.ts';

const REQUEST_TIMEOUT_MS = 10_000;

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly body: string;
}

type Connection = Pick<KubernetesHandle, 'server' | 'caFile' | 'tokenFile'>;

/** GET as the administrator. */
export function kubeGet(connection: Connection, path: string, signal?: AbortSignal): Promise<Answer> {
  return kubeRequest(connection, 'GET', path, undefined, signal);
}

/**
 * One request as the administrator on a connection of its own: the lab asks rarely, and a pool would have to be closed.
 * @throws what the connection throws; an HTTP status is an answer.
 */
export function kubeRequest(
  connection: Connection,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  const options: RequestOptions = {
    method,
    agent: false,
    ca: readFileSync(connection.caFile),
    headers: {
      authorization: `Bearer ${readFileSync(connection.tokenFile, 'utf8')}`,
      'content-type': 'application/json',
    },
  };
  return answerOf(
    (onAnswer) => httpsRequest(new URL(path, connection.server), { ...options, signal: bounded(signal) }, onAnswer),
    body,
  );
}

const bounded = (signal?: AbortSignal) =>
  signal === undefined
    ? AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    : AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);

function answerOf(
  send: (onAnswer: (message: IncomingMessage) => void) => ClientRequest,
  body: unknown,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = send((message) => {
    let text = '';
    message.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    message.on('error', reject).on('end', () => {
      const status = message.statusCode ?? 0;
      resolve({ ok: status >= 200 && status < 300, status, body: text });
    });
  });
  request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

export async function kubeApiserverServes(connection: Connection, signal?: AbortSignal): Promise<boolean> {
  return (await kubeGet(connection, '/readyz', signal)).ok;
}

/** POST to etcd's JSON gateway on its UNIX socket; `dir` is the part's directory. */
export async function etcdPost(
  dir: string,
  path: string,
  body: object,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  // A socket's path may have 107 bytes; a lab's directory may be longer. So it is reached through a short link.
  const short = mkdtempSync(join(tmpdir(), 'drover-'));
  try {
    const link = join(short, 'kubernetes');
    symlinkSync(dir, link);
    const answer = await answerOf(
      (onAnswer) =>
        httpRequest(
          { socketPath: join(link, ETCD_SOCKET), method: 'POST', path, agent: false, signal: bounded(signal) },
          onAnswer,
        ),
      body,
    );
    if (!answer.ok) throw new LabError(`etcd answered ${answer.status} to ${path}: ${answer.body}`);
    return JSON.parse(answer.body) as Record<string, unknown>;
  } finally {
    rmSync(short, { recursive: true });
  }
}

export async function etcdServes(dir: string, signal?: AbortSignal): Promise<boolean> {
  await etcdPost(dir, '/v3/maintenance/status', {}, signal);
  return true;
}

/** Writes a kubeconfig with everything inside, mode 0600. */
export function writeKubeconfig(
  path: string,
  connection: Pick<KubernetesHandle, 'server' | 'caFile'>,
  user: string,
  token: string,
  namespace?: string,
): void {
  const name = 'drover-lab';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server: connection.server,
          'certificate-authority-data': readFileSync(connection.caFile).toString('base64'),
        },
      },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user, ...(namespace === undefined ? {} : { namespace }) } }],
    'current-context': name,
  };
  writePrivateFile(path, stringify(config));
}

export interface ServiceAccountKubeconfig {
  readonly namespace: string;
  readonly name: string;
  /** Where the kubeconfig goes; mode 0600. */
  readonly path: string;
  /** Default one day. The API server allows no less than 600. */
  readonly expirationSeconds?: number;
}

/**
 * Asks the API server for a token of an existing service account (TokenRequest) and writes a kubeconfig with it, so
 * that what runs with it has exactly the account's RBAC.
 * @throws LabError when there is no such service account.
 */
export async function writeServiceAccountKubeconfig(
  handle: KubernetesHandle,
  account: ServiceAccountKubeconfig,
): Promise<string> {
  const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`;
  const answer = await kubeRequest(handle, 'POST', path, {
    spec: { expirationSeconds: account.expirationSeconds ?? 86_400 },
  });
  if (!answer.ok)
    throw new LabError(
      `no token for service account ${account.namespace}/${account.name}: ${answer.status} ${answer.body}`,
    );
  const { status } = JSON.parse(answer.body) as { status: { token: string } };
  writeKubeconfig(account.path, handle, account.name, status.token, account.namespace);
  return account.path;
}

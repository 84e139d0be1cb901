import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connectKubernetes } from './kubernetes.ts';
import { resourcePath } from './resource-path.ts';
import type { Kubernetes } from './kubernetes.ts';

/** Answers as a test says; a real kube-apiserver neither hangs nor garbles on demand (test/flows has the real one). */
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => answer(request, response));
const dir = mkdtempSync(join(tmpdir(), 'drover-kube-'));
const kubeconfig = join(dir, 'kubeconfig');
let kubernetes: Kubernetes;
/** For answers that do not come. Where one comes, the machine may be too busy for it to come within this time. */
let impatient: Kubernetes;
const { signal } = new AbortController();

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 'a-secret-token' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'u' } }],
      'current-context': 'a',
    }),
  );
  kubernetes = connectKubernetes({ kubeconfig, requestTimeoutMs: 60_000 });
  impatient = connectKubernetes({ kubeconfig, requestTimeoutMs: 200 });
});

afterAll(async () => {
  await Promise.all([kubernetes.close(), impatient.close()]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

const paths: [path: string, expected: string][] = [
  [resourcePath('v1', 'nodes'), '/api/v1/nodes'],
  [resourcePath('v1', 'configmaps', { namespace: 'n', name: 'c' }), '/api/v1/namespaces/n/configmaps/c'],
  [
    resourcePath('kvm.cloud.sap/v1', 'evictions', { name: 'a/../b', subresource: 'status' }),
    '/apis/kvm.cloud.sap/v1/evictions/a%2F..%2Fb/status',
  ],
];

test.each(paths)('%s', (path, expected) => {
  expect(path).toBe(expected);
});

test('a token file is read where the kubeconfig is, before a token beside it, and anew when it is rotated', async () => {
  answer = (request, response) => response.end(JSON.stringify({ credential: request.headers.authorization }));
  const withFile = join(dir, 'with-token-file');
  const token = join(dir, 'token');
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as object;
  writeFileSync(
    withFile,
    JSON.stringify({ ...config, users: [{ name: 'u', user: { tokenFile: 'token', token: 'stale' } }] }),
  );
  const ofFile = connectKubernetes({ kubeconfig: withFile, requestTimeoutMs: 60_000 });
  const ask = () => ofFile.request({ method: 'GET', path: '/x' }, signal);
  await expect(ask()).rejects.toMatchObject({ type: 'KubernetesUnavailable', message: expect.stringContaining(token) });
  writeFileSync(token, '');
  await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining(`the token file ${token} is empty`) });
  writeFileSync(token, 'first\n');
  expect(await ask()).toEqual({ credential: 'Bearer first' });
  writeFileSync(token, 'second');
  expect(await ask()).toEqual({ credential: 'Bearer second' });
  // In the middle of being written.
  writeFileSync(token, '');
  expect(await ask()).toEqual({ credential: 'Bearer second' });
  await ofFile.close();
});

test('a request carries the credential, the query and what kind of patch it is', async () => {
  answer = (request, response) => response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  expect(
    await kubernetes.request(
      {
        method: 'PATCH',
        path: '/api/v1/x',
        query: { fieldManager: 'drover', left: undefined },
        body: {},
        patchType: 'apply',
      },
      signal,
    ),
  ).toEqual({
    url: '/prefix/api/v1/x?fieldManager=drover',
    headers: expect.objectContaining({
      authorization: 'Bearer a-secret-token',
      'content-type': 'application/apply-patch+yaml',
      'user-agent': 'drover',
    }),
  });
});

const late: [why: string, given: typeof answer][] = [
  ['no answer in time', () => undefined],
  ['half an answer', (_, response) => void response.writeHead(200).write('{')],
];

test.each(late)('%s', async (_why, given) => {
  answer = given;
  await expect(impatient.request({ method: 'GET', path: '/api/v1/x' }, signal)).rejects.toMatchObject({
    type: 'KubernetesUnavailable',
    message: expect.stringContaining('it took too long'),
  });
});

const failures: [why: string, given: typeof answer, code: string, words: string][] = [
  ['a connection that is cut', (request) => void request.socket.destroy(), 'KubernetesUnavailable', 'no answer from'],
  ['no JSON', (_, response) => void response.end('<html>'), 'AnswerMalformed', 'the answer is no JSON'],
  [
    'an answer without end',
    (_, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(1024 * 1024)));
      };
      response.on('drain', more);
      more();
    },
    'AnswerMalformed',
    'the answer is larger than 67108864 bytes',
  ],
  ['a refusal', (_, response) => void response.writeHead(422).end('no'), 'ObjectRefused', 'answered 422: no'],
  [
    'a refusal that repeats the credential',
    (request, response) => void response.writeHead(422).end(request.headers.authorization),
    'ObjectRefused',
    '[redacted]',
  ],
  [
    'no permission, when it is ready',
    (request, response) => void response.writeHead(request.url?.endsWith('readyz') ? 200 : 403).end('no'),
    'KubernetesForbidden',
    '403',
  ],
  [
    'no permission, while it starts',
    (request, response) => void response.writeHead(request.url?.endsWith('readyz') ? 500 : 403).end('no'),
    'KubernetesUnavailable',
    'is not ready',
  ],
];

test.each(failures)('%s', async (_why, given, code, words) => {
  answer = given;
  await expect(kubernetes.request({ method: 'GET', path: '/api/v1/x' }, signal)).rejects.toMatchObject({
    type: code,
    message: expect.stringContaining(words),
  });
});

test('cancelling ends a request with the reason for it', async () => {
  const abort = new AbortController();
  const reason = new Error('cancelled');
  answer = () => abort.abort(reason);
  await expect(kubernetes.request({ method: 'GET', path: '/api/v1/x' }, abort.signal)).rejects.toBe(reason);
  await expect(kubernetes.request({ method: 'GET', path: '/api/v1/x' }, abort.signal)).rejects.toBe(reason);
});

test('a stream outlives the time-out of its beginning', async () => {
  const beginsInTime = connectKubernetes({ kubeconfig, requestTimeoutMs: 3_000 });
  const pieces: string[] = [];
  let send: ServerResponse | undefined;
  answer = (_, response) => {
    send = response;
    response.writeHead(200).write('one');
  };
  const timer = setTimeout(() => send?.end('two'), 4_000);
  for await (const piece of await beginsInTime.stream({ method: 'GET', path: '/api/v1/x' }, signal))
    pieces.push(Buffer.from(piece).toString());
  clearTimeout(timer);
  await beginsInTime.close();
  expect(pieces).toEqual(['one', 'two']);
});

test('a stream that does not begin fails', async () => {
  answer = () => undefined;
  await expect(impatient.stream({ method: 'GET', path: '/api/v1/x' }, signal)).rejects.toMatchObject({
    type: 'KubernetesUnavailable',
  });
});

/**
 * Writes its pid to the file, and those of what it starts. A shell has done so long before its time-out also where the
 * machine is busy, which Node has not.
 */
function withPlugin(name: string, script: string): { config: string; pids: () => Promise<number[]> } {
  const file = join(dir, `${name}-pids`);
  const path = join(dir, name);
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as object;
  const plugin = `say() { echo $1 >> '${file}'; }; say $$; ${script}`;
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args: ['-c', plugin] };
  writeFileSync(path, JSON.stringify({ ...config, users: [{ name: 'u', user: { exec } }] }));
  return { config: path, pids: async () => (await untilWritten(file)).trim().split('\n').map(Number) };
}

test.each(['request', 'stream'] as const)(
  'a plug-in for credentials that hangs ends a %s, and is ended',
  async (how) => {
    const { config, pids } = withPlugin(`hanging-${how}`, 'exec sleep 3600');
    const client = connectKubernetes({ kubeconfig: config, requestTimeoutMs: 2_000 });
    await expect(client[how]({ method: 'GET', path: '/api/v1/x' }, signal)).rejects.toMatchObject({
      type: 'KubernetesUnavailable',
      message: expect.stringContaining('no answer from the login that the kubeconfig names: it took too long'),
    });
    for (const pid of await pids()) await untilEnded(pid);
    await client.close();
  },
);

test('requests at once have one plug-in run for credentials, and each fails when it hangs', async () => {
  const { config, pids } = withPlugin('hanging-once', 'exec sleep 3600');
  const client = connectKubernetes({ kubeconfig: config, requestTimeoutMs: 2_000 });
  const first = failureOf(client);
  const [pid = 0] = await pids();
  const failures = await Promise.all([first, failureOf(client), failureOf(client)]);
  for (const failure of failures) expect(failure).toMatch(/the login that the kubeconfig names: it took too long\./u);
  await untilEnded(pid);
  expect(await pids()).toEqual([pid]);
  await client.close();
});

test('what a plug-in has started keeps no command from its end', async () => {
  const { config, pids } = withPlugin('hanging-wrapper', 'sleep 3600 & say $!; wait');
  const kubernetesModule = new URL('kubernetes.ts', import.meta.url).href;
  const command = `const { connectKubernetes } = await import(${JSON.stringify(kubernetesModule)});
    const client = connectKubernetes({ kubeconfig: ${JSON.stringify(config)}, requestTimeoutMs: 2_000 });
    await client.request({ method: 'GET', path: '/api/v1/x' }, new AbortController().signal).catch(() => undefined);
    await client.close();`;
  const node = spawn(process.execPath, ['--input-type=module', '-e', command], { stdio: 'ignore' });
  const code = await new Promise((resolve) => node.once('exit', resolve));
  for (const pid of (await pids()).slice(1)) process.kill(pid);
  expect(code).toBe(0);
});

test('a user may take longer to log in than a request may take', async () => {
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'late' },
  };
  const { config } = withPlugin('slow', `sleep 1.5; echo '${JSON.stringify(credential)}'`);
  const client = connectKubernetes({ kubeconfig: config, requestTimeoutMs: 1_000, loginTimeoutMs: 20_000 });
  answer = (request, response) => response.end(JSON.stringify(request.headers));
  expect(await client.request({ method: 'GET', path: '/api/v1/x' }, signal)).toMatchObject({
    authorization: 'Bearer late',
  });
  await client.close();
});

const failureOf = (client: Kubernetes): Promise<string> =>
  client
    .request({ method: 'GET', path: '/api/v1/x' }, signal)
    .then(String, (error: unknown) => (error as Error).message);

async function untilEnded(pid: number): Promise<void> {
  const isThere = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function untilWritten(file: string): Promise<string> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text !== '') return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

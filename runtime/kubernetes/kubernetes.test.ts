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

test.each(['request', 'stream'] as const)(
  'a plug-in for credentials that hangs ends a %s',
  async (how) => {
    const hanging = join(dir, 'hanging');
    const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as object;
    const pidFile = join(dir, `pid-of-${how}`);
    const plugin = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`;
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: ['-e', plugin] };
    writeFileSync(hanging, JSON.stringify({ ...config, users: [{ name: 'u', user: { exec } }] }));
    const client = connectKubernetes({ kubeconfig: hanging, requestTimeoutMs: 500 });
    try {
      await expect(client[how]({ method: 'GET', path: '/api/v1/x' }, signal)).rejects.toMatchObject({
        type: 'KubernetesUnavailable',
        message: expect.stringContaining('no answer from the login that the kubeconfig names: it took too long'),
      });
    } finally {
      process.kill(Number(await untilWritten(pidFile)));
      await client.close();
    }
  },
  20_000,
);

async function untilWritten(file: string): Promise<string> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text !== '') return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

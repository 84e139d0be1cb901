import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadKubeConfig } from './kube-config.ts';
import { isKubeconfigMissing } from './kubernetes-faults.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-kube-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (text: string): string => {
  const file = join(home, 'kubeconfig');
  writeFileSync(file, text);
  return file;
};

const two = `
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://a:6443"}}, {name: b, cluster: {server: "https://b:6443"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: a, context: {cluster: a, user: u}}, {name: b, context: {cluster: b, user: u}}, {name: c, context: {cluster: none, user: u}}]
current-context: a
`;

test('the current context is used, or the one that is named', () => {
  const kubeconfig = write(two);
  expect(loadKubeConfig({ kubeconfig }).getCurrentCluster()?.server).toBe('https://a:6443');
  expect(loadKubeConfig({ kubeconfig, context: 'b' }).getCurrentCluster()?.server).toBe('https://b:6443');
});

const refused: [why: string, load: () => unknown, words: string][] = [
  ['no kubeconfig at all', () => loadKubeConfig({}, { HOME: home }), 'there is no kubeconfig: set KUBECONFIG'],
  ['a file that is not there', () => loadKubeConfig({ kubeconfig: join(home, 'nowhere') }), 'nowhere'],
  ['a file that is none', () => loadKubeConfig({ kubeconfig: write('a: [') }), 'kubeconfig'],
  ['an empty file', () => loadKubeConfig({ kubeconfig: write('') }), 'kubeconfig'],
  [
    'an unknown context',
    () => loadKubeConfig({ kubeconfig: write(two), context: 'd' }),
    'has no context d; it has: a, b, c',
  ],
  [
    'a context that is no text',
    () => loadKubeConfig({ kubeconfig: write('{ current-context: { toString: null } }') }),
    'names no cluster',
  ],
  [
    'a server that is no text',
    () => loadKubeConfig({ kubeconfig: write(two.replace('"https://a:6443"', '[1]')) }),
    'server',
  ],
  [
    'a server that has no end',
    () => loadKubeConfig({ kubeconfig: write(two.replace('https://a:6443', `https://a:6443${'/'.repeat(3_000)}x`)) }),
    'is no http or https URL',
  ],
  [
    'a server that is no URL',
    () => loadKubeConfig({ kubeconfig: write(two.replace('https://a:6443', 'https://a:port')) }),
    'is no http or https URL',
  ],
  [
    'a context without a cluster',
    () => loadKubeConfig({ kubeconfig: write(two), context: 'c' }),
    'the context `c` names no cluster; it has the contexts: a, b, c',
  ],
  [
    'a current context that it does not have',
    () => loadKubeConfig({ kubeconfig: write(two.replace('current-context: a', 'current-context: prod')) }),
    'the context `prod` names no cluster; it has the contexts: a, b, c',
  ],
];

test.each(refused)('%s is an error in the settings', (_why, load, words) => {
  expect(load).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration', message: expect.stringContaining(words) }),
  );
});

test.each(refused)('%s: whether Kubernetes was meant at all', (why, load) => {
  let failure: unknown = null;
  try {
    load();
  } catch (error) {
    failure = error;
  }
  expect(isKubeconfigMissing(failure)).toBe(why === 'no kubeconfig at all');
});

test('what cannot be parsed is not quoted: it holds tokens', () => {
  const broken = write(two.replace('{token: t}', '{token: s3cr3t-of-a-user'));
  expect(() => loadKubeConfig({ kubeconfig: broken })).toThrow(
    expect.objectContaining({
      type: 'InvalidConfiguration',
      message: expect.not.stringContaining('s3cr3t'),
      cause: undefined,
    }),
  );
});

test('one dispatcher serves all requests, until the certificates change', () => {
  const config = loadKubeConfig({ kubeconfig: write(two) }) as unknown as {
    createDispatcher(cluster: object, options: object): object;
  };
  const cluster = { server: 'https://a:6443' };
  const first = config.createDispatcher(cluster, { ca: 'one' });
  expect(config.createDispatcher(cluster, { ca: 'one' })).toBe(first);
  expect(config.createDispatcher(cluster, { ca: 'two' })).not.toBe(first);
});

import { stringify } from 'yaml';

import { foreignKubeConfig } from './foreign-kube-config.ts';
import { loadKubeConfig } from './kube-config.ts';

const cluster = { server: 'https://api.example:6443', 'certificate-authority-data': 'Y2E=' };
const user = { 'client-certificate-data': 'Y2VydA==', 'client-key-data': 'a2V5' };
const file = (change: object = {}) =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'admin',
    contexts: [
      { name: 'admin', context: { cluster: 'c', user: 'u', namespace: 'default' } },
      { name: 'other', context: { cluster: 'd', user: 'u' } },
    ],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    ...change,
  });

test('the current context is taken, and can be used', () => {
  const config = loadKubeConfig({ content: foreignKubeConfig(file(), 'Secret a/b') }, {});
  expect(config.getCurrentCluster()?.server).toBe('https://api.example:6443');
  expect(config.getContexts().map(({ name }) => name)).toEqual(['admin']);
});

const of = (change: object) => ({ clusters: [{ name: 'c', cluster: { ...cluster, ...change } }] });
const by = (change: object) => ({ users: [{ name: 'u', user: { ...user, ...change } }] });

test.each<[string, string]>([
  ['nothing', ''],
  ['no YAML', '{'],
  ['another document', 'a: 1'],
  ['a program that it runs', file(by({ exec: { command: 'sh', apiVersion: 'v1' } }))],
  ['a program that it runs, in the older way', file(by({ 'auth-provider': { name: 'gcp' } }))],
  ['a key in a file', file(by({ 'client-key': '/etc/shadow' }))],
  ['a token in a file', file(by({ tokenFile: '/etc/shadow' }))],
  ['a CA in a file', file(of({ 'certificate-authority': '/etc/shadow' }))],
  ['no CA', file(of({ 'certificate-authority-data': undefined }))],
  ['no check of certificates', file(of({ 'insecure-skip-tls-verify': true }))],
  ['a proxy', file(of({ 'proxy-url': 'http://proxy.example' }))],
  ['no TLS', file(of({ server: 'http://api.example' }))],
  ['no such context', file({ 'current-context': 'gone' })],
  ['a context without its cluster', file({ 'current-context': 'other' })],
  ['more than any has', '"'.repeat(65_537)],
  ['aliases', 'a: &a [b]\ncontexts: [*a, *a, *a]'],
])('%s is refused', (_, content) => {
  expect(() => foreignKubeConfig(content, 'Secret a/b')).toThrow(/^The kubeconfig in Secret a\/b/u);
});

test('a refusal does not quote it', () => {
  expect(() => foreignKubeConfig(file(by({ token: 5, exec: 'hunter2' })), 'here')).not.toThrow('hunter2');
});

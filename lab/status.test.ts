import { execFileSync } from 'node:child_process';
import { formatStatus, quote } from './status.ts';

test.each([
  ['127.0.0.1:7233', '127.0.0.1:7233'],
  ['/home/a b/kubeconfig', "'/home/a b/kubeconfig'"],
  ["it's $HOME", `'it'\\''s $HOME'`],
  ['', "''"],
])('quote %j', (value, expected) => {
  expect(quote(value)).toBe(expected);
  expect(execFileSync('/bin/sh', ['-c', `printf %s ${quote(value)}`], { encoding: 'utf8' })).toBe(value);
});

test('the status can be read, and evaluated by a shell', () => {
  const part = { title: '', dead: [], logDir: '/lab/x/log', urls: {}, exports: {} };
  const text = formatStatus({
    dir: '/my lab',
    handles: {},
    exports: { KUBECONFIG: '/my lab/kubernetes/admin.kubeconfig', PATH: '/my lab/bin:/bin' },
    parts: [
      { ...part, name: 'temporal', state: 'up', urls: { 'Temporal Web UI': 'http://127.0.0.1:20001' } },
      { ...part, name: 'tctl', state: 'down' },
      { ...part, name: 'kubernetes', state: 'broken', dead: ['etcd'] },
    ],
  });
  expect(text).toBe(`# lab in /my lab
# temporal    up  Temporal Web UI http://127.0.0.1:20001
# tctl        down (npm run lab -- up tctl)
# kubernetes  broken: etcd has ended, logs in /lab/x/log (npm run lab -- up kubernetes)
export KUBECONFIG='/my lab/kubernetes/admin.kubeconfig'
export PATH='/my lab/bin':"$PATH"
`);
  const evaluated = execFileSync('/bin/sh', ['-c', `eval "$1"; echo "$KUBECONFIG $PATH"`, 'sh', text], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin' },
  });
  expect(evaluated).toBe('/my lab/kubernetes/admin.kubeconfig /my lab/bin:/usr/bin:/bin\n');
});

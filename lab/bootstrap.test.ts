import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A checkout whose only package is a folder of its own, so that npm fetches nothing; `node` is the one that runs the
 * tests (24).
 */
let checkout: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'drover-bootstrap-'));
  mkdirSync(join(checkout, 'lab'));
  mkdirSync(join(checkout, 'path'));
  copyFileSync(fileURLToPath(new URL('bootstrap.mjs', import.meta.url)), join(checkout, 'lab', 'bootstrap.mjs'));
  mkdirSync(join(checkout, 'y'));
  const top = { name: 'x', version: '1.0.0', devDependencies: { y: 'file:y' } };
  const lock = {
    name: 'x',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: { '': top, 'node_modules/y': { resolved: 'y', link: true }, y: { version: '1.0.0', dev: true } },
  };
  writeFileSync(join(checkout, 'package.json'), JSON.stringify({ ...top, private: true }));
  writeFileSync(join(checkout, 'package-lock.json'), `${JSON.stringify(lock)}\n`);
  writeFileSync(join(checkout, 'y', 'package.json'), '{"name":"y","version":"1.0.0"}');
});
afterEach(() => rmSync(checkout, { recursive: true }));

function bootstrap(env: NodeJS.ProcessEnv = {}) {
  const { npm_execpath: _, ...own } = process.env;
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'lab', 'bootstrap.mjs')], {
    encoding: 'utf8',
    env: { ...own, PATH: path, ...env },
  });
  return { status, lines: stderr.split('\n').filter((line) => line !== '') };
}

test('installs once, says so, leaves the lockfile as it is, and is silent when nothing is to be done', () => {
  const lock = readFileSync(join(checkout, 'package-lock.json'), 'utf8');
  const first = bootstrap({ NODE_ENV: 'production', npm_config_loglevel: 'silent', npm_config_omit: 'dev' });
  expect(first.status).toBe(0);
  expect(first.lines[0]).toBe('drover: installing the packages of package-lock.json (usually 30 s the first time)');
  expect(first.lines.at(-1)).toMatch(/^drover: packages are installed, after \d+ s$/);
  expect(existsSync(join(checkout, 'node_modules', 'y', 'package.json'))).toBe(true);
  expect(bootstrap()).toEqual({ status: 0, lines: [] });
  expect(readFileSync(join(checkout, 'package-lock.json'), 'utf8')).toBe(lock);
});

test.each<[string, () => void]>([
  [
    'the lockfile changed',
    () =>
      writeFileSync(
        join(checkout, 'package-lock.json'),
        readFileSync(join(checkout, 'package-lock.json'), 'utf8').replace('\n', ' \n'),
      ),
  ],
  ['something else has changed the tree', () => utimesSync(join(checkout, 'node_modules', '.package-lock.json'), 1, 1)],
])('installs again when %s', (_, change) => {
  bootstrap();
  change();
  expect(bootstrap().lines).toHaveLength(2);
  expect(bootstrap().lines).toEqual([]);
});

test('without Node 24 it ends in one sentence', () => {
  // npm runs on this one as well, and does nothing.
  mkdirSync(join(checkout, 'node_modules'));
  const old = join(checkout, 'path', 'node');
  writeFileSync(old, '#!/bin/sh\necho v20.20.2\n');
  chmodSync(old, 0o755);
  const { status, lines } = bootstrap({ PATH: `${join(checkout, 'path')}:${process.env['PATH'] ?? ''}` });
  expect(status).toBe(1);
  expect(lines.at(-1)).toMatch(/^drover needs Node 24: .* put a Node 24 or newer first on PATH \(found: 20\)\.$/);
});

test('the error of a failing npm contains npm’s output', () => {
  writeFileSync(join(checkout, 'package.json'), '{"name":');
  const { status, lines } = bootstrap();
  expect(status).toBe(1);
  expect(lines.join('\n')).toMatch(/npm install failed \(\d+\):\n.*JSON/s);
});

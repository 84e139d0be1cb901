import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory, contentKey } from './cache.ts';

describe('cacheDirectory', () => {
  test.each([
    [{ DROVER_CACHE: '/a', XDG_CACHE_HOME: '/b' }, '/a'],
    [{ XDG_CACHE_HOME: '/b' }, '/b/drover'],
    [{ DROVER_CACHE: '', XDG_CACHE_HOME: '' }, join(homedir(), '.cache', 'drover')],
    [{}, join(homedir(), '.cache', 'drover')],
  ])('%j → %s', (env, expected) => expect(cacheDirectory(env)).toBe(expected));
});

describe('contentKey', () => {
  let root: string;
  let folder: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-cache-'));
    folder = join(root, 'tool');
    mkdirSync(join(folder, 'cmd'), { recursive: true });
    writeFileSync(join(folder, 'go.mod'), 'module x\n');
    writeFileSync(join(folder, 'cmd', 'main.go'), 'package main\n');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test('is the same for the same content elsewhere', () => {
    cpSync(folder, join(root, 'copy'), { recursive: true });
    expect(contentKey(join(root, 'copy'), ['-s'])).toBe(contentKey(folder, ['-s']));
    expect(contentKey(folder, ['-s'])).toMatch(/^[0-9a-f]{16}$/);
  });

  test.each<[string, () => void, string[]]>([
    ['a changed file', () => writeFileSync(join(folder, 'cmd', 'main.go'), 'package main // x\n'), ['-s']],
    ['a further file', () => writeFileSync(join(folder, 'go.sum'), ''), ['-s']],
    [
      'a renamed file',
      () => (rmSync(join(folder, 'go.mod')), writeFileSync(join(folder, 'go.mid'), 'module x\n')),
      ['-s'],
    ],
    ['another flag', () => {}, ['-w']],
    ['flags split otherwise', () => {}, ['-', 's']],
  ])('differs with %s', (_, change, settings) => {
    const before = contentKey(folder, ['-s']);
    change();
    expect(contentKey(folder, settings)).not.toBe(before);
  });
});

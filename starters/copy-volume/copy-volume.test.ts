import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';
import { tellProgress } from './progress.ts';

/** The command with real files. */

const marker = '.drover-copy-under-way';
const mib = 1024 ** 2;
const past = new Date('2026-01-31T12:00:00Z');

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'drover-copy-'));
  for (const name of ['source', 'target']) mkdirSync(join(top, name));
});
afterEach(() => rmSync(top, { recursive: true }));

const source = (...parts: string[]): string => join(top, 'source', ...parts);
const target = (...parts: string[]): string => join(top, 'target', ...parts);

async function copy(from = source(), to = target()) {
  const terminal = paper();
  const code = await main(['copy-volume', from, to], sampleContext(terminal));
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

/** A file with two pieces of data and a hole of 63 MiB between them. */
async function writeSparse(path: string): Promise<void> {
  const file = await open(path, 'w');
  await file.write(Buffer.from('begin'), 0, 5, 0);
  await file.write(Buffer.from('end'), 0, 3, 64 * mib - 3);
  await file.close();
}

async function fill(): Promise<void> {
  await writeSparse(source('disk.img'));
  mkdirSync(source('folder'));
  writeFileSync(source('folder', 'plain'), 'text');
  writeFileSync(source('folder', 'empty'), '');
  chmodSync(source('folder', 'plain'), 0o4751);
  linkSync(source('folder', 'plain'), source('same'));
  symlinkSync('folder/nowhere', source('link'));
  writeFileSync(Buffer.concat([Buffer.from(`${source()}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'its name is no text');
  execFileSync('mkfifo', [source('pipe')]);
  mkdirSync(source('lost+found'));
  chmodSync(source('folder'), 0o750);
  for (const path of [source('folder', 'plain'), source('folder')]) utimesSync(path, past, past);
}

test('a directory is as its source: contents, holes, links, modes, times, names', async () => {
  await fill();
  mkdirSync(target('lost+found'));
  const { code, stdout } = await copy();
  expect(stdout).toMatch(/^Copied and compared: 5 files, 64 MiB, SHA-256 [0-9a-f]{64}\n$/u);
  expect(code).toBe(exitCodes.ok);
  expect(readFileSync(target('disk.img')).equals(readFileSync(source('disk.img')))).toBe(true);
  expect(lstatSync(target('disk.img')).blocks * 512).toBeLessThan(mib);
  expect(readdirSync(target(), { encoding: 'latin1' }).sort()).toEqual(
    readdirSync(source(), { encoding: 'latin1' }).sort(),
  );
  expect(readlinkSync(target('link'))).toBe('folder/nowhere');
  expect(lstatSync(target('pipe')).isFIFO()).toBe(true);
  const plain = lstatSync(target('same'));
  expect(plain).toMatchObject({ mode: 0o104751, mtimeMs: past.getTime(), nlink: 2 });
  expect(plain.ino).toBe(lstatSync(target('folder', 'plain')).ino);
  expect(lstatSync(target('folder'))).toMatchObject({ mode: 0o40750, mtimeMs: past.getTime() });
  // Once more, as a Pod that died before it could say so.
  expect(await copy()).toMatchObject({ code: exitCodes.ok, stdout });
});

test('an unfinished copy is gone on with, whatever it has come to', async () => {
  await fill();
  writeFileSync(target(marker), '');
  // Half a file, one that seems complete and is not, others of other types, and what is gone from the source since.
  writeFileSync(target('disk.img'), 'beg');
  mkdirSync(target('folder'));
  writeFileSync(target('folder', 'empty'), '');
  writeFileSync(target('folder', 'plain'), 'TEXT');
  utimesSync(target('folder', 'plain'), past, past);
  linkSync(target('folder', 'empty'), target('same'));
  mkdirSync(target('link'));
  writeFileSync(target('link', 'x'), '');
  writeFileSync(target('gone'), '');
  const { code, stdout } = await copy();
  expect({ code, stdout }).toEqual({ code: exitCodes.ok, stdout: expect.stringContaining('5 files') });
  expect(readFileSync(target('folder', 'plain'), 'utf8')).toBe('text');
  expect(readFileSync(target('disk.img')).equals(readFileSync(source('disk.img')))).toBe(true);
  expect(existsSync(target('gone'))).toBe(false);
  expect(existsSync(target(marker))).toBe(false);
});

test('a file that seems complete and is not is found, and copied again', async () => {
  writeFileSync(source('a'), 'text');
  writeFileSync(target('a'), 'TEXT');
  for (const path of [source('a'), target('a')]) utimesSync(path, past, past);
  chmodSync(target('a'), lstatSync(source('a')).mode);
  writeFileSync(target(marker), '');
  const { code, stderr } = await copy();
  expect({ code, stderr }).toEqual({ code: exitCodes.ok, stderr: expect.stringContaining('as they differ: a') });
  expect(readFileSync(target('a'), 'utf8')).toBe('text');
});

test('what is in a target stays there', async () => {
  writeFileSync(source('a'), 'text');
  writeFileSync(target('b'), 'of a user');
  expect(await copy()).toMatchObject({
    code: exitCodes.refused,
    stderr: expect.stringMatching(/is not empty.*Nothing was written/su),
  });
  expect(readdirSync(target())).toEqual(['b']);
});

test('an unfinished copy is no source', async () => {
  writeFileSync(source(marker), '');
  expect(await copy()).toMatchObject({ code: exitCodes.refused, stderr: expect.stringContaining('unfinished copy') });
  expect(readdirSync(target())).toEqual([]);
});

const image = (name: string): string => join(top, name);

test('a block device onto a larger one: only what differs is written', async () => {
  await writeSparse(image('from'));
  writeFileSync(image('to'), '');
  truncateSync(image('to'), 80 * mib);
  expect(await copy(image('from'), image('to'))).toMatchObject({
    code: exitCodes.ok,
    stdout: expect.stringMatching(/^Copied and compared: 64 MiB, SHA-256 [0-9a-f]{64}\n$/u),
  });
  const [from, to] = [readFileSync(image('from')), readFileSync(image('to'))];
  expect(to.subarray(0, from.length).equals(from)).toBe(true);
  expect(to.length).toBe(80 * mib);
  expect(lstatSync(image('to')).blocks * 512).toBeLessThan(mib);
});

test('what an earlier attempt has left on a device is gone', async () => {
  writeFileSync(image('from'), Buffer.alloc(5 * mib));
  writeFileSync(image('to'), Buffer.alloc(5 * mib, 7));
  expect((await copy(image('from'), image('to'))).code).toBe(exitCodes.ok);
  expect(readFileSync(image('to')).equals(Buffer.alloc(5 * mib))).toBe(true);
});

test('a device that is too small is left alone', async () => {
  writeFileSync(image('from'), 'four');
  writeFileSync(image('to'), 'two');
  expect(await copy(image('from'), image('to'))).toMatchObject({
    code: exitCodes.refused,
    stderr: expect.stringMatching(/has 3 bytes.*Nothing was written/su),
  });
  expect(readFileSync(image('to'), 'utf8')).toBe('two');
});

test.each<[why: string, from: () => string, to: () => string, words: RegExp]>([
  ['no source', () => source('x'), target, /no source/u],
  ['no target', source, () => target('x'), /no target/u],
  ['of two kinds', source, () => image('to'), /is a directory, and .* a device/u],
  ['one in the other', () => top, target, /in one another/u],
  ['the same', source, source, /in one another/u],
])('%s is bad usage', async (_why, from, to, words) => {
  appendFileSync(image('to'), '');
  expect(await copy(from(), to())).toMatchObject({ code: exitCodes.usage, stderr: expect.stringMatching(words) });
});

test('how far it is, now and then', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const progress = tellProgress({ monotonicMs: () => nowMs }, (line) => void lines.push(line));
  progress.begin({ files: 4, bytes: 100 * mib });
  progress.copied({ bytes: 10 * mib });
  nowMs = 12_000;
  progress.copied({ files: 1, bytes: 15 * mib });
  nowMs = 13_000;
  progress.copied({ files: 1 });
  expect(lines).toEqual(['25 %: 25 MiB of 100 MiB, 1 of 4 files, after 12s']);
});

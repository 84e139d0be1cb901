import { execFile } from 'node:child_process';
import { constants, type Stats } from 'node:fs';
import { chmod, lchown, link, lutimes, mkdir, open, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { compareTrees } from './compare-trees.ts';
import { copyContent } from './copy-content.ts';
import { bytesOf, readable, under } from './paths.ts';
import type { Copied, Progress } from './progress.ts';
import { marker, namesIn, statsOf, typeOf, walk } from './walk.ts';

/**
 * What is in one directory into another one, which is empty, or has an unfinished copy in it: that is gone on with.
 * Owners, modes, times, links and holes are kept; access control lists and extended attributes as far as `cp` of the
 * system does it.
 *
 * @throws CommandError refused where something else is in the target
 */
export async function copyTree(source: string, target: string, progress: Progress): Promise<Copied> {
  const total = await measure(source);
  if (!(await isBegun(target))) {
    const { digest, differing } = await compareTrees(source, target);
    if (differing.length === 0) return { digest, differing, ...total };
    throw new CommandError(
      `${readable(target)} is not empty, and no copy of ${readable(source)}. Nothing was written.`,
      exitCodes.refused,
      'Name an empty directory.',
    );
  }
  progress.begin(total);
  await copyEntries(source, target, progress);
  await copyAttributes(source, target, progress);
  let compared = await compareTrees(source, target);
  if (compared.differing.length > 0) {
    // What has the size and the time of its source was taken for complete: a machine that dies may leave it without
    // what was in it.
    progress.remark(`Copied again, as they differ: ${compared.differing.join(', ')}`);
    progress.begin(total);
    await copyEntries(source, target, progress, 'all');
    await copyAttributes(source, target, progress);
    compared = await compareTrees(source, target);
  }
  if (compared.differing.length === 0) {
    await rm(bytesOf(under(target, marker)));
    await keep(target, await sourceStats(source));
    await sync(target);
  }
  return { ...compared, ...total };
}

const sourceStats = async (source: string): Promise<Stats> => {
  const stats = await statsOf(source);
  if (stats === null) throw new Error(`${readable(source)} is gone`);
  return stats;
};

/** @returns false: something else is there */
async function isBegun(target: string): Promise<boolean> {
  const path = under(target, marker);
  if ((await statsOf(path)) !== null) return true;
  if ((await namesIn(target, '')).length > 0) return false;
  await writeFile(bytesOf(path), 'drover copies into this volume. It is not complete.\n', { flag: 'wx' });
  return true;
}

async function measure(source: string): Promise<{ files: number; bytes: number }> {
  if ((await statsOf(under(source, marker))) !== null)
    throw new CommandError(
      `${readable(source)} is itself an unfinished copy: ${marker} is in it. Nothing was written.`,
      exitCodes.refused,
    );
  let [files, bytes] = [0, 0];
  for await (const { stats } of walk(source))
    if (stats.isFile()) {
      files += 1;
      bytes += stats.size;
    }
  return { files, bytes };
}

/** @param which `all`: also what seems complete */
async function copyEntries(
  source: string,
  target: string,
  progress: Progress,
  which: 'incomplete' | 'all' = 'incomplete',
): Promise<void> {
  /** First name of each file that has several. */
  const linked = new Map<string, string>();
  const directories: { path: string; stats: Stats }[] = [];
  for await (const { path, stats } of walk(source)) {
    const [from, to] = [under(source, path), under(target, path)];
    const type = typeOf(stats);
    const key = `${String(stats.dev)}:${String(stats.ino)}`;
    const first = stats.isDirectory() || stats.nlink === 1 ? undefined : linked.get(key);
    if (first !== undefined) {
      await linkTo(under(target, first), to);
      progress.copied({ files: 1, bytes: stats.isFile() ? stats.size : 0 });
      continue;
    }
    if (!stats.isDirectory() && stats.nlink > 1) linked.set(key, path);
    await makeWay(to, stats);
    switch (type) {
      case 'directory':
        await makeDirectory(to);
        await removeOthers(source, target, path);
        directories.push({ path, stats });
        break;
      case 'file':
        await copyFile(from, to, stats, { progress, which });
        break;
      case 'link':
        await copyLink(from, to, stats);
        break;
      case 'other':
        // Sockets are nothing without the process that listens; what else there is, cp makes.
        progress.remark(`Neither a file, a directory nor a link: ${readable(path)}`);
        break;
    }
  }
  // What was made in a directory has changed its time.
  for (const { path, stats } of directories.toReversed()) await keep(under(target, path), stats);
}

/** What is there and of another type goes. */
async function makeWay(path: string, wanted: Stats): Promise<void> {
  const found = await statsOf(path);
  if (found === null || typeOf(found) === typeOf(wanted)) return;
  await rm(bytesOf(path), { recursive: true });
}

async function makeDirectory(path: string): Promise<void> {
  if ((await statsOf(path)) === null) await mkdir(bytesOf(path), 0o700);
}

/** What an earlier attempt has copied, and is gone from the source since. */
async function removeOthers(source: string, target: string, path: string): Promise<void> {
  const wanted = new Set(await namesIn(source, path));
  for (const name of await namesIn(target, path))
    if (!wanted.has(name)) await rm(bytesOf(under(under(target, path), name)), { recursive: true });
}

async function linkTo(first: string, path: string): Promise<void> {
  const [there, wanted] = [await statsOf(path), await statsOf(first)];
  if (there !== null && there.ino === wanted?.ino && there.dev === wanted.dev) return;
  if (there !== null) await rm(bytesOf(path), { recursive: true });
  await link(bytesOf(first), bytesOf(path));
}

async function copyFile(
  from: string,
  to: string,
  stats: Stats,
  { progress, which }: { progress: Progress; which: 'incomplete' | 'all' },
): Promise<void> {
  const found = await statsOf(to);
  // One of several names of a file of an earlier attempt may be another file's by now.
  if (found !== null && found.nlink > 1) await rm(bytesOf(to));
  if (which === 'incomplete' && found !== null && isComplete(found, stats)) {
    await keep(to, stats);
    progress.copied({ files: 1, bytes: stats.size });
    return;
  }
  const source = await open(bytesOf(from), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const target = await open(bytesOf(to), constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      await target.truncate(stats.size);
      await copyContent(source, target, stats.size, (bytes) => progress.copied({ bytes }));
      await target.sync();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  await keep(to, stats);
  progress.copied({ files: 1 });
}

/** Its time is set last, when all of it is on the disk. */
const isComplete = (found: Stats, wanted: Stats): boolean =>
  found.nlink === 1 && wanted.nlink === 1 && found.size === wanted.size && Math.abs(found.mtimeMs - wanted.mtimeMs) < 2;

async function copyLink(from: string, to: string, stats: Stats): Promise<void> {
  const wanted = await readlink(bytesOf(from), { encoding: 'latin1' });
  const found = await statsOf(to);
  if (found !== null && (await readlink(bytesOf(to), { encoding: 'latin1' })) !== wanted) await rm(bytesOf(to));
  if (found === null || (await statsOf(to)) === null) await symlink(bytesOf(wanted), bytesOf(to));
  await keep(to, stats);
}

/** Owner, mode and times. A change of the owner takes bits of the mode away, so that comes first. */
async function keep(path: string, { uid, gid, mode, atime, mtime }: Stats): Promise<void> {
  const found = await statsOf(path);
  if (found === null) return;
  if (found.uid !== uid || found.gid !== gid) await lchown(bytesOf(path), uid, gid);
  if (found.isSymbolicLink()) return await lutimes(bytesOf(path), atime, mtime);
  await chmod(bytesOf(path), mode & 0o7777);
  await utimes(bytesOf(path), atime, mtime);
}

/** Node.js has no calls for them. */
async function copyAttributes(source: string, target: string, { remark }: Progress): Promise<void> {
  const from = `${readable(source)}/.`;
  try {
    await promisify(execFile)('cp', ['--archive', '--attributes-only', '--', from, readable(target)]);
  } catch (error) {
    const { message } = error as Error;
    remark(`Access control lists and extended attributes may be missing: ${message.replaceAll('\n', ' ').trim()}`);
  }
}

/** Names are on the disk too. */
async function sync(directory: string): Promise<void> {
  const opened = await open(bytesOf(directory), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

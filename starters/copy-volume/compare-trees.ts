import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readlink } from 'node:fs/promises';

import { digestContent } from './copy-content.ts';
import { bytesOf, readable, under } from './paths.ts';
import { type Entry, namesIn, statsOf, typeOf, walk } from './walk.ts';

/** More are not named. */
const mostNamed = 20;

/** Compares all that is there, byte by byte. @returns the digest of the source, and what is not as in it */
export async function compareTrees(source: string, target: string): Promise<{ digest: string; differing: string[] }> {
  const all = createHash('sha256');
  const differing: string[] = [];
  const links = new Map<string, string>();
  for await (const { path, stats } of walk(source)) {
    const wanted = await digestEntry(source, { path, stats });
    all.update(bytesOf(`${path}\0${wanted}\n`));
    const found = await statsOf(under(target, path));
    const isSame = found !== null && wanted === (await digestEntry(target, { path, stats: found }));
    const hasLink = found !== null && (stats.nlink === 1 || stats.isDirectory() || isLinked(links, stats, found));
    const more = found?.isDirectory() === true && stats.isDirectory() ? await besides(source, target, path) : [];
    if (!isSame || !hasLink) more.push(path);
    for (const one of more) if (differing.length < mostNamed) differing.push(readable(one === '' ? '/' : one));
  }
  return { digest: all.digest('hex'), differing };
}

/** Names of one file are names of one file. */
function isLinked(known: Map<string, string>, source: Entry['stats'], target: Entry['stats']): boolean {
  const [of, as] = [source, target].map(({ dev, ino }) => `${String(dev)}:${String(ino)}`) as [string, string];
  const before = known.get(of);
  if (before === undefined) known.set(of, as);
  return before === undefined || before === as;
}

async function besides(source: string, target: string, path: string): Promise<string[]> {
  const wanted = new Set(await namesIn(source, path));
  return (await namesIn(target, path))
    .filter((name) => !wanted.has(name))
    .map((name) => (path === '' ? name : under(path, name)));
}

/** Of what there is and whose it is; times are left out, as the file system may keep them less exactly. */
async function digestEntry(top: string, { path, stats }: Entry): Promise<string> {
  const type = typeOf(stats);
  const { uid, gid, size, rdev } = stats;
  const hash = createHash('sha256').update(
    `${type} ${(stats.mode & 0o177777).toString(8)} ${String(uid)} ${String(gid)}`,
  );
  if (type === 'file') await digestFile(under(top, path), size, hash.update(` ${String(size)} `));
  if (type === 'link') hash.update(bytesOf(await readlink(bytesOf(under(top, path)), { encoding: 'latin1' })));
  if (type === 'other') hash.update(String(rdev));
  return hash.digest('hex');
}

async function digestFile(path: string, sizeBytes: number, hash: Hash): Promise<void> {
  const file = await open(bytesOf(path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await digestContent(file, sizeBytes, hash);
  } finally {
    await file.close();
  }
}

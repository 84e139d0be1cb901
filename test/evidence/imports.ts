import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Which files a file leads to: what it imports when it runs, and what it names beside itself (`new URL(…,
 * import.meta.url)`). Types are not followed, and neither is what a program reads or starts by a path of its own.
 */

const statements: readonly RegExp[] = [
  /^import\s(?!type\s)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/gmu,
  /^export\s(?!type\s)(?:\*|\{)[^'";]*?\sfrom\s+'(\.[^']+)'/gmu,
  /\bimport\(\s*'(\.[^']+)'\s*\)/gu,
  /\bnew URL\(\s*'([^':]+)',\s*import\.meta\.url\s*\)/gu,
];

/** As they are written in it, relative to it. Pure. */
export const namedIn = (source: string): string[] => [
  ...new Set(statements.flatMap((statement) => [...source.matchAll(statement)].map(([, path = '']) => path))),
];

export interface Graph {
  /** Paths below the checkout that a file names; those that are no files are left out. */
  importsOf: (path: string) => readonly string[];
}

/** The roots and whatever they lead to, but for what only files lead to that are not followed. Pure. */
export function reach(roots: readonly string[], { importsOf }: Graph, isFollowed: (path: string) => boolean): string[] {
  const reached = new Set(roots);
  // A set is iterated over what is added meanwhile, too.
  for (const path of reached) if (isFollowed(path)) for (const next of importsOf(path)) reached.add(next);
  return [...reached];
}

const isSource = (path: string): boolean => /\.(?:ts|mjs|cjs)$/u.test(path);

/** Of the files on disk. What has been read is read again when it has changed. */
export function openGraph(checkout: string): Graph {
  const known = new Map<string, { mtimeMs: number; size: number; imports: readonly string[] }>();
  const isFile = (path: string): boolean => existsSync(join(checkout, path)) && statSync(join(checkout, path)).isFile();
  return {
    importsOf(path) {
      if (!isSource(path) || !isFile(path)) return [];
      const { mtimeMs, size } = statSync(join(checkout, path));
      const before = known.get(path);
      if (before?.mtimeMs === mtimeMs && before.size === size) return before.imports;
      const imports = namedIn(readFileSync(join(checkout, path), 'utf8'))
        .map((name) => posix.join(posix.dirname(path), name))
        .filter(isFile);
      known.set(path, { mtimeMs, size, imports });
      return imports;
    },
  };
}

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildProgram, type GoProgram } from './go.ts';
import { LabError } from './lab-error.ts';
import type { LabContext } from './part.ts';

const VERSION_TIMEOUT_MS = 20_000;

/** How to ask a program for its version. */
export interface VersionCheck {
  readonly args: readonly string[];
  /** Its first group is the version in the program's output. */
  readonly pattern: RegExp;
  /** What the lab is tried with; any patch of this minor is suitable: `'1.36'`. */
  readonly minor: string;
}

/** One or more programs that are used together, and the one Go program that can stand for all of them. */
export interface ProgramSet<Name extends string> {
  /** The environment variable that names the Go program's path, e.g. `DROVER_TEMPORAL`. */
  readonly variable: string;
  readonly programs: Readonly<Record<Name, VersionCheck>>;
  readonly build: GoProgram;
}

export interface FoundPrograms<Name extends string> {
  /** Several names may share one path: a program that is what it is called. */
  readonly paths: Readonly<Record<Name, string>>;
  readonly source: 'environment' | 'PATH' | 'cache';
}

/** Whether what a program printed is a suitable version. */
export function isSuitable(output: string, check: Pick<VersionCheck, 'pattern' | 'minor'>): boolean {
  return check.pattern.exec(output)?.[1]?.startsWith(`${check.minor}.`) ?? false;
}

/**
 * Finds the programs: environment variable, then PATH at a suitable version (all of the set or none), then the cache,
 * which is filled by `go build` where need be.
 */
export async function findPrograms<Name extends string>(
  context: LabContext,
  set: ProgramSet<Name>,
): Promise<FoundPrograms<Name>> {
  const names = Object.keys(set.programs) as Name[];
  const all = (path: string) => Object.fromEntries(names.map((name) => [name, path])) as Record<Name, string>;

  const named = process.env[set.variable];
  if (named !== undefined && named !== '') {
    if (!isExecutable(named))
      throw new LabError(`${set.variable} is ${named}, which is no program; correct or unset it.`);
    return { paths: all(named), source: 'environment' };
  }
  const onPath = await findOnPath(context, set, names);
  if (onPath !== undefined) return { paths: onPath, source: 'PATH' };
  return { paths: all(await buildProgram(context, set.build)), source: 'cache' };
}

async function findOnPath<Name extends string>(
  context: LabContext,
  set: ProgramSet<Name>,
  names: readonly Name[],
): Promise<Record<Name, string> | undefined> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const check = set.programs[name];
    const path = searchPath(name, context.binDir);
    if (path === undefined) return undefined;
    const output = await context
      .exec({ command: path, args: check.args, timeoutMs: VERSION_TIMEOUT_MS })
      .catch(() => '');
    if (!isSuitable(output, check)) return undefined;
    found[name] = realpathSync(path);
  }
  return found as Record<Name, string>;
}

/**
 * The first executable of that name on PATH; the lab's own bin directory does not count, what is there comes from here.
 */
function searchPath(name: string, binDir: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && folder !== binDir)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

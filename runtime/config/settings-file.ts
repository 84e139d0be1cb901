import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';

import { droverFailure } from '../failure.ts';

/** Where settings are read from besides the environment; tests give their own. */
export interface SearchOptions {
  cwd?: string;
  home?: string;
  /** Default: `/etc`. */
  siteDir?: string;
}

/** The first file that exists of `<dir>/<name>`, in the order that a person expects: here, theirs, the machine's. */
export function findSettingsFile(
  application: 'openstack' | 'drover',
  names: string[],
  options: SearchOptions,
): string | null {
  const { cwd = process.cwd(), home = homedir(), siteDir = '/etc' } = options;
  const dirs = [cwd, join(home, '.config', application), join(siteDir, application)];
  return dirs.flatMap((dir) => names.map((name) => join(dir, name))).find((file) => existsSync(file)) ?? null;
}

/** `~` at the start of a path that a user wrote into a settings file. */
export const expandHome = (path: string, options: SearchOptions): string =>
  path === '~' || path.startsWith('~/') ? join(options.home ?? homedir(), path.slice(1)) : path;

/** @throws InvalidConfiguration naming the file */
export function readSettingsText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw droverFailure(
      'InvalidConfiguration',
      `${what} ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** @param where which setting names the file @throws InvalidConfiguration */
export function readCertificates(file: string, where: string): string {
  const pem = readSettingsText(file, 'CA bundle');
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw droverFailure('InvalidConfiguration', `CA bundle ${file} holds no PEM certificate: correct ${where}.`);
  return pem;
}

/**
 * Reads a YAML file as plain data; null where it is empty.
 * @throws InvalidConfiguration naming the file and the line, never the line's text: it may be a secret
 */
export function readYaml(file: string): unknown {
  const lineCounter = new LineCounter();
  // Pretty errors quote the text, and each of them goes over the whole line anew.
  const document = parseDocument(readSettingsText(file, 'Settings file'), {
    uniqueKeys: true,
    prettyErrors: false,
    lineCounter,
  });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw droverFailure(
      'InvalidConfiguration',
      `${file} is no valid YAML: ${error.message} at line ${line}, column ${col}`,
    );
  }
  try {
    return document.toJS();
  } catch {
    // The parser names the alias, and a password that begins with * looks like one.
    throw droverFailure(
      'InvalidConfiguration',
      `${file} is no valid YAML: an alias (*name) has no anchor (&name), or there are far too many. Quote a text that begins with *.`,
    );
  }
}

/**
 * Checks plain data against its schema.
 * @param where what the path of a field is relative to: the file
 * @throws InvalidConfiguration naming the file, each wrong field and what it should be
 */
export function checkSettings<Settings>(
  schema: z.ZodType<Settings>,
  data: unknown,
  where: string,
  hint: (issue: z.core.$ZodIssue) => string = () => '',
): Settings {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw droverFailure(
    'InvalidConfiguration',
    `${where}: ${parsed.error.issues.map((issue) => `${problem(issue)}${hint(issue)}`).join('; ')}.`,
  );
}

function problem(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return `unknown field ${issue.keys.map((key) => [...path, key].join('.')).join(', ')}`;
  return `${path.join('.') || 'the whole'}: ${issue.message}`;
}

import { existsSync } from 'node:fs';

import type { z } from 'zod';

import { type Kind, kinds } from '../../contracts/kinds/table.ts';
import { configSchema, type Config } from './config-schema.ts';
import { droverFailure } from '../failure.ts';
import { checkSettings, expandHome, findSettingsFile, readYaml, type SearchOptions } from './settings-file.ts';
import { nearest } from './suggestion.ts';

export interface LoadedConfig {
  config: Config;
  /** Null where there is none, so that everything is at its default. */
  file: string | null;
}

/** The variable that overrides the mode of a kind: `DROVER_MODE_VIRTUAL_MACHINE`. */
export const modeVariable = (kind: Kind): string =>
  `DROVER_MODE_${kind.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, '_').toUpperCase()}`;

/**
 * The variables that override the file, for what differs between two processes of one installation. Empty ones count as
 * not set.
 */
export const configVariables: Readonly<Record<string, readonly string[]>> = {
  DROVER_CLUSTER: ['cluster'],
  ...Object.fromEntries(kinds.map((kind) => [modeVariable(kind), ['modes', kind]])),
  DROVER_AUDIT_FILE: ['audit', 'file'],
  DROVER_PAYLOAD_KEYS: ['temporal', 'payloadKeys'],
  DROVER_LOG_LEVEL: ['logLevel'],
};

type Environment = Record<string, string | undefined>;

/**
 * Reads drover's settings: the file of `DROVER_CONFIG`, else the first of ./drover.yaml, ~/.config/drover/drover.yaml
 * and /etc/drover/drover.yaml, else defaults; then the variables of {@link configVariables}. drover.example.yaml
 * documents every field.
 *
 * @throws InvalidConfiguration naming the file, or the variable, and each wrong field
 */
export function loadConfig(env: Environment = process.env, options: SearchOptions = {}): LoadedConfig {
  const file = env['DROVER_CONFIG'] || findSettingsFile('drover', ['drover.yaml', 'drover.yml'], options);
  if (file && !existsSync(file))
    throw droverFailure('InvalidConfiguration', `DROVER_CONFIG names ${file}, which does not exist.`);
  return { config: parseConfig(file ? readYaml(file) : null, env, options, file || undefined), file: file || null };
}

/**
 * Checks settings as they were written, with the variables laid over them.
 *
 * @param where what the written fields are relative to: the file
 * @throws InvalidConfiguration as {@link loadConfig} does
 */
export function parseConfig(
  written: unknown,
  env: Environment,
  options: SearchOptions,
  where = 'drover’s settings',
): Config {
  const overrides = Object.entries(configVariables).flatMap(([variable, path]) =>
    env[variable] ? [{ variable, path, value: env[variable] }] : [],
  );
  let data: unknown = written ?? {};
  for (const { path, value } of overrides) data = withValue(data, path, value);
  const config = checkSettings(configSchema, data, where, (issue) => hint(issue, overrides));
  return withFullPaths(config, options);
}

/** A copy with the value at the path; what stands in the way of the path is left for the check to refuse. */
function withValue(data: unknown, [field, ...rest]: readonly string[], value: string): unknown {
  if (field === undefined) return value;
  if (data !== undefined && data !== null && (typeof data !== 'object' || Array.isArray(data))) return data;
  const object = (data ?? {}) as Record<string, unknown>;
  return { ...object, [field]: withValue(object[field], rest, value) };
}

function hint(issue: z.core.$ZodIssue, overrides: { variable: string; path: readonly string[] }[]): string {
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, mostSuggestions)
      .map((key) => suggest(key, issue.path))
      .join('');
  const override = overrides.find(({ path }) => path.join('.') === issue.path.join('.'));
  return override === undefined ? '' : ` (from ${override.variable})`;
}

/** A file with more unknown fields than that is not a settings file of drover. */
const mostSuggestions = 5;

/** The default settings have every field that exists, but for those of sections that are left out. */
function suggest(key: string, path: PropertyKey[]): string {
  let place: unknown = configSchema.parse({});
  for (const step of path) place = (place as Record<PropertyKey, unknown> | null | undefined)?.[step];
  const candidate = nearest(key, Object.keys(place ?? {}));
  return candidate === null ? '' : ` (did you mean ${[...path.map(String), candidate].join('.')}?)`;
}

function withFullPaths(config: Config, options: SearchOptions): Config {
  const full = (path: string | null): string | null => (path === null ? null : expandHome(path, options));
  const { kubernetes, machines, agentPools, temporal, audit } = config;
  return {
    ...config,
    kubernetes: { ...kubernetes, kubeconfig: full(kubernetes.kubeconfig) },
    machines: { ...machines, targetKubeconfig: full(machines.targetKubeconfig) },
    agentPools: {
      ...agentPools,
      iso: {
        ...agentPools.iso,
        caFile: full(agentPools.iso.caFile),
        directory: full(agentPools.iso.directory),
      },
    },
    temporal: { ...temporal, payloadKeys: full(temporal.payloadKeys) },
    audit: { ...audit, file: full(audit.file) },
  };
}

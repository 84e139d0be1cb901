import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { rulesFile } from '../metric-names.ts';
import { until } from './until.ts';

export const hasPrometheus = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);

export interface Alert {
  state: 'pending' | 'firing';
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** A real Prometheus with drover's alert rules. */
export interface Prometheus {
  /** Values of an instant query, by their labels. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>;
  alerts(): Promise<Alert[]>;
  /** Of every rule: `ok`, or what is wrong with it. */
  ruleHealth(): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

/** The same rules in a hurry: every minute is a second. */
export const hurried = (rules: string): string =>
  rules.replaceAll(/:30s\]/gu, ':1s]').replaceAll(/(?<=\[|offset |for: )(?<minutes>\d+)m\b/gu, '$<minutes>s');

/** @param targets host:port of the pages, by job */
export async function startPrometheus(
  dir: string,
  port: number,
  targets: Readonly<Record<string, string>>,
): Promise<Prometheus> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const rules = join(dir, 'rules.yaml');
  writeFileSync(rules, hurried(readFileSync(rulesFile, 'utf8')));
  const config = join(dir, 'prometheus.yaml');
  const jobs = Object.entries(targets).map(([job_name, target]) => ({
    job_name,
    static_configs: [{ targets: [target] }],
  }));
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: jobs,
    }),
  );
  const log = createWriteStream(join(dir, 'prometheus.log'));
  await once(log, 'open');
  const process = spawn(
    'prometheus',
    [`--config.file=${config}`, `--storage.tsdb.path=${join(dir, 'data')}`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: ['ignore', log, log] },
  );
  const exited = once(process, 'exit');

  const get = async <Data>(path: string): Promise<Data> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
    const { data, error } = (await answer.json()) as { data: Data; error?: string };
    if (error !== undefined) throw new Error(error);
    return data;
  };
  const stop = async (): Promise<void> => {
    process.kill('SIGTERM');
    await exited;
    log.end();
  };
  await until(
    'Prometheus to be ready',
    30_000,
    async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok || 'not yet',
  ).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    stop,
    async query(expression) {
      const { result } = await get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        `/api/v1/query?query=${encodeURIComponent(expression)}`,
      );
      return result.map(({ metric: labels, value: [, value] }) => ({ labels, value: Number(value) }));
    },
    alerts: async () => (await get<{ alerts: Alert[] }>('/api/v1/alerts')).alerts,
    async ruleHealth() {
      const { groups } = await get<{ groups: { rules: { name: string; health: string; lastError?: string }[] }[] }>(
        '/api/v1/rules',
      );
      return Object.fromEntries(
        groups.flatMap((group) => group.rules).map(({ name, health, lastError }) => [name, lastError || health]),
      );
    },
  };
}

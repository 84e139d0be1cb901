import { type Kind, kinds } from '../../contracts/kinds/table.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { DroverLab } from '../../lab/drover.ts';
import { readFileIfThere } from '../../lab/private-files.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { parseConfig } from '../../runtime/config/config.ts';
import type { World } from '../flows/world.ts';
import type { AuditLine, Snapshot } from './snapshot.ts';

/** What drover's processes have left in their directory, and show. */
export interface ObservedDrover {
  dir: string;
  drover: Pick<World['drover'], 'worker' | 'bridge' | 'metricsUrls'>;
}

export const readAudit = (dir: string): AuditLine[] =>
  (readFileIfThere(join(dir, 'audit.jsonl')) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);

/** By its settings. Without a bridge, or with a process taken away, no change is reported. */
export function readModes({ dir, drover }: ObservedDrover, metrics: Snapshot['texts']): Snapshot['modes'] {
  if (drover.bridge === null || metrics.some(({ text }) => text === '')) return {};
  const { modes = {} } = parse(readFileSync(join(dir, 'drover.yaml'), 'utf8')) as {
    modes?: Partial<Record<Kind, 'off' | 'observe' | 'act'>>;
  };
  const found: Partial<Record<Kind, 'observe' | 'act'>> = {};
  for (const kind of kinds) {
    const mode = modes[kind] ?? (kind === 'Eviction' ? 'act' : 'off');
    if (mode !== 'off') found[kind] = mode;
  }
  return found;
}

const readConfig = ({ dir }: Pick<ObservedDrover, 'dir'>): Config =>
  parseConfig(parse(readFileSync(join(dir, 'drover.yaml'), 'utf8')), {}, {});

/** By its settings. */
export const readLimit = (drover: Pick<ObservedDrover, 'dir'>): number => readConfig(drover).limits.migrationsPerRegion;

/** By its settings. */
export const readSweepGates = (drover: Pick<ObservedDrover, 'dir'>): Snapshot['sweepGates'] =>
  readConfig(drover).machines.sweep;

/** What drover's processes wrote, and the arguments they were started with, which every local user can read. */
export function readLogs({ dir, drover }: ObservedDrover): Snapshot['texts'] {
  const files = ['log/worker.log', 'log/worker.log.1', 'log/bridge.log', 'log/bridge.log.1', 'audit.jsonl'];
  const processes = [drover.worker, drover.bridge].filter((record) => record !== null);
  return [
    ...files.map((file) => ({ where: file, text: readFileIfThere(join(dir, file)) ?? '' })),
    ...processes.map(({ name, pid }) => ({
      where: `the arguments of ${name}`,
      text: readFileIfThere(`/proc/${pid}/cmdline`) ?? '',
    })),
  ];
}

/** What they show to Prometheus; a process that a test has taken away shows nothing. */
export const readMetrics = ({ drover: { metricsUrls, bridge } }: ObservedDrover): Promise<Snapshot['texts']> =>
  Promise.all(
    Object.entries(metricsUrls)
      .filter(([name]) => name !== 'bridge' || bridge !== null)
      .map(async ([name, url]) => ({
        where: `the metrics of ${name}`,
        text: await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
          (answer) => answer.text(),
          () => '',
        ),
      })),
  );

/** The lab's own: every password and token that drover or another user of the lab has. */
export function readSecrets({ openstack, kubernetes, vsphere }: DroverLab['handles']): Snapshot['secrets'] {
  const fileOf = (file: string): string => readFileSync(file, 'utf8').trim();
  return [
    ...(openstack === undefined ? [] : secretsOfOpenStack(openstack.dir)),
    ...(vsphere === undefined ? [] : [{ name: 'drover’s password at vCenter', value: fileOf(vsphere.passwordFile) }]),
    { name: 'the administrator’s token of Kubernetes', value: fileOf(kubernetes.tokenFile) },
  ];
}

function secretsOfOpenStack(dir: string): Snapshot['secrets'] {
  const { secrets } = JSON.parse(readFileSync(join(dir, 'settings.json'), 'utf8')) as {
    secrets: Record<string, string>;
  };
  // An id is no secret: it names the credential.
  return Object.entries(secrets).flatMap(([name, value]) =>
    name === 'applicationCredentialId' ? [] : [{ name, value }],
  );
}

/** Those that worker and bridge were given. */
export const readAccountTokens = (dir: string): Snapshot['secrets'] =>
  ['drover-worker', 'drover-bridge'].flatMap((name) => {
    const token = /^\s*token: (\S+)$/mu.exec(readFileIfThere(join(dir, `${name}.kubeconfig`)) ?? '')?.[1];
    return token === undefined ? [] : [{ name: `the token of ${name}`, value: token }];
  });

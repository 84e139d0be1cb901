import { runningState } from '../../contracts/eviction/running-state.ts';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findCondition } from '../../contracts/conditions.ts';
import type { ErrorCode } from '../../contracts/errors.ts';
import { writePrivateFile } from '../../lab/private-files.ts';
import type { Snapshot } from '../invariants/snapshot.ts';
import { violations } from '../invariants/violations.ts';
import { readWorld } from '../read-world.ts';
import { startScriptedService, tokenReply, type Received, type Reply } from '../scripted-service.ts';
import { until } from './until.ts';
import { openWorld } from './world.ts';

/** A service that repeats what it is sent: how Keystone or Nova answers then. */
export interface Failure {
  auth: object;
  at: 'login' | 'nova';
  echo: (sent: string) => Reply;
  /** What the Eviction says then. */
  code: ErrorCode;
}

/** With what quoting, URLs and JSON treat in their own ways. */
export const canaries = {
  password: `canary "${randomUUID()}" \\ & % ü`,
  applicationSecret: `canary-${randomUUID()}/+=`,
  token: `canary-token-${randomUUID()}`,
};

export const passwordAuth = {
  username: 'drover',
  password: canaries.password,
  project_name: 'admin',
  user_domain_name: 'Default',
  project_domain_name: 'Default',
};
export const applicationAuth = {
  application_credential_id: 'an-id',
  application_credential_secret: canaries.applicationSecret,
};

/** Where a snapshot shows a secret. */
export const shownSecrets = (snapshot: Snapshot): string[] =>
  violations(snapshot).filter((violation) => violation.startsWith('invariant 10'));

/** Every output shows why it failed, and none of the secrets. */
export function expectReported(snapshot: Snapshot, { code }: Failure): void {
  const where = (isMeant: (text: string) => boolean): string[] =>
    snapshot.texts.filter(({ text }) => isMeant(text)).map((text) => text.where);
  // What is searched for secrets contains the failure.
  expect(where((text) => text.includes(code) || text.includes('redacted'))).toEqual(
    expect.arrayContaining(['log/worker.log', 'the objects']),
  );
  expect(where((text) => text.includes('# TYPE drover_'))).toEqual(['the metrics of worker', 'the metrics of bridge']);
  expect(shownSecrets(snapshot)).toEqual([]);
}

/**
 * A world with canaries in every credential, and services that repeat whatever they are sent in everything they
 * answer.
 */
export async function openCanaryWorld() {
  let failure: Failure | null = null;
  const service = await startScriptedService((request) => {
    const sent = everything(request);
    if (request.path !== '/v3/auth/tokens') return failure?.echo(sent) ?? { json: {} };
    return failure?.at === 'login' ? failure.echo(sent) : tokenReply(canaries.token, catalogOf(service.url));
  });
  const world = await openWorld();
  for (const [name, value] of Object.entries(canaries)) world.planted.push({ name: `the canary ${name}`, value });
  return {
    /** An eviction with these credentials and answers, until it says what is wrong; then every output of drover. */
    async showFailure(wanted: Failure, env: Readonly<Record<string, string>> = {}): Promise<Snapshot> {
      const host = await world.freshHost('node-1');
      await world.seedMany(host, 1);
      failure = wanted;
      const file = join(world.dir, 'canary-clouds.yaml');
      const auth = { ...wanted.auth, auth_url: `${service.url}/v3` };
      writePrivateFile(file, stringify({ clouds: { lab: { auth, region_name: 'RegionOne' } } }));
      await world.replaceDrover({ env: { OS_CLIENT_CONFIG_FILE: file, ...env } });

      // Retryable failures are tried for a while before the run reports them.
      await world.createEviction(host);
      await until('the Eviction to say what is wrong', 200_000, () => {
        const { conditions } = world.evictions.latest(host)?.status ?? {};
        const { reason = 'nothing', message = '' } = findCondition(conditions, 'Evicting') ?? {};
        const state = runningState(reason, message);
        return state === wanted.code ? true : state;
      });
      const doctor = await world.command('doctor', '--json');
      expect(doctor.code).not.toBe(0);
      await world.command('describe', host);
      return await readWorld(world, [host]);
    },
    async close(): Promise<void> {
      await world.close();
      await service.close();
    },
  };
}

/** A request as a careless server, or one that debugs, would repeat it. */
const everything = ({ method, path, headers, body }: Received): string =>
  `${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body)}`;

const catalogOf = (url: string) => ({ urls: { compute: `${url}/compute/v2.1`, placement: `${url}/placement` } });

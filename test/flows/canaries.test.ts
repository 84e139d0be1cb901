import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ErrorCode } from '../../contracts/errors.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { writePrivateFile } from '../../lab/private-files.ts';
import { readWorld } from '../read-world.ts';
import { startScriptedService, tokenReply, type Received, type Reply, type ScriptedService } from '../scripted-service.ts';
import { violations } from '../invariants/violations.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * Canaries in every credential, and services that repeat whatever they were sent in everything they answer. What drover writes of that —
 * histories, logs, statuses, events, audit, metrics, outputs, arguments — holds none of them.
 */

/** With what quoting, URLs and JSON treat in their own ways. */
const canaries = {
  password: `canary "${randomUUID()}" \\ & % ü`,
  applicationSecret: `canary-${randomUUID()}/+=`,
  token: `canary-token-${randomUUID()}`,
};

type Echo = (sent: string) => Reply;

let world: World;
let service: ScriptedService;
/** What the service does with what it is sent. */
let login: Echo | null = null;
let nova: Echo = () => ({ json: {} });

beforeAll(async () => {
  service = await startScriptedService((request) => (request.path === '/v3/auth/tokens' ? onLogin(request) : nova(everything(request))));
  world = await openWorld();
  for (const [name, value] of Object.entries(canaries)) world.planted.push({ name: `the canary ${name}`, value });
}, limitMs);
afterAll(async () => {
  await world.close();
  await service.close();
}, limitMs);

/** A request as a careless server, or one that debugs, would repeat it. */
const everything = ({ method, path, headers, body }: Received): string => `${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body)}`;

const onLogin = (request: Received): Reply => login?.(everything(request)) ?? tokenReply(canaries.token, { urls: { compute: `${service.url}/compute/v2.1`, placement: `${service.url}/placement` } });


const passwordAuth = { username: 'drover', password: canaries.password, project_name: 'admin', user_domain_name: 'Default', project_domain_name: 'Default' };
const applicationAuth = { application_credential_id: 'an-id', application_credential_secret: canaries.applicationSecret };

const failures: [what: string, auth: object, at: 'login' | 'nova', echo: Echo, code: ErrorCode][] = [
  ['a wrong password, repeated in the refusal', passwordAuth, 'login', (sent) => ({ status: 401, json: { error: { code: 401, message: `refused: ${sent}` } } }), 'CredentialRefused'],
  ['a wrong application credential, repeated in a page', applicationAuth, 'login', (sent) => ({ status: 500, text: `<html><pre>${sent}</pre></html>` }), 'KeystoneUnavailable'],
  ['a login whose answer is broken', applicationAuth, 'login', (sent) => ({ status: 201, headers: { 'x-subject-token': canaries.token }, text: `{"token": ${sent}` }), 'AnswerMalformed'],
  ['a token that Nova repeats in a refusal', passwordAuth, 'nova', (sent) => ({ status: 403, json: { forbidden: { code: 403, message: `Policy does not allow ${sent}` } } }), 'NotPermitted'],
  ['a token that Nova repeats in nonsense', applicationAuth, 'nova', (sent) => ({ status: 200, text: sent }), 'AnswerMalformed'],
];

test.each(failures)(
  '%s: everybody who can read reads why, and none of it',
  async (_, ...failure) => {
    const seen = await showFailure(...failure);
    // The searched texts are those that tell of the failure.
    const [, , , code] = failure;
    const telling = seen.texts.filter(({ text }) => text.includes(code) || text.includes('redacted')).map(({ where }) => where);
    expect(telling).toEqual(expect.arrayContaining(['log/worker.log', 'the objects']));
    const shown = seen.texts.filter(({ text }) => text.includes('# TYPE drover_')).map(({ where }) => where);
    expect(shown).toEqual(['the metrics of worker', 'the metrics of bridge']);
    expect(shownSecrets(seen)).toEqual([]);
  },
  limitMs,
);

/** Last, as what it writes stays in the lab's logs and histories. */
test(
  'without redaction the same search finds the canaries: it can fail',
  async () => {
    // One without quotes, which are written in another way at each level, and that is told at once.
    const [, ...failure] = failures.find(([, , , , code]) => code === 'NotPermitted') as (typeof failures)[number];
    const seen = await showFailure(...failure, { NODE_OPTIONS: `--import=${new URL('../without-redaction.ts', import.meta.url).href}` });
    const found = shownSecrets(seen).join('\n');
    expect(found).toContain('the canary token');
    for (const where of ['log/worker.log', 'the objects']) expect(found).toContain(where);
  },
  limitMs,
);

const shownSecrets = (seen: Parameters<typeof violations>[0]): string[] => violations(seen).filter((violation) => violation.startsWith('invariant 10'));

/** An eviction with these credentials and these answers, until it says what is wrong; then all that anybody can read. */
async function showFailure(auth: object, at: 'login' | 'nova', echo: Echo, code: ErrorCode, env: Readonly<Record<string, string>> = {}) {
  const host = await world.freshHost('node-1');
  await world.seedMany(host, 1);
  login = at === 'nova' ? null : echo;
  nova = echo;
  const file = join(world.dir, 'canary-clouds.yaml');
  writePrivateFile(file, stringify({ clouds: { lab: { auth: { ...auth, auth_url: `${service.url}/v3` }, region_name: 'RegionOne' } } }));
  await world.replaceDrover({ env: { OS_CLIENT_CONFIG_FILE: file, ...env } });

  // Retryable failures are tried for a while before the run tells of them.
  await world.createEviction(host);
  await until('the Eviction to say what is wrong', 200_000, () => {
    const reason = findCondition(world.evictions.latest(host)?.status?.conditions, 'Evicting')?.reason ?? 'nothing';
    return reason === code ? true : reason;
  });
  const doctor = await world.command('doctor', '--json');
  expect(doctor.code).not.toBe(0);
  await world.command('describe', host);
  return await readWorld(world, [host]);
}

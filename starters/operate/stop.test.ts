import { ScheduleNotFoundError } from '@temporalio/client';
import { claimScheduleId } from '../../contracts/ids.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';
import { refuseUnknown, stopRequest } from './stop.ts';

test.each<[why: string, options: Parameters<typeof stopRequest>[0], request: object]>([
  ['everything', { reason: 'fire' }, { do: 'stop', stop: { of: 'all', name: '', reason: 'fire', by: 'alice' } }],
  [
    'a kind',
    { kind: 'Eviction', reason: 'fire' },
    { do: 'stop', stop: { of: 'kind', name: 'Eviction', reason: 'fire', by: 'alice' } },
  ],
  [
    'a region',
    { region: 'eu-1', reason: 'fire' },
    { do: 'stop', stop: { of: 'region', name: 'eu-1', reason: 'fire', by: 'alice' } },
  ],
  ['lift every stop', { lift: true }, { do: 'lift', scope: 'every' }],
  ['lift one', { lift: true, cluster: 'c' }, { do: 'lift', scope: { of: 'cluster', name: 'c' } }],
  ['show', { show: true }, { do: 'show' }],
])('%s', (_why, options, request) => {
  expect(stopRequest(options, 'alice')).toEqual(request);
});

test.each<[why: string, options: Parameters<typeof stopRequest>[0], words: RegExp]>([
  ['no reason', {}, /needs a reason/],
  ['two parts at once', { kind: 'Eviction', region: 'eu-1', reason: 'fire' }, /of their own/],
])('%s is refused', (_why, options, words) => {
  expect(() => stopRequest(options, 'alice')).toThrow(CommandError);
  expect(() => stopRequest(options, 'alice')).toThrow(words);
});

const held = { clusters: ['', 'blue', 'green'], regions: ['eu-1', 'eu-2'] };

test.each<[why: string, scope: Parameters<typeof refuseUnknown>[0], names: typeof held]>([
  ['everything', { of: 'all', name: '' }, { clusters: [], regions: [] }],
  ['a kind', { of: 'kind', name: 'Eviction' }, { clusters: [], regions: [] }],
  ['a cluster', { of: 'cluster', name: 'blue' }, held],
  ['a region', { of: 'region', name: 'eu-2' }, held],
])('%s can be stopped', (_why, scope, names) => {
  expect(() => refuseUnknown(scope, names)).not.toThrow();
});

test.each<[why: string, scope: Parameters<typeof refuseUnknown>[0], names: typeof held, advice: string]>([
  ['mistyped', { of: 'cluster', name: 'bleu' }, held, 'Did you mean blue? Those there are: blue, green.'],
  [
    'a region with other capitals',
    { of: 'region', name: 'EU-1' },
    held,
    'Did you mean eu-1? Those there are: eu-1, eu-2.',
  ],
  ['not near any', { of: 'region', name: 'somewhere' }, held, 'Those there are: eu-1, eu-2.'],
  [
    'another Kubernetes cluster’s',
    { of: 'cluster', name: 'green' },
    { clusters: ['blue'], regions: [] },
    'Those there are: blue.',
  ],
  [
    'named where none has a name',
    { of: 'cluster', name: 'blue' },
    { clusters: [''], regions: [] },
    'There is none that has a name; `drover stop` without --cluster stops everything.',
  ],
  [
    'a region where none is known',
    { of: 'region', name: 'eu-1' },
    { clusters: [''], regions: [] },
    'There is none that has a name; `drover stop` without --region stops everything.',
  ],
])('what is %s is refused', (_why, scope, names, advice) => {
  let refusal: unknown = null;
  try {
    refuseUnknown(scope, names);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toMatchObject({
    exitCode: exitCodes.notFound,
    message: `This Kubernetes cluster has no workers of the ${scope.of} ${scope.name}. Nothing was stopped.`,
    advice,
  });
});

/** @param temporal what opening Temporal comes to: the names with the region of each, or a failure */
async function stop(args: string[], temporal: Record<string, string> | Error) {
  const terminal = paper();
  const written: unknown[] = [];
  const kubernetes = {
    server: 'https://kubernetes',
    request: ({ method, path, body }: KubernetesRequest) => {
      if (method === 'GET' && path === '/api/v1/namespaces/kube-system')
        return Promise.resolve({ metadata: { uid: 'uid-1' } });
      written.push(body);
      return Promise.resolve({});
    },
    close: () => Promise.resolve(),
  } as unknown as Kubernetes;
  const describe = (id: string) => {
    const { cluster = '', claimed } =
      /^(?:(?<cluster>.+)\/)?claim\/(?<claimed>cluster|region)$/u.exec(id)?.groups ?? {};
    const region = temporal instanceof Error ? undefined : temporal[cluster];
    if (region === undefined) return Promise.reject(new ScheduleNotFoundError('none', id));
    return Promise.resolve({ action: { workflowId: `held-by/${claimed === 'cluster' ? 'uid-1' : region}` } });
  };
  const { client } = temporalAccessTo({
    connection: { close: () => Promise.resolve() },
    schedule: {
      list: () => Object.keys(temporal).map((cluster) => ({ scheduleId: claimScheduleId('cluster', cluster) })),
      getHandle: (id: string) => ({ describe: () => describe(id) }),
    },
  });
  const code = await main(['stop', '--reason', 'fire', ...args], {
    ...sampleContext(terminal),
    openKubernetes: () => Promise.resolve(kubernetes),
    openTemporal: () =>
      temporal instanceof Error
        ? Promise.reject(temporal)
        : Promise.resolve({ client, address: 'a:1', namespace: 'n' }),
  });
  return { code, written, stderr: terminal.stderr };
}

test('a region that no worker has is not stopped', async () => {
  const { code, written, stderr } = await stop(['--region', 'eu-11'], { '': 'eu-1' });
  expect({ code, written }).toEqual({ code: exitCodes.notFound, written: [] });
  expect(stderr).toMatch(/no workers of the region eu-11\. Nothing was stopped\.\n.*Did you mean eu-1\?/su);
});

test('a region and a cluster that there are, are stopped', async () => {
  for (const args of [
    ['--region', 'eu-2'],
    ['--cluster', 'blue'],
  ])
    expect(await stop(args, { '': 'eu-1', blue: 'eu-2' })).toMatchObject({
      code: exitCodes.ok,
      written: [{ data: { [`${args[0]?.slice(2) ?? ''}.${args[1] ?? ''}`]: expect.any(String) as string } }],
    });
});

test('where a name tells no clusters apart, it says which one it has stopped', async () => {
  const which = 'It holds the drover of the Kubernetes cluster at https://kubernetes, and no other.\n';
  expect((await stop([], {})).stderr).toContain(which);
  expect((await stop(['--kind', 'Eviction'], {})).stderr).toContain(which);
  expect((await stop(['--region', 'eu-1'], { '': 'eu-1' })).stderr).not.toContain(which);
});

test('without Temporal it stops all the same, and says so', async () => {
  const away = droverFailure('TemporalUnavailable', 'Temporal at a:1 cannot be reached');
  const { code, written, stderr } = await stop(['--region', 'eu-1'], away);
  expect({ code, written: written.length }).toEqual({ code: exitCodes.ok, written: 1 });
  expect(stderr).toMatch(/^Not checked whether there is a region eu-1 to stop: Temporal at a:1 cannot be reached/u);
  // Nothing else needs Temporal.
  expect((await stop([], away)).stderr).not.toMatch(/Not checked/u);
});

test('a lift says what is in force still', async () => {
  const data: Record<string, string> = Object.fromEntries(
    // Of the kinds, one that this drover does not know.
    ['all', 'kind.Fleet', 'region.eu-1'].map((key) => [
      key,
      JSON.stringify({ by: 'jane', reason: 'fire', at: '2026-01-31T12:00:00Z' }),
    ]),
  );
  const kubernetes = {
    request: async ({ method, body }: KubernetesRequest) => {
      if (method === 'PATCH')
        for (const key of Object.keys((body as { data: Record<string, null> }).data)) delete data[key];
      return { metadata: { name: 'drover-stop' }, data };
    },
    close: async () => undefined,
  } as unknown as Kubernetes;
  const lift = async (...args: string[]) => {
    const terminal = paper();
    const context = { ...sampleContext(terminal), openKubernetes: async () => kubernetes };
    const code = await main(['stop', '--lift', ...args], context);
    return [code, terminal.stdout, terminal.stderr];
  };
  const still = 'Still in force: Everything was stopped by jane at 2026-01-31T12:00:00Z: fire\n';
  const others = ['kind.Fleet', 'region.eu-1'].map((key) => {
    const [of, name] = key.split('.');
    return `Still in force: ${of} ${name} was stopped by jane at 2026-01-31T12:00:00Z: fire\n`;
  });
  const none = 'drover: There is no stop of the region eu-2. Nothing was lifted.\n';
  expect(await lift('--region', 'eu-2')).toEqual([
    exitCodes.notFound,
    '',
    `${still}${others.join('')}${none}        \`drover stop --show\` lists what is stopped.\n`,
  ]);
  expect(await lift('--region', 'eu-1', '--json')).toEqual([
    exitCodes.ok,
    expect.stringMatching(/"name": "eu-1"/u),
    `${still}${others[0]}`,
  ]);
  expect(await lift()).toEqual([
    exitCodes.ok,
    expect.stringMatching(/^Lifted: Everything was stopped.*\nLifted: kind Fleet was stopped/u),
    '',
  ]);
  expect(await lift()).toEqual([exitCodes.ok, 'Nothing was stopped.\n', '']);
});

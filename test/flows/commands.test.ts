import type { EvictionDescription } from '../../starters/eviction/eviction-description.ts';
import type { ListedEviction } from '../../starters/eviction/ls.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/** `drover` through whole evictions, as a user types it. What its process does: cli. */

let world: World;

beforeAll(async () => {
  const { eviction } = quickSettings;
  // Each command takes a second or two on a lab, and what moves must still move when it has read it.
  const stuck = { ...eviction.stuck, noProgressMs: 240_000, floorMs: 240_000 };
  world = await openWorld({ settings: { ...quickSettings, eviction: { ...eviction, stuck } } });
}, limitMs);
afterAll(() => world.close(), limitMs);

/** Runs the command and expects its exit code; what it printed is in the failure. */
async function drover(exitCode: number, ...args: string[]): Promise<CommandEnd> {
  const end = await world.command(...args);
  if (end.code !== exitCode)
    throw new Error(
      `drover ${args.join(' ')} exited ${String(end.code)}, not ${String(exitCode)}\n${end.stdout}${end.stderr}`,
    );
  return end;
}
const json = async <Shape>(...args: string[]): Promise<Shape> =>
  JSON.parse((await drover(exitCodes.ok, ...args, '--json')).stdout) as Shape;
const listed = async (host: string): Promise<ListedEviction | undefined> =>
  (await json<ListedEviction[]>('ls')).find((eviction) => eviction.host === host);

/** Moves that last until the test has said everything it wants to say. */
const slow = { migrate: 'slow' as const, seconds: 60 };

/** Refusals that depend on the systems; bad usage is in starters/main.test.ts. */
const refused = (host: string): [exitCode: number, message: RegExp, args: string[]][] => [
  [exitCodes.notFound, /no Hypervisor node-11.*Did you mean node-1\?/su, ['evict', 'node-11', '--reason', 'x']],
  [exitCodes.refused, /Fence it/u, ['evict', host, '--reason', 'x', '--cause', 'node-failure']],
  [exitCodes.notFound, /No eviction of node-1 is running/u, ['pause', host]],
  [exitCodes.notFound, /No eviction of node-1 is running/u, ['cancel', host]],
  [exitCodes.notFound, /no Eviction of node-1/u, ['retry', host]],
  [exitCodes.notFound, /Nothing is known of a host elsewhere/u, ['describe', 'elsewhere']],
];

test.concurrent(
  'an eviction from its start to its end',
  async () => {
    const host = await world.freshHost('node-1');
    await Promise.all(
      refused(host).map(async ([exitCode, message, args]) =>
        expect((await drover(exitCode, ...args)).stderr).toMatch(message),
      ),
    );
    expect(await world.getEviction(host)).toBeNull();
    const servers = await world.seedMany(host, 3);
    const { stdout } = await drover(
      exitCodes.ok,
      'evict',
      host,
      '--reason',
      'broken DIMM',
      '--parallelism',
      '3',
      '--re-enable',
      '--wait',
    );
    expect(stdout).toMatch(/^Eviction node-1 made; run eviction\/node-1 started\.$/mu);
    expect(stdout).toMatch(/^Succeeded: 3 of 3 servers have left node-1$/mu);

    const eviction = await world.getEviction(host);
    expect(eviction?.spec).toEqual({ hypervisor: host, reason: 'broken DIMM' });
    expect(eviction?.metadata.annotations).toMatchObject({
      'drover.dev/started-by': 'flow-test',
      'drover.dev/parallelism': '3',
      'drover.dev/re-enable': 'true',
    });
    expect((await world.service(host)).status).toBe('enabled');
    expect(await listed(host)).toMatchObject({
      state: 'ended',
      phase: 'Succeeded',
      startedBy: 'flow-test',
      eviction: host,
    });

    const described = await json<EvictionDescription>('describe', host);
    expect(described).toMatchObject({ ending: { outcome: 'Succeeded' }, problems: [], stops: [] });
    expect(new Map(described.migrations.map(({ id, type }) => [id, type]))).toEqual(
      new Map(servers.map(({ id }) => [id, 'completed'])),
    );
    expect((await drover(exitCodes.ok, 'describe', host)).stdout).toMatch(/^node-1: Succeeded .* ago$/mu);
    // What has ended is shown, but servers may be on the host again.
    const late = await drover(exitCodes.notFound, 'watch', host);
    expect(late.stdout).toMatch(/Succeeded: 3 of 3/u);
    expect(late.stderr).toMatch(/Nothing runs: the last eviction of node-1 ended .* ago/u);

    // The name is taken by the eviction that documents itself; the next one gets another.
    const again = await drover(exitCodes.ok, 'evict', host, '--reason', 'once more', '--re-enable');
    expect(again.stdout).toMatch(/^Eviction node-1-\d{14} made/mu);
    await world.untilClosed(host);
  },
  limitMs,
);

test.concurrent(
  'a running eviction is steered, and says so everywhere',
  async () => {
    const host = await world.freshHost('node-2', slow);
    await world.seedMany(host, 3, { seconds: 60 });
    await drover(exitCodes.ok, 'evict', host, '--reason', 'firmware', '--deadline', '4h');
    await world.untilMoving(host);

    expect((await drover(exitCodes.ok, 'pause', host, '--reason', 'lunch')).stdout).toMatch(/^Paused\. 1 in flight/u);
    const [inList, { stdout: paused }] = await Promise.all([listed(host), drover(exitCodes.ok, 'describe', host)]);
    expect(inList).toMatchObject({ state: 'running', phase: 'Moving (paused)', counts: { total: 3, moving: 1 } });
    expect(paused).toMatch(/^ {2}paused +by flow-test: lunch$/mu);
    expect(paused).toMatch(/^ {2}drover resume node-2 /mu);
    expect(paused).toMatch(/^ {2}deadline .* to spare$/mu);

    expect((await drover(exitCodes.ok, 'skip', host, `${host}-vm-3`, '--reason', 'its owner moves it')).stdout).toMatch(
      /stays on the host/u,
    );
    expect((await drover(exitCodes.ok, 'retry', host, `${host}-vm-3`)).stdout).toMatch(/is tried again/u);
    expect((await drover(exitCodes.refused, 'skip', host, 'unknown')).stderr).toMatch(/No server unknown belongs/u);
    expect((await drover(exitCodes.ok, 'parallelism', host, '2')).stdout).toMatch(/^Up to 2 servers/u);
    expect((await drover(exitCodes.ok, 'resume', host)).stdout).toMatch(/^Resumed/u);
    await world.untilMoving(host, 2);

    const refusals = await Promise.all([
      drover(exitCodes.refused, 'evict', host, '--reason', 'another'),
      drover(exitCodes.refused, 'accept', host, 'NoTargets'),
    ]);
    expect(refusals.map(({ stderr }) => stderr)).toEqual([
      expect.stringMatching(/already asks for node-2.*another reason/u),
      expect.stringMatching(/no obstacle NoTargets/u),
    ]);

    const watching = drover(exitCodes.failed, 'watch', host, '--json');
    expect((await drover(exitCodes.ok, 'cancel', host, '--abort', '--re-enable')).stdout).toMatch(
      /^Stopping\. 2 in flight are aborted/u,
    );
    const lines = (await watching).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { ending?: { outcome: string; message: string } });
    expect(lines.at(-1)).toMatchObject({
      ending: { outcome: 'Stopped', message: expect.stringMatching(/0 of 3 servers have left node-2/u) },
    });
    expect((await world.service(host)).status).toBe('enabled');
    expect(await listed(host)).toMatchObject({ state: 'ended', phase: 'Stopped' });
  },
  limitMs,
);

test.concurrent(
  'what was stopped is taken up again by retry alone',
  async () => {
    const host = await world.freshHost('node-3', slow);
    await world.seedMany(host, 1);
    await drover(exitCodes.ok, 'evict', host, '--reason', 'firmware');
    await world.untilMoving(host);
    await drover(exitCodes.ok, 'cancel', host, '--abort');
    await world.untilClosed(host);
    await world.untilResynced();
    expect(await listed(host)).toMatchObject({ state: 'ended', phase: 'Stopped' });

    await world.fleet.change(host, { migrate: 'ok', seconds: 0.5 });
    expect((await drover(exitCodes.ok, 'retry', host)).stdout).toMatch(/Eviction node-3 of node-3 is tried again/u);
    await world.untilReason(host, 'Succeeded');
    const { earlier, ending } = await until('the run to have ended', 30_000, async () => {
      const described = await json<EvictionDescription>('describe', host);
      return described.ending === null ? 'it runs' : described;
    });
    expect([ending?.outcome, earlier[0]?.ending?.outcome]).toEqual(['Succeeded', 'Stopped']);
  },
  limitMs,
);

test.concurrent(
  'obstacles refuse an eviction until a user accepts them by name',
  async () => {
    const host = await world.freshHost('node-4');
    await world.seedMany(host, 1);
    await world.reportAgents({ [host]: { osUpdateInProgress: true } });
    try {
      const refused = await drover(exitCodes.failed, 'evict', host, '--reason', 'firmware');
      expect(refused.stdout).toMatch(/^Failed: Refused: /mu);
      expect((await drover(exitCodes.ok, 'describe', host)).stdout).toMatch(
        /^ {2}drover accept node-4 OsUpdateInProgress /mu,
      );
      expect((await world.service(host)).status).toBe('enabled');

      expect((await drover(exitCodes.ok, 'accept', host, 'OsUpdateInProgress', '--as', 'alice')).stdout).toMatch(
        /^Accepted OsUpdateInProgress, by alice\./mu,
      );
      const eviction = await world.untilReason(host, 'Succeeded');
      expect(eviction.metadata.annotations?.['drover.dev/consent-by']).toMatch(/^alice \d{4}-/u);
    } finally {
      await world.reportAgents({ [host]: {} });
    }
  },
  limitMs,
);

test(
  'a stop holds drover back until it is lifted',
  async () => {
    const host = await world.freshHost('node-1');
    await world.seedMany(host, 1);
    expect((await drover(exitCodes.ok, 'stop', '--show')).stdout).toBe('Nothing is stopped.\n');
    expect((await drover(exitCodes.ok, 'stop', '--reason', 'power work')).stdout).toMatch(
      /^Everything was stopped by flow-test at .*: power work$/mu,
    );
    try {
      await drover(exitCodes.ok, 'evict', host, '--reason', 'firmware', '--re-enable');
      const described = (await drover(exitCodes.ok, 'describe', host)).stdout;
      expect(described).toMatch(/^ {2}drover stop +Everything was stopped by flow-test/mu);
      expect(described).toMatch(/^ {2}drover stop --lift /mu);
      expect((await world.service(host)).status).toBe('enabled');
    } finally {
      await drover(exitCodes.ok, 'stop', '--lift');
    }
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect((await world.service(host)).status).toBe('enabled');
  },
  limitMs,
);

test(
  'without a worker, commands say so, and a cancel is kept for the next one',
  async () => {
    const host = await world.freshHost('node-2', slow);
    await world.seedMany(host, 1, { seconds: 60 });
    await drover(exitCodes.ok, 'evict', host, '--reason', 'firmware');
    await world.untilMoving(host);
    await world.drover.kill('worker');
    const [inList, described, pause] = await Promise.all([
      listed(host),
      drover(exitCodes.ok, 'describe', host),
      drover(exitCodes.unreachable, 'pause', host),
    ]);
    expect(inList).toMatchObject({ state: 'running', reason: 'no worker answers' });
    expect(described.stdout).toMatch(/no worker answers for it$/mu);
    expect(pause.stderr).toMatch(/drover worker/u);
    expect((await drover(exitCodes.ok, 'cancel', host, '--abort', '--re-enable')).stdout).toMatch(
      /stops as soon as one does/u,
    );
    const watching = drover(exitCodes.failed, 'watch', host);
    await world.drover.restart('worker');
    expect((await watching).stdout).toMatch(/Stopped: /u);
    expect((await world.service(host)).status).toBe('enabled');
  },
  limitMs,
);

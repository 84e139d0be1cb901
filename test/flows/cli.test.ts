import type { Finding } from '../../starters/checks/finding.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * The process of `drover` with the real counterparts: its settings, outputs and exit codes. What its
 * commands do: commands.
 */

let world: World;

beforeAll(async () => {
  world = await openWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);

/** Runs the command and expects its exit code; what it printed is in the failure. */
async function drover(exitCode: number, ...args: string[]): Promise<CommandEnd> {
  const end = await world.command(...args);
  if (end.code === exitCode) return end;
  const message = `drover ${args.join(' ')} exited ${String(end.code)}, not ${String(exitCode)}`;
  throw new Error(`${message}\n${end.stdout}${end.stderr}`);
}
const examine = async (...args: string[]): Promise<Finding[]> =>
  JSON.parse((await drover(exitCodes.ok, 'doctor', '--json', ...args)).stdout) as Finding[];

test(
  'an eviction: its result on standard output, remarks on standard error, how it ended as exit code',
  async () => {
    const host = await world.freshHost('node-1');
    const updating = await world.freshHost('node-2');
    // Before anything is planned: a list of Hypervisors that is some seconds old serves a preflight.
    await world.reportAgents({ [updating]: { osUpdateInProgress: true } });
    try {
      await world.seedMany(host, 1);
      const done = await drover(exitCodes.ok, 'evict', host, '--reason', 'broken DIMM', '--re-enable', '--wait');
      expect(done.stdout).toMatch(/^Eviction node-1 made; run \S+ started\.\nSucceeded: 1 of 1 servers have left/u);
      const eviction = await world.getEviction(host);
      expect(eviction?.metadata.annotations).toMatchObject({ 'drover.dev/started-by': 'flow-test' });
      expect(await drover(exitCodes.failed, 'evict', updating, '--reason', 'firmware')).toMatchObject({
        stdout: expect.stringMatching(/^Failed: Refused: /mu),
        stderr: expect.stringMatching(/^ {2}drover accept node-2 OsUpdateInProgress /mu),
      });
    } finally {
      await world.reportAgents({ [updating]: {} });
    }
  },
  limitMs,
);

test.each<[exitCode: number, message: RegExp, args: string[]]>([
  [exitCodes.usage, /required option '--reason/u, ['evict', 'node-1']],
  [exitCodes.notFound, /no Hypervisor node-11.*Did you mean node-1\?/su, ['evict', 'node-11', '--reason', 'x']],
  [exitCodes.notFound, /No eviction of node-2 is running/u, ['pause', 'node-2']],
  [exitCodes.refused, /Fence it/u, ['evict', 'node-2', '--reason', 'x', '--cause', 'node-failure']],
])('it ends with %i and says why', async (exitCode, message, args) => {
  expect(await drover(exitCode, ...args)).toMatchObject({ stdout: '', stderr: expect.stringMatching(message) });
});

test(
  'doctor finds nothing amiss in a healthy lab, and a stop where there is one',
  async () => {
    const findings = await examine();
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
    const systems = ['queue nova:RegionOne (activity)', 'OpenStack credential', 'Placement'];
    const checked = [...systems, 'CRD evictions.kvm.cloud.sap', 'clock', 'replaced operator'];
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(checked));
    await drover(exitCodes.ok, 'stop', '--reason', 'power work');
    try {
      const stopped = await examine('--only', 'kubernetes');
      expect(stopped.filter(({ status }) => status !== 'ok').map(({ check }) => check)).toEqual(['drover stop']);
    } finally {
      await drover(exitCodes.ok, 'stop', '--lift');
    }
  },
  limitMs,
);

test('kubectl takes the CRDs', async () => {
  const { stdout } = await drover(exitCodes.ok, 'crds');
  await world.kubectl(['apply', '--server-side', '--dry-run=server', '--force-conflicts', '-f', '-'], stdout);
});

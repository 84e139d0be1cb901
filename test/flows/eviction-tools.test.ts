import { evictionId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { messageOf } from './eviction-observations.ts';
import { beginEviction, expectToEndStopped, expectToGoOn, expectToStay, patientSettings } from './stopped-eviction.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** What tctl, temporal and the Web UI do to an eviction, and what they say of bad input. */

let world: World;

beforeAll(async () => {
  world = await openWorld({ settings: patientSettings });
}, limitMs);
afterAll(() => world.close(), limitMs);

test.concurrent(
  'tctl workflow cancel',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      expect(await world.tool('tctl', 'workflow', 'cancel', '-w', evictionId(host))).toMatchObject({ code: 0 });
      await expectToEndStopped(world, motion);
    }),
  limitMs,
);

test.concurrent(
  'the button of the Web UI',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      expect(await pressCancel(host)).toBe(200);
      await expectToEndStopped(world, motion);
    }),
  limitMs,
);

/** What the button does: a POST with the page's own token. */
async function pressCancel(host: string): Promise<number> {
  const { uiUrl, namespace } = world.lab.handles.temporal;
  const { runId } = await world.describeRun(host);
  const page = await fetch(uiUrl);
  await page.text();
  const token = /_csrf=([^;]+)/u.exec(page.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const path = `namespaces/${namespace}/workflows/${encodeURIComponent(evictionId(host))}/cancel`;
  const response = await fetch(`${uiUrl}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': token, cookie: `_csrf=${token}` },
    body: JSON.stringify({ workflowExecution: { workflowId: evictionId(host), runId } }),
  });
  await response.text();
  return response.status;
}

test.concurrent(
  'temporal workflow terminate: the bridge says Stopped, and drover retry goes on',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      const { runId } = await world.describeRun(host);
      const terminate = ['workflow', 'terminate', '-w', evictionId(host), '--reason', 'wrong host'];
      expect(await world.tool('temporal', ...terminate)).toMatchObject({ code: 0 });
      const eviction = await world.untilReason(host, 'Stopped');
      const terminated = new RegExp(`^Run ${runId} was terminated by .+ \\(wrong host\\), .*drover retry ${host}`, 'u');
      expect(messageOf(eviction)).toMatch(terminated);
      await expectToStay(world, motion);
      expect(await world.mutations(world.sinceMs, { servers: motion.pending })).toEqual([]);
      await expectToGoOn(world, motion);
    }),
  limitMs,
);

const execute = (type: string, id: string): string[] => [
  'workflow',
  'execute',
  '--task-queue',
  'drover',
  '--type',
  type,
  '--workflow-id',
  id,
];

test(
  'wrong JSON by tctl: the run fails with every problem, which the terminal shows',
  async () => {
    const fromMs = labClock().now();
    const before = world.evictions.latest('node-1');
    const start = ['workflow', 'start', '--taskqueue', 'drover', '--workflow_type', 'evictHypervisor', '--workflow_id'];
    const twofold = { hypervisor: 'node-1', reason: 'x', parallelism: 0, cause: 'mood' };
    const wrong: [id: string, input: string[], message: string][] = [
      ['nothing', [], 'hypervisor is missing'],
      ['two', ['--input', JSON.stringify(twofold)], '; parallelism: must be'],
    ];
    for (const [id, input, message] of wrong) {
      expect(await world.tool('tctl', ...start, id, ...input)).toMatchObject({ code: 0 });
      await expect(world.client.workflow.getHandle(id).result()).rejects.toMatchObject({
        cause: { message: expect.stringContaining(message) },
      });
    }
    const unreasoned = JSON.stringify({ hypervisor: 'node-1', reason: '' });
    const result = await world.tool('temporal', ...execute('evictHypervisor', 'unreasoned'), '--input', unreasoned);
    expect(result.code).not.toBe(0);
    expect(result.stdout + result.stderr).toContain('reason: must not be empty');
    expect(world.evictions.latest('node-1')?.metadata.uid).toBe(before?.metadata.uid);
    expect(await world.mutations(fromMs)).toEqual([]);
  },
  limitMs,
);

test(
  'invalid input by temporal leaves a run as it was, and a run that users must not start says so',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      const signal = ['workflow', 'signal', '--workflow-id', evictionId(host)];
      const nonsense = { setParallelism: '{"parallelism": "64"}', pause: '7', noSuchSignal: '{}' };
      for (const [name, input] of Object.entries(nonsense)) {
        const sent = await world.tool('temporal', ...signal, '--name', name, '--input', input);
        expect({ name, ...sent }).toMatchObject({ code: 0 });
      }
      await motion.releaseAll();
      await world.untilReason(host, 'Succeeded');
      expect(await world.untilClosed(host)).toMatchObject({ status: 'COMPLETED' });
      const astray = execute('migrateInstance', 'migration/by-hand');
      const result = await world.tool('temporal', ...astray, '--input', '{"instance": "vm-1"}');
      expect({ code: result.code, terminated: result.stdout + result.stderr }).toMatchObject({
        code: 1,
        terminated: expect.stringContaining('start that one'),
      });
    }),
  limitMs,
);

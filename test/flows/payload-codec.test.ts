import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evictionId, migrationId } from '../../contracts/ids.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { run } from '../../lab/kubectl.ts';
import { writePrivateFile } from '../../lab/private-files.ts';
import { checkInvariants } from '../invariants.ts';
import { textOf } from '../invariants/read-runs.ts';
import { messageOf } from './eviction-observations.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** Evictions with the codec on: what is stored is opaque, and those who have the keys read it. */

const dir = mkdtempSync(join(tmpdir(), 'drover-codec-'));
const keyring = join(dir, 'keys.yaml');
const keys: Record<string, string> = { one: key(1), two: key(2), three: key(3) };
const canary = `canary-${randomUUID()}`;

let world: World;

function key(number: number): string {
  return Buffer.alloc(32, `key number ${number} of this test, `).toString('base64');
}

/** All of them, so that only a process without the file lacks one; they differ in which one encrypts. */
const writeKeys = (current: string): void => writePrivateFile(keyring, JSON.stringify({ current, keys }));

beforeAll(async () => {
  writeKeys('one');
  world = await openWorld({ env: { DROVER_PAYLOAD_KEYS: keyring }, ownLab: true });
  for (const [id, value] of Object.entries(keys)) world.planted.push({ name: `payload key ${id}`, value });
}, limitMs);
afterAll(async () => {
  await world.close();
  rmSync(dir, { recursive: true, force: true });
}, limitMs);
afterEach(() => checkInvariants(world), limitMs);

/** Everything that Temporal has written, with what is still in its log. */
function database(): string {
  const folder = world.lab.handles.temporal.dir;
  return readdirSync(folder)
    .filter((name) => name.startsWith('temporal.sqlite'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

/** A history as it is stored, bytes as text. */
async function rawHistory(workflowId: string): Promise<string> {
  const { events } = await world.client.workflow.getHandle(workflowId).fetchHistory();
  return textOf(events ?? []);
}

/** `drover codec-server` as a user starts it. */
async function serveCodec(use: (url: string) => Promise<void>): Promise<void> {
  const server = spawn(
    process.execPath,
    [join(checkoutDirectory, 'starters/main.ts'), 'codec-server', '--listen', '127.0.0.1:0'],
    { env: { ...process.env, ...world.drover.env }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  server.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  try {
    const [, url = ''] = await until(
      'the codec to serve',
      30_000,
      () => /"url":"([^"]+)"/u.exec(log) ?? log.slice(-400),
    );
    await use(url);
    expect(log).toContain('"verb":"decode"');
    expect(log).not.toContain(canary);
  } finally {
    await stop(server);
  }
}

const stop = (server: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    server.once('close', () => resolve());
    server.kill('SIGTERM');
  });

test(
  'reasons, names of servers and failure messages are encrypted in Temporal, and readable with the keys',
  async () => {
    const host = await world.freshHost('node-1');
    const servers = await world.seed([
      { name: `${canary}-goes`, host },
      { name: `${canary}-stays`, host, migrate: 'fail' },
    ]);
    const { code, stderr } = await world.command('evict', host, '--reason', `${canary} wants it`, '--as', canary);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    // A command and its answer while it runs, and a failure with a name in it at its end.
    const ended = await world.untilReason(host, 'Failed');
    expect(messageOf(ended)).toContain(`${canary}-stays`);
    await world.untilClosed(host);

    const runs = [evictionId(host), ...servers.map(({ id }) => migrationId(id))];
    const stored = database();
    // What is not encrypted is there, so that the file is the right one.
    for (const id of runs) expect(stored).toContain(id);
    expect(stored.split(canary).length - 1).toBe(0);
    for (const id of runs) {
      const history = await rawHistory(id);
      expect(history).toContain('binary/encrypted');
      expect(history).not.toContain(canary);
      // drover wrote no argument in clear; search attributes are.
      expect(history).not.toMatch(/"payloads":\[\{"metadata":\{"encoding":"json/u);
    }

    const result: unknown = await world.client.workflow.getHandle(evictionId(host)).result();
    expect(result).toMatchObject({ outcome: 'blocked', notMoved: [{ name: `${canary}-stays` }] });
    expect(await world.command('describe', host)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${canary} wants it`),
    });
    await serveCodec(async (url) => {
      const show = ['workflow', 'show', '--workflow-id', evictionId(host), '--output', 'json'];
      expect((await world.tool('temporal', ...show)).stdout).not.toContain(canary);
      // The tool shows the bytes of a history as base64, as they would be replayed.
      const { stdout } = await world.tool('temporal', ...show, '--codec-endpoint', url);
      expect(
        stdout.replaceAll(/"data": "([^"]*)"/gu, (_, data: string) => Buffer.from(data, 'base64').toString()),
      ).toContain(`${canary} wants it`);
    });
  },
  limitMs,
);

/** The second key, or a later one, encrypts. */
let isRotated = false;

test(
  'after a rotation runs of before go on, and are read; without the key a worker says which one it lacks, and the run waits for it',
  async () => {
    // Another attempt begins as the first one did: that one may have left drover without keys.
    if (isRotated) {
      writeKeys('one');
      await world.replaceDrover({});
    }
    // They are on their way until the command has come, however long it takes to start.
    const host = await world.freshHost('node-2', { seconds: 20 });
    await world.seedMany(host, 2);
    // One at a time, so that one is left to move after the pause.
    await world.createEviction(host, {
      reason: `${canary} again`,
      annotations: { 'drover.dev/parallelism': '1' },
    });
    await until('a pause', 60_000, async () => {
      const { code, stderr } = await world.command('pause', host);
      return code === 0 ? true : stderr;
    });
    await world.fleet.change(host, { seconds: 0.5 });

    // Step 2 of docs/security.md; all have had the second key from the beginning.
    isRotated = true;
    writeKeys('two');
    await world.replaceDrover({});
    const paused = await world.progress(host);
    expect(paused).toMatchObject({ reason: `${canary} again`, paused: expect.any(String) });
    expect(await world.command('describe', 'node-1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${canary} wants it`),
    });

    // A worker, a bridge and a user without any key.
    const { runId } = await world.describeRun(host);
    await world.replaceDrover({ env: { DROVER_PAYLOAD_KEYS: '' } });
    await world.tool('temporal', 'workflow', 'signal', '--workflow-id', evictionId(host), '--name', 'retryNow');
    const [reported] = await until('the worker to say what it lacks', 90_000, async () => {
      const { events } = await world.client.workflow.getHandle(evictionId(host), runId).fetchHistory();
      const failed = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: task }) =>
        task?.failure?.message ? [task.failure.message] : [],
      );
      return failed.length > 0 ? failed : `${events?.length} events, none of a failed task`;
    });
    expect(reported).toMatch(/encrypted with key "(one|two)"; this process has no keys.*DROVER_PAYLOAD_KEYS/u);
    const without = await run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), 'describe', 'node-1'], {
      env: { ...world.drover.env, KUBECONFIG: world.lab.handles.kubernetes.kubeconfig },
      limitMs: 60_000,
    });
    expect(without.stdout + without.stderr).not.toContain('Unknown encoding');

    // The key comes back, and the run goes on as if nothing had been.
    writeKeys('three');
    await world.replaceDrover({});
    await until('the run to go on', 60_000, async () => {
      const { code, stderr } = await world.command('resume', host);
      return code === 0 ? true : stderr;
    });
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    const history = await rawHistory(evictionId(host));
    for (const id of ['one', 'three']) expect(history).toContain(`"encryption-key-id":"${id}"`);
    expect(history).not.toContain(canary);
    expect(await world.client.workflow.getHandle(evictionId(host)).result()).toMatchObject({ outcome: 'reconciled' });
  },
  limitMs,
);

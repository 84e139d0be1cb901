import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceSpec } from './part.ts';
import { identify, isAlive, waitForEnd } from './process-identity.ts';
import {
  deadServices,
  findStragglers,
  killService,
  readProcess,
  readProcesses,
  respawnService,
  spawnService,
  stopService,
  stopServices,
} from './processes.ts';

let dir: string;
const never = new AbortController().signal;
beforeEach(() => (dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-processes-')))));
afterEach(async () => {
  await stopServices(dir);
  rmSync(dir, { recursive: true });
});

/** A shell script as a service that is ready once it has written `ready`. */
const shell = (script: string, rest: Partial<ServiceSpec> = {}): ServiceSpec => ({
  name: 'service',
  command: '/bin/sh',
  args: ['-c', script],
  ready: async () => existsSync(join(dir, 'ready')),
  readyTimeoutMs: 10_000,
  ...rest,
});
const READY_THEN_WAIT = 'touch ready; exec sleep 60';

test('a service runs in a session of its own, is recorded for its owner only, and stops', async () => {
  const record = await spawnService(dir, shell(READY_THEN_WAIT), never);
  expect(readProcesses(dir)).toEqual([record]);
  expect(statSync(join(dir, 'processes', 'service.json')).mode & 0o777).toBe(0o600);
  expect(readFileSync(`/proc/${record.pid}/stat`, 'utf8').split(' ')[5]).toBe(String(record.pid));
  await stopServices(dir);
  expect(isAlive(record)).toBe(false);
  expect(readProcesses(dir)).toEqual([]);
});

test('it gets a small environment and its own variables', async () => {
  process.env['DROVER_TEST_LEAK'] = '1';
  await spawnService(dir, shell(`env > environment; ${READY_THEN_WAIT}`, { env: { OWN: 'yes' } }), never);
  delete process.env['DROVER_TEST_LEAK'];
  const environment = readFileSync(join(dir, 'environment'), 'utf8');
  expect(environment).toContain('OWN=yes');
  expect(environment).not.toContain('DROVER_TEST_LEAK');
});

test.each<[string, Partial<ServiceSpec> & { script: string }, RegExp]>([
  [
    'ends early',
    { script: 'echo no database >&2; exit 1' },
    /ended before it was ready; its log .*service\.log ends with\nno database/,
  ],
  [
    'is never ready',
    { script: 'echo still waiting; exec sleep 60', readyTimeoutMs: 3_000 },
    /was not ready within 3\.0 s; .*\nstill waiting/s,
  ],
  ['does not exist', { script: '', command: '/nowhere/etcd' }, /service cannot be started: .*ENOENT/],
])('one that %s is an error with the end of its log, and leaves nothing', async (_, { script, ...rest }, message) => {
  await expect(spawnService(dir, shell(script, rest), never)).rejects.toThrow(message);
  expect(findStragglers(dir)).toEqual([]);
});

test('aborting stops it', async () => {
  const abort = new AbortController();
  const service = shell('exec sleep 60', { ready: async () => (abort.abort(new Error('interrupted')), false) });
  await expect(spawnService(dir, service, abort.signal)).rejects.toThrow('interrupted');
  expect(findStragglers(dir)).toEqual([]);
});

test('one that ignores SIGTERM is killed after its time', async () => {
  const record = await spawnService(
    dir,
    shell(`trap '' TERM; touch ready; while :; do sleep 0.05; done`, { stopTimeoutMs: 150 }),
    never,
  );
  expect(await stopService(record)).toBe('killed');
  expect(isAlive(record)).toBe(false);
});

test('a stranger who has the number of a recorded process is left alone', async () => {
  const record = await spawnService(dir, shell(READY_THEN_WAIT), never);
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
  const identity = identify(stranger.pid!)!;
  // As after a crash of the machine's service and a wrap of its process numbers.
  writeFileSync(join(dir, 'processes', 'other.json'), JSON.stringify({ ...record, name: 'other', pid: stranger.pid }));
  await stopServices(dir);
  expect(isAlive(identity)).toBe(true);
  stranger.kill();
});

test('what a killed service left running is found by its tag and stopped', async () => {
  const record = await spawnService(dir, shell('sleep 61 & echo $! > child; touch ready; exec sleep 60'), never);
  const child = identify(Number(readFileSync(join(dir, 'child'), 'utf8')))!;
  await killService(dir, 'service');
  expect([isAlive(record), isAlive(child)]).toEqual([false, true]);
  expect(deadServices(dir)).toEqual(['service']);
  await stopServices(dir);
  expect(await waitForEnd(child, 60_000)).toBe(true);
});

test('respawn starts the same again and appends to its log', async () => {
  const first = await spawnService(
    dir,
    shell(`echo "run of $OWN"; ${READY_THEN_WAIT}`, { env: { OWN: 'ours' } }),
    never,
  );
  await expect(respawnService(dir, 'service', { ready: async () => true }, never)).rejects.toThrow('still runs');
  await killService(dir, 'service');
  rmSync(join(dir, 'ready'));
  const second = await respawnService(dir, 'service', { ready: async () => existsSync(join(dir, 'ready')) }, never);
  expect(second.pid).not.toBe(first.pid);
  expect(readProcess(dir, 'service')).toEqual(second);
  expect(readFileSync(first.logFile, 'utf8')).toBe('run of ours\nrun of ours\n');
});

test('a service started again keeps its place in the order of stopping', async () => {
  await spawnService(dir, shell(READY_THEN_WAIT, { name: 'database' }), never);
  await spawnService(dir, shell(READY_THEN_WAIT, { name: 'server' }), never);
  await killService(dir, 'database');
  await respawnService(dir, 'database', { ready: async () => true }, never);
  expect(readProcesses(dir).map(({ name }) => name)).toEqual(['database', 'server']);
});

test('a second service of the same name is refused', async () => {
  await spawnService(dir, shell(READY_THEN_WAIT), never);
  await expect(spawnService(dir, shell(READY_THEN_WAIT), never)).rejects.toThrow('runs already');
});

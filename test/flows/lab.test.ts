import { execFile, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Lab, labDirectory, readLab, startLab, stopLab, wipeLab } from '../../lab/lab.ts';
import { kubeGet, writeServiceAccountKubeconfig } from '../../lab/parts/kubernetes-access.ts';
import { compactEtcd, killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import { identify, isAlive } from '../../lab/process-identity.ts';
import { findStragglers, readProcess, readProcesses } from '../../lab/processes.ts';

const run = promisify(execFile);
const checkout = new URL('../..', import.meta.url).pathname;
const parts = ['temporal', 'tctl', 'kubernetes'] as const;
type TestLab = Lab<(typeof parts)[number]>;

/** A build from nothing comes before the test run; here everything is in the cache. */
const UP_TIMEOUT_MS = 600_000;

let root: string;
let a: TestLab;
let b: TestLab;

/** As a user with the exports of `lab status`. */
const inLab = async (lab: TestLab, command: string, ...args: string[]) => {
  const { stdout } = await run(command, args, { env: { ...process.env, ...lab.exports }, timeout: 30_000 });
  return stdout.trim();
};

const statusOf = async (lab: TestLab, id: string) => {
  const description = JSON.parse(
    await inLab(lab, 'temporal', 'workflow', 'describe', '--workflow-id', id, '-o', 'json'),
  ) as { workflowExecutionInfo: { status: string } };
  return description.workflowExecutionInfo.status;
};

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-labs-')));
  // Deeper than a UNIX socket's path may be long.
  const deep = join(root, 'a-second-lab-in-a-folder-with-a-long-name'.repeat(2), 'lab');
  [a, b] = await Promise.all([startLab({ dir: join(root, 'a'), parts }), startLab({ dir: deep, parts })]);
}, UP_TIMEOUT_MS);

afterAll(async () => {
  await Promise.all([a, b].map((lab) => lab?.stop()));
  rmSync(root, { recursive: true });
}, UP_TIMEOUT_MS);

test('two labs side by side share nothing', async () => {
  // A second attempt comes after the tests below, which take most of b down, and finds what the first one has made.
  await startLab({ dir: b.dir, parts });
  await inLab(a, 'kubectl', 'delete', 'configmap', 'only-in-a', '--ignore-not-found');
  await inLab(a, 'kubectl', 'create', 'configmap', 'only-in-a');
  expect(await inLab(a, 'kubectl', 'get', 'configmap', 'only-in-a', '-o', 'name')).toBe('configmap/only-in-a');
  await expect(inLab(b, 'kubectl', 'get', 'configmap', 'only-in-a')).rejects.toThrow('NotFound');

  const ofNobody = ['--type', 'unknown', '--task-queue', 'nowhere'];
  const start = (lab: TestLab, id: string) =>
    inLab(lab, 'temporal', 'workflow', 'start', ...ofNobody, '--workflow-id', id).catch((error: unknown) => {
      if (!/already (?:running|started)/iu.test(String(error))) throw error;
    });
  await Promise.all([start(a, 'only-in-a'), start(b, 'only-in-b')]);
  const describe = (lab: TestLab, id: string) => inLab(lab, 'tctl', 'workflow', 'describe', '--workflow_id', id);
  expect(await describe(a, 'only-in-a')).toContain('only-in-a');
  await expect(describe(b, 'only-in-a')).rejects.toMatchObject({ stdout: expect.stringMatching(/not found/i) });
});

test('search attributes are there', async () => {
  const attributes = await inLab(a, 'temporal', 'operator', 'search-attribute', 'list');
  for (const name of ['DroverKind', 'DroverObject', 'DroverHost', 'DroverPhase', 'DroverReason'])
    expect(attributes).toMatch(new RegExp(`${name}\\s+Keyword`));
});

test('secrets are for their owner only, and in no process argument', () => {
  const modes = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
      const file = join(path, entry.name);
      if (entry.isDirectory()) return modes(file);
      return /kubeconfig$|token|\.key$|handle\.json$|processes/.test(file) &&
        entry.isFile() &&
        (statSync(file).mode & 0o077) !== 0
        ? [file]
        : [];
    });
  expect(modes(a.dir)).toEqual([]);
  for (const part of parts) expect(statSync(join(a.dir, part)).mode & 0o777).toBe(0o700);
  const token = readFileSync(a.handles.kubernetes.tokenFile, 'utf8');
  for (const record of parts.flatMap((part) => readProcesses(join(a.dir, part))))
    expect(record.args.join(' ')).not.toContain(token);
});

test('etcd listens on no network at all', () => {
  const { pid } = readProcess(join(a.dir, 'kubernetes'), 'etcd');
  const sockets = readdirSync(`/proc/${pid}/fd`).map(
    (fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1],
  );
  const listening = ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/${pid}/net/${family}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([, , , state, , , , , , inode]) => (state === '0A' ? [inode] : [])),
  );
  expect(sockets.filter((inode) => inode !== undefined).length).toBeGreaterThan(0);
  expect(listening.length).toBeGreaterThan(0);
  expect(sockets.filter((inode) => inode !== undefined && listening.includes(inode))).toEqual([]);
});

test('a second up attaches, and the command line shows what is up', async () => {
  const before = readProcesses(join(a.dir, 'kubernetes'));
  const lines: string[] = [];
  const again = await startLab({ dir: a.dir, parts, report: (line) => lines.push(line) });
  expect(again.handles).toEqual(a.handles);
  expect(readProcesses(join(a.dir, 'kubernetes'))).toEqual(before);
  expect(lines.find((line) => line.startsWith('kubernetes'))).toMatch(/^kubernetes {2}is up already, logs in /);

  const { stdout } = await run(process.execPath, [join(checkout, 'lab/main.ts'), 'status'], {
    env: { ...process.env, DROVER_LAB: a.dir },
  });
  expect(stdout).toContain(`# kubernetes  up  Kubernetes API ${a.handles.kubernetes.server}`);
  expect(stdout).toContain(`export KUBECONFIG=${a.handles.kubernetes.kubeconfig}`);
  expect(stdout).toContain(`export TEMPORAL_ADDRESS=${a.handles.temporal.address}`);
});

test('a service account has its own rights and no more', async () => {
  const path = join(root, 'default.kubeconfig');
  await writeServiceAccountKubeconfig(a.handles.kubernetes, { namespace: 'default', name: 'default', path });
  const kubectl = (...args: string[]) => run(a.handles.kubernetes.kubectl, ['--kubeconfig', path, ...args]);
  expect((await kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).stdout).toBe(
    'system:serviceaccount:default:default',
  );
  await expect(kubectl('get', 'secrets')).rejects.toThrow('Forbidden');
  await expect(
    writeServiceAccountKubeconfig(a.handles.kubernetes, { namespace: 'default', name: 'unknown', path }),
  ).rejects.toThrow('404');
});

test('kube-apiserver survives kill -9, and what etcd has compacted is Gone', async () => {
  const { kubernetes } = a.handles;
  await killKubeApiserver(kubernetes);
  await expect(kubeGet(kubernetes, '/readyz')).rejects.toThrow('ECONNREFUSED');
  expect(readLab(a.dir).parts.find(({ name }) => name === 'kubernetes')).toMatchObject({
    state: 'broken',
    dead: ['kube-apiserver'],
  });
  const revision = await compactEtcd(kubernetes);
  await restartKubeApiserver(kubernetes);
  expect(revision).toBeGreaterThan(1);
  expect(await inLab(a, 'kubectl', 'get', 'configmap', 'only-in-a', '-o', 'name')).toBe('configmap/only-in-a');
  const watch = await kubeGet(kubernetes, '/api/v1/configmaps?watch=true&resourceVersion=1&timeoutSeconds=5');
  expect(JSON.parse(watch.body.split('\n')[0]!)).toMatchObject({ type: 'ERROR', object: { code: 410 } });
});

test('the Temporal server survives kill -9 with its runs', async () => {
  await killTemporal(a.handles.temporal);
  await restartTemporal(a.handles.temporal);
  expect(await statusOf(a, 'only-in-a')).toBe('WORKFLOW_EXECUTION_STATUS_RUNNING');
});

test('down leaves no process and spares a stranger under a recorded number; up finds the data and the ports again', async () => {
  const dir = join(b.dir, 'temporal');
  // A failed attempt may have taken it down.
  await startLab({ dir: b.dir, parts });
  await killTemporal(b.handles.temporal);
  const stranger = spawn('sleep', ['120'], { stdio: 'ignore' });
  const identity = identify(stranger.pid!)!;
  try {
    const record = readProcess(dir, 'temporal');
    writeFileSync(join(dir, 'processes', 'temporal.json'), JSON.stringify({ ...record, pid: stranger.pid }));
    const recorded = readProcesses(join(b.dir, 'kubernetes'));
    expect(recorded.map(({ name }) => name)).toEqual(['etcd', 'kube-apiserver', 'kube-controller-manager']);
    await b.stop();
    expect(isAlive(identity)).toBe(true);
    expect(recorded.filter(isAlive)).toEqual([]);
    expect(parts.flatMap((part) => findStragglers(join(b.dir, part)))).toEqual([]);
    expect(readLab(b.dir).parts.filter(({ state }) => state !== 'down')).toEqual([]);
  } finally {
    stranger.kill();
  }
  const again = await startLab({ dir: b.dir, parts: ['temporal'] });
  expect(again.handles.temporal).toEqual(b.handles.temporal);
  expect(await statusOf(b, 'only-in-b')).toBe('WORKFLOW_EXECUTION_STATUS_RUNNING');
});

test('a part that cannot start fails with one error and leaves nothing behind', async () => {
  const dir = join(root, 'failing');
  process.env['DROVER_TEMPORAL'] = '/bin/false';
  try {
    await expect(startLab({ dir, parts: ['temporal', 'tctl'] })).rejects.toThrow(
      /^temporal: temporal ended before it was ready; its log .*temporal\.log ends with/,
    );
  } finally {
    delete process.env['DROVER_TEMPORAL'];
  }
  expect(readLab(dir).parts.filter(({ state }) => state !== 'down')).toEqual([]);
});

test('only a directory of the lab is filled and wiped', async () => {
  const mine = join(root, 'photos');
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, 'cat.jpeg'), '');
  await expect(startLab({ dir: mine, parts: ['tctl'] })).rejects.toThrow('not empty and not a lab');
  await expect(wipeLab({ dir: mine })).rejects.toThrow('is not a lab of drover');
  expect(readdirSync(mine)).toEqual(['cat.jpeg']);

  const dir = join(root, 'wiped');
  await startLab({ dir, parts: ['tctl'] });
  writeFileSync(join(dir, 'tctl', 'data'), '');
  await wipeLab({ dir });
  expect(readdirSync(dir)).not.toContain('tctl');
  await stopLab({ dir });
});

test('the directory is chosen by the environment', () => {
  expect(labDirectory({ DROVER_LAB: '/somewhere' })).toBe('/somewhere');
  expect(labDirectory({})).toBe(join(realpathSync(checkout), '.lab'));
});

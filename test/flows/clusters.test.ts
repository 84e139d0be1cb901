import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { stringify } from 'yaml';
import { checkoutDirectory, nodeSettings } from '../../lab/context.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { type CommandEnd, kubectl, run } from '../../lab/kubectl.ts';
import { applyObject, withKubernetes } from '../../lab/kubernetes-objects.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { writePrivateFile } from '../../lab/private-files.ts';
import type { Finding } from '../../starters/checks/finding.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';
import { writeOwnCloud } from './own-cloud.ts';
import { until } from './until.ts';
import { hosts, limitMs, quickSettings } from './world-base.ts';
import { openWorld, type World } from './world.ts';

/** Two clusters, each with a kube-apiserver and a drover of its own, in one namespace of one Temporal. */

const dir = mkdtempSync(join(tmpdir(), 'drover-clusters-'));
const inBlue = 'node-1';
const inGreen = 'node-2';
let blue: World;
let greenLab: Lab<'kubernetes'>;
let green: Drover;

beforeAll(async () => {
  blue = await openWorld({ settings: { ...quickSettings, cluster: 'blue' } });
  greenLab = await startLab({ dir: join(dir, 'lab'), parts: ['kubernetes'] });
  const { kubernetes } = greenLab.handles;
  await withKubernetes(kubernetes, async (api) => {
    await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
    await applyHypervisors(api, Object.fromEntries(hosts.map((host) => [host, {}])));
  });
  green = await startDrover(
    { exports: { ...blue.lab.exports, ...greenLab.exports }, handles: { ...blue.lab.handles, kubernetes } },
    { dir: join(dir, 'drover'), settings: { ...quickSettings, cluster: 'green' }, cloud: 'lab' },
  );
}, limitMs);

afterAll(async () => {
  await green?.stop();
  await greenLab?.stop();
  await blue?.close();
  rmSync(dir, { recursive: true, force: true });
}, limitMs);

const inGreenKubernetes = (args: readonly string[], input?: string): Promise<string> =>
  kubectl(greenLab.handles.kubernetes, args, input);

const evictionsIn = async (get: (args: readonly string[]) => Promise<string>): Promise<Eviction[]> =>
  (JSON.parse(await get(['get', 'evictions', '-o', 'json'])) as { items: Eviction[] }).items;

/**
 * A process of drover's beside the kube-apiserver of green, under the name of a cluster. One that is refused
 * ends by itself.
 */
function start(
  cluster: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const config = join(dir, `${cluster}.yaml`);
  writePrivateFile(config, stringify({ ...quickSettings, cluster, bridge: { healthAddress: '127.0.0.1:0' } }));
  return run(process.execPath, [...nodeSettings.arguments, join(checkoutDirectory, 'starters/main.ts'), ...args], {
    env: { ...green.env, DROVER_CONFIG: config, KUBECONFIG: greenLab.handles.kubernetes.kubeconfig, ...env },
    limitMs: 90_000,
  });
}

test(
  'each empties its own host, by its own workers, and knows nothing of the other',
  async () => {
    // What a failed attempt has left in green; `freshHost` removes it in blue.
    await inGreenKubernetes(['delete', 'evictions', '--all', '--wait=false']);
    await until('green to be without Evictions', 60_000, async () => {
      const left = await evictionsIn(inGreenKubernetes);
      return left.length === 0 || left.map(({ metadata }) => metadata.name).join();
    });
    await Promise.all([inBlue, inGreen].map((host) => blue.freshHost(host, { seconds: 1 })));
    await blue.seedMany(inBlue, 2);
    await blue.seedMany(inGreen, 2);
    const object = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: inGreen } };
    await Promise.all([
      blue.createEviction(inBlue),
      inGreenKubernetes(
        ['create', '-f', '-'],
        JSON.stringify({ ...object, spec: { hypervisor: inGreen, reason: 'test' } }),
      ),
    ]);
    await blue.untilReason(inBlue, 'Succeeded');
    await until('the Eviction of the other cluster to succeed', 150_000, async () => {
      const [eviction] = await evictionsIn(inGreenKubernetes);
      const found = findCondition(eviction?.status?.conditions, 'Evicting');
      return found?.reason === 'Succeeded' || `${found?.reason ?? 'no condition'}: ${found?.message ?? ''}`;
    });

    expect((await evictionsIn(inGreenKubernetes)).map(({ spec }) => spec.hypervisor)).toEqual([inGreen]);
    const ofBlue = (await evictionsIn((args) => kubectl(blue.lab.handles.kubernetes, args))).map(
      ({ spec }) => spec.hypervisor,
    );
    expect(ofBlue).not.toContain(inGreen);
    for (const [cluster, host] of [
      ['blue', inBlue],
      ['green', inGreen],
    ] as const) {
      const described = await blue.client.workflow.getHandle(`${cluster}/eviction/${host}`).describe();
      expect(described.taskQueue).toBe(`${cluster}/drover`);
      const { events = [] } = await blue.client.workflow.getHandle(`${cluster}/eviction/${host}`).fetchHistory();
      const queues = (events ?? []).flatMap(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.taskQueue?.name ?? [],
      );
      expect(new Set(queues.map((queue) => queue.split('/')[0]))).toEqual(new Set([cluster]));
    }
  },
  limitMs,
);

test.each([
  ['a worker of another cluster', ['worker']],
  ['a bridge of another cluster', ['bridge']],
])(
  '%s is refused, and says what to do',
  async (_, command) => {
    const { code, stderr } = await start('blue', command);
    expect(code).not.toBe(0);
    expect(stderr).toContain('the cluster name blue belongs to another Kubernetes cluster');
    expect(stderr).toContain('says the Schedule blue/claim/cluster');
    expect(stderr).toContain('temporal schedule delete');
  },
  limitMs,
);

test(
  'a worker of another region is refused',
  async () => {
    const elsewhere = writeOwnCloud(blue.lab.handles.openstack, dir, (cloud) => ({
      ...cloud,
      region_name: 'Elsewhere',
    }));
    const { code, stderr } = await start('green', ['worker'], elsewhere);
    expect(code).not.toBe(0);
    expect(stderr).toContain('the cluster name green belongs to hosts of another region (RegionOne');
  },
  limitMs,
);

test(
  'a user whose kubeconfig leads to another cluster starts nothing',
  async () => {
    const { code, stderr } = await start('blue', ['evict', 'node-3', '--reason', 'test']);
    expect([code, stderr]).toEqual([
      exitCodes.refused,
      expect.stringContaining('belongs to another Kubernetes cluster'),
    ]);
    expect((await evictionsIn(inGreenKubernetes)).map(({ spec }) => spec.hypervisor)).not.toContain('node-3');
  },
  limitMs,
);

test(
  'doctor says who has the name',
  async () => {
    const examine = async (cluster: string): Promise<Finding[]> => {
      const { stdout } = await start(cluster, ['doctor', '--only', 'temporal', '--json']);
      return (JSON.parse(stdout) as Finding[]).filter(({ check }) => check === 'name of the cluster');
    };
    expect(await examine('green')).toMatchObject([{ status: 'ok' }]);
    expect(await examine('blue')).toMatchObject([{ status: 'fail' }]);
    expect((await start('blue', ['doctor', '--only', 'temporal'])).code).toBe(exitCodes.failed);
  },
  limitMs,
);

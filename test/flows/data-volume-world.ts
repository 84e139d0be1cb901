import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { DataVolume } from '../../contracts/crds/data-volume.ts';
import type { VolumePhase } from '../../contracts/data-volume/metadata.ts';
import { dataVolumeId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import { type CsiControl, csiControl } from '../../lab/csi/control.ts';
import type { CsiHandle } from '../../lab/csi/handle.ts';
import { readVolume, type VolumeOfDriver, writeVolume } from '../../lab/csi/volumes.ts';
import {
  claimObject,
  type ClaimWish,
  dataVolumeObject,
  type DataVolumeWish,
  setUpVolumes,
  volumeFixture,
} from '../../lab/data-volumes.ts';
import { type Drover, startDrover } from '../../lab/drover.ts';
import { type CommandEnd, kubectl, run } from '../../lab/kubectl.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { type Claim, storageResources, type Volume } from '../../runtime/kubernetes/storage-resources.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { Observed } from '../read-world.ts';
import { openObjectLog } from './object-log.ts';
import { until } from './until.ts';

const { namespace: own } = volumeFixture;

/** Far more than each change takes. */
const patienceMs = 30_000;

interface Named {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * DataVolumes on real parts: drover's own processes and roles, kube-apiserver with drover's rules, CSI
 * with its sidecars.
 */
export interface DataVolumeWorld {
  readonly lab: Lab<'temporal' | 'kubernetes' | 'csi'>;
  /** As the administrator. */
  readonly api: Kubernetes;
  readonly client: Client;
  readonly csi: CsiHandle;
  /** Of the driver of directories. */
  readonly control: CsiControl;
  readonly drover: Drover;
  /** For the invariants. */
  readonly observed: Observed;
  /** Resolves once it is bound, and holds the bytes. */
  makeClaim(wish: ClaimWish, bytes?: string): Promise<void>;
  /** @param user default: the administrator. @throws what kubectl says */
  clone(wish: DataVolumeWish, user?: string): Promise<void>;
  dataVolume(of: Named | string): Promise<DataVolume | null>;
  untilPhase(of: Named | string, phase: VolumePhase): Promise<DataVolume>;
  /** Until a condition is as `False CloneSourceInUse: ...`. */
  untilSaid(of: Named | string, type: 'Bound' | 'Running' | 'Ready', pattern: RegExp): Promise<void>;
  /** Until it holds these bytes as a whole, and nothing that was made for it is left besides it. */
  untilCloned(of: Named | string, bytes: string): Promise<void>;
  claim(of: Named | string): Promise<Claim>;
  volumeOf(of: Named | string): Promise<Volume>;
  write(of: Named | string, bytes: string): Promise<void>;
  bytesOf(of: Named | string): Promise<string>;
  /** Until no snapshot, transfer, Job or temporary claim is there. */
  untilNothingTemporary(): Promise<void>;
  /** Until the claims are these and no others, with one volume each, of which the driver has no more. */
  untilOnly(...claims: readonly string[]): Promise<void>;
  /** As it was before the test, however far that came. */
  clear(): Promise<void>;
  kubectl(...args: string[]): Promise<string>;
  apply(object: object): Promise<void>;
  /** `drover`, as a user runs it. */
  command(...args: string[]): Promise<CommandEnd>;
  close(): Promise<void>;
}

export interface DataVolumeWorldOptions {
  readonly withCeph?: boolean;
  /** Section `dataVolumes`, where it differs. */
  readonly dataVolumes?: object;
}

/** So much older than a DataVolume the rules must be. */
export const policyDelayMs = 1_000;

export async function openDataVolumeWorld(options: DataVolumeWorldOptions = {}): Promise<DataVolumeWorld> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-volumes-')));
  const closers = [async () => rmSync(root, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one();
  };
  try {
    return { ...(await open(root, options, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  root: string,
  { withCeph = false, dataVolumes }: DataVolumeWorldOptions,
  closers: (() => Promise<void>)[],
): Promise<Omit<DataVolumeWorld, 'close'>> {
  const lab = await startLab({
    dir: join(root, 'lab'),
    parts: withCeph ? ['temporal', 'kubernetes', 'ceph', 'csi'] : ['temporal', 'kubernetes', 'csi'],
  });
  closers.push(() => lab.stop());
  const { kubernetes, csi } = lab.handles;
  const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
  const client = openClient(readTemporalSettings(lab.exports));
  closers.push(async () => void (await Promise.all([api.close(), client.connection.close()])));
  await setUpVolumes(api);
  const sinceMs = labClock().now();
  const objectLog = await openObjectLog(api);
  closers.push(() => objectLog.close());
  const drover = await startDrover(lab, {
    dir: join(root, 'drover'),
    settings: {
      modes: { Eviction: 'off', Hypervisor: 'off', DataVolume: 'act', StorageProfile: 'act' },
      dataVolumes: { sourceIntervalMs: 500, recheckMs: 5_000, policyDelayMs, ...dataVolumes },
      bridge: { resyncMs: 3_000 },
    },
  });
  closers.push(() => drover.stop());
  const control = csiControl(csi);
  const outputs: { where: string; text: string }[] = [];
  const objects = openObjects(api);
  const signal = (): AbortSignal => AbortSignal.timeout(20_000);
  const key = (of: Named | string) =>
    typeof of === 'string' ? { namespace: own, name: of } : { namespace: own, ...of };
  const ofUser = (user: string | undefined) => (user === undefined ? [] : ['--as', user]);

  const dataVolume = (of: Named | string) => objects.get(resources.DataVolume, key(of), signal());
  const claim = async (of: Named | string): Promise<Claim> => {
    const found = await objects.get(storageResources.PersistentVolumeClaim, key(of), signal());
    if (found === null) throw new Error(`there is no PVC ${key(of).name}`);
    return found;
  };
  const volumeOf = async (of: Named | string): Promise<Volume> => {
    const { spec } = await claim(of);
    const found = await objects.get(storageResources.PersistentVolume, { name: spec.volumeName ?? '' }, signal());
    if (found === null) throw new Error(`there is no PV ${spec.volumeName}`);
    return found;
  };
  const ofDriver = async (of: Named | string) => (await volumeOf(of)) as Volume & VolumeOfDriver;
  const write = async (of: Named | string, bytes: string) => writeVolume(csi, await ofDriver(of), Buffer.from(bytes));
  const bytesOf = async (of: Named | string) => (await readVolume(csi, await ofDriver(of))).toString();

  const untilPhase = (of: Named | string, phase: VolumePhase): Promise<DataVolume> =>
    until(`DataVolume ${key(of).name} to be ${phase}`, patienceMs, async () => {
      const found = await dataVolume(of);
      return found?.status?.phase === phase ? found : JSON.stringify(found?.status ?? found);
    });
  const untilNothingTemporary = async (): Promise<void> => {
    await until('nothing temporary to be there', patienceMs, async () => {
      const lists: (readonly { metadata: { name: string } }[])[] = await Promise.all([
        objects.list(storageResources.VolumeSnapshot, {}, signal()),
        objects.list(storageResources.VolumeSnapshotContent, {}, signal()),
        objects.list(storageResources.Job, {}, signal()),
        objects.list(storageResources.PersistentVolumeClaim, {}, signal()),
        objects.list(resources.ObjectTransfer, {}, signal()),
      ]);
      const names = lists
        .flat()
        .map(({ metadata }) => metadata.name)
        .filter((name) => /^(?:tmp-snapshot|cdi-tmp|cdi-copy|snapcontent)-/u.test(name));
      return names.length === 0 || names.join();
    });
  };

  return {
    lab,
    api,
    client,
    csi,
    control,
    drover,
    observed: { lab, drover, dir: drover.dir, api, client, sinceMs, objectLog, planted: [], outputs },
    async makeClaim(wish, bytes) {
      await applyObject(api, claimObject(wish));
      await until(`claim ${wish.name} to be bound`, patienceMs, async () => {
        const { status } = await claim(wish);
        return status?.phase === 'Bound' || String(status?.phase);
      });
      if (bytes !== undefined) await write(wish, bytes);
    },
    clone: async (wish, user) =>
      void (await kubectl(kubernetes, [...ofUser(user), 'create', '-f', '-'], JSON.stringify(dataVolumeObject(wish)))),
    dataVolume,
    untilPhase,
    async untilSaid(of, type, pattern) {
      await until(`DataVolume ${key(of).name} to say ${type} ${pattern.source}`, patienceMs, async () => {
        const conditions = (await dataVolume(of))?.status?.conditions ?? [];
        const found = conditions.find((one) => one.type === type);
        const said = found === undefined ? 'nothing' : `${found.status} ${found.reason}: ${found.message}`;
        return pattern.test(said) ? true : said;
      });
    },
    async untilCloned(of, bytes) {
      await untilPhase(of, 'Succeeded');
      expect(await bytesOf(of)).toBe(bytes);
      await untilNothingTemporary();
      const { namespace, name } = key(of);
      await until('its run to end', patienceMs, async () => {
        const { status } = await client.workflow.getHandle(dataVolumeId(namespace, name)).describe();
        return status.name === 'COMPLETED' || status.name;
      });
    },
    claim,
    volumeOf,
    write,
    bytesOf,
    untilNothingTemporary,
    async untilOnly(...claims) {
      await until(`the claims to be ${claims.join()}`, patienceMs, async () => {
        const there = await objects.list(storageResources.PersistentVolumeClaim, {}, signal());
        const volumes = await objects.list(storageResources.PersistentVolume, {}, signal());
        const names = there.map(({ metadata: { namespace, name } }) =>
          namespace === own ? name : `${namespace}/${name}`,
        );
        const kept = ['volumes', 'snapshots'].flatMap((kind) => readdirSync(join(csi.directories.root, kind)));
        const isSo = names.toSorted().join() === claims.toSorted().join();
        const isAll = isSo && volumes.length === claims.length && kept.length === claims.length;
        return isAll || JSON.stringify({ names, volumes: volumes.map(({ metadata }) => metadata.name), kept });
      });
    },
    async clear() {
      await control.clearFaults();
      for (const kinds of ['resourcequota,pod,datavolume,datasource', 'volumesnapshot,pvc'])
        for (const namespace of Object.values(volumeFixture))
          await kubectl(kubernetes, ['delete', kinds, '--all', '-n', namespace, '--timeout=60s']);
    },
    kubectl: (...args) => kubectl(kubernetes, args),
    apply: (object) => applyObject(api, object),
    async command(...args) {
      const end = await run(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], {
        env: { ...drover.env, DROVER_USER: 'flow-test', NO_COLOR: '1', KUBECONFIG: kubernetes.kubeconfig },
        limitMs: 180_000,
      });
      outputs.push({ where: `the output of drover ${args.join(' ')}`, text: end.stdout + end.stderr });
      return end;
    },
  };
}

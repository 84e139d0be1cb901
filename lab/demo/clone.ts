import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { clonePolicyName } from '../../contracts/data-volume/metadata.ts';
import { connectKubernetes, type Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { storageResources } from '../../runtime/kubernetes/storage-resources.ts';
import { csiControl } from '../csi/control.ts';
import { readVolume, type VolumeOfDriver, writeVolume } from '../csi/volumes.ts';
import { claimObject, dataVolumeObject, setUpVolumes, volumeFixture } from '../data-volumes.ts';
import { kubectl } from '../kubectl.ts';
import { applyObject } from '../kubernetes-objects.ts';
import type { Lab } from '../lab.ts';
import { formatDuration } from '../progress.ts';
import { endRuns } from './end-runs.ts';
import { follow, patienceMs } from './follow.ts';
import type { Ending, Story, StoryContext } from './story.ts';

type CloneLab = Lab<'temporal' | 'kubernetes' | 'csi'>;

const { namespace, golden } = volumeFixture;
const image = { namespace, name: 'image' };
/** In another namespace than its source. */
const elsewhere = { namespace: golden, name: 'disk-elsewhere' };
const disks = Array.from({ length: 10 }, (_, index) => ({
  namespace,
  name: `disk-${String(index + 1).padStart(2, '0')}`,
}));
const clones = [...disks, elsewhere];
const imageBytes = 4 * 2 ** 20;

type Names = (typeof clones)[number];
const nameOf = ({ namespace: of, name }: Names): string => `${of}/${name}`;

/** A golden volume, of which eleven clones are made at once: ten beside it, and one in another namespace. */
export const cloneStory: Story<'csi'> = {
  intro: `drover clones volumes by snapshots: real Temporal and Kubernetes, with upstream’s own volume controllers and CSI sidecars, and a driver whose
volumes are directories. The first time they are built, which takes some minutes; then it is seconds.
`,
  parts: ['csi'],
  async run(lab, stage) {
    const { kubernetes } = lab.handles;
    const api = connectKubernetes({ kubeconfig: kubernetes.kubeconfig });
    try {
      const volumes = openVolumes(lab, api, stage.interrupted);
      const bytes = randomBytes(imageBytes);
      await stage.step('a volume with an image in it', () => setUp(lab, api, volumes, bytes));
      await stage.step('a drover worker and a drover bridge', () =>
        stage.startDrover({
          modes: { Eviction: 'off', Hypervisor: 'off', DataVolume: 'act', StorageProfile: 'act' },
          dataVolumes: { policyDelayMs },
        }),
      );
      await stage.step('the rules on sources, in force', () => untilInForce(api, stage.interrupted));
      return await perform({ stage, lab, api, volumes, bytes });
    } finally {
      await api.close();
    }
  },
};

/** So much older than a DataVolume the rules must be. */
const policyDelayMs = 2_000;

/** The lab has just made the rules. Before they count, a clone of another namespace would be refused for good. */
async function untilInForce(api: Kubernetes, signal: AbortSignal): Promise<void> {
  const objects = openObjects(api);
  const rules = await Promise.all([
    objects.get(storageResources.ValidatingAdmissionPolicy, { name: clonePolicyName }, signal),
    objects.get(storageResources.ValidatingAdmissionPolicyBinding, { name: clonePolicyName }, signal),
  ]);
  const madeMs = Math.max(...rules.map((rule) => Date.parse(rule?.metadata.creationTimestamp ?? '')));
  if (Number.isNaN(madeMs)) throw new Error(`kube-apiserver has no ValidatingAdmissionPolicy ${clonePolicyName}`);
  // Times of objects are whole seconds.
  await delay(Math.max(0, madeMs + policyDelayMs + 1_000 - Date.now()), undefined, { signal });
}

interface Volumes {
  write(of: Names, bytes: Buffer): Promise<void>;
  read(of: Names): Promise<Buffer>;
  /** DataVolumes by phase. */
  phases(): Promise<ReadonlyMap<string, number>>;
  /** Names of what is made for clones alone. */
  temporary(): Promise<string[]>;
  claims(): Promise<string[]>;
}

interface Cast {
  stage: StoryContext;
  lab: CloneLab;
  api: Kubernetes;
  volumes: Volumes;
  bytes: Buffer;
}

function openVolumes({ handles: { csi } }: CloneLab, api: Kubernetes, signal: AbortSignal): Volumes {
  const objects = openObjects(api);
  const { PersistentVolumeClaim, PersistentVolume, VolumeSnapshot } = storageResources;
  const volumeOf = async (of: Names): Promise<VolumeOfDriver> => {
    const claim = await objects.get(PersistentVolumeClaim, of, signal);
    const { volumeName: name = '' } = claim?.spec ?? {};
    const volume = name === '' ? null : await objects.get(PersistentVolume, { name }, signal);
    if (volume === null) throw new Error(`PVC ${nameOf(of)} has no volume`);
    return volume as typeof volume & VolumeOfDriver;
  };
  const listClaims = () => objects.list(PersistentVolumeClaim, {}, signal);
  return {
    write: async (of, bytes) => writeVolume(csi, await volumeOf(of), bytes),
    read: async (of) => readVolume(csi, await volumeOf(of)),
    async phases() {
      const found = await objects.list(resources.DataVolume, {}, signal);
      return new Map(
        Object.entries(Object.groupBy(found, ({ status }) => status?.phase ?? 'Pending')).map(([phase, all = []]) => [
          phase,
          all.length,
        ]),
      );
    },
    async temporary() {
      const [snapshots, transfers, claims] = await Promise.all([
        objects.list(VolumeSnapshot, {}, signal),
        objects.list(resources.ObjectTransfer, {}, signal),
        listClaims(),
      ]);
      const names = [...snapshots, ...transfers, ...claims].map(({ metadata: { name } }) => name);
      return names.filter((name) => /^(?:tmp-snapshot|cdi-tmp)-/u.test(name));
    },
    claims: async () => (await listClaims()).map(({ metadata: { name } }) => name),
  };
}

async function setUp(
  { exports, handles: { kubernetes } }: CloneLab,
  api: Kubernetes,
  volumes: Volumes,
  bytes: Buffer,
): Promise<void> {
  await endRuns(exports);
  await setUpVolumes(api);
  await clear(kubernetes, api);
  await applyObject(api, claimObject({ ...image, size: '10Gi' }));
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await volumes.write(image, bytes);
    } catch (error) {
      // It is not bound yet.
      if (performance.now() > endMs) throw error;
      await delay(200);
    }
  }
}

/** No worker serves what an earlier demo left, so finalizers are removed by hand. */
async function clear(kubernetes: CloneLab['handles']['kubernetes'], api: Kubernetes): Promise<void> {
  const left = await openObjects(api).list(resources.DataVolume, {}, AbortSignal.timeout(patienceMs));
  for (const { metadata } of left)
    await kubectl(kubernetes, [
      'patch',
      'dv',
      metadata.name,
      '-n',
      metadata.namespace ?? namespace,
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ]);
  for (const of of Object.values(volumeFixture))
    await kubectl(kubernetes, ['delete', 'dv,volumesnapshot,pvc', '--all', '-n', of, '--timeout=25s']);
}

async function perform({ stage, lab, api, volumes, bytes }: Cast): Promise<Ending> {
  const { say, drover } = stage;
  const control = csiControl(lab.handles.csi);
  await control.clearCalls();
  const startedMs = performance.now();
  say(
    `\n1. ${clones.length} DataVolumes name ${nameOf(image)} as their source, one of them in namespace ${elsewhere.namespace}\n`,
  );
  await Promise.all(
    clones.map((of) => applyObject(api, dataVolumeObject({ ...of, from: { pvc: image }, size: null }))),
  );
  const made = await follow(stage, `${clones.length} DataVolumes that are complete`, async () => {
    const phases = await volumes.phases();
    const words = [...phases].map(([phase, count]) => `${count} ${phase}`).toSorted();
    return { isThere: phases.get('Succeeded') === clones.length, words: words.join(', ') };
  });
  const madeMs = performance.now() - startedMs;
  say();
  await drover('clones');
  say();
  await drover('describe', 'dv', nameOf(elsewhere));
  const held = made.length > 0 ? [] : await Promise.all(clones.map((of) => volumes.read(of)));
  const differing = clones.filter((_, index) => held[index]?.equals(bytes) === false).map(nameOf);
  const snapshots = await control.count('CreateSnapshot');
  const counted = snapshots === 1 ? 'one snapshot was taken' : `${snapshots} snapshots were taken`;
  if (held.length > 0 && differing.length === 0)
    say(`\nEach holds the ${imageBytes / 2 ** 20} MiB of its source, byte by byte; ${counted}.`);

  say('\n2. What was made for the clones alone goes when the last of them is complete\n');
  const cleaned = await follow(stage, 'nothing temporary', async () => {
    const names = await volumes.temporary();
    return { isThere: names.length === 0, words: names.join(', ') || 'nothing temporary' };
  });

  say('\n3. They are deleted, and their volumes with them\n');
  for (const { namespace: of, name } of clones)
    await kubectl(lab.handles.kubernetes, ['delete', 'dv', name, '-n', of, '--wait=false']);
  const removed = await follow(stage, `no PVC but ${image.name}`, async () => {
    const names = await volumes.claims();
    return { isThere: names.length === 1, words: `${names.length} PVCs` };
  });
  say(`
See also:
  Web UI    ${lab.handles.temporal.uiUrl}/namespaces/default/workflows?query=DroverKind%3D%22DataVolume%22
  drover    npm run --silent drover -- clones
  kubectl   kubectl get dv,pvc,volumesnapshots -A; kubectl get storageprofiles
In another terminal: eval "$(npm run --silent lab -- status)"`);
  return {
    wrong: [
      ...made,
      ...differing.map((name) => `${name} does not hold what its source does`),
      ...(snapshots <= 3 ? [] : [`${snapshots} snapshots were taken`]),
      ...cleaned,
      ...removed,
    ],
    summary: `${clones.length} clones in ${formatDuration(madeMs)} with ${snapshots === 1 ? 'one snapshot' : `${snapshots} snapshots`}, and nothing left of them`,
  };
}

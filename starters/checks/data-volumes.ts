import { clonePolicy, clonePolicyBinding } from '../../contracts/data-volume/clone-policy.ts';
import { clonePolicyName } from '../../contracts/data-volume/metadata.ts';
import type { Mode } from '../../contracts/kinds/kind.ts';
import { volumeSnapshot, volumeSnapshotClass, volumeSnapshotContent } from '../../contracts/kinds/storage-resources.ts';
import { isAsGenerated } from '../../runtime/kubernetes/generated-policy.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { storageResources } from '../../runtime/kubernetes/storage-resources.ts';
import { fail, type Finding, ok, warn } from './finding.ts';
import { isServed } from './kubernetes.ts';

/** What clones of volumes need besides (docs/data-volumes.md). */

/** What an operator can do without while drover only observes. */
const by = (mode: Mode) => (mode === 'act' ? fail : warn);

const snapshotKinds = [volumeSnapshot, volumeSnapshotClass, volumeSnapshotContent];

/** Without snapshots, volumes are cloned by drivers that clone, and else copied. */
export async function checkSnapshots(kubernetes: Kubernetes, mode: Mode, signal: AbortSignal): Promise<Finding[]> {
  const check = 'volume snapshots';
  const served = await Promise.all(snapshotKinds.map((kind) => isServed(kubernetes, kind, signal)));
  const missing = snapshotKinds.filter((_, index) => !served[index]);
  if (missing.length > 0)
    return [
      by(mode)(
        check,
        `kube-apiserver does not serve ${missing.map(({ kind }) => kind).join(', ')} as ${volumeSnapshot.group}/${volumeSnapshot.version}`,
        'Install the CRDs and the controller of kubernetes-csi/external-snapshotter.',
      ),
    ];
  try {
    return judgeSnapshotClasses(await readClasses(kubernetes, signal));
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return [
      warn(
        check,
        'which classes there are cannot be seen: they may not be listed',
        'Check it yourself: kubectl get storageclasses,volumesnapshotclasses',
      ),
    ];
  }
}

type Classes = Parameters<typeof judgeSnapshotClasses>[0];

async function readClasses(kubernetes: Kubernetes, signal: AbortSignal): Promise<Classes> {
  const client = openObjects(kubernetes);
  const [classes, drivers, snapshotClasses] = await Promise.all([
    client.listValid(storageResources.StorageClass, {}, signal),
    client.listValid(storageResources.CSIDriver, {}, signal),
    client.listValid(storageResources.VolumeSnapshotClass, {}, signal),
  ]);
  return {
    classes: classes.map(({ metadata, provisioner }) => ({ name: metadata.name, provisioner })),
    drivers: drivers.map(({ metadata }) => metadata.name),
    snapshotDrivers: snapshotClasses.map(({ driver }) => driver),
  };
}

/** Pure. */
export function judgeSnapshotClasses({
  classes,
  drivers,
  snapshotDrivers,
}: {
  classes: readonly { name: string; provisioner: string }[];
  /** Names of CSIDrivers. */
  drivers: readonly string[];
  /** Drivers of VolumeSnapshotClasses. */
  snapshotDrivers: readonly string[];
}): Finding[] {
  const check = 'volume snapshots';
  const used = [...new Set(classes.map(({ provisioner }) => provisioner))].filter((one) => drivers.includes(one));
  const without = used.filter((driver) => !snapshotDrivers.includes(driver));
  if (without.length === 0)
    return [
      used.length === 0
        ? warn(check, 'no StorageClass is of a CSI driver, so that no volume is cloned', 'Install a CSI driver.')
        : ok(check, `there is a VolumeSnapshotClass of ${used.join(', ')}`),
    ];
  return without.map((driver) => {
    const of = classes.filter(({ provisioner }) => provisioner === driver).map(({ name }) => name);
    return warn(
      `${check} of ${driver}`,
      `no VolumeSnapshotClass is of it: volumes of ${of.join(', ')} are not cloned by snapshots`,
      'Make a VolumeSnapshotClass of that driver, if it takes snapshots.',
    );
  });
}

/** Without it no DataVolume is cloned from another namespace: nothing proves that its creator may. */
export async function checkClonePolicy(kubernetes: Kubernetes, mode: Mode, signal: AbortSignal): Promise<Finding> {
  const check = 'admission policy of clones';
  const name = clonePolicyName;
  const client = openObjects(kubernetes);
  try {
    const [policy, binding] = await Promise.all([
      client.get(storageResources.ValidatingAdmissionPolicy, { name }, signal),
      client.get(storageResources.ValidatingAdmissionPolicyBinding, { name }, signal),
    ]);
    const wrong = [
      ...judgePart('ValidatingAdmissionPolicy', policy, isAsGenerated(policy?.spec, clonePolicy.spec, 'policy')),
      ...judgePart(
        'ValidatingAdmissionPolicyBinding',
        binding,
        isAsGenerated(binding?.spec, clonePolicyBinding.spec, 'binding'),
      ),
    ];
    return wrong.length === 0
      ? ok(check, `${name} is in force`)
      : by(mode)(
          check,
          `${wrong.join(', ')}: no DataVolume is cloned from another namespace`,
          '`kubectl apply --server-side -f deploy/admission/data-volumes.yaml` mends it; create DataVolumes that wait for it again.',
        );
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden')) throw error;
    return warn(
      check,
      'whether it is in force cannot be seen: it may not be read',
      `Check it yourself: kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings ${name}`,
    );
  }
}

function judgePart(kind: string, found: object | null, isCurrent: boolean): string[] {
  if (found === null) return [`there is no ${kind} ${clonePolicyName}`];
  return isCurrent ? [] : [`${kind} ${clonePolicyName} is another one than drover’s`];
}

/** Pure. @param image `dataVolumes.copyImage` */
export function judgeCopyImage(image: string | null): Finding {
  const check = 'image that copies volumes';
  if (image !== null && image !== '') return ok(check, image);
  return warn(
    check,
    'dataVolumes.copyImage is empty, so that a volume that the storage cannot clone is not copied either',
    'Name an image that has `drover copy-volume`, such as drover’s own.',
  );
}

import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import {
  no,
  requiredKeyNotFound,
  trueReason,
  virtualMachineConditions,
  yes,
} from '../../../contracts/virtual-machine/conditions.ts';
import { lackOfImage, readReasons } from '../../../contracts/virtual-machine/image-readiness.ts';
import type { Fetched, Lacking, ObservedImage, Prerequisites } from '../../../contracts/virtual-machine/observation.ts';

/** What a prerequisite comes to: its condition, or none. */
export interface Judged {
  type: string;
  /** Null: the spec does not ask for it, and its condition is taken away. */
  condition: ConditionUpdate | null;
}

const types = virtualMachineConditions;
const met = (type: string, message = ''): Judged => ({ type, condition: yes(type, trueReason, message) });
const unmet = (type: string, reason: string, message: string): Judged => ({
  type,
  condition: no(type, reason, message),
});
const none = (type: string): Judged => ({ type, condition: null });

/** An object that could not be read, with the message of the generic map. */
const unread = (type: string, fetched: Exclude<Fetched<unknown>, { kind: 'found' }>): Judged =>
  unmet(type, readReasons[fetched.kind], fetched.message);

/** Every prerequisite of a VM, all of them judged at once. */
export function judgePrerequisites(desired: DesiredVirtualMachine, given: Prerequisites): Judged[] {
  return [
    judgeClass(given),
    judgeImage(desired, given.image),
    judgePolicy(desired, given),
    judgeBootstrap(given),
    judgeStorage(desired, given),
    judgeNetwork(desired, given),
    judgeCdroms(desired, given),
  ];
}

/** A classless VM needs none. */
function judgeClass({ class: fetched }: Prerequisites): Judged {
  if (fetched === null) return none(types.classReady);
  if (fetched.kind !== 'found') return unread(types.classReady, fetched);
  const { name, refused } = fetched.value;
  return refused.length === 0
    ? met(types.classReady)
    : unmet(types.classReady, 'NotSupported', `VirtualMachineClass ${name}: ${refused.join('; ')}`);
}

function judgeImage({ image }: DesiredVirtualMachine, fetched: Fetched<ObservedImage> | null): Judged {
  const type = types.imageReady;
  if (image === null) return unmet(type, 'NotSet', 'spec.image names no image');
  const lacking = lackOfImage(image, fetched);
  return lacking === null ? met(type) : unmet(type, lacking.reason, lacking.message);
}

function judgePolicy({ clusterModule }: DesiredVirtualMachine, { resourcePolicy }: Prerequisites): Judged {
  const type = types.resourcePolicyReady;
  if (resourcePolicy === null) return none(type);
  if (resourcePolicy.kind !== 'found') return unread(type, resourcePolicy);
  const { name, deleting, modules, unmade } = resourcePolicy.value;
  if (deleting) return unmet(type, 'NotReady', `VirtualMachineSetResourcePolicy ${name} is being deleted`);
  if (unmade !== undefined)
    return unmet(type, 'NotReady', `VirtualMachineSetResourcePolicy ${name} is not made yet: ${unmade}`);
  if (clusterModule !== null && (modules[clusterModule] ?? null) === null)
    return unmet(type, 'NotReady', `VirtualMachineSetResourcePolicy ${name} has no module ${clusterModule} yet`);
  return met(type);
}

function judgeBootstrap({ bootstrap }: Prerequisites): Judged {
  const type = types.bootstrapReady;
  if (bootstrap === null) return none(type);
  if (bootstrap.kind !== 'found') return unread(type, bootstrap);
  const { missingKeys, isDefault } = bootstrap.value;
  if (isDefault) return none(type);
  return missingKeys.length === 0
    ? met(type)
    : unmet(type, requiredKeyNotFound, `There is no ${missingKeys.join(', ')}`);
}

function judgeStorage(
  { storageClass }: DesiredVirtualMachine,
  { storageClass: fetched, instanceStorageClass }: Prerequisites,
): Judged {
  const type = types.storageReady;
  if (storageClass === null) return unmet(type, 'StorageClassRequired', 'spec.storageClass names no storage class');
  if (fetched === null) return unmet(type, readReasons.failed, `StorageClass ${storageClass} was not read`);
  if (fetched.kind !== 'found') return unread(type, fetched);
  // A VM of it would not be encrypted, and nothing would show that.
  if (fetched.value.encrypted)
    return unmet(
      type,
      'NotSupported',
      `The storage policy of ${storageClass} encrypts, and drover does not encrypt VMs: name another class`,
    );
  if (fetched.value.unknownProfile === true)
    return unmet(
      type,
      'StoragePolicyNotFound',
      `vCenter has no storage policy ${fetched.value.profileId}: create it there, or make StorageClass ${storageClass} again with another storagePolicyID`,
    );
  if (instanceStorageClass !== undefined && instanceStorageClass.kind !== 'found')
    return unread(type, instanceStorageClass);
  return fetched.value.hasDatastore
    ? met(type)
    : unmet(type, 'DatastoreNotFound', `No datastore that can be reached has the storage policy of ${storageClass}`);
}

function judgeNetwork({ networkDisabled, networkCards }: DesiredVirtualMachine, { network }: Prerequisites): Judged {
  const type = types.networkReady;
  if (networkDisabled || networkCards.length === 0) return none(type);
  const missing = networkCards.flatMap(({ name }) => {
    const found = network?.interfaces.find((one) => one.name === name);
    return found === undefined || found.backing === null ? [`${name}: ${found?.message ?? 'it was not read'}`] : [];
  });
  return missing.length === 0 ? met(type) : unmet(type, 'NotReady', missing.join('; '));
}

/** A guest may boot from a drive, or find what sets it up there: without one of them no VM is made. */
function judgeCdroms({ cdroms }: DesiredVirtualMachine, given: Prerequisites): Judged {
  const type = types.cdromVerified;
  const lacking = lackOfIsos(cdroms, given);
  return lacking === null ? none(type) : unmet(type, lacking.reason, lacking.message);
}

/** What drives have no ISO, and why, with the reason of the first. Null: there are all. Pure. */
export function lackOfIsos(
  cdroms: DesiredVirtualMachine['cdroms'],
  { isos, lackingIsos = {} }: Pick<Prerequisites, 'isos' | 'lackingIsos'>,
): Lacking | null {
  const lacking = cdroms
    .filter(({ name }) => (isos[name] ?? null) === null)
    .map(({ name }) => ({ name, ...(lackingIsos[name] ?? { reason: 'NotReady', message: 'its image is not ready' }) }));
  const [first] = lacking;
  if (first === undefined) return null;
  return {
    reason: first.reason,
    message: lacking.map(({ name, message }) => `CD-ROM ${name}: ${message}`).join('; '),
    ...(lacking.some(({ mayPass }) => mayPass === true) && { mayPass: true as const }),
  };
}

/** What keeps a VM from being made, in a sentence; null: nothing. */
export function obstacleOf(judged: readonly Judged[]): { reason: string; message: string } | null {
  const [first, ...more] = judged.flatMap(({ condition }) =>
    condition === null || condition.status === 'True' ? [] : [condition],
  );
  if (first === undefined) return null;
  return {
    reason: first.reason,
    message: [first, ...more].map(({ type, reason, message }) => `${type} (${reason}): ${message}`).join('. '),
  };
}

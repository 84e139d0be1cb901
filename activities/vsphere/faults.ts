import type { ApplicationFailure } from '@temporalio/common';

import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import type { VimFault } from './wire/decode.ts';
import { lineage } from './wire/schema.ts';
import { isReference } from './wire/values.ts';

/**
 * What each fault of vSphere means; one that is not here means what the nearest that it extends does, and all else that
 * vCenter could not do it this time.
 */
export const meanings = {
  VsphereCredentialRefused: ['InvalidLogin', 'NotAuthenticated', 'PasswordExpired'],
  VsphereNotPermitted: ['NoPermission', 'SecurityError', 'RestrictedByAdministrator', 'AuthMinimumAdminPermission'],
  VsphereUnavailable: ['HostCommunication', 'HostConnectFault', 'Timedout', 'InvalidCollectorVersion'],
  VsphereBusy: [
    'ResourceInUse',
    'LimitExceeded',
    'FileLocked',
    'TooManyConcurrentNativeClones',
    'OperationDisallowedOnHost',
  ],
  VsphereResourcesExhausted: [
    'InsufficientResourcesFault',
    'InsufficientStorageSpace',
    'NoDiskSpace',
    'NotEnoughLicenses',
    'NotEnoughCpus',
    'NoCompatibleHost',
    'NoCompatibleDatastore',
    'RuleViolation',
    'HostInventoryFull',
    'NamespaceFull',
    'NoActiveHostInCluster',
  ],
  VsphereObjectNotFound: [
    'ManagedObjectNotFound',
    'NotFound',
    'InvalidFolder',
    'InvalidDatastore',
    'DatacenterMismatch',
    'FileNotFound',
  ],
  VsphereTaskCancelled: ['RequestCanceled'],
  VirtualMachineNameTaken: ['DuplicateName', 'AlreadyExists', 'FileAlreadyExists', 'VmAlreadyExistsInDatacenter'],
  VirtualMachineConflict: ['ConcurrentAccess', 'TaskInProgress', 'VAppOperationInProgress'],
  VirtualMachineStateRefused: [
    'InvalidState',
    'SnapshotFault',
    'MethodDisabled',
    'VmPowerOnDisabled',
    'CustomizationPending',
    'DeviceHotPlugNotSupported',
    'CpuHotPlugNotSupported',
    'MemoryHotPlugNotSupported',
  ],
  GuestToolsNotRunning: ['ToolsUnavailable', 'GuestOperationsUnavailable', 'GuestComponentsOutOfDate'],
  // What stays wrong when it is said again.
  RequestRefused: [
    'InvalidArgument',
    'InvalidRequest',
    'InvalidProperty',
    'InvalidName',
    'InvalidDatastorePath',
    'NotSupported',
    'NotImplemented',
    'VmConfigFault',
    'CustomizationFault',
    'MigrationFault',
    'OvfFault',
    'UnsupportedDatastore',
    'UnsupportedVmxLocation',
    'UnsupportedVimApiVersion',
  ],
  VsphereFailed: [
    'MethodFault',
    'GenericVmConfigFault',
    'UnexpectedCustomizationFault',
    'InaccessibleDatastore',
    'NotSupportedHost',
  ],
} as const satisfies Partial<Record<ErrorCode, readonly string[]>>;

const codes: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries(meanings).flatMap(([code, faults]) =>
    faults.map((fault) => [fault, code as keyof typeof meanings] as const),
  ),
);

/** What is gone, where that is more than “some object”. Those of a session go with it. */
const goneCodes: Readonly<Record<string, ErrorCode>> = {
  VirtualMachine: 'VirtualMachineNotFound',
  Task: 'VsphereTaskNotFound',
  ContainerView: 'VsphereUnavailable',
  PropertyCollector: 'VsphereUnavailable',
  PropertyFilter: 'VsphereUnavailable',
};

/** The row of the error table for a fault. */
export function faultCode({ type, fields }: Pick<VimFault, 'type' | 'fields'>): ErrorCode {
  const { obj } = fields;
  if (type === 'ManagedObjectNotFound' && isReference(obj)) return goneCodes[obj.type] ?? 'VsphereObjectNotFound';
  for (const name of lineage(type)) {
    const code = codes.get(name);
    if (code !== undefined) return code;
  }
  return 'VsphereFailed';
}

/** Of vCenter's own words: a fault may quote a whole specification. */
const longestWords = 600;

/**
 * A fault as a failure of the error table.
 *
 * @param what who said it and to what: `vCenter prod answered PowerOnVM_Task of vm-61`
 * @param isSecret what vCenter was given is secret, and it may repeat it: the failure states only the kind of the fault
 */
export function vimFailure(fault: VimFault, what: string, isSecret = false): ApplicationFailure {
  const { type, fields, words } = fault;
  if (isSecret)
    return droverFailure(
      faultCode(fault),
      `${what} with ${type === '' ? 'an unnamed fault' : type}. Its words may repeat secrets: they are left at vCenter`,
      { details: { fault: type } },
    );
  const said = redactedStart(words, longestWords);
  const quoted = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'string'
      ? `${name} ${redactedStart(value, 200)}`
      : isReference(value)
        ? `${name} ${value.value}`
        : [],
  );
  const name = type === '' ? 'an unnamed fault' : type;
  return droverFailure(
    faultCode(fault),
    `${what} with ${name}${quoted.length === 0 ? '' : ` (${quoted.join(', ')})`}${said === '' || said.includes(`types.${type}`) ? '' : `: ${said}`}`,
    {
      details: { fault: type },
    },
  );
}

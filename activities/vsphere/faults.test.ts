import type { ErrorCode } from '../../contracts/errors.ts';
import { failureCode } from '../../runtime/failure.ts';
import { faultCode, meanings, vimFailure } from './faults.ts';
import { fieldsOf, isKindOf } from './wire/schema.ts';
import { faultFamilies } from './wire/vim/fault-families.ts';

const every = Object.values(faultFamilies).flatMap((names) => names.split(' '));

test('every fault of vSphere has a meaning, and every one that is named is there', () => {
  expect(every.length).toBeGreaterThan(600);
  expect(new Set(every).size).toBe(every.length);
  for (const type of every) expect(isKindOf(type, 'MethodFault')).toBe(true);
  for (const named of Object.values(meanings).flat())
    expect({ named, known: named === 'MethodFault' || every.includes(named) }).toEqual({ named, known: true });
  for (const type of every) expect(fieldsOf(type)).toBeDefined();
});

test.each<[fault: string, code: ErrorCode]>([
  ['InvalidLogin', 'VsphereCredentialRefused'],
  ['NotAuthenticated', 'VsphereCredentialRefused'],
  ['PasswordExpired', 'VsphereCredentialRefused'],
  ['NoPermission', 'VsphereNotPermitted'],
  ['RestrictedVersion', 'VsphereNotPermitted'],
  ['HostNotConnected', 'VsphereUnavailable'],
  ['HostNotReachable', 'VsphereUnavailable'],
  ['Timedout', 'VsphereUnavailable'],
  ['ResourceInUse', 'VsphereBusy'],
  ['FileLocked', 'VsphereBusy'],
  ['InsufficientMemoryResourcesFault', 'VsphereResourcesExhausted'],
  ['InsufficientFailoverResourcesFault', 'VsphereResourcesExhausted'],
  ['NoDiskSpace', 'VsphereResourcesExhausted'],
  ['InsufficientStorageSpace', 'VsphereResourcesExhausted'],
  ['ManagedObjectNotFound', 'VsphereObjectNotFound'],
  ['FileNotFound', 'VsphereObjectNotFound'],
  ['InvalidDatastore', 'VsphereObjectNotFound'],
  ['InaccessibleDatastore', 'VsphereFailed'],
  ['RequestCanceled', 'VsphereTaskCancelled'],
  ['DuplicateName', 'VirtualMachineNameTaken'],
  ['FileAlreadyExists', 'VirtualMachineNameTaken'],
  ['ConcurrentAccess', 'VirtualMachineConflict'],
  ['TaskInProgress', 'VirtualMachineConflict'],
  ['VAppTaskInProgress', 'VirtualMachineConflict'],
  ['InvalidPowerState', 'VirtualMachineStateRefused'],
  ['QuestionPending', 'VirtualMachineStateRefused'],
  ['ToolsUnavailable', 'GuestToolsNotRunning'],
  ['InvalidArgument', 'RequestRefused'],
  ['InvalidDeviceSpec', 'RequestRefused'],
  ['MethodNotFound', 'RequestRefused'],
  ['NotSupported', 'RequestRefused'],
  ['CpuIncompatible', 'RequestRefused'],
  ['GenericVmConfigFault', 'VsphereFailed'],
  ['SystemError', 'VsphereFailed'],
  ['DatabaseError', 'VsphereFailed'],
  ['RuntimeFault', 'VsphereFailed'],
  ['OneOfNewerServers', 'VsphereFailed'],
  ['', 'VsphereFailed'],
])('%s', (type, code) => expect(faultCode({ type, fields: {} })).toBe(code));

test.each<[of: string, code: ErrorCode]>([
  ['VirtualMachine', 'VirtualMachineNotFound'],
  ['Task', 'VsphereTaskNotFound'],
  ['PropertyCollector', 'VsphereUnavailable'],
  ['ResourcePool', 'VsphereObjectNotFound'],
])('what is gone: a %s', (type, code) =>
  expect(faultCode({ type: 'ManagedObjectNotFound', fields: { obj: { type, value: 'x-1' } } })).toBe(code),
);

test('of what was given a secret, only the kind is told', () => {
  const failure = vimFailure(
    {
      type: 'InvalidArgument',
      words: 'no such user data: hunter2',
      fields: { invalidProperty: 'hunter2', obj: { type: 'VirtualMachine', value: 'hunter2' } },
    },
    'vCenter prod answered ReconfigVM_Task of vm-1',
    true,
  );
  expect(failure.message).toMatch(/^vCenter prod answered ReconfigVM_Task of vm-1 with InvalidArgument\. /u);
  expect(JSON.stringify([failure.message, failure.details, failure.cause])).not.toContain('hunter2');
});

test('a failure says who said what of which', () => {
  const failure = vimFailure(
    {
      type: 'InvalidPowerState',
      words: '*types.InvalidPowerState',
      fields: { requestedState: 'poweredOn', existingState: 'suspended' },
    },
    'vCenter prod answered PowerOnVM_Task of vm-1',
  );
  expect(failure.message).toMatch(
    /^vCenter prod answered PowerOnVM_Task of vm-1 with InvalidPowerState \(requestedState poweredOn, existingState suspended\)\. /u,
  );
  expect(failureCode(failure)).toBe('VirtualMachineStateRefused');
});

test('words are cut, however long', () => {
  expect(
    vimFailure({ type: 'SystemError', words: 'x'.repeat(100_000), fields: { reason: 'y'.repeat(100_000) } }, 'it')
      .message.length,
  ).toBeLessThan(1_200);
});

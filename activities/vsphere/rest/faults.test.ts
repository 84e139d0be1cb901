import type { ErrorCode } from '../../../contracts/errors.ts';
import { codeOfType, restCode, restMeanings } from './faults.ts';

const rows: [status: number, type: string, code: ErrorCode][] = [
  [400, 'com.vmware.vapi.std.errors.already_exists', 'VirtualMachineNameTaken'],
  [500, 'com.vmware.vapi.std.errors.unable_to_allocate_resource', 'VsphereResourcesExhausted'],
  [500, 'com.vmware.vapi.std.errors.resource_busy', 'VsphereBusy'],
  [400, 'com.vmware.vapi.std.errors.invalid_argument', 'RequestRefused'],
  // Only the status decides.
  [400, 'com.vmware.vapi.std.errors.something_new', 'RequestRefused'],
  [404, '', 'VsphereObjectNotFound'],
  [403, '', 'VsphereNotPermitted'],
  [429, '', 'VsphereUnavailable'],
  [502, '', 'VsphereUnavailable'],
  [302, '', 'AnswerMalformed'],
];
test.each(rows)('%i %s is %s', (status, type, code) => expect(restCode(status, type)).toBe(code));

test('an error has one meaning, and an unknown one has none', () => {
  const all = Object.values(restMeanings).flat();
  expect(new Set(all).size).toBe(all.length);
  expect(codeOfType('com.vmware.vapi.std.errors.error')).toBeNull();
  expect(codeOfType('')).toBeNull();
});

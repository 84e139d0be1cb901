import type { ErrorCode } from './errors.ts';
import { errors, mayPass } from './errors.ts';

const ofVms = (Object.keys(errors) as ErrorCode[]).filter((code) => /^(?:Vsphere|VirtualMachine)/u.test(code));

test.each(ofVms)('%s is tried again where its advice says so', (code) => {
  const { advice } = errors[code];
  expect([code, mayPass(code)]).toEqual([
    code,
    /drover (?:tries|looks|reads)\b.*\bagain/u.test(advice) || errors[code].retryable,
  ]);
});

test('what a person has to put right in the object is not', () => {
  expect(
    (
      ['InvalidInput', 'InvalidObject', 'RequestRefused', 'VirtualMachineNameTaken', 'VsphereTaskCancelled'] as const
    ).filter(mayPass),
  ).toEqual([]);
});

import { goesOn } from './storage-answers.ts';

const called = 'failed to provision volume with StorageClass "fast": rpc error:';

test.each([
  [`${called} code = Aborted desc = a flatten is under way`, true],
  [`${called} code = ResourceExhausted desc = no room`, true],
  [`${called} code = Internal desc = the disk is broken`, false],
  // What has called it puts its own before.
  ['code = Internal desc = the call failed: rpc error: code = Unavailable desc = no connection', true],
  ['code = Aborted desc = the call failed: rpc error: code = InvalidArgument desc = too small', false],
  [
    'Operation cannot be fulfilled on volumesnapshots.snapshot.storage.k8s.io "tmp": the object has been modified; please apply your changes to the latest version and try again',
    true,
  ],
  ['snapshot tmp not bound', false],
])('%s: goes on by itself: %p', (message, expected) => {
  expect(goesOn(message)).toBe(expected);
});

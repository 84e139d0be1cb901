import { goesOn, isNews } from './storage-answers.ts';

const aborted = 'failed to take snapshot: "rpc error: code = Aborted desc = flatten in progress"';
const exhausted = 'rpc error: code = ResourceExhausted desc = flattening';
const conflict =
  'Operation cannot be fulfilled on volumesnapshots "s": the object has been modified; please apply your changes to the latest version and try again';
const internal = 'rpc error: code = Internal desc = out of luck';

test.each([
  [aborted, true],
  [exhausted, true],
  ['rpc error: code = Unavailable desc = connection refused', true],
  ['rpc error: code = DeadlineExceeded desc = context deadline exceeded', true],
  ['rpc error: code = Aborted desc = rpc error: code = InvalidArgument desc = no', false],
  [internal, false],
  ['no code at all', false],
  [conflict, true],
])('%s goes on by itself: %s', (message, is) => {
  expect(goesOn(message)).toBe(is);
});

test.each<[problem: string | null, known: string | null, is: boolean]>([
  [null, null, false],
  [internal, null, true],
  [internal, internal, false],
  [null, internal, true],
  [aborted, null, true],
  [exhausted, aborted, false],
  [null, aborted, false],
  [internal, aborted, true],
  [aborted, internal, true],
  [conflict, null, false],
  [conflict, internal, false],
  [internal, conflict, true],
])('%s after %s is news: %s', (problem, known, is) => {
  expect(isNews(problem, known)).toBe(is);
});

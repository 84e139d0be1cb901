import type { Problem } from '../lib/failures.ts';
import { endsRun } from './drive.ts';

const problem = (code: Problem['code']): Problem => ({ code, reason: code ?? 'TimedOut', message: 'why' });

type Row = [what: string, code: Problem['code'], inFlight: number, ends: boolean];
const rows: Row[] = [
  ['what waiting does not mend ends the run', 'HostNotFound', 0, true],
  ['but not while servers move: each is watched to its end first', 'HostNotFound', 1, false],
  ['an outage ends nothing', 'NovaUnavailable', 0, false],
  ['nor does what is no row of the error table', null, 0, false],
];
test.each(rows)('%s', (_what, code, inFlight, ends) => expect(endsRun(problem(code), inFlight)).toBe(ends));

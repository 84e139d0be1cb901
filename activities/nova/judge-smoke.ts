import type { ErrorCode } from '../../contracts/errors.ts';
import type { InstanceDetail } from './types.ts';

/** One question of the test, and what came of it. */
export interface SmokeFinding {
  name: string;
  /** What should be, as a person says it. */
  expectation: string;
  seen: string;
  /** The row of the error table that it fails with; null: as expected. */
  code: ErrorCode | null;
}

export interface SmokeView {
  /** Null: it is gone. */
  server: Pick<InstanceDetail, 'status' | 'host' | 'taskState' | 'fault'> | null;
  /** Null: not asked for, or there is none yet. */
  console: string | null;
}

export interface SmokeExpectation {
  name: string;
  host: string;
  /** What its console must show; null: nothing is asked of it. */
  console: string | null;
}

/** How much of a console a finding quotes. */
const longestQuote = 200;

/**
 * What a look at a test server shows. Pure. `over`: looking again cannot make it better.
 */
export function judgeSmoke(
  { server, console }: SmokeView,
  expected: SmokeExpectation,
): { findings: SmokeFinding[]; over: boolean } {
  const runs = { name: 'server', expectation: `server ${expected.name} ACTIVE on ${expected.host}` };
  if (server === null)
    return { over: true, findings: [{ ...runs, seen: 'it was deleted by somebody else', code: 'SmokeServerFailed' }] };
  const seen = `${server.status}${server.taskState === null ? '' : ` (${server.taskState})`} on ${server.host ?? 'no host'}${server.fault === null ? '' : `: ${server.fault}`}`;
  const isElsewhere = server.host !== null && server.host !== expected.host;
  if (server.status !== 'ACTIVE' || isElsewhere)
    return {
      over: server.status === 'ERROR' || server.taskState === 'deleting' || isElsewhere,
      findings: [{ ...runs, seen, code: 'SmokeServerFailed' }],
    };
  const active: SmokeFinding = { ...runs, seen, code: null };
  if (expected.console === null) return { over: true, findings: [active] };
  const shows = { name: 'console', expectation: `“${expected.console}” on its console` };
  if (console?.includes(expected.console))
    return { over: true, findings: [active, { ...shows, seen: 'it is there', code: null }] };
  const quote =
    console === null
      ? 'no console'
      : console.trim() === ''
        ? 'an empty console'
        : `“…${console.trim().slice(-longestQuote)}”`;
  return {
    over: false,
    findings: [active, { ...shows, seen: quote, code: console === null ? 'ConsoleUnavailable' : 'SmokeServerFailed' }],
  };
}

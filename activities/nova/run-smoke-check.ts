import type { ErrorCode } from '../../contracts/errors.ts';
import { failureCode } from '../../runtime/failure.ts';
import { growingDelayMs, waitFor, whileBeating } from '../lib/wait.ts';
import { wordsOf } from '../openstack/faults.ts';
import type { Tools } from './dependencies.ts';
import { type SmokeServerRequest, ensureSmokeServer, ensureSmokeServerGone, smokeServerName } from './smoke-server.ts';
import type { InstanceDetail } from './types.ts';

export interface SmokeCheckRequest extends SmokeServerRequest {
  /**
   * What the console must show: `hostname`, its own name, which an image with a login prompt shows; or a
   * text; null: nothing.
   */
  console: 'hostname' | { text: string } | null;
  /** For the server to come up, from now; no longer than leaves `cleanUpMs` of the attempt. */
  deadlineMs: number;
  /** For it to be gone again. */
  cleanUpMs: number;
}

/** As many lines as a boot of a small image writes after its kernel. */
const consoleLines = 200;

/**
 * Starts a server on a host, waits until it is ACTIVE and its console shows that it has booted, and deletes it. What is
 * wrong with the host is a finding, not a failure. Safe to repeat and to run twice at once. Where it is cancelled the
 * server stays: `ensureSmokeServerGone` takes it away.
 *
 * @throws Stopped, and what every request to Nova may throw
 */
export function runSmokeCheck(tools: Tools, request: SmokeCheckRequest): Promise<SmokeFinding[]> {
  const { host } = request.owner;
  const name = smokeServerName(host);
  const expected = { name, host, console: request.console === 'hostname' ? name : (request.console?.text ?? null) };
  return whileBeating(
    tools,
    () => undefined,
    async () => {
      const { ids, findings } = await tryIt(tools, request, expected);
      // No others: another attempt of the same check may be at work with its own.
      const isGone = await ensureSmokeServerGone(tools, { host, ids, deadlineMs: request.cleanUpMs });
      return isGone
        ? findings
        : [
            ...findings,
            {
              name: 'clean-up',
              expectation: `server ${name} deleted`,
              observed: `it is still there after ${request.cleanUpMs / 1_000} s`,
              code: 'SmokeServerFailed',
            },
          ];
    },
  );
}

/** What was observed, and the servers that it was observed of. */
async function tryIt(
  tools: Tools,
  request: SmokeCheckRequest,
  expected: SmokeExpectation,
): Promise<{ findings: SmokeFinding[]; ids: string[] }> {
  try {
    const { id } = await ensureSmokeServer(tools, request);
    const first = await watch(tools, id, expected, request);
    if (!first.isGone) return { findings: first.findings, ids: [id] };
    // Another attempt of the same check has come to its end and taken the server along.
    const another = await ensureSmokeServer(tools, request);
    return { findings: (await watch(tools, another.id, expected, request)).findings, ids: [id, another.id] };
  } catch (error) {
    const code = failureCode(error);
    if (code !== 'SmokeServerRefused') throw error;
    return {
      ids: [],
      findings: [
        {
          name: 'server',
          expectation: `Nova takes the request for server ${expected.name} on ${expected.host}`,
          observed: wordsOf(error),
          code,
        },
      ],
    };
  }
}

interface Watched {
  findings: SmokeFinding[];
  isGone: boolean;
}

function watch(
  tools: Tools,
  id: string,
  expected: SmokeExpectation,
  { deadlineMs, cleanUpMs }: Pick<SmokeCheckRequest, 'deadlineMs' | 'cleanUpMs'>,
): Promise<Watched> {
  const { nova, scope, clock } = tools;
  const sinceMs = clock.now();
  return waitFor<Watched>({
    scope,
    clock,
    async observe() {
      const server = await nova.server(id, scope.signal);
      const view: SmokeView = {
        server,
        console: server?.status === 'ACTIVE' && expected.console !== null ? await readConsole(tools, id) : null,
      };
      const { findings, over } = judgeSmoke(view, expected);
      const waitedMs = clock.now() - sinceMs;
      if (over || waitedMs >= deadlineMs || clock.now() >= scope.deadlineMs - cleanUpMs)
        return { done: { findings, isGone: server === null || server.taskState === 'deleting' } };
      return { againMs: growingDelayMs(waitedMs) };
    },
  });
}

/** Null where there is none yet. */
async function readConsole({ nova, scope }: Tools, id: string): Promise<string | null> {
  try {
    return await nova.consoleOutput(id, consoleLines, scope.signal);
  } catch (error) {
    if (failureCode(error) === 'ConsoleUnavailable' || failureCode(error) === 'InstanceNotFound') return null;
    throw error;
  }
}

/** One question of the test, and what came of it. */
interface SmokeFinding {
  name: string;
  /** What should be, as a person says it. */
  expectation: string;
  observed: string;
  /** The row of the error table that it fails with; null: as expected. */
  code: ErrorCode | null;
}

export interface SmokeView {
  /** Null: it is gone. */
  server: Pick<InstanceDetail, 'status' | 'host' | 'taskState' | 'fault'> | null;
  /** Null: not asked for, or there is none yet. */
  console: string | null;
}

interface SmokeExpectation {
  name: string;
  host: string;
  /** What its console must show; null: nothing is asked of it. */
  console: string | null;
}

/** How much of a console a finding quotes. */
const longestQuote = 200;

/**
 * Judges an observation of a test server. Pure. `over`: another observation cannot change the verdict.
 */
export function judgeSmoke(
  { server, console }: SmokeView,
  expected: SmokeExpectation,
): { findings: SmokeFinding[]; over: boolean } {
  const runs = { name: 'server', expectation: `server ${expected.name} ACTIVE on ${expected.host}` };
  if (server === null)
    return {
      over: true,
      findings: [{ ...runs, observed: 'something else deleted it', code: 'SmokeServerFailed' }],
    };
  const observed = `${server.status}${server.taskState === null ? '' : ` (${server.taskState})`} on ${server.host ?? 'no host'}${server.fault === null ? '' : `: ${server.fault}`}`;
  const isElsewhere = server.host !== null && server.host !== expected.host;
  if (server.status !== 'ACTIVE' || isElsewhere)
    return {
      over: server.status === 'ERROR' || server.taskState === 'deleting' || isElsewhere,
      findings: [{ ...runs, observed, code: 'SmokeServerFailed' }],
    };
  const active: SmokeFinding = { ...runs, observed, code: null };
  if (expected.console === null) return { over: true, findings: [active] };
  const shows = { name: 'console', expectation: `“${expected.console}” on its console` };
  if (console?.includes(expected.console))
    return { over: true, findings: [active, { ...shows, observed: 'it is there', code: null }] };
  const quote =
    console === null
      ? 'no console'
      : console.trim() === ''
        ? 'an empty console'
        : `“…${console.trim().slice(-longestQuote)}”`;
  return {
    over: false,
    findings: [
      active,
      { ...shows, observed: quote, code: console === null ? 'ConsoleUnavailable' : 'SmokeServerFailed' },
    ],
  };
}

import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { traceCall } from './tracing.ts';

export type OutsideSystem =
  | 'keystone'
  | 'nova'
  | 'placement'
  | 'neutron'
  | 'cinder'
  | 'glance'
  | 'kubernetes'
  | 'libvirt'
  | 'ovs'
  | 'ceph'
  | 'redfish'
  | 'vsphere'
  | 'iso';

/** One request to another system. */
export interface OutsideCall {
  system: OutsideSystem;
  /**
   * What is done, without the names and ids of what it is done to: `POST /servers/{id}/action os-migrateLive`,
   * `list evictions`.
   */
  verb: string;
}

/** What came of it. No answer: the connection failed, or it took too long. Cancelled: drover itself gave it up. */
export type CallOutcome =
  | 'ok'
  | 'refused'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'throttled'
  | 'server_error'
  | 'no_answer'
  | 'cancelled';

/** Those that say that the system does not work, rather than that it says no. */
export const failingOutcomes: readonly CallOutcome[] = ['unauthorized', 'throttled', 'server_error', 'no_answer'];

export interface CallEnd {
  outcome: CallOutcome;
  /** HTTP status; null where no answer came. */
  status: number | null;
  /** The system's own id of the request; empty where it gives none. */
  requestId: string;
  seconds: number;
}

/** Called after every call, in the place where requests are sent. */
export type ObserveCall = (call: OutsideCall, end: CallEnd) => void;

export function outcomeOf(status: number): CallOutcome {
  if (status < 400) return 'ok';
  if (status >= 500) return 'server_error';
  const known: Partial<Record<number, CallOutcome>> = {
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    409: 'conflict',
    429: 'throttled',
  };
  return known[status] ?? 'refused';
}

/**
 * Sends an HTTP request, and reports how it ended. What it throws is thrown on.
 *
 * @param send gets headers to send along: those of the trace, if there is one
 */
export const observed = <Answer extends { status: number; requestId: string }>(
  observe: ObserveCall | undefined,
  call: OutsideCall,
  signal: AbortSignal,
  send: (headers: Record<string, string>) => Promise<Answer>,
): Promise<Answer> =>
  observedAs(observe, call, signal, send, ({ status, requestId }) => ({
    outcome: outcomeOf(status),
    status,
    requestId,
  }));

/** The same for any protocol: `outcomeOf` says what its answer means. */
export async function observedAs<Answer>(
  observe: ObserveCall | undefined,
  call: OutsideCall,
  signal: AbortSignal,
  send: (headers: Record<string, string>) => Promise<Answer>,
  outcomeOf: (answer: Answer) => Omit<CallEnd, 'seconds'>,
): Promise<Answer> {
  const startedMs = performance.now();
  const { system, verb } = call;
  const span = traceCall(`${system} ${verb}`, { 'peer.service': system });
  const end = (outcome: CallOutcome, status: number | null, requestId: string): void => {
    span.end(failingOutcomes.includes(outcome), {
      'drover.outcome': outcome,
      'drover.request_id': requestId,
      ...(status === null ? {} : { 'http.response.status_code': status }),
    });
    observe?.(call, { outcome, status, requestId, seconds: (performance.now() - startedMs) / 1_000 });
  };
  try {
    const answer = await send(span.headers);
    const { outcome, status, requestId } = outcomeOf(answer);
    end(outcome, status, requestId);
    return answer;
  } catch (error) {
    end(signal.aborted ? 'cancelled' : 'no_answer', null, '');
    throw error;
  }
}

/**
 * Counts calls and logs them: failing ones as warnings, all others for who asks for `debug`.
 *
 * @param about what the line shall say of who calls: run and activity, where there is one
 */
export const callObserver =
  (metrics: Metrics, log: Logger, about: () => object = () => ({})): ObserveCall =>
  ({ system, verb }, { outcome, status, requestId, seconds }) => {
    metrics.count('outsideCalls', { system, verb, outcome });
    metrics.observe('outsideCallSeconds', { system, verb }, seconds);
    const level = failingOutcomes.includes(outcome) ? 'warn' : 'debug';
    log[level](
      { ...about(), system, verb, outcome, status, requestId, ms: Math.round(seconds * 1_000) },
      `${system}: ${verb}: ${outcome}`,
    );
  };

import type { FaultRule, RecordedRequest, WireFault } from '../../../lab/vsphere/control.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { VsphereFault } from './fault.ts';

interface Arrived extends Pick<RecordedRequest, 'method' | 'soapAction'> {
  body: () => string;
  status: number;
}

/** What stands before the methods: the record of requests, and the faults that a test asked for. */
export interface FrontDoor {
  arrive(request: Omit<Arrived, 'status'>): Arrived;
  /**
   * One call with what a test wants to become of it.
   *
   * @param lost what the client throws when the connection is cut
   * @param refused what it throws for a status without an answer
   */
  pass<Answer>(
    method: string,
    clock: Clock,
    signal: AbortSignal,
    lost: () => Error,
    refused: (status: number) => Error,
    call: () => Promise<Answer>,
  ): Promise<Answer>;
  /** @throws VsphereFault where a test asked for one */
  refuse(method: string): void;
  onSessionsEnd(listener: () => void): () => void;

  fail(rule: FaultRule): void;
  inject(fault: WireFault): void;
  /** How many clients had one. */
  endSessions(): number;
  requests(): RecordedRequest[];
  clearRequests(): void;
  clearFaults(): void;
}

const mostRequests = 20_000;

export function openFrontDoor(): FrontDoor {
  const listeners = new Set<() => void>();
  const requests: Arrived[] = [];
  const rules: { rule: FaultRule; skip: number; count: number }[] = [];
  const wireFaults: { fault: WireFault; skip: number; count: number }[] = [];

  const take = <Rule extends { skip: number; count: number }>(
    all: readonly Rule[],
    isMeant: (rule: Rule) => boolean,
  ): Rule | null => {
    for (const rule of all) {
      if (!isMeant(rule) || rule.count === 0) continue;
      if (rule.skip > 0) {
        rule.skip -= 1;
        continue;
      }
      rule.count -= 1;
      return rule;
    }
    return null;
  };
  return {
    arrive(request) {
      const arrived = { ...request, status: 0 };
      requests.push(arrived);
      if (requests.length > mostRequests) requests.shift();
      return arrived;
    },
    async pass(method, clock, signal, lost, refused, call) {
      const isSoap = !method.includes(' ');
      const matched = take(
        wireFaults,
        ({ fault }) => fault.method === method || (fault.method === undefined && isSoap),
      )?.fault;
      const injectWireFault = async (): Promise<void> => {
        if (matched?.does === 'cut') throw lost();
        if (matched?.does === 'status') throw refused(matched.status ?? 503);
        if (matched?.does === 'delay') await clock.sleep(matched.delayMs ?? 0, signal);
        if (matched?.does === 'hang') await untilAborted(signal);
      };
      if (matched?.after !== true) await injectWireFault();
      const answer = await call();
      if (matched?.after === true) await injectWireFault();
      return answer;
    },
    refuse(method) {
      const found = take(rules, ({ rule }) => rule.method === method);
      if (found !== null) throw new VsphereFault(found.rule.fault, found.rule.fields ?? {});
    },
    onSessionsEnd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    fail: (rule) => void rules.push({ rule, skip: rule.skip ?? 0, count: rule.count ?? 1 }),
    inject: (fault) => void wireFaults.push({ fault, skip: fault.skip ?? 0, count: fault.count ?? 1 }),
    endSessions() {
      for (const listener of listeners) listener();
      return listeners.size;
    },
    requests: () =>
      requests.map(({ method, soapAction, body, status }) => ({
        method,
        soapAction,
        hasSession: true,
        body: body(),
        status,
      })),
    clearRequests: () => void requests.splice(0),
    clearFaults() {
      rules.splice(0);
      wireFaults.splice(0);
      requests.splice(0);
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

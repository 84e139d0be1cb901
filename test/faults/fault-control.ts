import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Order } from './faults.ts';
import type { Call, Roles } from './step.ts';
import { nameSteps } from './step.ts';

/** Where in an attempt the worker asks. */
export type Moment = 'before' | 'after';

export interface Question {
  moment: Moment;
  call: Call;
}

/** One fault at one step. The worker waits while `action` is under way. */
export interface Injection {
  step: string;
  order: Order;
  action(call: Call): Promise<void>;
}

/** One run of a scenario, as the worker tells of it. */
export interface Recording {
  /** Every call that began, in order; further attempts are not repeated. */
  readonly steps: readonly string[];
  /** The calls that got their faults, by step. */
  readonly injected: ReadonlyMap<string, Call>;
  /** What went wrong while a fault was injected. */
  readonly failure: Error | null;
}

/**
 * Stands between the runs of one worker and their activities: hears of each call, and tells what is to become of it.
 */
export interface FaultControl {
  url: string;
  /** From now on calls are named by these roles, and the targeted ones get their faults. */
  record(roles: Roles, injections: readonly Injection[]): Recording;
  close(): Promise<void>;
}

export async function openFaultControl(): Promise<FaultControl> {
  let answer: (question: Question) => Promise<Order> = async () => 'pass';
  const server = createServer((request, response) => {
    void text(request)
      .then((body) => answer(JSON.parse(body) as Question))
      .then((order) => response.end(order))
      // The worker that asked is dead.
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    record(roles, injections) {
      const { recording, decide } = startRecording(roles, injections);
      answer = decide;
      return recording;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What {@link FaultControl.record} does, wherever the worker is. */
export function startRecording(
  roles: Roles,
  injections: readonly Injection[],
): { recording: Recording; decide: (question: Question) => Promise<Order> } {
  const nameOf = nameSteps(roles);
  const byStep = new Map(injections.map((injection) => [injection.step, injection]));
  const recording = { steps: [] as string[], injected: new Map<string, Call>(), failure: null as Error | null };
  const act = async (injection: Injection, call: Call): Promise<void> => {
    await injection.action(call).catch((error: unknown) => void (recording.failure = error as Error));
  };
  return {
    recording,
    async decide({ moment, call }) {
      const step = nameOf(call);
      if (step === null) return 'pass';
      if (moment === 'before' && call.attempt === 1) recording.steps.push(step);
      const injection = byStep.get(step);
      if (injection === undefined || call.attempt > 1) return 'pass';
      if (moment === 'after') {
        await act(injection, call);
        return 'pass';
      }
      recording.injected.set(step, call);
      if (injection.order === 'pass') await act(injection, call);
      return injection.order;
    },
  };
}

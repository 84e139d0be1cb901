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

/** One fault at one step. The worker waits while `strike` is under way. */
export interface Aim {
  step: string;
  order: Order;
  strike(call: Call): Promise<void>;
}

/** One run of a scenario, as the worker tells of it. */
export interface Recording {
  /** Every call that began, in order; further attempts are not repeated. */
  readonly steps: readonly string[];
  /** The call that was struck; null: none yet. */
  readonly struck: Call | null;
  /** What went wrong while striking. */
  readonly failure: Error | null;
}

/** Stands between the runs of one worker and their activities: hears of each call, and tells what is to become of it. */
export interface Switchboard {
  url: string;
  /** From now on calls are named by these roles, and the one that is aimed at is struck. */
  record(roles: Roles, aim: Aim | null): Recording;
  close(): Promise<void>;
}

export async function openSwitchboard(): Promise<Switchboard> {
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
    record(roles, aim) {
      const { recording, decide } = startRecording(roles, aim);
      answer = decide;
      return recording;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Exported for its test. */
export function startRecording(roles: Roles, aim: Aim | null): { recording: Recording; decide: (question: Question) => Promise<Order> } {
  const nameOf = nameSteps(roles);
  const recording = { steps: [] as string[], struck: null as Call | null, failure: null as Error | null };
  const strike = async (call: Call): Promise<void> => {
    await aim?.strike(call).catch((error: unknown) => void (recording.failure = error as Error));
  };
  return {
    recording,
    async decide({ moment, call }) {
      const step = nameOf(call);
      if (step === null) return 'pass';
      if (moment === 'before' && call.attempt === 1) recording.steps.push(step);
      if (aim === null || step !== aim.step || call.attempt > 1) return 'pass';
      if (moment === 'after') {
        await strike(call);
        return 'pass';
      }
      recording.struck = call;
      if (aim.order === 'pass') await strike(call);
      return aim.order;
    },
  };
}

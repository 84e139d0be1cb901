import { ApplicationFailure } from '@temporalio/common';
import type { Context } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import type { Order } from './faults.ts';
import type { Call } from './step.ts';
import type { Moment } from './fault-control.ts';

/** Longer than Temporal's patience with any call. */
const hangMs = 180_000;

/** What stands before an activity in the place of its own code, which `next` runs; undefined: its own. */
export type Mutation = (
  activity: string,
  args: readonly unknown[],
  next: (args: unknown[]) => Promise<unknown>,
) => (() => Promise<unknown>) | undefined;

/** Asks the faultControl about every attempt of every activity, and does as it is told. */
export const gate =
  (url: string, mutate: Mutation = () => undefined) =>
  (context: Context): { inbound: ActivityInboundCallsInterceptor } => {
    const { workflowExecution, activityId, activityType, attempt } = context.info;
    const call: Call = {
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      activityId,
      activity: activityType,
      attempt,
    };
    return {
      inbound: {
        async execute(input, next) {
          const order = await ask(url, 'before', call);
          if (order === 'failBefore') throw injected(`${activityType} fails before its effect`);
          if (order === 'hang') return await hang(context.cancellationSignal);
          const result = await (mutate(activityType, input.args, (args) => next({ ...input, args }))?.() ??
            next(input));
          if (order === 'failAfter') throw injected(`${activityType} fails after its effect`);
          if (order === 'holdAfter') await ask(url, 'after', call);
          return result;
        },
      },
    };
  };

const injected = (message: string): ApplicationFailure =>
  ApplicationFailure.retryable(`Injected: ${message}`, 'InjectedFault');

async function ask(url: string, moment: Moment, call: Call): Promise<Order> {
  const answer = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ moment, call }),
    signal: AbortSignal.timeout(60_000),
  });
  return (await answer.text()) as Order;
}

/** Without a heartbeat, whatever is asked of it; ends when the worker does. */
function hang(stopped: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(injected('hung'));
  const timer = setTimeout(end, hangMs);
  stopped.addEventListener('abort', () => (clearTimeout(timer), end()), { once: true });
  return promise;
}

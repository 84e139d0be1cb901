import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';

/** What users do with the sample workflows: the same on a real server and on the simulated one. */

export interface Server {
  client: Client;
  /** Of a worker with the sample workflows and their activities. */
  taskQueue: string;
  /** Lets so much time pass: real, or virtual. */
  sleep: (ms: number) => Promise<void>;
}

export interface Scenario {
  name: string;
  /** Ids of the workflows whose histories are compared, without the scenario's prefix. */
  workflowIds: readonly string[];
  /** Runs it, until all its runs are closed. `id` gives the id of a workflow of this scenario. */
  run: (server: Server, id: (name?: string) => string) => Promise<unknown>;
}

/** Between two looks. */
const pollMs = 50;

const options = ({ taskQueue }: Server, workflowId: string, more: Partial<WorkflowStartOptions> = {}) => ({
  workflowId,
  taskQueue,
  args: [],
  ...more,
});
const start = (server: Server, type: string, workflowId: string, ...args: unknown[]) =>
  server.client.workflow.start(type, options(server, workflowId, { args }));
/** Started and scheduled; the task started and completed. */
const eventsOfFirstTask = 4;
/** Waits until the last run of the workflow has completed a task, and has nothing to tell a worker. */
async function idle({ client, sleep }: Server, workflowId: string): Promise<void> {
  for (;;) {
    const { raw, status, historyLength } = await client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => notYet);
    const isClosed = status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW';
    if (isClosed || (historyLength >= eventsOfFirstTask && !raw?.pendingWorkflowTask)) return;
    await sleep(pollMs);
  }
}

const notYet = { raw: null, status: { name: 'RUNNING' }, historyLength: 0 } as const;

/** Waits until the history has so many tasks that failed, or whose worker died. */
async function failed({ client, sleep }: Server, workflowId: string, count: number): Promise<void> {
  for (;;) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const ends = (events ?? []).filter(
      (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes,
    );
    if (ends.length >= count) return;
    await sleep(pollMs);
  }
}

const complete = async (server: Server, type: string, workflowId: string, ...args: unknown[]): Promise<unknown> =>
  await (await start(server, type, workflowId, ...args)).result();
const ignore = (): undefined => undefined;

/** A scenario of one workflow, that is started and completes. */
const completes = (type: string, args: readonly unknown[] = [], name = type): Scenario => ({
  name,
  workflowIds: [''],
  run: (server, id) => complete(server, type, id(), ...args),
});

const cancelsChild = (type: string, afterMs: number, openMs = 0): Scenario => ({
  name: `cancelsChild-${type}-${afterMs}-${openMs}`,
  workflowIds: ['', '/child'],
  async run(server, id) {
    await complete(server, 'cancelsChild', id(), type, afterMs, openMs);
    const child = server.client.workflow.getHandle(id('/child'));
    if (afterMs > 0) await idle(server, id('/child'));
    // It is not cancelled where no run waits for that: its parent has closed before.
    if (type === 'ABANDON' || (type === 'TRY_CANCEL' && openMs === 0))
      await child.terminate('not needed').catch(ignore);
    await child.result().catch(ignore);
  },
});

export const scenarios: readonly Scenario[] = [
  completes('timers'),
  completes('rollsDice'),
  completes('recovers'),
  completes('failures'),
  completes('resumes'),
  completes('givesUp'),
  completes('waitsForWorker'),
  completes('patches'),
  completes('cancelsAtOnce'),
  completes('cancelsRetry'),
  ...['WAIT_CANCELLATION_COMPLETED', 'TRY_CANCEL', 'ABANDON'].flatMap((type) =>
    [0, 1_500].map((afterMs) => completes('cancelsActivity', [type, afterMs], `cancelsActivity-${type}-${afterMs}`)),
  ),
  ...['WAIT_CANCELLATION_COMPLETED', 'WAIT_CANCELLATION_REQUESTED', 'TRY_CANCEL', 'ABANDON'].flatMap((type) =>
    [0, 1_000].map((afterMs) => cancelsChild(type, afterMs)),
  ),
  cancelsChild('TRY_CANCEL', 1_000, 4_000),
  {
    name: 'failsWithDetails',
    workflowIds: [''],
    run: (server, id) => complete(server, 'failsWithDetails', id()).catch(ignore),
  },
  ...['TERMINATE', 'REQUEST_CANCEL', 'ABANDON'].map((policy): Scenario => ({
    name: `leavesChild-${policy}`,
    workflowIds: ['', '/child'],
    async run(server, id) {
      const run = await start(server, 'leavesChild', id(), policy);
      await idle(server, id('/child'));
      await run.signal('go');
      await run.result();
      const child = server.client.workflow.getHandle(id('/child'));
      if (policy === 'ABANDON') await child.terminate('not needed');
      await child.result().catch(ignore);
    },
  })),
  {
    name: 'startsTwice',
    workflowIds: ['', '/child'],
    async run(server, id) {
      const run = await start(server, 'startsTwice', id());
      await idle(server, id('/child'));
      await run.signal('go');
      await run.result();
      await server.client.workflow.getHandle(id('/child')).result().catch(ignore);
    },
  },
  {
    name: 'childrenEnd',
    workflowIds: ['', '/child/one', '/child/two', '/child/three'],
    async run(server, id) {
      const parent = await start(server, 'childrenEnd', id());
      await idle(server, id('/child/three'));
      await server.client.workflow.getHandle(id('/child/three')).terminate('enough');
      return await parent.result();
    },
  },
  {
    name: 'childContinues',
    workflowIds: ['', '/child'],
    run: (server, id) => complete(server, 'childContinues', id()),
  },
  {
    name: 'collect',
    workflowIds: [''],
    async run(server, id) {
      const run = await start(server, 'collect', id(), 7);
      for (let item = 0; item < 7; item += 1) {
        await idle(server, id());
        await run.signal('item', item);
      }
      return await run.result();
    },
  },
  {
    name: 'signalWithStart',
    workflowIds: [''],
    async run(server, id) {
      const signalWithStart = (word: string) =>
        server.client.workflow.signalWithStart('awaitsGo', {
          ...options(server, id()),
          signal: 'word',
          signalArgs: [word],
        });
      await signalWithStart('first');
      await idle(server, id());
      await signalWithStart('second');
      await idle(server, id());
      await signalWithStart('go');
      await server.client.workflow.getHandle(id()).result();
      // It has closed: another run.
      await signalWithStart('go');
      return await server.client.workflow.getHandle(id()).result();
    },
  },
  {
    name: 'account',
    workflowIds: [''],
    async run(server, id) {
      const { workflow } = server.client;
      const startOptions = options(server, id(), { workflowIdConflictPolicy: 'USE_EXISTING' }) as never;
      const deposit = (amount: number) =>
        workflow.executeUpdateWithStart<() => Promise<unknown>, number, [number]>('deposit', {
          args: [amount],
          updateId: `deposit-${amount}`,
          startWorkflowOperation: new WithStartWorkflowOperation<() => Promise<unknown>>('account', startOptions),
        });
      const run = workflow.getHandle(id());
      await deposit(60);
      await deposit(-1).catch(ignore);
      await idle(server, id());
      await run.executeUpdate('deposit', { args: [-2], updateId: 'rejected' } as never).catch(ignore);
      await run.executeUpdate('deposit', { args: [50], updateId: 'refused' } as never).catch(ignore);
      await run.executeUpdate('read', { updateId: 'read' } as never);
      await run.query('balance');
      await idle(server, id());
      await run.signal('close');
      return await run.result();
    },
  },
  {
    name: 'rejectedAtStart',
    workflowIds: [''],
    async run(server, id) {
      const startOptions = options(server, id(), { workflowIdConflictPolicy: 'USE_EXISTING' }) as never;
      const startWorkflowOperation = new WithStartWorkflowOperation<() => Promise<unknown>>('account', startOptions);
      const update = { args: [-1] as [number], updateId: 'first', startWorkflowOperation };
      await server.client.workflow.executeUpdateWithStart('deposit', update).catch(ignore);
      await idle(server, id());
      const run = server.client.workflow.getHandle(id());
      await run.signal('close');
      return await run.result();
    },
  },
  {
    name: 'leavesUpdate',
    workflowIds: [''],
    async run(server, id) {
      const run = await start(server, 'leavesUpdate', id());
      await idle(server, id());
      await run.executeUpdate('ask', { updateId: 'ask' } as never).catch(ignore);
      return await run.result();
    },
  },
  {
    name: 'reachesOthers',
    workflowIds: ['', '/there'],
    async run(server, id) {
      const other = await start(server, 'sleeper', id('/there'));
      await idle(server, id('/there'));
      await complete(server, 'reachesOthers', id(), id('/there'));
      return await other.result().catch(ignore);
    },
  },
  {
    name: 'remembers',
    workflowIds: [''],
    async run(server, id) {
      const more = { args: [2], memo: { startedBy: 'user' } };
      return await (await server.client.workflow.start('remembers', options(server, id(), more))).result();
    },
  },
  {
    name: 'cleansUp',
    workflowIds: [''],
    async run(server, id) {
      const run = await start(server, 'cleansUp', id());
      await idle(server, id());
      await run.cancel();
      await run.cancel();
      return await run.result().catch(ignore);
    },
  },
  {
    name: 'terminates',
    workflowIds: [''],
    async run(server, id) {
      const run = await start(server, 'sleeper', id());
      await idle(server, id());
      await run.terminate('enough');
      return await run.result().catch(ignore);
    },
  },
  {
    name: 'replaces',
    workflowIds: [''],
    async run(server, id) {
      await start(server, 'sleeper', id());
      await idle(server, id());
      const more = { workflowIdConflictPolicy: 'TERMINATE_EXISTING' } as const;
      const run = await server.client.workflow.start('sleeper', options(server, id(), more));
      await idle(server, id());
      await run.terminate();
    },
  },
  {
    name: 'throwsTypeError',
    workflowIds: [''],
    async run(server, id) {
      const run = await start(server, 'throwsTypeError', id());
      // That of the sticky queue, and that of the other: those after it are not written.
      await failed(server, id(), 2);
      await run.terminate('it never ends');
    },
  },
];

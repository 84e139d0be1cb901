import type { Client } from '@temporalio/client';
import type { Server } from '../server.ts';
import type { WorkerControl } from '../worker-process.ts';
import type { WorkflowTaskQueue } from '../workflow-tasks.ts';
import type { Schedules } from './schedules.ts';

/** What the calls of Temporal's API have in common. */

type WorkflowService = Client['workflowService'];
type Method = {
  [Name in keyof WorkflowService]: WorkflowService[Name] extends (request: infer Request) => Promise<unknown>
    ? Request extends object
      ? Name
      : never
    : never;
}[keyof WorkflowService];

export type RequestOf<Name extends Method> = Parameters<WorkflowService[Name]>[0];

/**
 * A method for each call, by the name that the SDK gives it. Each answers at once, or when what it waits for has come.
 */
export type Service = {
  [Name in Method]?: (request: NonNullable<RequestOf<Name>>, context: CallContext) => object | Promise<object>;
};

/** How a call waits. */
export interface CallContext {
  /** After so long a call that waits answers that nothing has come; null: it waits as long as it takes. */
  longPollMs: number | null;
}

export interface ServiceOptions {
  server: Server;
  worker: WorkerControl;
  workflowTasks: WorkflowTaskQueue;
  schedules: Schedules;
  /** Virtual time stands still until `work` is done. */
  busy: <Result>(work: Promise<Result>) => Promise<Result>;
}

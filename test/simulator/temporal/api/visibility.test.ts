import type { Run } from '../run.ts';
import { toPayload } from '../sdk.ts';
import { parseQuery } from './visibility.ts';

const run = {
  workflowId: 'eviction/node-1',
  runId: 'run',
  type: 'evictHypervisor',
  taskQueue: 'drover',
  status: 'CANCELED',
  startMs: Date.parse('2026-01-31T12:00:00Z'),
  closeMs: null,
  events: [],
  attributes: { DroverHost: toPayload('node-1') },
} as unknown as Run;

test.each([
  ['', true],
  ['WorkflowType = "evictHypervisor"', true],
  ["WorkflowType = 'reconcileHypervisor'", false],
  ['WorkflowType != "reconcileHypervisor"', true],
  ['WorkflowType = "evictHypervisor" AND ExecutionStatus = "Running"', false],
  ['WorkflowType = "evictHypervisor" AND (ExecutionStatus = "Running" OR CloseTime IS NULL)', true],
  ['ExecutionStatus="Running" OR ExecutionStatus="Canceled"', true],
  ['ExecutionStatus IN ("Canceled", "Terminated")', true],
  ['ExecutionStatus IN ("Completed")', false],
  ['StartTime >= "2026-01-31T12:00:00.000Z"', true],
  ['StartTime > "2026-01-31T12:00:00Z"', false],
  ['StartTime BETWEEN "2026-01-31T11:00:00Z" AND "2026-01-31T13:00:00Z"', true],
  ['CloseTime IS NOT NULL', false],
  ["CloseTime > '2026-01-31T12:00:00Z'", false],
  ['DroverHost = "node-1" and `WorkflowId` = "eviction/node-1"', true],
  ['DroverPhase = "Moving"', false],
  ['WorkflowId STARTS_WITH "eviction/"', true],
])('%j: %s', (query, holds) => {
  expect(parseQuery(query)(run)).toBe(holds);
});

test.each([
  'WorkflowType',
  'WorkflowType =',
  'WorkflowType = "a" AND',
  'WorkflowType LIKE "a"',
  '(WorkflowType = "a"',
  'StartTime > "soon"',
  'WorkflowType = "a" ORDER BY StartTime',
  'WorkflowType = a',
])('the client is told of %j that it is not understood', (query) => {
  expect(() => parseQuery(query)).toThrow('the simulator does not understand');
});

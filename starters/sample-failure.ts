import type { NodeFailureProgress } from '../contracts/node-failure-run.ts';
import type { FailureDescription } from './failure-run.ts';

/** The run of a silent host for tests, in which only what a test is about differs. */
export const sampleFailure = (
  change: Partial<NodeFailureProgress> = {},
): FailureDescription & { progress: NodeFailureProgress } => ({
  workflowId: 'node-failure/node-1',
  runId: 'run-1',
  progress: {
    hypervisor: 'node-1',
    incident: 'node-1/1',
    bootId: 'boot-1',
    mode: 'recommend',
    verdict: 'suspect',
    reason: 'NoWitness',
    message: 'Waiting for a person to look: node-1 is silent',
    gate: null,
    evidence: null,
    forcedDown: false,
    waitingFor: 'a person to look: node-1 is silent',
    nextWakeUp: '2026-01-31T03:01:00.000Z',
    problem: null,
    unread: [],
    refusal: null,
    confirm: null,
    servers: null,
    ...change,
  },
});

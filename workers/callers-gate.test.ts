import { workflowTypes } from '../contracts/ids.ts';
import { createCallersGate, kindOfRun } from './callers-gate.ts';

const { signal } = new AbortController();

test.each([
  [workflowTypes.evictHypervisor, 'Eviction'],
  [workflowTypes.migrateInstance, 'Eviction'],
  [workflowTypes.reconcileHypervisor, 'Hypervisor'],
  [workflowTypes.handleNodeFailure, 'Hypervisor'],
])('what %s changes is held by the stop of %s', (workflowType, kind) => {
  expect(kindOfRun(workflowType)).toBe(kind);
});

test.each(['Eviction', 'Hypervisor'] as const)(
  'a stop of %s holds the runs of that kind, and no others',
  async (stopped) => {
    const gate = (kind: string) => async () => {
      if (kind === stopped) throw new Error(`${kind} is stopped`);
    };
    const asks = (workflowType: string): Promise<void> =>
      createCallersGate({ Eviction: gate('Eviction'), Hypervisor: gate('Hypervisor') }, () => workflowType)(signal);
    const [held, free] =
      stopped === 'Hypervisor'
        ? [workflowTypes.reconcileHypervisor, workflowTypes.evictHypervisor]
        : [workflowTypes.evictHypervisor, workflowTypes.reconcileHypervisor];
    await expect(asks(held)).rejects.toThrow(`${stopped} is stopped`);
    await expect(asks(free)).resolves.toBeUndefined();
  },
);

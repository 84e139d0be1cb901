import { inSnakeCase } from './temporal-metrics.ts';

test.each([
  [
    'drover_runs_total{kind="Eviction",taskQueue="drover",workflowType="evictHypervisor"} 1',
    'drover_runs_total{kind="Eviction",task_queue="drover",workflow_type="evictHypervisor"} 1',
  ],
  ['temporal_x{taskQueue="drover"} 1', 'temporal_x{task_queue="drover"} 1'],
  ['temporal_x{task_queue="drover"} 1', 'temporal_x{task_queue="drover"} 1'],
  ['drover_x{result="{taskQueue=\\"a\\""} 1', 'drover_x{result="{taskQueue=\\"a\\""} 1'],
])('%s', (page, shown) => {
  expect(inSnakeCase(page)).toBe(shown);
});

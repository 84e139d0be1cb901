import { markdownTable } from '../../bench/harness/table.ts';
import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import type { Budget } from './budgets.ts';

const systems: readonly OutsideSystem[] = ['nova', 'placement', 'keystone', 'vsphere', 'kubernetes'];

/** The budgets as docs/limits.md shows them. */
export const renderBudgets = (budgets: readonly Budget[]): string =>
  markdownTable(
    ['run', 'events', 'activity calls', ...systems.map((system) => `calls of ${system}`)],
    budgets.map(({ title, events, activityCalls, calls }) => [
      title,
      String(events),
      String(activityCalls),
      ...systems.map((system) => (calls === null ? 'not counted' : String(calls[system] ?? '–'))),
    ]),
  );

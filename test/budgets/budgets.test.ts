import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readCorpus } from '../replay/corpus.ts';
import type { BudgetName } from './budgets.ts';
import { budgets } from './budgets.ts';
import { costOf, countCalls, excesses } from './cost.ts';
import { renderBudgets } from './render.ts';

const byType: Readonly<Record<string, BudgetName>> = { evictHypervisor: 'eviction', migrateInstance: 'retriedMigration', shareAllowance: 'allowance' };

test('every recorded run is within its budget', () => {
  const seen = new Set<string>();
  for (const { file, history } of readCorpus()) {
    const type = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? 'none';
    seen.add(type);
    expect({ file, excesses: excesses(costOf(history), budgets[byType[type]!]) }).toEqual({ file, excesses: [] });
  }
  expect([...seen].toSorted()).toEqual(Object.keys(byType).toSorted());
});

test('what is above the budget is named', () => {
  const budget = { title: 'a run', events: 10, activityCalls: 2, calls: { nova: 3 } };
  expect(excesses({ events: 10, activityCalls: 2, calls: new Map([['nova', 3]]) }, budget)).toEqual([]);
  expect(excesses({ events: 11, activityCalls: 3, calls: new Map([['nova', 4], ['placement', 1]]) }, budget)).toEqual([
    '11 events, 10 are in the budget',
    '3 activity calls, 2 are in the budget',
    '4 calls of nova, 3 are in the budget',
    '1 calls of placement, 0 are in the budget',
  ]);
});

test('calls are counted by run and system', () => {
  const line = (workflowId: string | undefined, system: string): string => JSON.stringify({ level: 'debug', workflowId, system, verb: 'GET /servers/{id}', outcome: 'ok' });
  const log = [line('eviction/a', 'nova'), line('eviction/a', 'nova'), line('migration/b', 'kubernetes'), line(undefined, 'nova'), '{"msg":"ready"}', ''].join('\n');
  expect(countCalls(log)).toEqual(new Map([['eviction/a', new Map([['nova', 2]])], ['migration/b', new Map([['kubernetes', 1]])]]));
});

test('docs/limits.md shows them', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/limits.md', import.meta.url)), 'utf8');
  expect(page).toContain(renderBudgets(Object.values(budgets)));
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readCorpus } from '../replay/corpus.ts';
import { budgetOf } from './budget-of.ts';
import { budgets } from './budgets.ts';
import { costOf, countCalls, countsOf, excesses } from './cost.ts';
import { renderBudgets } from './render.ts';

test('every recorded run is within its budget', () => {
  const seen = new Set<string>();
  for (const { file, history, calls } of readCorpus()) {
    const name = budgetOf(history);
    if (name === null) throw new Error(`${file} is of a workflow without a budget`);
    seen.add(name);
    expect({ file, excesses: excesses(costOf(history, calls === undefined ? undefined : countsOf(calls)), budgets[name]) }).toEqual({ file, excesses: [] });
  }
  // Of these two the flows have bigger ones; a migration that went well at once is within the budget of one that did not.
  expect([...seen].toSorted()).toEqual(Object.keys(budgets).filter((name) => name !== 'largeEviction' && name !== 'migration').toSorted());
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
  expect(excesses({ events: 10, activityCalls: 2, calls: new Map([['nova', 400]]) }, { ...budget, calls: null })).toEqual([]);
});

test('calls are counted by run and system', () => {
  const line = (workflowId: string | undefined, system: string, runId = 'r1'): string => JSON.stringify({ level: 'debug', workflowId, runId, system, verb: 'GET /servers/{id}', outcome: 'ok' });
  const log = [line('eviction/a', 'nova'), line('eviction/a', 'nova', 'r2'), line('migration/b', 'kubernetes'), line(undefined, 'nova'), '{"msg":"ready"}', ''].join('\n');
  expect(countCalls(log)).toEqual(new Map([['eviction/a', new Map([['nova', 2]])], ['migration/b', new Map([['kubernetes', 1]])]]));
  expect(countCalls(log, 'runId')).toEqual(new Map([['r1', new Map([['nova', 1], ['kubernetes', 1]])], ['r2', new Map([['nova', 1]])]]));
});

test('docs/limits.md shows them', () => {
  const page = readFileSync(fileURLToPath(new URL('../../docs/limits.md', import.meta.url)), 'utf8');
  expect(page).toContain(renderBudgets(Object.values(budgets)));
});

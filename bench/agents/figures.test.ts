import { figuresOf } from '../harness/benchmark.ts';
import { type AgentCounts, quickCounts, usualCounts } from './figures.ts';
import { agentsSuite } from './main.ts';

const ids = (counts: AgentCounts): string[] => figuresOf(agentsSuite(counts)).figures.map(({ id }) => id);

test('each figure has an id of its own, with the number of agents that it is about', () => {
  const usual = ids(usualCounts);
  expect(new Set(usual).size).toBe(usual.length);
  expect(usual).toEqual(expect.arrayContaining(['agents-50.ratio', 'agents-50.events', 'agents-flapping-20.spare']));
  // What was measured with other numbers is another figure.
  expect(ids(quickCounts).filter((id) => usual.includes(id))).toEqual([]);
});

test('spare VMs are at most as many as the NodePool was scaled to', () => {
  const { figures } = figuresOf(agentsSuite({ agents: 1, flapping: 7 }));
  expect(figures.find(({ id }) => id === 'agents-flapping-7.spare')?.goal).toBe(7);
});

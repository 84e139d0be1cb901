import type { Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import type { AgentCounts } from './figures.ts';
import { flapAgents } from './flap.ts';
import { growAgents } from './grow.ts';

/** A NodePool that is scaled, and what its agents cost. */
export const agentsSuite = ({ agents, flapping }: AgentCounts): Suite<LoadRun> => ({
  name: 'agents',
  title: 'Agent pools on vSphere',
  benchmarks: [growAgents(agents), flapAgents(flapping)],
});

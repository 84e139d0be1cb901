import { agentEdges } from '../fuzz/edges/agents.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(agentEdges);

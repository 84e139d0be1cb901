import { machineEdges } from '../fuzz/edges/machines.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(machineEdges);

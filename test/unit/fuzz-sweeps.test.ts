import { sweepEdges } from '../fuzz/edges/sweeps.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(sweepEdges);

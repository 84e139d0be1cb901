import { volumeEdges } from '../fuzz/edges/volumes.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(volumeEdges);

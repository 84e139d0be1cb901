import { isoEdges } from '../fuzz/edges/isos.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(isoEdges);

import { ovsEdges } from '../fuzz/edges/ovs.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(ovsEdges);

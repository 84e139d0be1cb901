import { cephEdges } from '../fuzz/edges/ceph.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(cephEdges);

import { vsphereEdges } from '../fuzz/edges/vsphere.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(vsphereEdges);

import { redfishEdges } from '../fuzz/edges/redfish.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(redfishEdges);

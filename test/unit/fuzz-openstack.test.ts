import { openstackEdges } from '../fuzz/edges/openstack.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(openstackEdges);

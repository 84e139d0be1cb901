import { virtualMachineEdges } from '../fuzz/edges/virtual-machines.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(virtualMachineEdges);

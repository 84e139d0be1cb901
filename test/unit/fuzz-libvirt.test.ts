import { libvirtEdges } from '../fuzz/edges/libvirt.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(libvirtEdges);

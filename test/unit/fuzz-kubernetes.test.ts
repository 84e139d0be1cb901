import { kubernetesEdges } from '../fuzz/edges/kubernetes.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(kubernetesEdges);

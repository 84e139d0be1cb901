import { peopleEdges } from '../fuzz/edges/people.ts';
import { testEdges } from '../fuzz/test-edges.ts';

testEdges(peopleEdges);

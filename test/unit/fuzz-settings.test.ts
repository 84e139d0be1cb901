import { removeFiles, settingsEdges } from '../fuzz/edges/settings.ts';
import { testEdges } from '../fuzz/test-edges.ts';

afterAll(removeFiles);

testEdges(settingsEdges);

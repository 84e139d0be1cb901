import type { EvictionObject } from './eviction-facts.ts';
import { ago } from './render/sample-progress.ts';

/** The Eviction that the tests of commands share. */
export const sampleEviction = (facts: Partial<EvictionObject> = {}): EvictionObject => ({
  name: 'node-1',
  uid: 'u-1',
  generation: 1,
  resourceVersion: '1',
  host: 'node-1',
  reason: 'broken DIMM',
  createdAt: ago(400),
  deleting: false,
  annotations: {},
  conditions: [],
  settled: false,
  ...facts,
});

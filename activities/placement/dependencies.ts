import type { Tools } from '../nova/dependencies.ts';
import type { PlacementClient } from './types.ts';

/** What a verb that changes Placement needs of one execution. */
export type PlacementTools = Pick<Tools, 'stopGate' | 'audit' | 'scope' | 'clock'> & { placement: PlacementClient };

import { sleep } from '@temporalio/workflow';
import type { EvictionInput, EvictionResult } from '../../contracts/eviction/eviction.ts';
import { evictHypervisor as asReleased } from '../../workflows/eviction/evict-hypervisor.ts';

/** A change that is not allowed while runs are open: one more step, without `patched`. */
export async function evictHypervisor(input: EvictionInput): Promise<EvictionResult> {
  await sleep(1_000);
  return await asReleased(input);
}

import { deprecatePatch, patched, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { SampleActivities } from './activities.ts';

const { note } = proxyActivities<SampleActivities>({ startToCloseTimeout: 5_000 });

const version = 'version 1' as string;
/**
 * From version 2 on it notes something else, but not where it has begun before; version 3 breaks the runs that have.
 */
export async function changes(): Promise<string[]> {
  const noted: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const isNew = version === 'version 3' || (version === 'version 2' && patched('other-note'));
    noted.push(isNew ? `${await note('new')}${await note('more')}` : await note('old'));
    await sleep(1_000);
  }
  return noted;
}

/** Two patches, one of them twice, and one that is deprecated. */
export async function patches(): Promise<string[]> {
  const noted: string[] = [];
  if (patched('first')) noted.push(await note('first'));
  if (patched('second') && patched('first')) noted.push(await note('second'));
  deprecatePatch('third');
  await sleep(100);
  return noted;
}

export async function callsLocally(): Promise<string> {
  const local = proxyLocalActivities<SampleActivities>({ startToCloseTimeout: 5_000 });
  return await local.note('local');
}

import type { ApplicationFailure } from '@temporalio/common';

import { droverFailure } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';

/**
 * Does it for each one, and goes on where kube-apiserver refuses one: by a quota, or by an admission webhook or policy.
 * What drover may not do at all is a failure of the run.
 *
 * @returns the first refusal, as ObjectRefused; null: none was refused
 */
export async function firstRefusal<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<ApplicationFailure | null> {
  let first: ApplicationFailure | null = null;
  for (const item of items)
    try {
      await work(item);
    } catch (error) {
      if (isFailure(error, 'ObjectRefused')) first ??= error;
      else if (isFailure(error, 'KubernetesForbidden') && !/cannot \w+ resource/u.test(error.message))
        first ??= droverFailure('ObjectRefused', error.message, { details: error.details ?? [] });
      else throw error;
    }
  return first;
}

import { z } from 'zod';

import { droverFailure } from '../../../runtime/failure.ts';
import type { VcenterGateway } from '../types.ts';
import { taskRef } from '../wire/values.ts';

/** Paths of files in answers of vCenter. */
const found = z.object({
  file: z.array(z.looseObject({ path: z.string(), fileSize: z.int().min(0).optional() })).default([]),
});

/**
 * The files that a search of a folder has found, by their names in it.
 *
 * @param what was searched for, for people
 * @throws AnswerMalformed where vCenter does not say what it has found
 */
export async function readFoundFiles(
  gateway: Pick<VcenterGateway, 'vcenter' | 'retrieve'>,
  taskId: string,
  what: string,
  signal: AbortSignal,
): Promise<z.output<typeof found>['file']> {
  const [task] = await gateway.retrieve(
    { propSet: [{ type: 'Task', pathSet: ['info.result'] }], objectSet: [{ obj: taskRef(taskId) }] },
    signal,
  );
  const result = found.safeParse(task?.properties['info.result']);
  if (!result.success)
    throw droverFailure('AnswerMalformed', `vCenter ${gateway.vcenter} does not say whether ${what} is there`);
  return result.data.file;
}

import { retryHandledAnnotation } from '../eviction/annotations.ts';
import { annotations } from '../ids.ts';
import type { ActiveMode } from './kind.ts';
import type { KubeObject } from './object.ts';

/** What users ask of drover in the annotations of an object, whatever its kind. Pure. */

type Annotated = { readonly metadata: Pick<KubeObject['metadata'], 'annotations'> };

/** What drover may do with it: the settings allow it, and so does the object. What is no mode is no leave to act. */
export const modeOf = ({ metadata }: Annotated, settings: ActiveMode): ActiveMode =>
  ['act', undefined].includes(metadata.annotations?.[annotations.mode]) ? settings : 'observe';

/** Value of `drover.dev/retry` that no run has taken up; null: no user asks. */
export function pendingRetry({ metadata }: Annotated): string | null {
  const { [annotations.retry]: asked = null, [retryHandledAnnotation]: handled } = metadata.annotations ?? {};
  return asked === handled ? null : asked;
}

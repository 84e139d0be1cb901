import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts the message and the stack of each failure into a payload, where the codec reaches them. Temporal loads it by its
 * path, into workers and into the sandbox of workflow code, so it imports what both may.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

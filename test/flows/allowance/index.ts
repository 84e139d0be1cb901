/** What the test's worker bundles: the run under test and its consumers. */
export { allocateAllowance } from '../../../workflows/limits/allocate-allowance.ts';
export { callActivity } from './call-activity.ts';
export { moveDeadline } from './move-deadline.ts';
export { useAllowance } from './use-allowance.ts';

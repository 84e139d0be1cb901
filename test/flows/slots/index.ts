/** What the test's worker bundles: the run under test and its consumers. */
export { allocateAllowance } from '../../../workflows/limits/allocate-allowance.ts';
export { makeOne } from './make-one.ts';

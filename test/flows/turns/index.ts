/** What the test's worker bundles: the run under test and its consumers. */
export { shareAllowance } from '../../../workflows/limits/share-allowance.ts';
export { makeOne } from './make-one.ts';

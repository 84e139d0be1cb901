import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import { messages, type ObjectChanged } from '../../contracts/messages.ts';
import type { RunProgress } from '../../contracts/runs.ts';

/** The messages of every run that drives an object. Arguments come from outside, so handlers take anything. */
export const objectChanged = defineSignal<[(Partial<ObjectChanged> | null)?]>(messages.objectChanged);
export const retryNow = defineUpdate<string>(messages.retryNow);
/** `tctl` knows no updates. */
export const retryNowSignal = defineSignal(messages.retryNow);
export const progress = defineQuery<RunProgress>(messages.progress);

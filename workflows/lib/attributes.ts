import { TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../../contracts/search-attributes.ts';

const keys = {
  kind: defineSearchAttributeKey(searchAttributes.kind, 'KEYWORD'),
  object: defineSearchAttributeKey(searchAttributes.object, 'KEYWORD'),
  host: defineSearchAttributeKey(searchAttributes.host, 'KEYWORD'),
  phase: defineSearchAttributeKey(searchAttributes.phase, 'KEYWORD'),
  reason: defineSearchAttributeKey(searchAttributes.reason, 'KEYWORD'),
};

export type Attributes = Partial<Record<keyof typeof keys, string>>;

const pairs = (attributes: Attributes) =>
  Object.entries(attributes).map(([name, value]) => ({ key: keys[name as keyof typeof keys], value }));

/** For a child that is about to start: costs no event of its own. */
export const initialAttributes = (attributes: Attributes): TypedSearchAttributes =>
  new TypedSearchAttributes(pairs(attributes));

/** Each call is an event in the history, so it is made when a phase changes and not before. */
export const showAttributes = (attributes: Attributes): void => upsertSearchAttributes(pairs(attributes));

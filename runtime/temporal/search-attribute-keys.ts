import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { searchAttributes } from '../../contracts/search-attributes.ts';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** What runs are found by, as the SDK writes it. */
export const attributeKeys = {
  kind: keyword(searchAttributes.kind),
  object: keyword(searchAttributes.object),
  host: keyword(searchAttributes.host),
};

import { z } from 'zod';

import { fieldsOf, isKindOf } from './schema.ts';
import type { VimTypes } from './vim/types.ts';

/** Whether it is of that type of vim25, or of one that extends it, as far as the schema knows. */
export const isA = <Name extends keyof VimTypes>(
  value: { $type?: string } | undefined,
  name: Name,
): value is VimTypes[Name] => value?.$type !== undefined && isKindOf(value.$type, name);

/** A value of such a type, as the codec reads it: that its fields are what they should be has been checked there. */
export const vim = <Name extends keyof VimTypes>(name: Name) =>
  z.custom<VimTypes[Name]>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      '$type' in value &&
      typeof value.$type === 'string' &&
      isKindOf(value.$type, name),
    { error: `it is no ${name}` },
  );

/** Whether it can be written back as it was read: drover knows its type. */
export const isKnown = (value: { $type?: string }): boolean =>
  value.$type !== undefined && fieldsOf(value.$type) !== undefined;

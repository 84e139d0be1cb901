import type { z } from 'zod';

import { droverFailure } from '../../runtime/failure.ts';
import type { Vim } from './client.ts';
import { vimFailure } from './faults.ts';
import { localizedFault } from './wire/decode.ts';
import type { ManagedObjectReference } from './wire/values.ts';
import type { ObjectContent, ObjectSpec, PropertyFilterSpec, RetrieveResult } from './wire/vim/types.ts';

/** Objects of one answer; the rest comes in pages. */
const pageSize = 200;

/** What was read of one object, by path; what is not set is missing. */
export interface ReadObject {
  ref: ManagedObjectReference;
  properties: Readonly<Record<string, unknown>>;
}

/**
 * From an object of the type on to those that a property of it names, and from there further; for the `selectSet`
 * of a filter.
 */
export const traversal = (type: string, path: string, selectSet: ObjectSpec['selectSet'] = []) => ({
  $type: 'TraversalSpec',
  type,
  path,
  selectSet,
});

/**
 * Reads these paths of these objects, of one type, in one call and one more for each further page.
 *
 * @throws as a call does; what is gone when one of the objects is; `VsphereNotPermitted` when a path may not be read
 */
export const readProperties = async (
  vim: Pick<Vim, 'name' | 'content' | 'call'>,
  refs: readonly ManagedObjectReference[],
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadObject[]> => {
  const [first] = refs;
  if (first === undefined) return [];
  return retrieve(
    vim,
    { propSet: [{ type: first.type, pathSet: [...paths] }], objectSet: refs.map((obj) => ({ obj })) },
    signal,
  );
};

/** Reads what a filter selects, in one call and one more for each further page. @throws as a call does */
export async function retrieve(
  vim: Pick<Vim, 'name' | 'content' | 'call'>,
  spec: PropertyFilterSpec,
  signal: AbortSignal,
): Promise<ReadObject[]> {
  const sameSession = await vim.content(signal);
  const { propertyCollector } = sameSession;
  const found: ReadObject[] = [];
  let page: RetrieveResult | undefined = await vim.call(
    'RetrievePropertiesEx',
    propertyCollector,
    { specSet: [spec], options: { maxObjects: pageSize } },
    signal,
  );
  while (page !== undefined) {
    found.push(...(page.objects ?? []).map((content) => toReadObject(vim, content)));
    page =
      page.token === undefined
        ? undefined
        : await vim.call('ContinueRetrievePropertiesEx', propertyCollector, { token: page.token }, signal, {
            sameSession,
          });
  }
  return found;
}

function toReadObject(vim: Pick<Vim, 'name'>, { obj, propSet = [], missingSet = [] }: ObjectContent): ReadObject {
  const [missing] = missingSet;
  if (missing !== undefined)
    throw vimFailure(
      localizedFault(missing.fault),
      `vCenter ${vim.name} answered the question for ${missing.path} of ${obj.value}`,
    );
  return { ref: obj, properties: Object.fromEntries(propSet.map(({ name, val }) => [name, val])) };
}

/** Checks what was read. @throws AnswerMalformed */
export function checked<Schema extends z.ZodType>(
  vim: Pick<Vim, 'name'>,
  schema: Schema,
  { ref, properties }: ReadObject,
): z.output<Schema> {
  const parsed = schema.safeParse(properties);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw droverFailure(
    'AnswerMalformed',
    `vCenter ${vim.name} has an unexpected ${issue?.path.join('.') ?? 'property'} of ${ref.value}: ${issue?.message ?? ''}`,
  );
}

import { z } from 'zod';

import type { KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { without } from './field-set.ts';
import { badRequest, expired, tooLargeVersion } from './refusal.ts';
import type { Place } from './requests.ts';
import { apiVersionOf } from './resources.ts';
import { readSelectors } from './selectors.ts';
import type { Storage } from './storage.ts';
import type { StoredObject } from './stored-object.ts';

/** What is in a `continue` token: the version that the pages are of, and the last name of the page before. */
const tokenSchema = z.object({ rv: z.int(), start: z.string() });

const writeToken = (token: z.output<typeof tokenSchema>): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', ...token })).toString('base64url');

function readToken(token: string): z.output<typeof tokenSchema> {
  try {
    return tokenSchema.parse(JSON.parse(Buffer.from(token, 'base64url').toString()));
  } catch {
    throw badRequest('invalid continue token: continue key is not valid');
  }
}

const nameOf = ({ metadata: { namespace = '', name } }: StoredObject): string => `${namespace}/${name}`;

/** One page of a collection. @throws Refusal 400, 410, 504 */
export function listPage(storage: Storage, { resource, namespace }: Place, { query = {} }: KubernetesRequest): object {
  const selects = readSelectors({ query }, resource);
  const { rv, start } = pageStart(storage, query);
  const all = rv === storage.revision ? storage.list(resource) : storage.listAt(resource, rv);
  const left = all.filter(
    (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) && nameOf(object) > start && selects(object),
  );
  const limit = Number(query['limit'] ?? 0);
  const items = limit > 0 ? left.slice(0, limit) : left;
  const last = items.at(-1);
  const isWhole = items.length === left.length || last === undefined;
  const isSelected = query['labelSelector'] !== undefined || query['fieldSelector'] !== undefined;
  return {
    apiVersion: apiVersionOf(resource),
    kind: `${resource.kind}List`,
    metadata: {
      ...(resource.schema !== null && { continue: '' }),
      resourceVersion: String(rv),
      ...(!isWhole && {
        continue: writeToken({ rv, start: nameOf(last) }),
        ...(!isSelected && { remainingItemCount: left.length - items.length }),
      }),
    },
    // Of what is built in, the items of a list do not say what they are.
    items: resource.schema === null ? items.map((item) => without(item, 'apiVersion', 'kind')) : items,
  };
}

/** Which version the page is of, and after which name it begins. */
function pageStart(storage: Storage, query: NonNullable<KubernetesRequest['query']>): { rv: number; start: string } {
  const token = query['continue'];
  const { revision, compactedRevision } = storage;
  if (token !== undefined && token !== '') {
    const { rv, start } = readToken(String(token));
    if (rv >= compactedRevision) return { rv, start };
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      writeToken({ rv: revision, start }),
    );
  }
  const asked = String(query['resourceVersion'] ?? '');
  if (asked === '' || asked === '0') return { rv: revision, start: '' };
  const rv = readVersion(asked);
  if (rv === null) throw badRequest(`invalid resource version: ${invalidVersion(asked)}`);
  if (rv > revision) throw tooLargeVersion(rv, revision);
  if (query['resourceVersionMatch'] !== 'Exact') return { rv: revision, start: '' };
  if (rv < compactedRevision) throw expired('The resourceVersion for the provided list is too old.');
  return { rv, start: '' };
}

/** Null: it is none. */
export const readVersion = (text: string): number | null => (/^\d+$/u.test(text) ? Number(text) : null);

export const invalidVersion = (text: string): string =>
  `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;

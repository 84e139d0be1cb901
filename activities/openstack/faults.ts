import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import { redactedStart } from '../../runtime/redaction.ts';

/** An answer that says no. */
export interface Refusal {
  status: number;
  /** The service's own words, on one line. */
  words: string;
  /** Whether it has the shape of that service's errors: a 404 of a proxy says nothing about a server. */
  documented: boolean;
}

/** `{ "itemNotFound": { "code": 404, "message": "…" } }` of Nova, `{ "error": { … } }` of Keystone. */
const oneError = z.record(z.string(), z.looseObject({ message: z.string() }));
/** `{ "errors": [{ "status": 404, "title": "…", "detail": "…" }] }` of Placement, as of the API SIG. */
const errorList = z.object({
  errors: z.tuple([z.looseObject({ title: z.string().optional(), detail: z.string().optional() })]).rest(z.unknown()),
});

const longestWords = 600;

/** The words of a page stand near its beginning; a search for the end of each tag must not go through megabytes. */
const longestPage = 10_000;

/** Reads an answer of 4xx or 5xx. */
export function refusalOf(status: number, text: string): Refusal {
  const words = documentedWords(text);
  return { status, words: short(words ?? plain(text)) || 'no words', documented: words !== null };
}

function documentedWords(text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const list = errorList.safeParse(body);
  if (list.success) return list.data.errors[0].detail ?? list.data.errors[0].title ?? '';
  const one = oneError.safeParse(body);
  return one.success ? (Object.values(one.data)[0]?.message ?? null) : null;
}

/** Proxies and middleware answer with HTML. */
const plain = (text: string): string =>
  redactedStart(text, longestPage)
    .replaceAll(/<(style|script)[\s\S]*?<\/\1>/giu, ' ')
    .replaceAll(/<[^>]*>/gu, ' ');

function short(words: string): string {
  const line = redactedStart(words, longestPage).replaceAll(/\s+/gu, ' ').trim();
  return line.length <= longestWords ? line : `${line.slice(0, longestWords)} …`;
}

/** The row of the error table for an answer that says no, where the request knows nothing better. */
export function generalFault(service: ServiceName, refusal: Refusal): ErrorCode {
  const { status, documented } = refusal;
  if (status === 401) return 'CredentialRefused';
  if (status === 403) return 'NotPermitted';
  if (status === 404 && !documented) return 'AnswerMalformed';
  if (status === 429 || status === 408 || status === 413 || status >= 500) return errorCodes[service].unavailable;
  if (status >= 400) return 'RequestRefused';
  return 'AnswerMalformed';
}

const refusalDetails = z.looseObject({ words: z.string() });

/**
 * What the service itself said in a failure that one of the clients threw, without drover's advice; the whole message
 * where it said nothing.
 */
export function wordsOf(error: unknown): string {
  const said = error instanceof ApplicationFailure ? refusalDetails.safeParse(error.details?.[0]).data : undefined;
  return said?.words ?? (error instanceof Error ? error.message : String(error));
}

/** The OpenStack services drover speaks to, by the names people know them by. */
export type ServiceName = 'Keystone' | 'Nova' | 'Placement' | 'Neutron' | 'Cinder' | 'Glance';

/** What differs between the services. */
export const errorCodes: Record<ServiceName, { unavailable: ErrorCode }> = {
  Keystone: { unavailable: 'KeystoneUnavailable' },
  Nova: { unavailable: 'NovaUnavailable' },
  Placement: { unavailable: 'PlacementUnavailable' },
  Neutron: { unavailable: 'NeutronUnavailable' },
  Cinder: { unavailable: 'CinderUnavailable' },
  Glance: { unavailable: 'GlanceUnavailable' },
};

/** Service types of the catalog. */
export type ServiceType = 'compute' | 'placement' | 'network' | 'volumev3' | 'image';

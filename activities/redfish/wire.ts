import { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import { redactedStart } from '../../runtime/redaction.ts';

/**
 * What a BMC answers, as far as drover reads it. Unknown fields are ignored; OData allows null for almost everything.
 */

const link = z.looseObject({ '@odata.id': z.string() });

export const serviceRoot = z.looseObject({
  Systems: link.optional(),
  Links: z.looseObject({ Sessions: link.optional() }).optional(),
});

export const collection = z.looseObject({ Members: z.array(link), 'Members@odata.nextLink': z.string().optional() });

export const computerSystem = z.looseObject({
  UUID: z.string().nullish(),
  SerialNumber: z.string().nullish(),
  PowerState: z.string().nullish(),
  Actions: z
    .looseObject({
      '#ComputerSystem.Reset': z
        .looseObject({ target: z.string(), 'ResetType@Redfish.AllowableValues': z.array(z.string()).nullish() })
        .optional(),
    })
    .nullish(),
});
export type WireSystem = z.infer<typeof computerSystem>;

/**
 * `{ "error": { "message": "…", "@Message.ExtendedInfo": [{ "Message": "…" }] } }`; the extended ones say what
 * is the matter.
 */
export const errorAnswer = z.looseObject({
  error: z.looseObject({
    message: z.string().optional(),
    '@Message.ExtendedInfo': z.array(z.looseObject({ Message: z.string().optional() })).optional(),
  }),
});

/** An answer that says no. */
interface Refusal {
  status: number;
  /** The BMC's own words, on one line. */
  words: string;
  /** Whether it has the shape of Redfish's errors: a 404 of something else says nothing about a machine. */
  documented: boolean;
}

const longestWords = 600;

/** Reads an answer of 3xx, 4xx or 5xx. */
export function refusalOf(status: number, text: string): Refusal {
  const documented = documentedWords(text);
  const line = redactedStart(documented ?? text, 10_000)
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return {
    status,
    words: (line.length <= longestWords ? line : `${line.slice(0, longestWords)} …`) || 'no words',
    documented: documented !== null,
  };
}

function documentedWords(text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = errorAnswer.safeParse(body);
  if (!parsed.success) return null;
  const { message = '', '@Message.ExtendedInfo': extended = [] } = parsed.data.error;
  return extended.flatMap(({ Message }) => Message ?? []).join(' ') || message;
}

/** What each kind of request makes of an answer that says no, before {@link generalFault}. */
export type RequestKind = 'login' | 'read' | 'system' | 'reset';

/** The row of the error table for an answer that says no. */
export function faultOf(kind: RequestKind, { status, documented }: Refusal): ErrorCode {
  if (status === 401 || status === 403) return 'BmcCredentialRefused';
  // Not for lack of time: it says no, and would say so again.
  if (kind === 'reset' && (status === 501 || (status >= 400 && status < 500 && !isBusy(status))))
    return 'PowerOffRefused';
  if (kind === 'system' && status === 404 && documented) return 'SystemNotFound';
  if (isBusy(status) || status >= 500) return 'BmcUnreachable';
  return status === 404 || status < 400 ? 'AnswerMalformed' : 'RequestRefused';
}

const isBusy = (status: number): boolean => status === 408 || status === 429;

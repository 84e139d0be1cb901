import { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import { redactedStart } from '../../runtime/redaction.ts';

/** Answer to `POST /api/auth`, as far as drover reads it. @see https://docs.ceph.com/en/latest/mgr/ceph_api/ */
export const tokenAnswer = z.object({ token: z.string().min(1), pwdUpdateRequired: z.boolean().optional() });

/** Answer to `GET /api/health/minimal`. All else in it depends on what the user may read. */
export const healthAnswer = z.object({
  health: z.object({
    status: z.string(),
    checks: z.array(
      z.object({
        type: z.string(),
        severity: z.string(),
        summary: z.object({ message: z.string() }),
        detail: z.array(z.object({ message: z.string() })).optional(),
        muted: z.boolean().optional(),
      }),
    ),
  }),
});

/** Answer to `GET /api/pool`. */
export const poolsAnswer = z.array(z.object({ pool_name: z.string(), application_metadata: z.array(z.string()) }));

/** An answer that says no. */
export const refusalAnswer = z.object({
  detail: z.string(),
  code: z.string().optional(),
  request_id: z.string().optional(),
});

/** An answer of the dashboard that says no. */
interface CephRefusal {
  status: number;
  /** `invalid_credentials`; empty where it gives none. */
  code: string;
  /** The dashboard's own words, on one line. */
  words: string;
  /** Empty where it gives none. */
  requestId: string;
}

/** Of what another system wrote. */
const longestWords = 600;

export function refusalOf(status: number, text: string): CephRefusal {
  const { data } = refusalAnswer.safeParse(jsonOf(text));
  const words = redactedStart(data?.detail ?? text, longestWords)
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return { status, code: data?.code ?? '', words: words || 'no words', requestId: data?.request_id ?? '' };
}

/** What is no JSON is undefined. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Refusals of a login. Ceph 16 answers a wrong password with 400; a disabled or locked user too. */
export function loginFault({ status, code }: CephRefusal): ErrorCode {
  if (status === 401 || status === 403 || (status === 400 && code === 'invalid_credentials'))
    return 'CephCredentialRefused';
  return generalFault(status);
}

/** Refusals of everything else, once the token has been renewed. */
export function readFault({ status }: CephRefusal): ErrorCode {
  if (status === 401) return 'CephCredentialRefused';
  if (status === 403) return 'CephNotPermitted';
  return generalFault(status);
}

/** A manager that is not the active one redirects to it, or answers with 5xx, as it is configured. */
function generalFault(status: number): ErrorCode {
  if (status >= 300 && status < 400) return 'CephUnavailable';
  if (status === 408 || status === 429 || status >= 500) return 'CephUnavailable';
  return status >= 400 ? 'RequestRefused' : 'AnswerMalformed';
}

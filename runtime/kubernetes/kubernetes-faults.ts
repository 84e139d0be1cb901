import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import { errors, type ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../failure.ts';
import { redactedStart } from '../redaction.ts';

/** `metav1.Status`, as kube-apiserver answers when it refuses. */
const statusSchema = z.object({
  kind: z.literal('Status'),
  message: z.string().optional(),
  reason: z.string().optional(),
  details: z.object({ name: z.string().optional() }).optional(),
});

/** What a failure of a request to kube-apiserver carries for programs. */
export interface KubernetesFaultDetails {
  /** 0 when no answer came. */
  httpStatus: number;
  /** `reason` of the `metav1.Status`: `AlreadyExists`, `Conflict`, `Expired`, …; empty where the answer was none. */
  reason: string;
  /**
   * `Retry-After`: how long kube-apiserver, or its priority and fairness, asks to be left alone. Absent where it did
   * not say.
   */
  retryAfterMs?: number;
}

/**
 * Turns a refusal of kube-apiserver into a row of the table.
 * @param retryAfter header `Retry-After`; kube-apiserver sends seconds
 */
export function refusalFailure(httpStatus: number, body: string, what: string, retryAfter = ''): ApplicationFailure {
  const status = readStatus(body);
  const message = status?.message ?? (redactedStart(body, 200) || 'no message');
  const details: KubernetesFaultDetails = {
    httpStatus,
    reason: status?.reason ?? '',
    ...(/^\d{1,6}$/u.test(retryAfter) ? { retryAfterMs: Number(retryAfter) * 1_000 } : {}),
  };
  // A 404 that is no Status, or that names no object, is about the resource itself: its CRD is not there, or not yet.
  if (httpStatus === 404 && status?.details?.name === undefined) {
    return droverFailure(
      'KubernetesUnavailable',
      `${what}: kube-apiserver does not know this resource; apply deploy/crds`,
      { details },
    );
  }
  return droverFailure(refusalCode(httpStatus), `${what}: kube-apiserver answered ${httpStatus}: ${message}`, {
    details,
  });
}

function refusalCode(httpStatus: number): ErrorCode {
  if (httpStatus === 401 || httpStatus === 403) return 'KubernetesForbidden';
  if (httpStatus === 404) return 'ObjectNotFound';
  if (httpStatus === 409) return 'ObjectConflict';
  // 410: a page of a list whose snapshot is gone; from the start it works again.
  if (httpStatus === 408 || httpStatus === 410 || httpStatus === 429 || httpStatus >= 500)
    return 'KubernetesUnavailable';
  return 'ObjectRefused';
}

function readStatus(body: string): z.output<typeof statusSchema> | null {
  try {
    return statusSchema.parse(JSON.parse(body));
  } catch {
    return null;
  }
}

/** Turns the end of a request without an answer into a row of the table. @param from who gave none */
export function transportFailure(error: unknown, what: string, from: string): ApplicationFailure {
  const details: KubernetesFaultDetails = { httpStatus: 0, reason: '' };
  return droverFailure('KubernetesUnavailable', `${what}: no answer from ${from}: ${describe(error)}`, {
    cause: error,
    details,
  });
}

/** Several addresses that are tried at once fail as one error without a message of its own. */
function describe(error: unknown): string {
  const {
    name,
    message = '',
    code = '',
    errors: tried = [],
  } = Object(error) as { name?: string; message?: string; code?: string; errors?: unknown[] };
  if (name === 'TimeoutError') return 'it took too long';
  if (message === '' && tried.length > 0) return describe(tried[0]);
  return message || code || String(error);
}

/**
 * Checks an answer of kube-apiserver against what is documented.
 * @param what the request, or what the answer is
 * @throws AnswerMalformed that names the field
 */
export function checkAnswer<Schema extends z.ZodType>(schema: Schema, answer: unknown, what: string): z.output<Schema> {
  const { data, error } = schema.safeParse(answer);
  if (error === undefined) return data;
  const [issue] = error.issues;
  throw droverFailure(
    'AnswerMalformed',
    `${what}: ${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'not as documented'}`,
  );
}

/** Whether `error` is that row of the table. */
export const isFailure = (error: unknown, code: ErrorCode): error is ApplicationFailure =>
  error instanceof ApplicationFailure && error.type === code && Object.hasOwn(errors, code);

/** Whether a patch of one object was refused as another one has its name: its uid alone says which one was meant. */
export const isOfAnother = (error: unknown): boolean =>
  isFailure(error, 'ObjectRefused') && /\bmetadata\.uid: Invalid value: .*field is immutable/u.test(error.message);

/** Whether kube-apiserver serves no such kind: its CRD is not there, or not yet. */
export const isUnknownKind = (error: unknown): boolean =>
  isFailure(error, 'KubernetesUnavailable') &&
  (error.details?.[0] as KubernetesFaultDetails | undefined)?.httpStatus === 404;

/** What a failure to find a kubeconfig carries for programs: no place holds one, so Kubernetes was not meant. */
export const noKubeconfig = { reason: 'NoKubeconfig' } as const;

/** Whether there is no kubeconfig at all, in contrast to one that is wrong. */
export const isKubeconfigMissing = (error: unknown): boolean =>
  isFailure(error, 'InvalidConfiguration') &&
  (error.details?.[0] as typeof noKubeconfig | undefined)?.reason === noKubeconfig.reason;

/** Whether kube-apiserver refused to create what exists. */
export const isAlreadyExists = (error: unknown): boolean =>
  isFailure(error, 'ObjectConflict') &&
  (error.details?.[0] as KubernetesFaultDetails | undefined)?.reason === 'AlreadyExists';

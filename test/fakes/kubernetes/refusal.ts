/** What is wrong with one field, as `metav1.StatusCause` and kube-apiserver's sentence about it. */
export interface FieldError {
  reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden';
  /** `spec.hypervisor`. */
  field: string;
  /** `Required value`. */
  message: string;
}

/** Which resource, or which object of it, a refusal is about. */
interface Subject {
  group: string;
  plural: string;
  name: string;
}

/** `metav1.Status`, as kube-apiserver answers when it refuses. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: object;
  code?: number;
}

/**
 * A request that kube-apiserver refuses: HTTP status and body, and its header `Retry-After`, empty where there is none.
 */
export class Refusal extends Error {
  readonly httpStatus: number;
  readonly body: string;
  readonly retryAfter: string;

  constructor(httpStatus: number, body: Status | string, retryAfter = '') {
    super(`${httpStatus} ${typeof body === 'string' ? body : body.message}`);
    this.httpStatus = httpStatus;
    this.body = typeof body === 'string' ? body : JSON.stringify(body);
    this.retryAfter = retryAfter;
  }
}

const failure = (
  code: number,
  reason: string,
  message: string,
  details?: object,
  metadata: Status['metadata'] = {},
): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata,
  status: 'Failure',
  message,
  ...(reason !== '' && { reason }),
  ...(details !== undefined && { details }),
  code,
});

/** `evictions.kvm.cloud.sap`, and `nodes` of the core group. */
const qualified = ({ group, plural }: Pick<Subject, 'group' | 'plural'>): string =>
  group === '' ? plural : `${plural}.${group}`;

const detailsOf = ({ group, plural, name }: Subject): object => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  kind: plural,
});

/** Nothing of that name is served. Of the core group kube-apiserver says so in a Status, elsewhere in plain text. */
export const unknownPath = (path: string): Refusal =>
  path.startsWith('/api/')
    ? new Refusal(404, failure(404, 'NotFound', 'the server could not find the requested resource', {}))
    : new Refusal(404, '404 page not found\n');

export const notFound = (subject: Subject): Refusal =>
  new Refusal(404, failure(404, 'NotFound', `${qualified(subject)} "${subject.name}" not found`, detailsOf(subject)));

export const alreadyExists = (subject: Subject, isBeingDeleted: boolean): Refusal => {
  const message = `${qualified(subject)} "${subject.name}" already exists`;
  const whole = isBeingDeleted ? `object is being deleted: ${message}` : message;
  return new Refusal(409, failure(409, 'AlreadyExists', whole, detailsOf(subject)));
};

/** @param named as the message calls the resource; default: `evictions.kvm.cloud.sap` */
export const conflict = (
  subject: Subject,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
  named = qualified(subject),
): Refusal => {
  const message = `Operation cannot be fulfilled on ${named} "${subject.name}": ${why}`;
  return new Refusal(409, failure(409, 'Conflict', message, detailsOf(subject)));
};

/** A server-side apply that would take fields from others. @param conflicts manager in words, and the field */
export function applyConflict(conflicts: readonly { manager: string; field: string }[]): Refusal {
  const [first] = conflicts;
  const byManager = Object.entries(Object.groupBy(conflicts, ({ manager }) => manager)).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const words =
    conflicts.length === 1
      ? `conflict with ${first?.manager}: ${first?.field}`
      : byManager
          .flatMap(([manager, own = []]) => [`conflicts with ${manager}:`, ...own.map(({ field }) => `- ${field}`)])
          .join('\n');
  const message = `Apply failed with ${conflicts.length} conflict${conflicts.length === 1 ? '' : 's'}: ${words}`;
  const causes = conflicts.map(({ manager, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${manager}`,
    field,
  }));
  return new Refusal(409, failure(409, 'Conflict', message, { causes }));
}

/** @param kind as in a manifest */
export function invalid({ group, name }: Subject, kind: string, errors: readonly FieldError[]): Refusal {
  const sentences = errors.map(({ field, message }) => `${field}: ${message}`);
  const all = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  const message = `${group === '' ? kind : `${kind}.${group}`} "${name}" is invalid: ${all}`;
  return new Refusal(
    422,
    failure(422, 'Invalid', message, { ...(name !== '' && { name }), ...(group !== '' && { group }), kind, causes }),
  );
}

/** Nothing new is taken into a namespace that is deleted. */
export function namespaceTerminating(subject: Subject, namespace: string): Refusal {
  const because = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `${qualified(subject)} "${subject.name}" is forbidden: ${because}`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new Refusal(403, failure(403, 'Forbidden', message, { ...detailsOf(subject), causes: [cause] }));
}

/** Admission refuses it. */
export const forbiddenBecause = (subject: Subject, why: string): Refusal =>
  new Refusal(
    403,
    failure(403, 'Forbidden', `${qualified(subject)} "${subject.name}" is forbidden: ${why}`, detailsOf(subject)),
  );

/**
 * A ResourceQuota of the namespace has no room for one more. The texts:
 * `requests.storage=1Gi,persistentvolumeclaims=1`.
 */
export const quotaExceeded = (
  subject: Subject,
  { quota, requested, used, limited }: { quota: string; requested: string; used: string; limited: string },
): Refusal =>
  forbiddenBecause(subject, `exceeded quota: ${quota}, requested: ${requested}, used: ${used}, limited: ${limited}`);

/** A mistake of the request that kube-apiserver takes for its own. */
export const internalError = (message: string): Refusal => new Refusal(500, failure(500, '', message));

export const badRequest = (message: string): Refusal => new Refusal(400, failure(400, 'BadRequest', message));

export const unsupportedMediaType = (message: string): Refusal =>
  new Refusal(415, failure(415, 'UnsupportedMediaType', message));

export const methodNotAllowed = ({ group, plural }: Pick<Subject, 'group' | 'plural'>): Refusal =>
  new Refusal(
    405,
    failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {
      ...(group !== '' && { group }),
      kind: plural,
    }),
  );

/** @param next a token that lists the rest as it is now */
export const expired = (message: string, next?: string): Refusal =>
  new Refusal(410, failure(410, 'Expired', message, undefined, next === undefined ? {} : { continue: next }));

/** Body of the ERROR event of a watch that asks for a version that is gone. */
export const tooOldVersion = (asked: number, oldest: number): Status =>
  failure(410, 'Expired', `too old resource version: ${asked} (${oldest})`);

export const tooLargeVersion = (asked: number, current: number): Refusal =>
  new Refusal(
    504,
    failure(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    }),
    '1',
  );

/** Of a kube-apiserver that has just been started. */
export const starting = (): Refusal =>
  new Refusal(
    503,
    failure(
      503,
      'ServiceUnavailable',
      'the request has been made before all known HTTP paths have been installed, please try again',
    ),
    '5',
  );

/** Answer to a DELETE that removed the object. */
export const deleted = ({ group, plural, name }: Subject, uid: string): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: { name, ...(group !== '' && { group }), kind: plural, uid },
});

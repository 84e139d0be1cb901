import type { FieldError } from './refusal.ts';

interface EventFields {
  reason?: string;
  note?: string;
  type?: string;
  action?: string;
  eventTime?: string;
  reportingController?: string;
  reportingInstance?: string;
}

const required = (field: string): FieldError => ({ reason: 'FieldValueRequired', field, message: 'Required value' });
const tooLong = (field: string, limit: number): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: "": can have at most ${limit} characters`,
});

/** What is wrong with an Event of events.k8s.io. Source: kubernetes/pkg/apis/core/validation/events.go. */
export function validateEvent(event: object): FieldError[] {
  const {
    reason = '',
    note = '',
    type = '',
    action = '',
    eventTime,
    reportingController = '',
    reportingInstance = '',
  } = event as EventFields;
  return [
    ...(eventTime === undefined ? [required('eventTime')] : []),
    ...(reportingController === '' ? [required('reportingController')] : []),
    ...(reportingInstance === '' ? [required('reportingInstance')] : []),
    ...(action === '' ? [required('action')] : []),
    ...(reason === '' ? [required('reason')] : []),
    ...(reason.length > 128 ? [tooLong('reason', 128)] : []),
    ...(Buffer.byteLength(note) > 1_024 ? [tooLong('message', 1_024)] : []),
    ...(type === 'Normal' || type === 'Warning'
      ? []
      : [
          {
            reason: 'FieldValueInvalid',
            field: 'type',
            message: `Invalid value: "": has invalid value: ${type}`,
          } as const,
        ]),
  ];
}

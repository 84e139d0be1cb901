import {
  ioErrorActions,
  stopDetails,
  suspendDetails,
  watchdogActions,
  type DomainEvent,
} from '../../../activities/libvirt/types.ts';
import { eventMessages } from '../../../activities/libvirt/wire/procedures.ts';
import { encode } from '../../../activities/libvirt/wire/xdr.ts';

/** virDomainEventType. */
const lifecycle = [
  'defined',
  'undefined',
  'started',
  'suspended',
  'resumed',
  'stopped',
  'shutting-down',
  'suspended-by-guest',
  'crashed',
] as const;

/** A message that the daemon sends by itself. */
export interface EventMessage {
  /** What a client registers for. */
  kind: number;
  procedure: number;
  payload: Buffer;
}

const callbackId = 0;

/** An event as the daemon sends it. */
export function encodeEvent(event: DomainEvent, id: number): EventMessage {
  const domain = { ...event.domain, id };
  if (event.type === 'rebooted')
    return message(eventMessages.reboot, encode(eventMessages.reboot.message, { callbackId, domain }));
  if (event.type === 'watchdog')
    return message(
      eventMessages.watchdog,
      encode(eventMessages.watchdog.message, { callbackId, domain, action: numberOf(watchdogActions, event.action) }),
    );
  if (event.type === 'io-error') {
    const { device, sourcePath, reason } = event;
    return message(
      eventMessages.ioError,
      encode(eventMessages.ioError.message, {
        callbackId,
        domain,
        sourcePath,
        device,
        action: numberOf(ioErrorActions, event.action),
        reason,
      }),
    );
  }
  const detail =
    event.type === 'stopped'
      ? numberOf(stopDetails, event.detail)
      : event.type === 'suspended'
        ? numberOf(suspendDetails, event.detail)
        : 0;
  return message(
    eventMessages.lifecycle,
    encode(eventMessages.lifecycle.message, { callbackId, domain, event: numberOf(lifecycle, event.type), detail }),
  );
}

const message = ({ kind, number: procedure }: { kind: number; number: number }, payload: Buffer): EventMessage => ({
  kind,
  procedure,
  payload,
});

/** What newer daemons say and drover does not know has a number of its own. */
const unknownNumber = 99;

function numberOf(names: readonly string[], name: string): number {
  const index = names.indexOf(name);
  return index < 0 ? unknownNumber : index;
}

import { eventMessages } from './wire/procedures.ts';
import { decode } from './wire/xdr.ts';
import {
  ioErrorActions,
  stopDetails,
  suspendDetails,
  watchdogActions,
  type Domain,
  type DomainEvent,
} from './types.ts';

/** What virDomainEventType numbers. */
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

/**
 * What the daemon said by itself; null for messages that drover did not ask for. Numbers of newer daemons are `unknown`.
 *
 * @throws MalformedMessage
 */
export function decodeEvent(procedure: number, payload: Buffer): DomainEvent | null {
  switch (procedure) {
    case eventMessages.lifecycle.number: {
      const { domain, event, detail } = decode(eventMessages.lifecycle.message, payload);
      return lifecycleEvent(plain(domain), event, detail);
    }
    case eventMessages.reboot.number:
      return { domain: plain(decode(eventMessages.reboot.message, payload).domain), type: 'rebooted' };
    case eventMessages.watchdog.number: {
      const { domain, action } = decode(eventMessages.watchdog.message, payload);
      return { domain: plain(domain), type: 'watchdog', action: watchdogActions[action] ?? 'unknown' };
    }
    case eventMessages.ioError.number: {
      const { domain, action, device, sourcePath, reason } = decode(eventMessages.ioError.message, payload);
      return {
        domain: plain(domain),
        type: 'io-error',
        action: ioErrorActions[action] ?? 'unknown',
        device,
        sourcePath,
        reason,
      };
    }
    default:
      return null;
  }
}

function lifecycleEvent(domain: Domain, event: number, detail: number): DomainEvent {
  const type = lifecycle[event] ?? 'unknown';
  if (type === 'stopped') return { domain, type, detail: stopDetails[detail] ?? 'unknown' };
  if (type === 'suspended') return { domain, type, detail: suspendDetails[detail] ?? 'unknown' };
  return { domain, type };
}

const plain = ({ uuid, name }: Domain): Domain => ({ uuid, name });

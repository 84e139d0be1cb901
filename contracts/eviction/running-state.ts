import { evictingReasons } from './conditions.ts';

/**
 * How far a running eviction is, in one word, for metrics: that it is paused or stopping, or the code of what it waits
 * out. Its condition says so in the message alone where others wait for the reason `Running`.
 */
export function runningState(reason: string, message: string): string {
  if (reason !== evictingReasons.running) return reason;
  if (/\. Stopping, after /u.test(message)) return 'Stopping';
  if (/\. Paused by /u.test(message)) return 'Paused';
  return /\. (?<code>[A-Z][A-Za-z]+): /u.exec(message)?.groups?.['code'] ?? reason;
}

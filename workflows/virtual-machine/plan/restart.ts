import { extraConfigKeys, readRestartIntent } from '../../../contracts/virtual-machine/metadata.ts';
import { retryAfterMs } from '../../lib/retry.ts';
import type { Outcome } from './context.ts';
import { execute, success, wait, type VmContext } from './context.ts';
import { askedNotes, describeRefusal, perhapsAsked } from './guest-question.ts';

/**
 * Restarts by `spec.nextRestartTime`: once, never lost, never twice.
 *
 * Before the restart an intent is written into the VM: the time it is for, and the VM's boot id as it is then.
 * Afterwards the time itself is written as the last restart. Between the two, a boot id that has changed proves that
 * the restart was made, even when the run has lost its memory; no clocks are compared. Where vCenter shows nothing of a
 * restart (a guest that restarts itself leaves the boot id as it is), the run's own memory says that the guest was
 * asked. Where vCenter's answer was lost, neither says so: the guest is asked again.
 */
export function planRestart({ desired, memory, settings, vm, nowMs }: VmContext): Outcome {
  const forMs = requestedMs(desired.nextRestartTime);
  if (forMs === null || vm.config === null || forMs <= lastRestartMs(vm.config.extraConfig)) return success;
  if (forMs > nowMs) return wait('Updating', `the restart at ${new Date(forMs).toISOString()}`, forMs);
  const { moId, name } = vm;
  const intent = readRestartIntent(vm.config.extraConfig);
  const started = memory.restart?.forMs === forMs ? memory.restart : null;
  const isAsked = started !== null && !started.failed && started.unanswered !== true;
  const isMade = isAsked || (intent?.forMs === forMs && intent.bootId !== vm.bootId);
  if (isMade) {
    const extraConfig = [
      { key: extraConfigKeys.lastRestartTime, value: `${forMs}000000` },
      { key: extraConfigKeys.restartIntent, value: '' },
    ];
    return execute('power', [
      `Note that ${name} was restarted`,
      { kind: 'reconfigure', moId, changeVersion: vm.config.changeVersion, spec: { extraConfig } },
    ]);
  }
  // Without the intent it could not be known later whether the restart was made.
  if (started === null && intent?.forMs !== forMs) return wait('Restarting', 'the restart to be noted in the VM');
  const refused = started?.failed === true && desired.restartMode !== 'Hard' ? started : null;
  const perhapsMs = refused?.unanswered === true ? refused.sinceMs + settings.softPowerMs : 0;
  if (nowMs < perhapsMs) return wait('Restarting', perhapsAsked, perhapsMs);
  const againMs = (refused?.sinceMs ?? 0) + retryAfterMs(refused?.refusals ?? 0);
  if (refused !== null && desired.restartMode === 'Soft' && nowMs < againMs)
    return wait('GuestRefused', describeRefusal('restart', 'restartMode'), againMs);
  // One that was perhaps asked, and whose Tools are back, has perhaps restarted: it is asked, not reset.
  const isBack = refused?.unanswered === true && vm.guest.toolsRunning;
  const isHard = desired.restartMode === 'Hard' || (desired.restartMode === 'TrySoft' && refused !== null && !isBack);
  return execute('power', [
    isHard ? `Reset ${name}` : `Ask the guest of ${name} to restart`,
    isHard
      ? { kind: 'power', moId, operation: 'reset', restartForMs: forMs }
      : {
          kind: 'power',
          moId,
          operation: 'rebootGuest',
          restartForMs: forMs,
          notes: askedNotes({ vm, nowMs }, 'rebootGuest'),
        },
  ]);
}

/** What is written before a restart: part of the one reconfigure that goes before power. */
export function planRestartIntent({ desired, memory, vm, nowMs }: VmContext): { key: string; value: string }[] {
  const forMs = requestedMs(desired.nextRestartTime);
  if (
    forMs === null ||
    forMs > nowMs ||
    vm.config === null ||
    vm.powerState !== 'poweredOn' ||
    desired.powerState !== 'PoweredOn'
  )
    return [];
  if (forMs <= lastRestartMs(vm.config.extraConfig) || memory.restart?.forMs === forMs) return [];
  if (readRestartIntent(vm.config.extraConfig)?.forMs === forMs) return [];
  return [{ key: extraConfigKeys.restartIntent, value: `${forMs} ${vm.bootId}` }];
}

/** Null: no restart is requested, or its time is not known yet (`now` is replaced by one first). */
export function requestedMs(nextRestartTime: string | null): number | null {
  const ms = nextRestartTime === null ? NaN : Date.parse(nextRestartTime);
  return Number.isNaN(ms) ? null : ms;
}

/** Written in nanoseconds since the epoch. */
export function lastRestartMs(extraConfig: Readonly<Record<string, string>>): number {
  const text = extraConfig[extraConfigKeys.lastRestartTime] ?? '';
  return /^\d+$/u.test(text) ? Math.ceil(Number(text) / 1e6) : 0;
}

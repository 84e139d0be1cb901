import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  currentUpdateInfo,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import type { Confirmation } from '../../contracts/node-failure/fencing.ts';
import { messages, type AbandonDisks } from '../../contracts/messages.ts';
import type { NodeFailureProgress } from '../../contracts/node-failure/run.ts';
import { explain } from '../lib/failures.ts';
import { describeFailure } from './describe-failure.ts';
import type { FailureRun } from './failure-run.ts';
import { consentToLoss, retryLeft, takeConfirmation, type FencingState } from './fencing-state.ts';
import { judgeDiskConsent } from './judge-disk-consent.ts';
import { readAbandonment, readConfirmation, readGuestsFailing } from './read-confirmation.ts';

/** What was said to the run, and is not dealt with yet. */
export interface Inbox {
  changed: boolean;
  /** Somebody wants it tried now. */
  retryNow: boolean;
  cancelled: boolean;
  asked: Asked[];
}

/** What a person said: judged by a look that is younger than it. */
interface Asked {
  judge: (fencing: FencingState) => { state: FencingState; taken: boolean; message: string };
  answer: { taken: boolean; message: string } | null;
}

export const emptyInbox = (): Inbox => ({ changed: false, retryNow: false, cancelled: false, asked: [] });

/** Listens, from now on. */
export function takeMessages(run: FailureRun, inbox: Inbox): void {
  setHandler(defineQuery<NodeFailureProgress>(messages.progress), () => describeFailure(run));
  setHandler(defineSignal(messages.objectChanged), () => void (inbox.changed = true));
  setHandler(defineSignal<[unknown]>(messages.guestsFailing), (argument) => {
    const message = readGuestsFailing(argument);
    if (message === null) return;
    // The same word again only keeps what is known from growing old.
    inbox.changed ||= run.state.guests?.message !== message;
    run.state.guests = { message, atMs: Date.now() };
  });
  const retryNow = (): string => {
    inbox.retryNow = true;
    if (run.state.fencing !== null) run.state.fencing = retryLeft(run.state.fencing);
    return `Looks at ${run.name} again, and tries again what was given up`;
  };
  setHandler(defineUpdate<string>(messages.retryNow), retryNow);
  setHandler(defineSignal(messages.retryNow), () => void retryNow());
  onWord(run, inbox, messages.confirmOff, confirmation);
  onWord(run, inbox, messages.abandonDisks, abandonment);
  void CancellationScope.current().cancelRequested.catch(() => (inbox.cancelled = true));
}

/** Takes a person's word as an update, which answers, and as a signal, which has nobody to answer: what is refused is in `progress`. */
function onWord(run: FailureRun, inbox: Inbox, name: string, read: (argument: unknown) => Asked['judge']): void {
  const ask = async (argument: unknown): Promise<string> => {
    const asked: Asked = { judge: read(argument), answer: null };
    inbox.asked.push(asked);
    inbox.changed = true;
    await condition(() => asked.answer !== null);
    const { taken, message } = asked.answer!;
    if (!taken) throw ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
    return message;
  };
  setHandler(defineUpdate<string, [unknown]>(name), ask);
  setHandler(defineSignal<[unknown]>(name), (argument) =>
    ask(argument).then(noAnswer, (error: unknown) => void (run.state.refusal = explain(error).message)),
  );
}

const noAnswer = (): void => undefined;

function confirmation(argument: unknown): Asked['judge'] {
  const given: Confirmation = {
    id: currentUpdateInfo()?.id ?? uuid4(),
    ...readConfirmation(argument),
    atMs: Date.now(),
  };
  return (fencing) => {
    const { state, decision } = takeConfirmation(fencing, given, Date.now());
    if (decision.consent === 'refused')
      return { state, taken: false, message: `Refused (${decision.reason}): ${decision.message}` };
    return {
      state,
      taken: true,
      message: `Taken: ${given.person} has made sure that ${state.incident.host} is off. Its servers are evacuated unless it shows life.`,
    };
  };
}

function abandonment(argument: unknown): Asked['judge'] {
  const given: AbandonDisks = readAbandonment(argument);
  return (fencing) => {
    const { taken, message } = judgeDiskConsent(given, fencing, Date.now());
    return taken === null
      ? { state: fencing, taken: false, message: `Refused: ${message}` }
      : { state: consentToLoss(fencing, taken), taken: true, message };
  };
}

/** Judges what people have said meanwhile, by the look that was just made. */
export function answer({ seen, state }: FailureRun, inbox: Inbox): void {
  if (seen === null || state.fencing === null) return;
  for (const asked of inbox.asked.splice(0)) {
    const { state: after, taken, message } = asked.judge(state.fencing);
    state.fencing = after;
    asked.answer = { taken, message };
    state.refusal = taken ? null : message;
  }
}

/** Nobody is left without an answer. */
export async function dismiss({ asked }: Inbox, why: string): Promise<void> {
  for (const one of asked.splice(0)) one.answer = { taken: false, message: `Refused: ${why}` };
  await condition(allHandlersFinished);
}

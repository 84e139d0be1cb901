import { CancellationScope, setHandler } from '@temporalio/workflow';
import { asSignal, messages } from '../../contracts/messages.ts';

/** An object's spec, as a signal names it. */
interface Spec {
  uid: string;
  generation: number;
}

/**
 * What has come and is not dealt with. It is emptied in one place, where an observation begins: what comes later may
 * not be in that observation, and stays for the next one. No wait empties it, so that nothing that was asked
 * for is lost.
 */
export class Inbox {
  /** Something other than a written spec, which only an observation can show. */
  pending = false;
  retryNow = false;
  /** A step in the background ended. It is no reason to observe, but to plan. */
  stepEnded = false;
  cancelled = false;
  /** A user asked for a retry after the cancel. */
  resume = false;
  /** What the watch of an outside system saw last, and nothing else than such a watch has sent. */
  private stateDigest: string | null = null;
  private newest: Spec | null = null;

  /**
   * Sets the handlers. To be called before the first await, so that nothing that came with the start is missed.
   *
   * @param title kind and name of the object, for the answer to a user
   */
  listen(title: string): void {
    setHandler(messages.objectChanged, (change) => this.take(change));
    const retry = (): string => {
      this.retryNow = true;
      this.resume ||= this.cancelled;
      return `${title} is observed again now`;
    };
    setHandler(messages.retryNow, retry);
    setHandler(asSignal(messages.retryNow), () => void retry());
    void CancellationScope.current().cancelRequested.catch(() => (this.cancelled = true));
  }

  /**
   * A written spec is the only change that its generation identifies whole: one that was observed already is an echo.
   */
  private take(change: unknown): void {
    const { uid, generation, cause, stateDigest } = Object(change) as Record<string, unknown>;
    if (typeof stateDigest === 'string') {
      this.stateDigest = stateDigest;
      return;
    }
    const isNamed = typeof uid === 'string' && typeof generation === 'number' && generation > 0;
    if (!isNamed || cause !== 'spec') this.pending = true;
    if (isNamed && (this.newest?.uid !== uid || this.newest.generation < generation)) this.newest = { uid, generation };
  }

  empty(): void {
    this.pending = false;
    this.retryNow = false;
    this.stepEnded = false;
    this.stateDigest = null;
    this.newest = null;
  }

  /** Another text for each newer spec; empty: none is newer than the one observed. */
  newerSpec(observed: Spec | null): string {
    return this.newest !== null && this.isNewer(observed) ? `${this.newest.uid} ${this.newest.generation}` : '';
  }

  /** Whether a spec was written that is not the one observed. */
  isNewer(observed: Spec | null): boolean {
    const { newest } = this;
    if (newest === null) return false;
    return observed === null || newest.uid !== observed.uid || newest.generation > observed.generation;
  }

  /** What makes an observation old. `isEcho`: whether it shows the state that the watch has reported. */
  isPending(observed: Spec | null, isEcho: (stateDigest: string) => boolean): boolean {
    return (
      this.pending ||
      this.retryNow ||
      this.isNewer(observed) ||
      (this.stateDigest !== null && (observed === null || !isEcho(this.stateDigest)))
    );
  }
}

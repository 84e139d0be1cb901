import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Answer, Ending } from './eviction-facts.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';

/** What one look at an eviction found. */
export type Look =
  /** No run has taken it up yet; the sentence says what for. */
  | { state: 'waiting'; message: string }
  | { state: 'running'; progress: Answer }
  | { state: 'ended'; ending: Ending; progress: Answer };

/** Where news comes from. */
export interface FollowSource {
  look(): Promise<Look>;
  /** By server id, how much of each move is done, fresher than the run knows; empty where nobody tells. */
  percents(progress: EvictionProgress): Promise<ReadonlyMap<string, number>>;
}

/** Where news goes. */
export interface FollowView {
  show(progress: EvictionProgress): void;
  /** Something about the watching itself: nobody answers, nothing has begun. Told once for as long as it is so. */
  remark(message: string): void;
  end(ending: Ending, progress: Answer): void;
}

/** Shows an eviction until it ends, through absences of Temporal, of workers and of kube-apiserver. */
export async function follow(
  source: FollowSource,
  view: FollowView,
  { intervalMs, clock, abort }: { intervalMs: number; clock: Clock; abort: AbortSignal },
): Promise<Ending> {
  let remarked: string | null = null;
  const remark = (message: string | null): void => {
    if (message !== null && message !== remarked) view.remark(message);
    remarked = message;
  };
  for (;;) {
    const look = await source.look().catch((error: unknown): null => {
      abort.throwIfAborted();
      if (!mayPass(error)) throw error;
      remark(`${explainError(error).message} Still trying.`);
      return null;
    });
    if (look?.state === 'ended') {
      view.end(look.ending, look.progress);
      return look.ending;
    }
    if (look?.state === 'waiting') remark(look.message);
    if (look?.state === 'running') {
      remark(
        look.progress === null
          ? 'No worker answers for this run. `drover doctor` tells why; `drover worker` starts one.'
          : null,
      );
      if (look.progress !== null) view.show(await withPercents(source, look.progress));
    }
    await clock.sleep(intervalMs, abort);
  }
}

/** A system that is away comes back; a no stays a no. */
const mayPass = (error: unknown): boolean => explainError(error).exitCode === exitCodes.unreachable;

async function withPercents(source: FollowSource, progress: EvictionProgress): Promise<EvictionProgress> {
  const percents = await source.percents(progress).catch((): ReadonlyMap<string, number> => new Map());
  const instances = progress.instances.map((instance) => {
    const percent = instance.state === 'moving' ? percents.get(instance.id) : undefined;
    return percent === undefined ? instance : { ...instance, percent: Math.max(percent, instance.percent ?? 0) };
  });
  return { ...progress, instances };
}

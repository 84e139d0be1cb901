import { fencedHold } from '../../contracts/ids.ts';
import { highAvailabilityFacts, judgeHighAvailability } from './judge-high-availability.ts';
import type { Context } from './step.ts';

/**
 * What the run of the host's failure is to be told of its Node, in words that differ where the news do; null: nothing concerns it. It is
 * told of a Node that is not Ready, and of a nova-compute that is down, while failed nodes are handled there, once; and at every look while
 * the host is held because it was fenced: a run that was terminated since it was told is missed then, and only it restores the host. Pure.
 *
 * @param told what it was told last; absent: nothing
 */
export function failureNews(context: Context, told: string | undefined): string | null {
  const { desired, observed, settings } = context;
  const { node, nova, hold } = observed;
  if (
    !settings.handlesNodeFailure ||
    settings.mode === 'observe' ||
    desired.mode === 'observe' ||
    desired.deleting ||
    node === null
  )
    return null;
  const isFenced = hold?.reason === fencedHold;
  const isComputeDown = nova?.service.state === 'down';
  if (
    !isFenced &&
    ((node.ready && !isComputeDown) || judgeHighAvailability(highAvailabilityFacts(context)).status !== 'True')
  )
    return null;
  const since = new Date(node.readySinceMs).toISOString();
  const news = `Node ${node.name} is ${node.ready ? 'Ready' : 'not Ready'} since ${since}, boot ${node.bootId || 'unknown'}${isComputeDown ? '; nova-compute is down' : ''}`;
  return news === told && !isFenced ? null : news;
}

/** What drivers of storage answer, in the messages that Kubernetes' parts write of them. Pure. */

const passing = ['Aborted', 'ResourceExhausted', 'Unavailable', 'DeadlineExceeded'];

/**
 * Of kube-apiserver to a sidecar: another one has written the object meanwhile, such as another clone that
 * joins the snapshot.
 */
const conflict = 'the object has been modified; please apply your changes to the latest version';

/**
 * Whether what a driver has said goes on by itself: it is at work on it, or is short of something that comes back. The
 * driver's own code is the last in the message; what has called it puts its own before. So does a
 * conflict between writers.
 */
export function goesOn(message: string): boolean {
  if (message.includes(conflict)) return true;
  const code = [...message.matchAll(/\bcode = ([A-Za-z]+)/gu)].at(-1)?.[1];
  return code !== undefined && passing.includes(code);
}

/**
 * Whether a problem says more than the one that is known. A driver that is at work says so in many ways and clears it
 * now and then: once is enough. A conflict between writers is none: it is over within seconds.
 */
export const isNews = (problem: string | null, known: string | null): boolean =>
  problem !== known &&
  problem?.includes(conflict) !== true &&
  !(known !== null && goesOn(known) && (problem === null || goesOn(problem)));

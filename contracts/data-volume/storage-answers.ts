/** What drivers of storage answer, in the messages that Kubernetes' parts write of them. Pure. */

const passing = ['Aborted', 'ResourceExhausted', 'Unavailable', 'DeadlineExceeded'];

/**
 * Whether what a driver has said goes on by itself: it is at work on it, or is short of something that comes back. The driver's own code is the
 * last in the message; what has called it puts its own before.
 */
export function goesOn(message: string): boolean {
  const code = [...message.matchAll(/\bcode = ([A-Za-z]+)/gu)].at(-1)?.[1];
  return code !== undefined && passing.includes(code);
}

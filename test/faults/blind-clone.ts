import type { NewVm } from '../../activities/vsphere/specs/new-vm.ts';
import type { Mutation } from './gate.ts';

export const openBlindClone = (): Mutation => {
  const rename = renameEachAttempt();
  return (activity, args, next) => (activity === 'submitNewVm' ? () => next([rename(args[0] as NewVm)]) : undefined);
};

/** Each attempt to create a VM asks for another name and instance UUID, so that it finds nothing of an earlier one. */
export function renameEachAttempt(): <Request extends NewVm>(request: Request) => Request {
  const attempts = new Map<string, number>();
  return (request) => {
    const { create, owner } = request;
    const attempt = (attempts.get(owner.uid) ?? 0) + 1;
    attempts.set(owner.uid, attempt);
    if (attempt === 1) return request;
    const instanceUuid = `${create.instanceUuid.slice(0, -2)}${attempt.toString(16).padStart(2, '0')}`;
    return { ...request, create: { ...create, name: `${create.name}-${attempt}`, instanceUuid } };
  };
}

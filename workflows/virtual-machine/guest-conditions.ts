import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { VirtualMachineStatus } from '../../contracts/crds/virtual-machine.ts';
import { no, trueReason, virtualMachineConditions as types, yes } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys } from '../../contracts/virtual-machine/metadata.ts';
import type { VmContext } from './plan/context.ts';

/** What a guest says of itself, as conditions. Null: there is nothing to say. Pure. */

/** What the guest wrote into its VM: `true`, or anything else, then a reason and a sentence. */
export function judgeGuestBootstrap({ vm: { config } }: Pick<VmContext, 'vm'>): ConditionUpdate | null {
  const text = config?.extraConfig[extraConfigKeys.bootstrapCondition];
  if (text === undefined || text === '') return null;
  const [said = '', reason = '', ...sentence] = text.split(',').map((part) => part.trim());
  const isTrue = /^(1|t|true)$/iu.test(said);
  const message = sentence.join(', ');
  const plain = isTrue ? trueReason : 'False';
  // kube-apiserver would refuse the whole status for a reason of another form.
  const isReason = /^[A-Za-z][A-Za-z0-9_]*$/u.test(reason) && reason.length <= longestReason;
  return {
    type: types.guestBootstrap,
    status: isTrue ? 'True' : 'False',
    reason: isReason ? reason : plain,
    message: isReason || reason === '' ? message : [reason, message].filter((part) => part !== '').join(': '),
  };
}

const longestReason = 256;

/** Whether the guest has an address, and one of its cards shows it. */
export function judgeGuestNetwork({ desired, vm }: Pick<VmContext, 'desired' | 'vm'>): ConditionUpdate | null {
  const type = types.guestNetworkSynced;
  if (vm.powerState !== 'poweredOn' || desired.networkDisabled || desired.networkCards.length === 0) return null;
  const { primaryIp4, primaryIp6 } = vm.guest;
  const primary = [primaryIp4, primaryIp6].filter((address) => address !== null);
  const named = `IPv4="${primaryIp4 ?? ''}", IPv6="${primaryIp6 ?? ''}"`;
  if (primary.length === 0) return notSynced('Neither IPv4 nor IPv6 address reported by guest');
  const shown = addressesOf(vm.shown.network);
  return primary.every((address) => shown.includes(address))
    ? yes(type, 'Synced', named)
    : notSynced(`The guest’s own addresses (${named}) are not among those of its cards yet`);

  function notSynced(message: string): ConditionUpdate {
    return no(type, 'NotSynced', message);
  }
}

/** Without their prefixes. */
const addressesOf = (network: VirtualMachineStatus['network']): string[] =>
  (network?.interfaces ?? []).flatMap(({ ip }) =>
    (ip?.addresses ?? []).flatMap(({ address }) => address?.split('/')[0] ?? []),
  );

import { droverFailure } from '../../runtime/failure.ts';
import { observedAs, type CallOutcome, type ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import type { LibvirtEndpoint } from './endpoint.ts';
import { faultOf, type LibvirtRefusal } from './faults.ts';
import type { Answer, Rpc } from './rpc.ts';
import type { LibvirtTimeouts } from './types.ts';
import type { ProcedureArgs, ProcedureName, ProcedureResult } from './wire/procedures.ts';

/** Makes a call, and tells of it; what the daemon refuses is thrown, as every other failure. */
export type Request = <Name extends ProcedureName>(
  name: Name,
  args: ProcedureArgs<Name>,
  signal: AbortSignal,
  timeoutMs?: number,
) => Promise<ProcedureResult<Name>>;

export function createRequest(
  rpc: Rpc,
  { host, port }: LibvirtEndpoint,
  { callMs }: Pick<LibvirtTimeouts, 'callMs'>,
  observe: ObserveCall | undefined,
): Request {
  return async (name, args, signal, timeoutMs = callMs) => {
    const answer = await observedAs(
      observe,
      { system: 'libvirt', verb: name },
      signal,
      () => rpc.call(name, args, { timeoutMs, signal }),
      told,
    );
    if ('result' in answer) return answer.result;
    const { code, words } = answer.refusal;
    throw droverFailure(faultOf(code), `libvirt at ${host}:${port} answered ${name}: ${words}`, {
      details: { libvirtCode: code, procedure: name, words },
    });
  };
}

const told = (answer: Answer<unknown>): { outcome: CallOutcome; status: null; requestId: '' } => ({
  outcome: 'result' in answer ? 'ok' : outcomeOf(answer.refusal),
  status: null,
  requestId: '',
});

function outcomeOf({ code }: LibvirtRefusal): CallOutcome {
  const fault = faultOf(code);
  if (fault === 'DomainNotFound' || fault === 'StoragePoolNotFound') return 'not_found';
  if (fault === 'LibvirtCredentialRefused') return 'unauthorized';
  return fault === 'HypervisorFailed' || fault === 'LibvirtUnavailable' ? 'server_error' : 'refused';
}

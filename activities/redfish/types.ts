import type { PowerState } from '../../contracts/node-failure/power.ts';

/** How to reach the BMC of one host, and which of its machines the host is. */
export interface BmcSettings {
  /** `https://bmc-17.example`; what is below is found from the service root. */
  url: string;
  username: string;
  password: string;
  /** A session is opened and closed around the work, for BMCs that refuse Basic. */
  auth: 'basic' | 'session';
  /** PEM certificates to trust; null: the system's. Verification cannot be switched off. */
  ca: string | null;
  system: SystemSelector;
}

/**
 * Which machine is meant; all that is given must fit. The path alone says where, not which: give the UUID or the serial
 * number too where they are known, so that a BMC that moved to another machine is found out before that one
 * is powered off.
 */
export interface SystemSelector {
  /** `/redfish/v1/Systems/1` */
  path?: string;
  /** As SMBIOS has it, in any case of letters. */
  uuid?: string;
  serial?: string;
}

export interface ComputerSystem {
  path: string;
  uuid: string | null;
  serial: string | null;
  power: PowerState;
  /** Null where the BMC offers no reset. */
  reset: { target: string; /** Null where the BMC does not report them. */ types: string[] | null } | null;
}

/**
 * What drover asks of a BMC. Every method ends when its signal is aborted, never tries again by itself (except one new
 * session when the old one is refused), and throws failures of contracts/errors.ts: `BmcUnreachable`,
 * `BmcCredentialRefused`, `SystemNotFound`, `RequestRefused`, `AnswerMalformed`; `forceOff` also `PowerOffRefused`.
 *
 * @see Redfish Specification (DSP0266), schema ComputerSystem v1
 */
export interface RedfishClient {
  /** Finds the one machine of the BMC that is configured. */
  findSystem(signal: AbortSignal): Promise<ComputerSystem>;
  /** Reads the machine again, and makes sure that it is still the one that is meant. */
  readSystem(path: string, signal: AbortSignal): Promise<ComputerSystem>;
  /** Asks for ResetType ForceOff. That the BMC takes the request does not say that the machine is off. */
  forceOff(system: ComputerSystem, signal: AbortSignal): Promise<void>;
  /** Ends the session, if there is one: a BMC has room for few. */
  close(): Promise<void>;
}

/**
 * A BMC's client, as `createRedfishClient` of client.ts makes it. Nothing is sent before the first request.
 * @throws InvalidConfiguration
 */
export type ConnectBmc = (settings: BmcSettings) => RedfishClient;

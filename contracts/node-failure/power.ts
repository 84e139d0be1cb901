/**
 * The power of a host, as its BMC reports it over Redfish. A BMC is on another network than the host, so it still
 * answers when the host does not.
 */

/** `PowerState` of a ComputerSystem; `Unknown` where the BMC gives none. Only `Off` means that nothing runs. */
export const powerStates = ['On', 'Off', 'PoweringOn', 'PoweringOff', 'Paused', 'Unknown'] as const;
export type PowerState = (typeof powerStates)[number];

export interface PowerObservation {
  host: string;
  power: PowerState;
  /** Milliseconds since the epoch. */
  atMs: number;
}

/** What proves that a host is off: two reads of Off, some time apart, with no other answer in between. */
export interface PowerProof {
  host: string;
  /** The system at the BMC that was read, e.g. `/redfish/v1/Systems/1`, and the machine it says to be. */
  systemPath: string;
  systemUuid: string | null;
  /** Milliseconds since the epoch, by one clock. */
  firstOffMs: number;
  secondOffMs: number;
  /** False: it was off already. */
  asked: boolean;
}

/** Queue `hosts`. */
export interface PowerActivities {
  /** Reads only. */
  observePower(request: { host: string }): Promise<PowerObservation>;
  /**
   * Observes, asks for ForceOff unless the host is off or may not be asked, and returns when it was read Off twice, at
   * least `recheckMs` apart. Safe to repeat and to run twice at once. Whatever goes wrong is a failure: a BMC that does
   * not answer proves nothing.
   */
  ensurePoweredOff(request: EnsurePoweredOff): Promise<PowerProof>;
}

export interface EnsurePoweredOff {
  host: string;
  /** For the audit log: a setting, or a user. */
  cause: string;
  /**
   * Whether it may be asked to power off. False where it has been found off already: one that is not off any more was
   * switched on by a user, and must not be killed while it boots.
   */
  mayAsk: boolean;
  /** Time between the two reads of Off. */
  recheckMs: number;
  /** How often to observe while the host goes off. */
  pollMs: number;
  /** How long it may take to go off once it was asked. */
  timeoutMs: number;
}

import type { Http, HttpAnswer } from '../openstack/http.ts';
import type { ServiceType } from '../openstack/faults.ts';

/**
 * A credential's standing with Keystone: one token for all requests, renewed before it expires. Concurrent callers
 * share one login; a caller that gives up does not end it for the others.
 *
 * Failures: `CredentialRefused`, `KeystoneUnavailable`, `EndpointNotFound`, `InvalidConfiguration`, `AnswerMalformed`.
 */
export interface KeystoneSession {
  /** As in the settings; the token's catalog has it. */
  readonly region: string;
  /** Shared by all services, so that its pools and time-outs are too. */
  readonly http: Http;
  /** A token that is good for a while. Logs in where there is none. */
  token(signal: AbortSignal): Promise<string>;
  /**
   * Sends a request with the token; once more with a new one when the service refuses it, as it may have been revoked.
   */
  use(send: (token: string) => Promise<HttpAnswer>, signal: AbortSignal): Promise<HttpAnswer>;
  /** URL of a service for the settings' region and interface. */
  endpoint(type: ServiceType, signal: AbortSignal): Promise<string>;
  /** Who the credential is, and whose. */
  identity(signal: AbortSignal): Promise<Identity>;
  close(): Promise<void>;
}

export interface Identity {
  user: string;
  project: string | null;
  projectId: string | null;
  roles: string[];
  /** RFC 3339. */
  expiresAt: string;
}

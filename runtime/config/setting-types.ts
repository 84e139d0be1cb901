import { z } from 'zod';

/** What the sections of drover's settings are made of. */

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** A number of milliseconds. Small values are for tests; a day is more than any of them means. */
export const ms = (value: number, { least = 1, most = day } = {}) => z.int().min(least).max(most).default(value);
export const count = (value: number, most: number) => z.int().min(1).max(most).default(value);

/** A DNS label or subdomain, as Kubernetes takes it for names. */
export const dnsName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u, 'expected a name of lower-case letters, digits, - and .');

export const text = z.string().min(1);
/** A setting that may be left out; null in the checked settings. */
export const optionalText = text.nullable().default(null);

const mostPort = 65_535;

/** The parts of `host`, `host:port`, `[IPv6 address]` and `[IPv6 address]:port`; null for anything else. */
export function splitHostPort(value: string): { host: string; port: number | null } | null {
  const [, bracketed, plain, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/u.exec(value) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port ?? 0) > mostPort) return null;
  return { host, port: port === undefined ? null : Number(port) };
}

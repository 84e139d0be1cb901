import { droverFailure } from '../../../runtime/failure.ts';

/**
 * The URL, if drover may download from there. Pure.
 *
 * @param hosts with their ports, where those are not the scheme's
 * @param before where the redirect to it came from; null: it is none
 * @throws IsoRefused
 */
export function allowedUrl(given: string, hosts: readonly string[], before: URL | null = null): URL {
  const refuse = (why: string) =>
    droverFailure(
      'IsoRefused',
      before === null ? `The URL of the InfraEnv ${why}` : `${before.host} redirects: it ${why}`,
    );
  const url = URL.parse(given, before?.href);
  if (url === null) throw refuse('is no URL');
  const { protocol, host } = url;
  if (protocol !== 'https:' && protocol !== 'http:')
    throw refuse(`is one of ${protocol.slice(0, 20)} and not of https: or http:`);
  if (before?.protocol === 'https:' && protocol === 'http:') throw refuse(`leads from https: to http: at ${host}`);
  if (url.username !== '' || url.password !== '') throw refuse(`has a user in it, at ${host}`);
  if (!hosts.includes(host))
    throw refuse(
      `is at ${host}, which is not among agentPools.iso.hosts in drover’s settings: add it there, if ISOs may come from it`,
    );
  return url;
}

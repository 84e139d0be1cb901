import { createReadStream } from 'node:fs';
import { statfs } from 'node:fs/promises';

import pLimit from 'p-limit';

import { secretsOf } from '../../../contracts/agent-pool/iso.ts';
import { withTimeout, type Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { forgetSecret, registerSecret } from '../../../runtime/redaction.ts';
import type { ObserveCall } from '../../../runtime/telemetry/outside-calls.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { type HttpClient, type HttpStream, type HttpTimeouts, openHttp } from '../../lib/http.ts';
import { growingDelayMs } from '../../lib/wait.ts';
import { allowedUrl } from './allowed-url.ts';
import type { DownloadedIso, IsoSource, IsoSourceSettings } from './iso-source.ts';
import { openTemporaryIso, type TemporaryIso } from './temporary-iso.ts';

/** assisted-image-service makes an ISO while it is asked for. */
const usualTimeouts = { connectMs: 10_000, headersMs: 120_000, bodyMs: 60_000 };
const mostRedirects = 3;
/** Attempts after which nothing more has come. */
const mostFruitless = 3;
/** A connection that is cut again and again is not to be waited for until the time is over. */
const mostCuts = 100;

/**
 * ISOs by HTTP: streamed into a file, hashed on the way, and taken up again where a connection was cut. One at a time,
 * as each takes the disk of the worker.
 */
export function openHttpIsoSource(
  settings: IsoSourceSettings,
  { clock, observe, timeouts = usualTimeouts }: { clock: Clock; observe?: ObserveCall; timeouts?: HttpTimeouts },
): IsoSource {
  const http = openHttp({
    connections: 1,
    // Those of ISOs are taken piece by piece, and bounded where they are.
    largestAnswerBytes: -1,
    timeouts,
    tls: { ca: settings.ca },
    trust: 'agentPools.iso.caFile in drover’s settings',
    observe,
  });
  const turn = pLimit(1);
  return {
    download: ({ url, etag }, signal) =>
      unlessAborted(
        turn(async () => {
          signal.throwIfAborted();
          const secrets = secretsOf(url);
          secrets.forEach(registerSecret);
          try {
            return await withTimeout(clock, settings.timeoutMs, (overdue) =>
              download({ settings, http, clock, signal, overdue }, allowedUrl(url, settings.hosts), etag),
            );
          } finally {
            secrets.forEach(forgetSecret);
          }
        }),
        signal,
      ),
    close: () => http.close(),
  };
}

interface Download {
  settings: IsoSourceSettings;
  http: HttpClient;
  clock: Clock;
  signal: AbortSignal;
  overdue: AbortSignal;
}

async function download(tools: Download, url: URL, etag: string | null): Promise<DownloadedIso> {
  const { clock, signal, settings } = tools;
  const { directory, maxBytes, timeoutMs } = settings;
  const startMs = clock.monotonicMs();
  const file = await openTemporaryIso({
    directory,
    maxBytes,
    from: url.host,
    staleMs: 2 * timeoutMs,
    nowMs: clock.now(),
  });
  const part: Part = { url, etag, file, validator: null };
  try {
    for (let cuts = 0, fruitless = 0; ;) {
      const before = file.sizeBytes;
      try {
        const ended = await receive(tools, part);
        if (ended === 'unchanged') {
          await file.remove();
          return { kind: 'unchanged' };
        }
        if (ended === 'complete') return await complete(part);
        // The URL is another one: that is no attempt.
        continue;
      } catch (error) {
        if (signal.aborted || failureCode(error) !== 'IsoUnavailable' || tools.overdue.aborted) throw error;
        fruitless = file.sizeBytes > before ? 0 : fruitless + 1;
        cuts += 1;
        if (fruitless >= mostFruitless || cuts >= mostCuts || !isCut(error)) throw error;
      }
      await clock
        .sleep(growingDelayMs(clock.monotonicMs() - startMs), AbortSignal.any([signal, tools.overdue]))
        .catch(() => undefined);
      signal.throwIfAborted();
    }
  } catch (error) {
    await file.remove();
    throw error;
  }
}

interface Part {
  url: URL;
  /** To ask for; null: the bytes are wanted. */
  etag: string | null;
  file: TemporaryIso;
  /** What the server calls the version of what has come; null: nothing by which more of the same could be asked for. */
  validator: string | null;
  redirects?: number;
  /** Of the complete answer. */
  found?: string | null;
}

/** One request. A connection that is cut is IsoUnavailable with the detail `cut`. */
function receive(tools: Download, part: Part): Promise<'complete' | 'unchanged' | 'elsewhere'> {
  const { http, overdue, signal, settings } = tools;
  const { url, etag, file, validator } = part;
  const isResumed = file.sizeBytes > 0 && validator !== null;
  return http.receive(
    {
      call: { system: 'iso', verb: 'GET ISO' },
      method: 'GET',
      url,
      headers: {
        accept: 'application/octet-stream, */*',
        // What is compressed on its way has another length, and no ranges.
        'accept-encoding': 'identity',
        ...(isResumed && { range: `bytes=${file.sizeBytes}-`, 'if-range': validator }),
        ...(!isResumed && etag !== null && { 'if-none-match': etag }),
      },
      overdue,
      failure: ({ words, certificate }, cause) =>
        certificate
          ? droverFailure('CertificateNotTrusted', `${url.host}, where the ISO is: ${words}`, { cause })
          : overdue.aborted
            ? unavailable(url, `it was not complete within ${settings.timeoutMs / 1_000} s`)
            : unavailable(url, words, { cut: true }),
    },
    (answer) => take(tools, part, answer),
    signal,
  );
}

const unavailable = (url: URL, words: string, details?: { cut: true }) =>
  droverFailure('IsoUnavailable', `The ISO at ${url.host}: ${words}`, { details });

const isCut = (error: unknown): boolean =>
  isError(error) && 'details' in error && (error.details as { cut?: boolean }[] | undefined)?.[0]?.cut === true;

async function take(
  { settings }: Download,
  part: Part,
  { status, headers, body }: HttpStream,
): Promise<'complete' | 'unchanged' | 'elsewhere'> {
  const { url, file, etag } = part;
  if (status === 304 && etag !== null) return 'unchanged';
  if ([301, 302, 303, 307, 308].includes(status)) {
    part.redirects = (part.redirects ?? 0) + 1;
    if (part.redirects > mostRedirects)
      throw droverFailure('IsoRefused', `${url.host} redirects more than ${mostRedirects} times`);
    part.url = allowedUrl(headers['location'] ?? '', settings.hosts, url);
    part.validator = null;
    await file.startAnew();
    return 'elsewhere';
  }
  if (status === 206) {
    const [, from, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/u.exec(headers['content-range'] ?? '') ?? [];
    if (Number(from) !== file.sizeBytes || versionOf(headers, part.validator) !== part.validator) {
      await file.startAnew();
      part.validator = null;
      throw unavailable(url, 'its rest is that of another one', { cut: true });
    }
    if (total !== undefined && total !== '*')
      await checkRoom(url, Number(total) - file.sizeBytes, settings, Number(total));
  } else if (status === 200) {
    await file.startAnew();
    part.validator = validatorOf(headers);
    part.found = strongEtag(headers['etag']);
    const announced = Number(headers['content-length'] ?? Number.NaN);
    if (Number.isFinite(announced)) await checkRoom(url, announced, settings);
  } else if (status === 416) {
    await file.startAnew();
    part.validator = null;
    throw unavailable(url, 'it has become shorter', { cut: true });
  } else
    throw unavailable(
      url,
      `the server answered ${status}${[401, 403, 404, 410].includes(status) ? ', as where its token has expired' : ''}`,
    );
  for await (const piece of body) await file.append(piece);
  return 'complete';
}

/** @param total of all of it; default: what is to come */
async function checkRoom(
  url: URL,
  toCome: number,
  { maxBytes, directory }: IsoSourceSettings,
  total = toCome,
): Promise<void> {
  if (total > maxBytes)
    throw droverFailure(
      'IsoRefused',
      `The ISO at ${url.host} has ${total} bytes, and agentPools.iso.maxBytes in drover’s settings allows ${maxBytes}`,
    );
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < toCome)
    throw unavailable(
      url,
      `${toCome} bytes are to come, and ${directory} has room for ${bavail * bsize}: make room, or name another agentPools.iso.directory in drover’s settings`,
    );
}

async function complete({ file, url, found = null }: Part): Promise<DownloadedIso> {
  const { sizeBytes } = file;
  const sha256 = await file.finish();
  if (!(await file.isDiscImage()))
    throw droverFailure(
      'IsoRefused',
      `What ${url.host} gives is no disc image by ISO 9660: ${sizeBytes} bytes, of the kind that a page with an error has`,
    );
  return {
    kind: 'downloaded',
    iso: { sha256, sizeBytes, open: () => createReadStream(file.path), remove: () => file.remove() },
    etag: found,
  };
}

const strongEtag = (etag: string | undefined): string | null =>
  etag !== undefined && /^"[\u0021\u0023-\u007e]{1,200}"$/u.test(etag) ? etag : null;

/** A time names a version strictly where the answer is a minute younger (RFC 9110, 8.8.2.2). */
const strongAfterMs = 60_000;

/** As RFC 9110, 5.6.7 has servers write it; NaN for all else, of which `Date.parse` makes a time of nearly anything. */
const parseHttpDate = (text: string): number =>
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/u.test(text) ? Date.parse(text) : Number.NaN;

/** Pure. What the rest of the same version can be asked for by; null: nothing. */
export function validatorOf(headers: Readonly<Record<string, string>>): string | null {
  const etag = strongEtag(headers['etag']);
  if (etag !== null || headers['etag'] !== undefined) return etag;
  const { date, 'last-modified': modified } = headers;
  if (date === undefined || modified === undefined) return null;
  return parseHttpDate(date) - parseHttpDate(modified) >= strongAfterMs ? modified : null;
}

/** A server need not repeat it with a part. */
const versionOf = (headers: Readonly<Record<string, string>>, asked: string | null): string | null =>
  headers['etag'] ?? headers['last-modified'] ?? asked;

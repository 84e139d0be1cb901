import { Option, type Command } from 'commander';
import { serveCodec } from '../../runtime/temporal/codec-server.ts';
import { loadConfig } from '../../runtime/config/config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import { createPayloadCodec } from '../../runtime/temporal/payload-codec.ts';
import { readPayloadKeys, refuseOpenFile } from '../../runtime/temporal/payload-keys.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { readSettingsText } from '../../runtime/config/settings-file.ts';
import { describedCommand } from '../command/command.ts';
import { untilSignalled } from '../command/until-signalled.ts';

interface CodecServerOptions {
  listen: string;
  origin?: string;
  tokenFile?: string;
}

export const codecServerCommand = (): Command =>
  describedCommand(
    'codec-server',
    'Encrypts and decrypts payloads for the Web UI and the temporal command, with the keys of temporal.payloadKeys. Every user with access to it can read all payloads of the runs.',
    [
      [
        'drover codec-server --origin http://127.0.0.1:8233',
        'for a Web UI on this machine; in its settings: http://127.0.0.1:8234',
      ],
      ['temporal workflow show -w eviction/node-1 --codec-endpoint http://127.0.0.1:8234', 'a history in clear'],
      [
        'drover codec-server --listen 0.0.0.0:8234 --token-file token --origin https://temporal.example',
        'for others, behind a proxy that does TLS',
      ],
    ],
  )
    .addOption(
      new Option('--listen <host:port>', 'where it listens; other than loopback needs a token').default(
        '127.0.0.1:8234',
      ),
    )
    .addOption(new Option('--origin <url>', 'the Web UI whose pages may ask; without it no browser may'))
    .addOption(new Option('--token-file <file>', 'what callers must send as Authorization: Bearer …; mode 0600'))
    .action(async ({ listen, origin, tokenFile }: CodecServerOptions) => {
      const { config } = loadConfig();
      const { payloadKeys } = config.temporal;
      if (payloadKeys === null)
        throw droverFailure(
          'InvalidConfiguration',
          'There are no keys: temporal.payloadKeys (DROVER_PAYLOAD_KEYS) names no file.',
        );
      const log = createLogger({ level: config.logLevel, component: 'codec-server' });
      const settings = {
        listen,
        origin: origin === undefined ? null : originOf(origin),
        token: tokenFile === undefined ? null : readToken(tokenFile),
      };
      const server = await serveCodec(createPayloadCodec(readPayloadKeys(payloadKeys)), settings, log);
      log.info(
        {
          url: server.url,
          origin: settings.origin,
          callers: settings.token === null ? 'every user of this machine' : 'those with the token',
        },
        'The codec serves',
      );
      await untilSignalled({ stop: () => server.close(), done: new Promise<void>(() => undefined) });
    });

/** As browsers send it: scheme, host and port. */
function originOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/u.test(url.protocol))
    throw droverFailure('InvalidConfiguration', `--origin ${text} is no http or https URL.`);
  return url.origin;
}

function readToken(file: string): string {
  refuseOpenFile(file, 'token');
  const token = readSettingsText(file, 'Token file').trim();
  if (!/^[\x21-\x7e]{16,}$/u.test(token))
    throw droverFailure(
      'InvalidConfiguration',
      `${file} holds no token: expected at least 16 characters without blanks, as \`openssl rand -hex 32\` makes them.`,
    );
  registerSecret(token);
  return token;
}

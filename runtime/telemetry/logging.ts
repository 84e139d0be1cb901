import type { Logger as TemporalLogger, LogLevel as TemporalLevel } from '@temporalio/common';
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

import type { LogLevel } from '../config/config-schema.ts';
import { redact } from '../redaction.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  level: LogLevel;
  /** `worker`, `bridge`, …: which process speaks. */
  component: string;
  /** Default: stderr, as stdout belongs to what a command prints. */
  destination?: DestinationStream;
}

/**
 * A log of JSON lines. Fields go through redaction while errors still are errors, and each line once more as a whole:
 * with its message and what a child logger added.
 */
export function createLogger({ level, component, destination = pino.destination(2) }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { component },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redact(fields) as Record<string, unknown> },
      serializers: { err: (error: unknown) => error },
      hooks: { streamWrite: (line) => `${JSON.stringify(redact(JSON.parse(line)))}\n` },
    },
    destination,
  );
}

/** The same log, as Temporal's Runtime takes it. */
export function temporalLogger(logger: Logger): TemporalLogger {
  const write = (level: TemporalLevel, message: string, fields: Record<string | symbol, unknown> = {}): void =>
    logger[pinoLevels[level]](fields, message);
  return {
    log: write,
    trace: (message, fields) => write('TRACE', message, fields),
    debug: (message, fields) => write('DEBUG', message, fields),
    info: (message, fields) => write('INFO', message, fields),
    warn: (message, fields) => write('WARN', message, fields),
    error: (message, fields) => write('ERROR', message, fields),
  };
}

const pinoLevels = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<TemporalLevel, LogLevel>;

import { setTimeout as delay } from 'node:timers/promises';

const attempts = 40;
const pauseMs = 500;

/** Tries until the system is there again. What it refuses for good is over too, when the caller says so. */
export async function patiently<Result>(
  action: () => Promise<Result>,
  isDone: (message: string) => boolean = (message) => message.includes('not found'),
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (isDone((error as Error).message)) return undefined as Result;
      if (attempt === attempts) throw error;
      await delay(pauseMs);
    }
  }
}

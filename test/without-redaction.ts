/**
 * Loaded into a process of drover before all else (`--import`): what would be redacted stays as it is. So a test shows
 * that the search for secrets finds them.
 */
import { registerHooks } from 'node:module';

const redaction = new URL('../runtime/redaction.ts', import.meta.url).href;

const nothing = `
export const registerSecret = () => undefined;
export const forgetSecret = () => undefined;
export const redactText = (text) => text;
export const redactedStart = (text, most) => text.slice(0, most);
export const redact = (value) => (value instanceof Error ? { type: value.name, message: value.message } : value);
`;

registerHooks({
  load: (url, context, next) =>
    url === redaction ? { format: 'module', source: nothing, shortCircuit: true } : next(url, context),
});

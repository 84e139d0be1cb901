// The process itself is the environment of its test files, one after the other: what one has changed of it is put back.
import { rememberSecrets } from '../../runtime/redaction.ts';

const listened = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit', 'warning'];

/** What jest and jest-circus keep in the global object for a file. */
const ofFile = /^(?:EVENT_HANDLERS|JEST_STATE_SYMBOL|TEST_TIMEOUT_SYMBOL|RETRY_TIMES.*|LOG_ERRORS_BEFORE_RETRY)$/u;

export default class NativeEnvironment {
  global = globalThis;
  #env = { ...process.env };
  #cwd = process.cwd();
  #exit = process.exit;
  #exitCode = process.exitCode;
  #console = globalThis.console;
  #forgetSecrets = rememberSecrets();
  #listeners = new Map(listened.map((event) => [event, process.rawListeners(event)]));

  async setup() {}

  async teardown() {
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    for (const [name, value] of Object.entries(this.#env)) if (process.env[name] !== value) process.env[name] = value;
    if (process.cwd() !== this.#cwd) process.chdir(this.#cwd);
    process.exit = this.#exit;
    process.exitCode = this.#exitCode;
    globalThis.console = this.#console;
    // A token of one file may be a word in the messages that the next one expects.
    this.#forgetSecrets();
    for (const [event, before] of this.#listeners)
      for (const listener of process.rawListeners(event))
        if (!before.includes(listener)) process.removeListener(event, listener);
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (ofFile.test(symbol.description ?? '')) delete globalThis[symbol];
  }

  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}

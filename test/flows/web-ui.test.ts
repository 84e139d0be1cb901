import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { launch } from 'puppeteer-core';
import { evictionId } from '../../contracts/ids.ts';
import { checkoutDirectory } from '../../lab/context.ts';
import type { InstanceSpec } from '../../lab/openstack/seed.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * What a user sees in Temporal's Web UI while an eviction runs: without reading a history. Needs a browser; where there
 * is none the test is skipped, which `npm test` lists. The picture in docs/images/ is made by
 * `DROVER_PICTURE=docs/images/web-ui-eviction.png npm run test:flows -- web-ui`.
 */
const chromium = [process.env['CHROMIUM'], '/usr/bin/chromium'].find((path) => path !== undefined && existsSync(path));
const describeWithBrowser = chromium === undefined ? describe.skip : describe;

const screenshot = join(checkoutDirectory, 'test-results/web-ui-eviction.png');
const pictureSize = { width: 1360, height: 1080 };
const loadMs = 60_000;

const host = 'node-1';
const staysBehind = 'legacy-1';
/** The one that cannot move is the smallest, so it is tried first. */
const specs: InstanceSpec[] = Array.from({ length: 24 }, (_, index) =>
  index === 0
    ? { name: staysBehind, host, flavor: 'lab.tiny', migrate: 'fail', seconds: 0.3 }
    : { name: index < 12 ? `db-${index}` : `web-${index - 11}`, host, flavor: 'lab.small', seconds: 8 + (index % 3) },
);

/** Longer than the pages are looked at, however busy the machine is. */
const openMs = 3 * limitMs;

/** Nothing is stuck while the page is open, and what the table shows is seconds old. */
const settings = {
  ...quickSettings,
  eviction: {
    ...quickSettings.eviction,
    stuck: { msPerGiB: openMs, floorMs: openMs, noProgressMs: openMs, startMs: openMs },
    publishMaxMs: 2_000,
  },
};

describeWithBrowser('Web UI', () => {
  let world: World;
  let browser: Browser;
  let page: Page;
  let profileDir: string;
  let runUrl: string;

  beforeAll(async () => {
    world = await openWorld({ settings, sinks: [] });
    await world.fleet.change(host, { maxConcurrentLiveMigrations: 5 });
    await world.seed(specs);
    profileDir = mkdtempSync(join(tmpdir(), 'drover-chromium-'));
    browser = await openBrowser(chromium ?? '', profileDir);
    page = await browser.newPage();
    await page.setViewport(pictureSize);
    await world.createEviction(host, {
      reason: 'new firmware',
      annotations: { 'drover.dev/parallelism': '5', 'drover.dev/cause': 'rolling-update' },
    });
    await until('one to be blocked, some to move and some to have moved', 90_000, async () => {
      const { counts, instances } = await world.progress(host);
      const underWay = instances.filter(
        ({ state, target, percent }) => state === 'moving' && target !== null && percent !== null,
      );
      return (
        (counts.blocked === 1 && counts.done >= 5 && underWay.length >= 3) ||
        `${underWay.length} under way, ${JSON.stringify(counts)}`
      );
    });
    // Those that come next are on their way while the pages are looked at: a browser may take minutes to show them.
    const { instances } = await world.progress(host);
    const slow = { migrate: 'ok', seconds: openMs / 1_000 } as const;
    for (const { id } of instances.filter(({ state }) => state === 'pending')) await world.fleet.script(id, [slow]);
    const { runId } = await world.describeRun(host);
    runUrl = `${world.lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(evictionId(host))}/${runId}`;
  }, limitMs);

  afterAll(async () => {
    await browser?.close();
    if (profileDir !== undefined) rmSync(profileDir, { recursive: true, force: true });
    await world?.command('cancel', host, '--abort');
    await world?.untilClosed(host, 90_000);
    await world?.close();
  }, limitMs);

  test(
    'shows the table of servers, those that need a user first, under one sentence',
    async () => {
      await page.goto(`${runUrl}/user-metadata`, { waitUntil: 'domcontentloaded' });
      const { sentences, rows } = await readDetails(page);
      const [header, first, ...rest] = rows;
      const all = [first ?? [], ...rest];

      expect(sentences).toMatch(/^Moving: \d+ of 24 servers have left node-1$/mu);
      expect(sentences).toMatch(/Waiting for \d in flight and \d+ pending/u);
      expect(header).toEqual(['instance', 'state', 'attempt', 'progress', 'target', 'remark']);
      expect(all.length).toBe(specs.length);
      expect(new Set(all.map(([name]) => name))).toEqual(new Set(specs.map(({ name }) => name)));
      expect(first).toEqual([staysBehind, 'blocked', '3', '', '', expect.stringContaining('Nova gives no reason')]);
      const moving = all.filter(([, state]) => state === 'moving');
      expect(moving.length).toBeGreaterThan(0);
      expect(rest.slice(0, moving.length)).toEqual(moving);
      const moved = all.filter(([, state]) => state === 'moved');
      expect(moved).toContainEqual([expect.any(String), 'moved', '1', '100 %', expect.stringMatching(/^\S+$/u), '']);
      expect(moved.map(([, , , , target]) => target)).not.toContain(host);

      const text = await textOfFrames(page);
      expect(text).toContain(`Evict ${host}`);
      expect(text).toContain(`Empties compute host ${host}`);
      mkdirSync(dirname(screenshot), { recursive: true });
      const picture = process.env['DROVER_PICTURE'];
      for (const path of [screenshot, ...(picture === undefined ? [] : [picture])]) await page.screenshot({ path });
    },
    limitMs,
  );

  test(
    'labels the timeline with what each step does',
    async () => {
      await page.goto(`${runUrl}/history`, { waitUntil: 'domcontentloaded' });
      await untilText(page, [
        'openEviction • Find the Eviction and validate it',
        `preflightEviction • Preflight: find what prevents that ${host} is emptied`,
        `ensureServiceDisabled • Disable the compute service of ${host}`,
        `Move ${staysBehind} off ${host}`,
      ]);
    },
    limitMs,
  );

  test(
    'shows the search attributes, and finds the run by them',
    async () => {
      await page.goto(`${runUrl}/search-attributes`, { waitUntil: 'domcontentloaded' });
      await untilText(page, [
        '"DroverKind": "Eviction"',
        `"DroverHost": "${host}"`,
        `"DroverObject": "${host}"`,
        '"DroverPhase": "Moving"',
      ]);
      const query = encodeURIComponent(`DroverHost="${host}" AND DroverPhase="Moving" AND ExecutionStatus="Running"`);
      await page.goto(`${world.lab.handles.temporal.uiUrl}/namespaces/default/workflows?query=${query}`, {
        waitUntil: 'domcontentloaded',
      });
      await untilText(page, [evictionId(host), 'evictHypervisor']);
    },
    limitMs,
  );
});

const openBrowser = (executablePath: string, userDataDir: string): Promise<Browser> =>
  launch({
    executablePath,
    userDataDir,
    headless: true,
    args: [
      // Chromium refuses its sandbox to root, as CI is.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

/** The Web UI renders Markdown in frames of their own. */
const frames = (page: Page) => page.frames().filter((frame) => frame !== page.mainFrame());

async function textOfFrames(page: Page): Promise<string> {
  return (await Promise.all(frames(page).map((frame) => frame.$eval('body', (body) => body.innerText)))).join('\n');
}

/** The current details: what stands above the table, and its cells. */
const readDetails = (page: Page): Promise<{ sentences: string; rows: string[][] }> =>
  until('the table of servers', loadMs, async () => {
    for (const frame of frames(page)) {
      const rows = await frame.$$eval('tr', (all) =>
        all.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent.trim())),
      );
      if (rows.length > 1) return { sentences: await frame.$eval('body', (body) => body.innerText), rows };
    }
    return `${frames(page).length} frames without a table`;
  });

/** Waits until the page shows each of the texts. */
const untilText = (page: Page, texts: readonly string[]): Promise<true> =>
  until<true>('the page to be complete', loadMs, async () => {
    const shown = await page.$eval('body', (body) => body.innerText);
    const missing = texts.filter((text) => !shown.includes(text));
    return missing.length === 0 || `without ${missing.join(', ')}`;
  });

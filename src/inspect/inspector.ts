import type { InspectionEvent } from 'xstate';
import { filterOf } from './filter.ts';
import { Messages } from './messages.ts';
import { type InspectorOptions, settingsOf } from './options.ts';
import { openRelay } from './relay.ts';
import type { ShownActor } from './shown-actor.ts';
import { ShownActors } from './shown-actors.ts';
import { Viewers } from './viewers.ts';

/** Lets viewers watch the machines of one or more runtimes. Make one with {@link createInspector}. */
export interface Inspector {
  /** Goes into `createRuntime({ inspect })`. Never throws. */
  readonly inspect: (event: InspectionEvent) => void;
  /** Where viewers connect: `ws://127.0.0.1:…`. */
  readonly url: string;
  /** What to open in a browser: `http://127.0.0.1:…`, the Stately inspector in a frame. */
  readonly page: string;
  readonly port: number;
  /** What the inspector holds in memory now, for health checks and tests. */
  readonly counts: InspectorCounts;
  /** Ends all connections and the server. A second call waits for the first. */
  close(): Promise<void>;
}

/** What an inspector holds in memory. */
export interface InspectorCounts {
  /** Live actors that are shown, supervisors included. */
  readonly actors: number;
  readonly viewers: number;
  /** Bytes that wait for slow viewers, all together. */
  readonly bufferedBytes: number;
}

/**
 * Opens a server on 127.0.0.1 to which Stately viewers connect. A viewer gets the machine and the
 * latest snapshot of each shown task that is live, and from then on what these tasks do. What is not
 * shown is never serialised, and with no viewer connected nothing is.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'offstage';
 * import { createInspector } from 'offstage/inspect';
 *
 * const inspector = await createInspector({
 *   owners: ['thread-1'],
 *   redact: ({ outcome, ...rest }) => rest,
 * });
 * const runtime = await createRuntime({ inspect: inspector.inspect });
 * console.log(`Open ${inspector.page} in a browser.`);
 *
 * await runtime.close();
 * await inspector.close();
 * ```
 */
export async function createInspector(options: InspectorOptions = {}): Promise<Inspector> {
  const settings = settingsOf(options);
  const report = contained(options.onError ?? ((error) => console.error('[offstage]', error)));
  const live = new Map<string, ShownActor>();
  const messages = new Messages(live, settings, report);
  const viewers = new Viewers(live, messages, settings.maxBuffered);
  const actors = new ShownActors(live, filterOf(settings), viewers);
  const { port, origins } = settings;
  const relay = await openRelay({ port, origins, onViewer: viewers.add, report });
  let closed: Promise<void> | null = null;

  return {
    url: `ws://127.0.0.1:${relay.port}`,
    page: `http://127.0.0.1:${relay.port}`,
    port: relay.port,
    inspect: (event) => {
      if (closed !== null) return;
      try {
        actors.take(event);
      } catch (error) {
        report(error);
      }
    },
    get counts() {
      return { actors: live.size, viewers: viewers.count, bufferedBytes: viewers.bufferedAmount };
    },
    close: () => {
      closed ??= relay.close();
      actors.clear();
      return closed;
    },
  };
}

function contained(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onError(error);
    } catch (thrown) {
      console.error('[offstage] onError threw', thrown);
    }
  };
}

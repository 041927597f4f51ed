export type { SqliteStoreOptions } from './options.ts';
export type { SqliteStats } from './stats.ts';
export { type SqliteStore, sqliteStore } from './store.ts';

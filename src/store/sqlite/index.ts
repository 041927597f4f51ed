export type { SqliteStoreOptions } from './options.ts';
export { sqliteStore } from './store.ts';

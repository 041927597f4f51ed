export { createInspector, type Inspector, type InspectorCounts } from './inspector.ts';
export type { InspectedTask, InspectorOptions, Redaction } from './options.ts';

import { invalid } from '../../task/options.ts';

/** All that a model learns of an internal error. */
export const INTERNAL_ERROR_TEXT = 'An internal error occurred while executing the tool';

/** An image beside a result. */
export interface ToolImage {
  readonly base64: string;
  /** Such as `'image/png'`. */
  readonly mediaType: string;
}

/** What may stand beside a value in {@link success}. */
export interface SuccessOptions {
  /** The model sees them too. An empty list counts as none. */
  readonly images?: readonly ToolImage[];
  /** The full output, for the log of a background run. The model never sees it. */
  readonly rawOutput?: string;
  /** A short text for the notice of a background run. */
  readonly summary?: string;
}

/** Marks results by what made them: a value that only looks like one stays a value. */
abstract class Branded {
  readonly #brand = true;

  static has(value: unknown): value is ToolResult {
    return typeof value === 'object' && value !== null && #brand in value;
  }
}

/**
 * The tool did its work. Made by {@link success}.
 *
 * @example
 * ```ts
 * import { success } from 'offstage';
 *
 * const { value, isSuccess } = success({ pages: 2 });
 * [value, isSuccess]; // [{ pages: 2 }, true]
 * ```
 */
export class ToolSuccess<Value = unknown> extends Branded {
  readonly kind = 'success';
  readonly isSuccess = true;
  readonly isError = false;
  readonly value: Value;
  readonly images: readonly ToolImage[];
  readonly rawOutput: string | null;
  readonly summary: string | null;

  constructor(value: Value, { images = [], rawOutput, summary }: SuccessOptions = {}) {
    super();
    this.value = value;
    this.images = images.map(checkImage);
    this.rawOutput = checkWords('rawOutput', rawOutput);
    this.summary = checkWords('summary', summary);
  }
}

/**
 * The tool could not do what was asked, and the model may know why. Made by {@link toolError}.
 *
 * @example
 * ```ts
 * import { toolError } from 'offstage';
 *
 * const { message, isError } = toolError('There is no such page.');
 * [message, isError]; // ['There is no such page.', true]
 * ```
 */
export class ToolFailure extends Branded {
  readonly kind = 'tool_error';
  readonly isSuccess = false;
  readonly isError = true;
  readonly message: string;
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super();
    this.message = message;
    this.code = code;
  }
}

/**
 * Something broke, and the model must not know what. Made by {@link internalError}.
 *
 * @example
 * ```ts
 * import { internalError } from 'offstage';
 *
 * const { kind, isError } = internalError(new Error('No answer from db-7'));
 * [kind, isError]; // ['internal_error', true]
 * ```
 */
export class InternalFailure extends Branded {
  readonly kind = 'internal_error';
  readonly isSuccess = false;
  readonly isError = true;
  /** For the log alone. */
  readonly error: unknown;

  constructor(error: unknown) {
    super();
    this.error = error;
  }
}

/**
 * The user has to connect an account first. Made by {@link connectionRequired}.
 *
 * @example
 * ```ts
 * import { connectionRequired } from 'offstage';
 *
 * const { provider, isSuccess, isError } = connectionRequired('google');
 * [provider, isSuccess, isError]; // ['google', false, false]
 * ```
 */
export class ConnectionRequest extends Branded {
  readonly kind = 'connection_required';
  readonly isSuccess = false;
  readonly isError = false;
  readonly provider: string;

  constructor(provider: string) {
    super();
    this.provider = provider;
  }
}

/** What came of a call, by `kind`. A connection request is neither a success nor an error. */
export type ToolResult<Value = unknown> =
  | ToolSuccess<Value>
  | ToolFailure
  | InternalFailure
  | ConnectionRequest;

/**
 * A success with more than its value. A plain value that `execute` returns is a success as well.
 *
 * @example
 * ```ts
 * import { defineTool, success } from 'offstage';
 *
 * const chart = defineTool({
 *   name: 'chart',
 *   description: 'Draws the chart of the day.',
 *   execute: () =>
 *     success({ points: 24 }, { images: [{ base64: 'iVBORw0KGgo=', mediaType: 'image/png' }] }),
 * });
 * chart.name; // 'chart'
 * ```
 */
export function success<Value>(value: Value, options?: SuccessOptions): ToolSuccess<Value> {
  return new ToolSuccess(value, options);
}

/**
 * An error that the model may know of, such as a file that is not there.
 *
 * @example
 * ```ts
 * import { defineTool, toolError } from 'offstage';
 * import { z } from 'zod';
 *
 * const divide = defineTool({
 *   name: 'divide',
 *   description: 'Divides two numbers.',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => (b === 0 ? toolError('Nothing can be divided by 0.') : a / b),
 * });
 * divide.name; // 'divide'
 * ```
 */
export function toolError(message: string, options: { readonly code?: string } = {}): ToolFailure {
  return new ToolFailure(String(message), checkWords('code', options.code));
}

/**
 * An error that the model must not know of: it gets a general text, and the log gets the rest. A
 * thrown error is one as well.
 *
 * @example
 * ```ts
 * import { defineTool, internalError } from 'offstage';
 *
 * const report = defineTool({
 *   name: 'report',
 *   description: 'Gives the report of the day.',
 *   execute: () => internalError('No row in db-7.reports'),
 * });
 * report.name; // 'report'
 * ```
 */
export function internalError(error: unknown): InternalFailure {
  return new InternalFailure(typeof error === 'string' ? new Error(error) : error);
}

/**
 * Asks that the user connects an account first. It is neither a success nor an error.
 *
 * @example
 * ```ts
 * import { connectionRequired, defineTool, toolRegistry } from 'offstage';
 *
 * const mail = defineTool({
 *   name: 'mail',
 *   description: 'Reads the mail.',
 *   execute: () => connectionRequired('google'),
 * });
 * const answer = await toolRegistry(mail).execute({ id: 'call-1', tool: 'mail', args: {} });
 * answer.connectionRequired; // 'google'
 * ```
 */
export function connectionRequired(provider: string): ConnectionRequest {
  return new ConnectionRequest(String(provider));
}

/** Whether a value was made by one of these functions, without touching it. */
export function isToolResult(value: unknown): value is ToolResult {
  return Branded.has(value);
}

function checkImage({ base64, mediaType }: ToolImage): ToolImage {
  if (typeof base64 !== 'string') throw invalid('images.base64', base64, 'a text');
  if (typeof mediaType !== 'string') throw invalid('images.mediaType', mediaType, 'a text');
  return { base64, mediaType };
}

function checkWords(option: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  throw invalid(option, value, 'a text');
}

/** One element of rendered text, with everything decoded. */
export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Its own text without that of its children. */
  readonly text: string;
}

const OPEN = /^<([a-z_]+)((?: [a-z_]+="[^"<>\n]*")*)>/;
const CLOSE = /^<\/([a-z_]+)>/;
const TEXT = /^[^<>]+/;
const ENTITIES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

function decode(text: string): string {
  return text.replace(/&[^;]{0,6};?/g, (entity) => {
    const character = ENTITIES.get(entity);
    if (character === undefined)
      throw new Error(`A bare & in ${JSON.stringify(text.slice(0, 80))}`);
    return character;
  });
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/ ([a-z_]+)="([^"]*)"/g)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decode(value)]));
}

interface Opened {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** Reads rendered text and refuses whatever is not exactly one well-formed element. */
export function parseMarkup(source: string): Element {
  const root: Opened = { tag: '', attributes: {}, children: [], text: '' };
  const open: Opened[] = [root];
  for (let rest = source; rest !== ''; ) {
    const inner = open.at(-1) ?? root;
    const [all, tag = '', attributes = ''] =
      OPEN.exec(rest) ?? CLOSE.exec(rest) ?? TEXT.exec(rest) ?? [];
    if (all === undefined) throw new Error(`Not markup: ${JSON.stringify(rest.slice(0, 80))}`);
    if (all.startsWith('</')) {
      if (open.length < 2 || inner.tag !== tag) throw new Error(`Closes the wrong block: ${all}`);
      open.pop();
      open.at(-1)?.children.push(inner);
    } else if (all.startsWith('<')) {
      open.push({ tag, attributes: attributesOf(attributes), children: [], text: '' });
    } else inner.text += decode(all);
    rest = rest.slice(all.length);
  }
  const [only] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || root.text !== '' || only === undefined) {
    throw new Error('Not exactly one element.');
  }
  return only;
}

/** The tags of an element and all inside it, as `task_notices(task(summary))`. */
export function shapeOf({ tag, children }: Element): string {
  return children.length === 0 ? tag : `${tag}(${children.map(shapeOf).join(' ')})`;
}

/** Every text of an element and all inside it, attributes included. */
export function textsOf({ attributes, children, text }: Element): readonly string[] {
  return [...Object.values(attributes), text, ...children.flatMap(textsOf)];
}

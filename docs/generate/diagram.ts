import type { AnyStateMachine } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';

type Node = ReturnType<typeof toDirectedGraph>;
type Edge = Node['edges'][number];

/** An arrow between two states, which are given by their ids: paths from the root. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** Draws a machine as a Mermaid `stateDiagram-v2`. What leaves a state as it is has no arrow. */
export function diagramOf(machine: AnyStateMachine): string {
  const root = toDirectedGraph(machine);
  return ['stateDiagram-v2', ...inside(root, arrowsOf(root)).map(indent)].join('\n');
}

/** The states inside a node, how it begins and ends, and the arrows between them. */
function inside(node: Node, arrows: readonly Arrow[]): string[] {
  const finals = node.children.filter(({ stateNode }) => stateNode.type === 'final');
  return [
    ...node.stateNode.initial.target.map(({ key }) => `[*] --> ${key}`),
    ...node.children.flatMap((child) => blockOf(child, arrows)),
    ...(hasOwnMoves(node)
      ? [`state "any state, unless it answers itself" as ${node.stateNode.key}_any`]
      : []),
    ...linesOf(arrows.filter((arrow) => belongs(arrow, node))),
    ...finals.map(({ stateNode }) => `${stateNode.key} --> [*]`),
  ];
}

function blockOf(node: Node, arrows: readonly Arrow[]): string[] {
  if (node.children.length === 0) return [];
  return [`state ${node.stateNode.key} {`, ...inside(node, arrows).map(indent), '}'];
}

/** Drawn in the innermost node that has both ends: Mermaid would move a state to where it is named. */
function belongs(arrow: Arrow, node: Node): boolean {
  const hasBoth = ({ id }: Node) =>
    arrow.from.startsWith(`${id}.`) && arrow.to.startsWith(`${id}.`);
  return hasBoth(node) && !node.children.some(hasBoth);
}

/** All arrows of a node and of what is inside it. */
function arrowsOf(node: Node): Arrow[] {
  const { id, stateNode } = node;
  // Mermaid cannot draw an arrow from a state into itself, so a stand-in for its children has it.
  const from = node.children.length === 0 ? id : `${id}.${stateNode.key}_any`;
  const own = node.edges
    .filter(isMove)
    .map((edge) => ({ from, to: edge.target.id, label: labelOf(edge, node.edges) }));
  return [...own, ...node.children.flatMap(arrowsOf)];
}

function hasOwnMoves(node: Node): boolean {
  return node.edges.some(isMove);
}

function isMove(edge: Edge): boolean {
  return edge.transition.target !== undefined;
}

function labelOf(edge: Edge, siblings: readonly Edge[]): string {
  const { guard, eventType } = edge.transition;
  const first = siblings.find(({ transition }) => transition.eventType === eventType);
  const otherwise = first === edge ? undefined : 'else';
  const condition = typeof guard === 'string' ? guard : otherwise;
  return condition === undefined ? eventType : `${eventType} [${condition}]`;
}

/** One line for each pair of states, with all that leads from the one to the other. */
function linesOf(arrows: readonly Arrow[]): string[] {
  const byPair = Map.groupBy(arrows, ({ from, to }) => `${keyOf(from)} --> ${keyOf(to)}`);
  return [...byPair].map(([pair, same]) => `${pair}: ${same.map(({ label }) => label).join(', ')}`);
}

function keyOf(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}

function indent(line: string): string {
  return `  ${line}`;
}

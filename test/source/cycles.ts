/** What each node points to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

export function graphOf(edges: Iterable<readonly [from: string, to: string]>): Graph {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets.add(to));
  }
  return graph;
}

/** One shortest way round for every knot of nodes that reach each other, as `a → b → a`. */
export function cyclesOf(graph: Graph): readonly string[] {
  const told = new Set<string>();
  const cycles: string[] = [];
  for (const node of [...graph.keys()].sort()) {
    if (told.has(node)) continue;
    const way = shortestWayRound(graph, node);
    if (way === undefined) continue;
    for (const member of way) told.add(member);
    cycles.push([...way, node].join(' → '));
  }
  return cycles;
}

function shortestWayRound(graph: Graph, start: string): readonly string[] | undefined {
  const ways: (readonly [string, ...string[]])[] = [[start]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? start) ?? []) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

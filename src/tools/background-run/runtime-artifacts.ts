import type { Engine } from '../../runtime/engine.ts';
import { type Artifacts, temporaryArtifacts } from '../../store/artifacts/artifacts.ts';

const byRuntime = new WeakMap<Engine, Artifacts>();

/**
 * Where the background runs of a runtime leave their files. A run that was started by another
 * process finds it here too, with the directory that its record names.
 */
export function artifactsOf(engine: Engine): Artifacts {
  return byRuntime.get(engine) ?? useArtifacts(engine, engine.artifacts ?? temporaryArtifacts());
}

export function useArtifacts(engine: Engine, artifacts: Artifacts): Artifacts {
  byRuntime.set(engine, artifacts);
  engine.files.add(artifacts);
  return artifacts;
}

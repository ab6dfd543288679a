import { actorIdOf, actorOf } from '@backstop/contracts'
import type { Sighting, SightingDetails } from '@backstop/providers'
import type { ActorStore } from './actor-store.ts'

/** What is known about the actors of some projects. */
export interface KnownActors {
  /** The actor that the sighting names; undefined if it names none. */
  identify(projectId: string, sighting: Pick<Sighting, 'provider' | 'details'>): SightingDetails['actor']
}

export interface ActorDirectory {
  /** @throws AppError `unavailable` if the database is unavailable */
  ofProjects(projectIds: readonly string[]): Promise<KnownActors>
}

/** Identifies actors. A process reads the secret of a project once. */
export function createActorDirectory(store: ActorStore): ActorDirectory {
  const secrets = new Map<string, string>()
  const known: KnownActors = {
    identify(projectId, { provider, details }) {
      if (details?.origin === undefined) return undefined
      const actor = actorOf(details.origin)
      const secret = secrets.get(projectId)
      if (actor === undefined || secret === undefined) return undefined
      return { id: actorIdOf(secret, { projectId, provider, account: details.account }, actor), kind: actor.kind }
    },
  }
  return {
    async ofProjects(projectIds) {
      const missing = [...new Set(projectIds)].filter(id => !secrets.has(id))
      if (missing.length > 0) for (const [id, secret] of await store.secretsOf(missing)) secrets.set(id, secret)
      return known
    },
  }
}

import { type ActorDocument, actorIdOf, actorOf } from '@backstop/contracts'
import type { Sighting, SightingDetails } from '@backstop/providers'
import type { Canaries } from '@backstop/verdict'
import type { ActorStore } from './actor-store.ts'

/** What is known about the actors of some projects. */
export interface KnownActors {
  /** The actor that the sighting names; undefined if it names none. */
  identify(projectId: string, sighting: Pick<Sighting, 'provider' | 'details'>): SightingDetails['actor']
}

export interface ActorDirectory {
  /**
   * @param now milliseconds since the epoch
   * @throws AppError `unavailable` if the database is unavailable
   */
  ofProjects(projectIds: readonly string[], now: number): Promise<KnownActors>
  /** As `ofProjects` last read them. */
  readonly canaries: Canaries
}

/** How old what people said about actors may be, in milliseconds. */
const REUSE_MS = 2_000
/** A change is stored at most this long after its time, in milliseconds: by the clock and the transaction of another process. */
const STORED_WITHIN_MS = 120_000

/** Identifies actors. A process reads the secret of a project once, and every two seconds what people changed. */
export function createActorDirectory(store: ActorStore): ActorDirectory {
  const secrets = new Map<string, string>()
  /** The ids of declared actors by project and prefix. */
  const prefixes = new Map<string, Map<string, string>>()
  const canaries = new Map<string, number>()
  let readAt = Number.NEGATIVE_INFINITY

  const apply = ({ _id, project_id, prefix, role, role_since, removed_at }: ActorDocument) => {
    if (removed_at === null && role === 'canary') canaries.set(_id, role_since.getTime())
    else canaries.delete(_id)
    if (prefix === null) return
    const declared = prefixes.get(project_id) ?? new Map<string, string>()
    if (removed_at === null) declared.set(prefix, _id)
    else if (declared.get(prefix) === _id) declared.delete(prefix)
    prefixes.set(project_id, declared)
  }
  const known: KnownActors = {
    identify(projectId, { provider, details }) {
      if (details?.origin === undefined) return undefined
      const declared = prefixes.get(projectId)
      const actor = actorOf(details.origin, declared?.keys())
      const secret = secrets.get(projectId)
      if (actor === undefined || secret === undefined) return undefined
      const { kind, label } = actor
      const id =
        kind === 'key_prefix'
          ? declared?.get(label ?? '')
          : actorIdOf(secret, { projectId, provider, account: details.account }, actor)
      return id === undefined ? undefined : { id, kind }
    },
  }
  return {
    canaries,
    async ofProjects(projectIds, now) {
      const missing = [...new Set(projectIds)].filter(id => !secrets.has(id))
      if (missing.length > 0) for (const [id, secret] of await store.secretsOf(missing)) secrets.set(id, secret)
      if (now - readAt >= REUSE_MS) {
        const since = Number.isFinite(readAt) ? new Date(readAt - STORED_WITHIN_MS) : null
        const changed = await store.changedSince(since)
        // In the order of their changes: a prefix may have been removed and declared again.
        for (const actor of changed.toSorted((a, b) => a.updated_at.getTime() - b.updated_at.getTime())) apply(actor)
        readAt = now
      }
      return known
    },
  }
}

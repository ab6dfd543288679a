import type { ExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import type { ReadShelf } from '../src/store/shelf.ts'
import type { AdminShelves, AdminStores } from '../src/store/stores.ts'
import { createMemoryShelf, type MemoryShelf } from './memory-shelf.ts'

/** The stores in memory: what others keep, too, is there for a test or a simulation to fill in their stead. */
export type MemoryStores = Pick<AdminStores, 'together'> & {
  readonly [Name in keyof AdminShelves]: AdminShelves[Name] extends ReadShelf<infer D> ? MemoryShelf<D> : never
}

/** The stores in memory. */
export function createMemoryStores(): MemoryStores {
  const shelves = {
    projects: createMemoryShelf(),
    connections: createMemoryShelf(),
    channels: createMemoryShelf(),
    apiKeys: createMemoryShelf(['hash']),
    audit: createMemoryShelf(),
    idempotencyKeys: createMemoryShelf(),
    replayRequests: createMemoryShelf(),
    expectedChanges: createMemoryShelf(),
    inbox: createMemoryShelf(),
    inboxBodies: createMemoryShelf(),
    sweeps: createMemoryShelf(),
    expectedChangeUses: createMemoryShelf(),
    actions: createMemoryShelf(),
    incidents: createMemoryShelf(),
    deliveries: createMemoryShelf(),
    channelHealth: createMemoryShelf(),
    replays: createMemoryShelf(),
    suppressions: createMemoryShelf(),
    deadLetters: createMemoryShelf(),
  } satisfies Omit<MemoryStores, 'together'>
  let last: Promise<unknown> = Promise.resolve()
  return {
    ...shelves,
    together(write) {
      // One after the other, so that nobody sees, or is undone with, what another one has half done.
      const mine = last.then(async () => {
        const undo = Object.values(shelves).map(shelf => shelf.remember())
        try {
          return await write(shelves)
        } catch (error) {
          for (const one of undo) one()
          throw error
        }
      })
      last = mine.catch(() => {})
      return mine
    },
  }
}

/** The erasing of expired secrets over shelves in memory. */
export function createMemoryExpiredSecrets({
  channels,
  connections,
}: Pick<AdminShelves, 'channels' | 'connections'>): ExpiredSecrets {
  return {
    async erase(now) {
      const isOver = (end: Date | null | undefined) => end != null && end <= now
      let erased = 0
      for (const { _id, config } of await channels.findAll({})) {
        if (config.kind !== 'webhook' || !isOver(config.previous_secret?.expires_at)) continue
        await channels.change({ _id }, { config: { ...config, previous_secret: null } })
        erased++
      }
      for (const { _id, inbound_secrets: secrets } of await connections.findAll({})) {
        const left = secrets.filter(({ expires_at }) => !isOver(expires_at))
        if (left.length === secrets.length) continue
        await connections.change({ _id }, { inbound_secrets: left })
        erased++
      }
      return erased
    },
  }
}

import type { ExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import type { ReadCollection } from '../src/store/collection.ts'
import type { AdminCollections, AdminStores } from '../src/store/stores.ts'
import { createMemoryChangeFeed, type MemoryChangeFeed } from './memory-change-feed.ts'
import { createMemoryCollection, type MemoryCollection } from './memory-collection.ts'

/** The stores in memory. Tests and simulations may also write the collections of other services. */
export type MemoryStores = Pick<AdminStores, 'transaction'> & {
  readonly [Name in keyof AdminCollections]: AdminCollections[Name] extends ReadCollection<infer D>
    ? MemoryCollection<D>
    : never
}

const feeds = new WeakMap<AdminStores, MemoryChangeFeed>()

/** The changes of stores in memory. Of other stores it has no changes. */
export function memoryChangeFeedOf(stores: AdminStores): MemoryChangeFeed {
  return feeds.get(stores) ?? createMemoryChangeFeed()
}

/** Creates the stores in memory. */
export function createMemoryStores(): MemoryStores {
  const feed = createMemoryChangeFeed()
  const collections = {
    projects: createMemoryCollection(),
    connections: createMemoryCollection([], id => feed.note('connections', id)),
    channels: createMemoryCollection([], id => feed.note('channels', id)),
    apiKeys: createMemoryCollection(['hash']),
    people: createMemoryCollection(),
    sessions: createMemoryCollection(['hash']),
    signInLinks: createMemoryCollection(),
    audit: createMemoryCollection(),
    auditChain: createMemoryCollection(),
    heartbeat: createMemoryCollection(),
    idempotencyKeys: createMemoryCollection(),
    replayRequests: createMemoryCollection(),
    inboxReplayRequests: createMemoryCollection(),
    expectedChanges: createMemoryCollection(),
    silences: createMemoryCollection(),
    inbox: createMemoryCollection(),
    inboxBodies: createMemoryCollection(),
    inboxReplays: createMemoryCollection(),
    sweeps: createMemoryCollection(),
    dailyTotals: createMemoryCollection(),
    projectTotals: createMemoryCollection(),
    erasures: createMemoryCollection(),
    expectedChangeUses: createMemoryCollection(),
    actions: createMemoryCollection([], id => feed.note('actions', id)),
    incidents: createMemoryCollection([], id => feed.note('incidents', id)),
    incidentOutcomes: createMemoryCollection(),
    incidentBulks: createMemoryCollection(),
    deliveries: createMemoryCollection([], id => feed.note('deliveries', id)),
    channelHealth: createMemoryCollection([], id => feed.note('channel_health', id)),
    replays: createMemoryCollection(),
    stormMembers: createMemoryCollection([], id => feed.note('storm_members', id)),
    storms: createMemoryCollection(),
    suppressions: createMemoryCollection(),
    deadLetters: createMemoryCollection(),
    processes: createMemoryCollection(),
  } satisfies Omit<MemoryStores, 'transaction'>
  let last: Promise<unknown> = Promise.resolve()
  const stores: MemoryStores = {
    ...collections,
    transaction(write) {
      // Transactions run one after another, so that none sees or undoes part of another.
      const mine = last.then(async () => {
        const undo = Object.values(collections).map(collection => collection.remember())
        try {
          return await write(collections)
        } catch (error) {
          for (const one of undo) one()
          throw error
        }
      })
      last = mine.catch(() => {})
      return mine
    },
  }
  feeds.set(stores, feed)
  return stores
}

/** Creates ExpiredSecrets over collections in memory. */
export function createMemoryExpiredSecrets({
  channels,
  connections,
}: Pick<AdminCollections, 'channels' | 'connections'>): ExpiredSecrets {
  return {
    async erase(now) {
      const hasExpired = (end: Date | null | undefined) => end != null && end <= now
      let erased = 0
      for (const { _id, config } of await channels.findAll({})) {
        if (config.kind !== 'webhook' || !hasExpired(config.previous_secret?.expires_at)) continue
        await channels.change({ _id }, { config: { ...config, previous_secret: null } })
        erased++
      }
      for (const { _id, inbound_secrets: secrets } of await connections.findAll({})) {
        const left = secrets.filter(({ expires_at }) => !hasExpired(expires_at))
        if (left.length === secrets.length) continue
        await connections.change({ _id }, { inbound_secrets: left })
        erased++
      }
      return erased
    },
  }
}

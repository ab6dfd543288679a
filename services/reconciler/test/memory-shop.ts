/** A shop in memory, and a dry-run source that reads it. */
import type { ActionDocument, ConnectionDocument, InboxDocument } from '@backstop/contracts'
import { openMemoryBooks } from '@backstop/ledger/test'
import type { PagePosition, ReplaySource, Window } from '../src/dry-run/source.ts'
import { createMemoryStores } from '../src/store/memory-store.ts'
import type { ShopStores } from './recorded-shop.ts'

export function openMemoryShop() {
  const stores = createMemoryStores()
  const { contents } = stores
  const executions = new Map<string, number>()
  let ledger: ReturnType<ShopStores['openBooks']>['ledger'] | undefined
  const shop: ShopStores = {
    stores,
    openBooks(announce) {
      const books = openMemoryBooks({
        announce: async ({ entries }) => {
          for (const { message } of entries) {
            const { connection_id, executing_at, updated_at } = message as Record<string, string | null>
            if (connection_id && executing_at && !executions.has(connection_id)) {
              executions.set(connection_id, Date.parse(String(updated_at)))
            }
          }
          await announce(entries)
        },
      })
      ledger = books.ledger
      return books
    },
    addConnection: async connection => void contents.connections.set(connection._id, connection),
    addExpectedChange: async expectedChange => void contents.expectedChanges.push(expectedChange),
  }

  const anchors = () =>
    [...contents.actions.values()].map(({ action_id, ...rest }): ActionDocument => {
      return { _id: action_id, ...rest, first_seen: new Date(rest.first_seen_at) }
    })
  const documents = () => [...contents.inbox.values()].map(({ document }) => document)
  const source: ReplaySource = {
    actions: async (window, after, limit) =>
      page(
        anchors().filter(
          action => action.merged_into === undefined && isOf(window, action.project_id, action.connection_ids),
        ),
        ({ first_seen, _id }) => ({ at: first_seen.getTime(), id: _id }),
        window,
        after,
        limit,
      ),
    inbox: async (window, after, limit) =>
      page(
        documents().filter(document => isOf(window, document.project_id, [document.connection_id])),
        ({ received_at, _id }) => ({ at: received_at.getTime(), id: _id }),
        window,
        after,
        limit,
      ),
    actionsById: async ids => anchors().filter(({ _id }) => ids.includes(_id)),
    inboxById: async ids => documents().filter(({ _id }) => ids.includes(_id)),
    bodies: async ids =>
      new Map(
        ids.flatMap(id => {
          const body = contents.inbox.get(id)?.body
          return body == null || body === '' ? [] : [[id, body]]
        }),
      ),
    cases: refs => stores.cases.load(refs),
    operations: async refs => (await ledger?.byReferences(refs)) ?? [],
    connections: ids => stores.connections.byIds(ids),
    firstExecutions: async ids => new Map([...executions].filter(([id]) => ids.includes(id))),
    expectedChanges: (projectIds, names) => stores.expectedChanges.find({ projectIds, names, expiringAfter: 0 }),
    expectedChangeUses: async ids => [...(await stores.expectedChangeUses.load(ids)).values()],
  }
  const change = <T>(map: Map<string, T>, id: string, to: (value: T) => T) => {
    const value = map.get(id)
    if (value === undefined) throw new Error(`There is no ${id}`)
    map.set(id, to(value))
  }
  return {
    ...shop,
    contents,
    source,
    changeConnection: (id: string, to: Partial<ConnectionDocument>) =>
      change(contents.connections, id, connection => ({ ...connection, ...to })),
    changeInbox: (id: string, to: Partial<InboxDocument>) =>
      change(contents.inbox, id, entry => ({ ...entry, document: { ...entry.document, ...to } })),
    /** Removes all raw bodies, as at the end of their retention. */
    forgetBodies() {
      for (const id of contents.inbox.keys()) change(contents.inbox, id, entry => ({ ...entry, body: '' }))
    },
  }
}

function isOf({ projectId, connectionId }: Window, project: string, connectionIds: readonly string[]): boolean {
  return (
    (projectId === undefined || projectId === project) &&
    (connectionId === undefined || connectionIds.includes(connectionId))
  )
}

function page<T>(
  items: readonly T[],
  placeOf: (item: T) => PagePosition,
  { from, to }: Window,
  after: PagePosition | undefined,
  limit: number,
): T[] {
  const compare = (a: PagePosition, b: PagePosition) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  return items
    .filter(item => from <= placeOf(item).at && placeOf(item).at < to)
    .filter(item => after === undefined || compare(placeOf(item), after) > 0)
    .sort((a, b) => compare(placeOf(a), placeOf(b)))
    .slice(0, limit)
}

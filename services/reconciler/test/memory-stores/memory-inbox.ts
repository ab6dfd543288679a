import type { Inbox, InboxEntry } from '../../src/inbox/inbox-store.ts'

/** The inbox in memory, for simulations. @param entries the stored data */
export function createMemoryInbox(entries: Map<string, InboxEntry>): Inbox {
  const erase = (ids: readonly string[]) => {
    const found = ids.flatMap(id => entries.get(id) ?? []).filter(({ body }) => body !== null)
    for (const entry of found) entries.set(entry.document._id, { ...entry, body: null })
    return found.length
  }
  const isDone = (id: string) => {
    const entry = entries.get(id)
    return entry !== undefined && entry.document.outcome !== 'parked'
  }
  const mark = (ids: readonly string[], outcome: InboxEntry['document']['outcome'], reason: string) => {
    for (const id of ids) {
      const entry = entries.get(id)
      if (entry !== undefined) entries.set(id, { ...entry, document: { ...entry.document, outcome, reason } })
    }
  }
  return {
    known: async ids => new Set(ids.filter(id => entries.has(id))),
    newestOf: async (connectionId, types, since) => {
      const times = [...entries.values()]
        .filter(({ document }) => document.connection_id === connectionId && types.includes(document.event_type))
        .map(({ document }) => document.received_at.getTime())
        .filter(time => time >= since)
      return times.length === 0 ? null : Math.max(...times)
    },
    done: async ids => new Set(ids.filter(isDone)),
    // An entry brings its body with it.
    keepBodies: async () => {},
    insert: async added => {
      for (const entry of added) {
        if (!isDone(entry.document._id)) entries.set(entry.document._id, entry)
      }
    },
    held: async (connectionId, limit) =>
      [...entries.values()]
        .filter(({ document }) => document.connection_id === connectionId && document.outcome === 'held')
        .sort((a, b) => a.document.received_at.getTime() - b.document.received_at.getTime())
        .slice(0, limit),
    decideAgain: async documents => {
      for (const document of documents) {
        const entry = entries.get(document._id)
        if (entry === undefined || (document.outcome === 'parked' && entry.document.outcome !== 'parked')) continue
        const action_ids = [...new Set([...entry.document.action_ids, ...document.action_ids])]
        entries.set(document._id, { ...entry, document: { ...document, action_ids } })
      }
    },
    release: async ids => mark(ids, 'hinted', 'The provider is asked'),
    hold: async (ids, reason) => mark(ids, 'held', reason),
    eraseBodies: async (connectionId, limit) => {
      const own = ({ document, body }: InboxEntry) => document.connection_id === connectionId && body !== null
      const found = [...entries.values()].filter(own).slice(0, limit)
      return erase(found.map(({ document }) => document._id))
    },
    eraseBodiesOf: async ids => erase(ids),
    async eraseBodiesOfPerson(projectId, isOfPerson, after, limit) {
      const page = [...entries.values()]
        .filter(({ document }) => document.project_id === projectId && document._id > after)
        .sort((a, b) => (a.document._id < b.document._id ? -1 : 1))
        .slice(0, limit)
      const ofPerson = page.filter(({ document, body }) => body !== null && isOfPerson(body, document.provider))
      return { last: page.at(-1)?.document._id, erased: erase(ofPerson.map(({ document }) => document._id)) }
    },
  }
}

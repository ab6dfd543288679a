import type { InboxReplayDocument, InboxSelection } from '@backstop/contracts'
import type { InboxEntry } from '../../src/inbox/inbox-store.ts'
import type { InboxReplayStore } from '../../src/inbox-replay/inbox-replay-store.ts'

/** Replays of the inbox in memory, for simulations. */
export function createMemoryInboxReplays({
  inbox,
  inboxReplays,
}: {
  readonly inbox: ReadonlyMap<string, InboxEntry>
  readonly inboxReplays: Map<string, InboxReplayDocument>
}): InboxReplayStore {
  const selected = (projectId: string, selection: InboxSelection) =>
    [...inbox.values()]
      .filter(({ document }) => document.project_id === projectId && isSelected(document, selection))
      .sort((a, b) => byPosition(placeOf(a), placeOf(b)))
  return {
    count: async (projectId, selection) => selected(projectId, selection).length,
    async begin(replay) {
      if (inboxReplays.has(replay._id)) return false
      inboxReplays.set(replay._id, replay)
      return true
    },
    async claim(nowMs, untilMs) {
      const [due] = [...inboxReplays.values()]
        .filter(one => one.state === 'running' && one.next_page_at.getTime() <= nowMs)
        .sort((a, b) => a.next_page_at.getTime() - b.next_page_at.getTime())
      if (due === undefined) return undefined
      const claimed = { ...due, next_page_at: new Date(untilMs) }
      inboxReplays.set(due._id, claimed)
      return claimed
    },
    page: async (replay, limit) =>
      selected(replay.project_id, replay)
        .filter(entry => replay.cursor === null || byPosition(placeOf(entry), replay.cursor) > 0)
        .slice(0, limit),
    async advance(replay, progress) {
      const known = inboxReplays.get(replay._id)
      const isUnchanged = known?.state === 'running' && known.cursor?.inbox_id === replay.cursor?.inbox_id
      if (known !== undefined && isUnchanged) inboxReplays.set(replay._id, { ...known, ...progress })
    },
  }
}

function isSelected(
  { connection_id, event_id, received_at, outcome }: InboxEntry['document'],
  selection: InboxSelection,
): boolean {
  const { event_ids, from, to } = selection
  return (
    connection_id === selection.connection_id &&
    (event_ids === null || event_ids.includes(event_id)) &&
    (from === null || to === null || (received_at >= from && received_at < to)) &&
    (selection.outcome === null || outcome === selection.outcome)
  )
}

type Place = NonNullable<InboxReplayDocument['cursor']>

function placeOf({ document: { received_at, _id } }: InboxEntry): Place {
  return { received_at, inbox_id: _id }
}

function byPosition(a: Place, b: Place): number {
  return (
    a.received_at.getTime() - b.received_at.getTime() ||
    (a.inbox_id < b.inbox_id ? -1 : a.inbox_id > b.inbox_id ? 1 : 0)
  )
}

import { isHeartbeatProject } from '@backstop/contracts'
import { type Case, pendingLooks } from '@backstop/verdict'
import type { InboxEntry } from '../../src/inbox/inbox-store.ts'
import type { HeartbeatStore } from '../../src/sweep/heartbeat-store.ts'

export function createMemoryHeartbeats({
  cases,
  inbox,
}: {
  readonly cases: Map<string, Case>
  readonly inbox: Map<string, InboxEntry>
}): HeartbeatStore {
  return {
    async removeFinished(receivedBefore) {
      const finished = [...cases.values()].filter(
        theCase =>
          isHeartbeatProject(theCase.projectId) && pendingLooks(theCase).length === 0 && theCase.outbox.length === 0,
      )
      for (const { id } of finished) cases.delete(id)
      for (const [id, { document }] of inbox) {
        const isOld = document.received_at < receivedBefore
        if (isHeartbeatProject(document.project_id) && isOld) inbox.delete(id)
      }
      return finished.length
    },
  }
}

import { Replay, type ReplayDocument, type ReplayRequestDocument } from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'

/**
 * A bulk replay with its progress.
 * @param progress undefined if the notifier has not begun
 */
export function showReplay(request: ReplayRequestDocument, progress: ReplayDocument | undefined): Replay {
  return showDocument(Replay, request, {
    replay_id: request._id,
    state: progress?.state ?? 'requested',
    total: progress?.total ?? null,
    requeued: progress?.requeued ?? 0,
    finished_at: progress?.finished_at?.toISOString() ?? null,
  })
}

import { InboxReplay, type InboxReplayDocument, type InboxReplayRequestDocument } from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'

/**
 * A replay of notifications with its progress.
 * @param progress undefined if the reconciler has not begun
 */
export function showInboxReplay(
  request: InboxReplayRequestDocument,
  progress: InboxReplayDocument | undefined,
): InboxReplay {
  return showDocument(InboxReplay, request, {
    replay_id: request._id,
    state: progress?.state ?? 'requested',
    total: progress?.total ?? null,
    replayed: progress?.replayed ?? 0,
    skipped: { body_erased: progress?.skipped_erased ?? 0, not_a_notification: progress?.skipped_objects ?? 0 },
    finished_at: progress?.finished_at?.toISOString() ?? null,
  })
}

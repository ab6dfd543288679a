import type { InboxReplay, InboxReplayDocument, InboxReplayRequestDocument } from '@backstop/contracts'

/**
 * A replay of notifications with its progress.
 * @param progress undefined if the reconciler has not begun
 */
export function showInboxReplay(
  request: InboxReplayRequestDocument,
  progress: InboxReplayDocument | undefined,
): InboxReplay {
  const { _id, project_id, connection_id, event_ids, from, to, outcome, requested_at } = request
  return {
    replay_id: _id,
    project_id,
    connection_id,
    event_ids,
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    outcome,
    state: progress?.state ?? 'requested',
    total: progress?.total ?? null,
    replayed: progress?.replayed ?? 0,
    skipped: { body_erased: progress?.skipped_erased ?? 0, not_a_notification: progress?.skipped_objects ?? 0 },
    requested_at: requested_at.toISOString(),
    finished_at: progress?.finished_at?.toISOString() ?? null,
  }
}

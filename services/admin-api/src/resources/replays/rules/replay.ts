import type { Replay, ReplayDocument, ReplayRequestDocument } from '@backstop/contracts'

/**
 * A bulk replay with its progress.
 * @param progress undefined if the notifier has not begun
 */
export function showReplay(request: ReplayRequestDocument, progress: ReplayDocument | undefined): Replay {
  return {
    replay_id: request._id,
    project_id: request.project_id,
    channel_id: request.channel_id,
    from: request.from.toISOString(),
    to: request.to.toISOString(),
    state: progress?.state ?? 'requested',
    total: progress?.total ?? null,
    requeued: progress?.requeued ?? 0,
    requested_at: request.requested_at.toISOString(),
    finished_at: progress?.finished_at?.toISOString() ?? null,
  }
}

import type { Replay, ReplayDocument, ReplayRequestDocument } from '@backstop/contracts'

/** A bulk replay as it was asked for, with how far the notifier is; undefined: it has not begun. */
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

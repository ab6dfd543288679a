import type { ChannelDocument } from '@backstop/channels'
import type { ChannelHealthDocument, Delivery, DeliveryDocument } from '@backstop/contracts'
import { holdOf } from '../../alert-channels/rules/channel-hold.ts'

/**
 * A delivery as the API shows it: without the alert, which its incident or operation already shows. Whether it is held is derived from
 * the pause of its channel, so that a pause is one write for any number of deliveries.
 */
export function showDelivery(
  document: DeliveryDocument,
  health: ChannelHealthDocument | undefined,
  now: Date,
): Delivery {
  const hold = document.test ? undefined : holdOf(health, now)
  const dueAt = document.next_attempt?.due_at
  const isHeld = hold !== undefined && dueAt !== undefined && dueAt < hold.until
  return {
    delivery_id: document._id,
    project_id: document.project_id,
    channel_id: document.channel_id,
    channel_kind: document.channel_kind,
    alert_id: document.alert_id,
    event: document.event,
    test: document.test,
    state: document.state,
    reason: isHeld ? `Held until ${hold.until.toISOString()}. ${hold.reason}. ${document.reason}` : document.reason,
    attempts: document.attempts.map(attempt => ({ ...attempt, at: attempt.at.toISOString() })),
    next_attempt_at: document.next_attempt?.due_at.toISOString() ?? null,
    held_until: isHeld ? hold.until.toISOString() : null,
    told_by: document.told_by ?? null,
    created_at: document.created_at.toISOString(),
    updated_at: document.updated_at.toISOString(),
  }
}

/** The decision whether a delivery may be sent again. */
export type ResendVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly reason: 'channel_deleted' | 'channel_switched_off' | 'channel_disabled' }
  | { readonly kind: 'refused'; readonly reason: 'a_test' | 'delivered' | 'superseded' }

/** Decides whether failed deliveries may be sent again through a channel. */
export function judgeResend(
  channel: Pick<ChannelDocument, 'enabled'> | undefined,
  health: Pick<ChannelHealthDocument, 'disabled_at'> | undefined,
): ResendVerdict {
  if (channel === undefined) return { kind: 'refused', reason: 'channel_deleted' }
  if (!channel.enabled) return { kind: 'refused', reason: 'channel_switched_off' }
  if ((health?.disabled_at ?? null) !== null) return { kind: 'refused', reason: 'channel_disabled' }
  return { kind: 'allowed' }
}

/**
 * Decides whether a delivery may be attempted now on request. This decision is for the answer; the notifier decides again on the
 * delivery's state when it gets the command.
 */
export function judgeRetry(
  delivery: Pick<DeliveryDocument, 'state' | 'test'>,
  channel: Pick<ChannelDocument, 'enabled'> | undefined,
  health: Pick<ChannelHealthDocument, 'disabled_at'> | undefined,
): ResendVerdict {
  if (delivery.test) return { kind: 'refused', reason: 'a_test' }
  const { state } = delivery
  if (state === 'delivered' || state === 'superseded') return { kind: 'refused', reason: state }
  return judgeResend(channel, health)
}

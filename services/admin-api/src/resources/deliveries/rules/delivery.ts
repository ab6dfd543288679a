import { type ChannelDocument, describeAlert } from '@backstop/channels'
import { type ChannelHealthDocument, Delivery, type DeliveryDocument, quietUntil } from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'
import { holdOf, type ShownHold } from '../../alert-channels/rules/alert-channel.ts'

/** A channel with its health. */
export interface ChannelFacts {
  readonly _id: string
  readonly channel: ChannelDocument | undefined
  readonly health: ChannelHealthDocument | undefined
}

/**
 * A delivery as the API shows it: with the title of its alert only, because its incident or operation already shows the rest. Whether it is held is derived from
 * the pause and the quiet hours of its channel, so that holding is no write, for any number of deliveries.
 */
export function showDelivery(document: DeliveryDocument, facts: ChannelFacts | undefined, now: Date): Delivery {
  const hold = deliveryHoldOf(document, facts, now)
  const { title, path } = describeAlert(document.alert, { timeZone: 'UTC', nowMs: now.getTime() })
  return showDocument(Delivery, document, {
    delivery_id: document._id,
    about: { title, path },
    reason:
      hold !== undefined
        ? `Held until ${hold.until.toISOString()}. ${hold.reason}. ${document.reason}`
        : document.reason,
    next_attempt_at: document.next_attempt?.due_at.toISOString() ?? null,
    held_until: hold?.until.toISOString() ?? null,
    told_by: document.told_by ?? null,
  })
}

/** The hold that ends last: of the pause of the channel and of its quiet hours. */
function deliveryHoldOf(
  { test, next_attempt }: DeliveryDocument,
  facts: ChannelFacts | undefined,
  now: Date,
): ShownHold | undefined {
  if (test || next_attempt === null) return undefined
  const dueMs = next_attempt.due_at.getTime()
  const pause = holdOf(facts?.health, now)
  const quietMs = quietUntil(Math.max(dueMs, now.getTime()), facts?.channel?.quiet_hours ?? null)
  const quiet = quietMs === null ? [] : [{ until: new Date(quietMs), reason: 'The channel has quiet hours' }]
  const holds = [...(pause === undefined || dueMs >= pause.until.getTime() ? [] : [pause]), ...quiet]
  return holds.toSorted((a, b) => b.until.getTime() - a.until.getTime())[0]
}

/** The decision whether a delivery may be sent again. */
export type ResendVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly reason: 'channel_deleted' | 'channel_switched_off' | 'channel_disabled' }
  | { readonly kind: 'refused'; readonly reason: 'a_test' | 'delivered' | 'superseded' }

const REFUSALS: Record<Extract<ResendVerdict, { kind: 'refused' }>['reason'], string> = {
  channel_deleted: 'Its alert channel was deleted',
  channel_switched_off: 'Its alert channel is switched off; enable it first',
  channel_disabled: 'Its alert channel is disabled by its failures; enable it first',
  a_test: 'It was a test; send another test with POST /v1/alert-channels/{id}/test',
  delivered: 'It was already delivered',
  superseded: 'A later message covered it; see told_by',
}

/** Why a delivery may not be sent again, for people to read; null if it may. */
export function resendRefusal(verdict: ResendVerdict): string | null {
  return verdict.kind === 'refused' ? REFUSALS[verdict.reason] : null
}

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

/**
 * Normalises the subscription biller's events and objects. docs/decisions/subscription.md documents the meaning as a table. The
 * events are not signed, so only the ids of the objects to read are used.
 */
import { isProviderId, type ReadTarget } from '@backstop/contracts'
import { fieldAt, objectAt } from '../event-fields.ts'
import { type Meaning, type ObjectMeaning, UnixTime } from '../object-fields.ts'
import type { NormaliseEvent, NormaliseObject, ObjectOrigin } from '../sighting.ts'
import { meaningOfCreditNote } from './objects/credit-note.ts'
import { type BillerContext, factsOfEvent } from './objects/details.ts'
import { meaningOfSubscription } from './objects/subscription.ts'
import { meaningOfTransaction } from './objects/transaction.ts'

const OBJECTS: ReadonlyMap<string, ObjectMeaning<BillerContext>> = new Map([
  ['transaction', meaningOfTransaction],
  ['credit_note', meaningOfCreditNote],
  ['subscription', meaningOfSubscription],
])

type HintedType = Extract<ReadTarget['type'], 'transaction' | 'credit_note' | 'subscription'>

/** The fields of an event's content that have objects of each type. The list of credit notes has two names. */
const MEMBERS: Readonly<Record<HintedType, readonly string[]>> = {
  transaction: ['transaction'],
  credit_note: ['credit_note', 'credit_notes'],
  subscription: ['subscription'],
}

interface Hint {
  readonly about: HintedType
  /** The type of related objects, which are read too if the event names them. */
  readonly also?: HintedType
  /** True if the event creates a refund or an end. The event is read too, because only it says by whom. */
  readonly isCreation?: true
}

const REFUND: Hint = { about: 'transaction', isCreation: true }
const REFUND_UPDATE: Hint = { about: 'transaction' }
const CREDIT: Hint = { about: 'credit_note' }
const SUBSCRIPTION: Hint = { about: 'subscription' }
const END: Hint = { about: 'subscription', isCreation: true }
/** The end or a change of a subscription can create credit notes, which can be refunded at once. */
const SUBSCRIPTION_WITH_CREDITS: Hint = { about: 'subscription', also: 'credit_note' }
const END_WITH_CREDITS: Hint = { ...SUBSCRIPTION_WITH_CREDITS, isCreation: true }

const EVENTS: ReadonlyMap<string, Hint> = new Map([
  ['payment_refunded', REFUND],
  ['refund_initiated', REFUND],
  ['transaction_updated', REFUND_UPDATE],
  ['transaction_deleted', REFUND_UPDATE],
  ['credit_note_created', CREDIT],
  ['credit_note_created_with_backdating', CREDIT],
  ['credit_note_updated', CREDIT],
  ['credit_note_deleted', CREDIT],
  ['subscription_cancellation_scheduled', END],
  ['subscription_scheduled_cancellation_removed', SUBSCRIPTION],
  ['subscription_cancelled', END_WITH_CREDITS],
  // The provider spells this type with one l.
  ['subscription_canceled_with_backdating', END_WITH_CREDITS],
  ['subscription_reactivated', SUBSCRIPTION],
  ['subscription_reactivated_with_backdating', SUBSCRIPTION],
  ['subscription_deleted', END],
  ['subscription_pause_scheduled', SUBSCRIPTION],
  ['subscription_scheduled_pause_removed', SUBSCRIPTION],
  ['subscription_paused', SUBSCRIPTION_WITH_CREDITS],
  ['subscription_resumed', SUBSCRIPTION],
  ['subscription_resumption_scheduled', SUBSCRIPTION],
  ['subscription_scheduled_resumption_removed', SUBSCRIPTION],
  ['subscription_changed', SUBSCRIPTION_WITH_CREDITS],
  ['subscription_changed_with_backdating', SUBSCRIPTION_WITH_CREDITS],
])

/** True for a type of event that creates a refund or an end. */
export function isCreation(eventType: unknown): boolean {
  return EVENTS.get(String(eventType))?.isCreation === true
}

/** Normalises an event of the subscription biller: always a hint, or ignored. */
export const normaliseEvent: NormaliseEvent = (origin, event) => {
  const hint = EVENTS.get(origin.eventType)
  if (hint === undefined) return { kind: 'ignored', reason: `Events of type ${origin.eventType} are not judged` }
  const content = fieldAt(event, 'content')
  const targets = targetsIn(content, hint.about)
  if (targets.length === 0) return { kind: 'malformed', reason: `content.${hint.about}.id: There is no usable id` }
  const others = hint.also === undefined ? [] : targetsIn(content, hint.also)
  const events: ReadTarget[] = hint.isCreation === true ? [{ type: 'event', id: origin.eventId }] : []
  return { kind: 'hint', targets: [...targets, ...others, ...events] }
}

/** Normalises an object of the subscription biller. */
export const normaliseObject: NormaliseObject = (origin, type, object) => {
  if (type === 'event') return meaningOfEvent(origin, object)
  const meaning = OBJECTS.get(type)
  if (meaning === undefined) return { kind: 'ignored', reason: `Objects of type ${type} are not judged` }
  return meaning(contextOf(origin), object)
}

function contextOf({ projectId, site, readAt }: ObjectOrigin): BillerContext {
  return { projectId, site, shownAt: readAt, event: null }
}

/**
 * Normalises an event that was read, which adds its details to its object. The object itself is read too, so an unusable event is
 * ignored.
 */
function meaningOfEvent(origin: ObjectOrigin, event: Readonly<Record<string, unknown>>): Meaning {
  const hint = EVENTS.get(String(event.event_type))
  const object = hint && objectAt(event, 'content', hint.about)
  const meaning = hint && OBJECTS.get(hint.about)
  if (object === undefined || meaning === undefined) return { kind: 'ignored', reason: 'The event has no details' }
  const occurredAt = UnixTime.safeParse(event.occurred_at)
  const shownAt = occurredAt.success ? occurredAt.data : origin.readAt
  const facts = factsOfEvent(event, hint?.isCreation === true)
  const shown = meaning({ ...contextOf(origin), shownAt, event: facts }, object)
  return shown.kind === 'malformed' ? { kind: 'ignored', reason: shown.reason } : shown
}

function targetsIn(content: unknown, type: HintedType): ReadTarget[] {
  const objects = MEMBERS[type].flatMap(member => fieldAt(content, member) ?? [])
  const ids = objects.map(object => fieldAt(object, 'id')).filter(isProviderId)
  return [...new Set(ids)].map(id => ({ type, id }))
}

import { createHash } from 'node:crypto'
import { deterministicId, HEADERS, type InboxDocument, type Readback, type ReadObject } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { deadLetterReason } from '@backstop/kit/consume'
import { AppError } from '@backstop/kit/errors'
import type { MessageCodec } from '@backstop/kit/registry'
import type { Inbox } from '../inbox/inbox-store.ts'

/** An object of a provider's answer that cannot be used. */
export interface UnusableObject {
  /**
   * Depends only on the object and its fault, because each sweep lists the object again and it must be dead-lettered
   * once.
   */
  readonly id: string
  /** One sentence for a person. */
  readonly reason: string
  readonly object: ReadObject
  /** The dead letter: the provider's answer with only this object. */
  readonly readback: Readback
}

/** Longest id that is shown in a reason, in characters. */
const SHOWN_ID = 80

/** @param fault completes "the object cannot be used: …" */
export function unusableObject(readback: Readback, object: ReadObject, fault: string): UnusableObject {
  const { type, body } = object
  const { connection_id, provider } = readback
  const own = typeof body.id === 'string' ? body.id : undefined
  // JSON escapes control characters of the id.
  const shown = own === undefined ? '' : ` ${JSON.stringify(own.slice(0, SHOWN_ID))}`
  const digest = createHash('sha256')
    .update(own ?? JSON.stringify(body))
    .digest('hex')
  return {
    id: deterministicId('deadLetter', connection_id, type, digest, fault),
    reason: `The ${type}${shown} in an answer of the ${provider} provider cannot be used: ${fault}`,
    object,
    readback: { ...readback, look: null, event: null, targets: [], objects: [object] },
  }
}

export interface UnusableParts {
  readonly stores: { readonly inbox: Pick<Inbox, 'known' | 'insert'> }
  readonly producer: Pick<Producer, 'send'>
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
}

/**
 * Dead-letters the objects that are new, and lists them in the inbox. If the process crashes between these two steps,
 * an object is dead-lettered twice, and never lost.
 * @returns the objects that were dead-lettered now
 */
export async function deadLetterUnusable(
  found: readonly UnusableObject[],
  { stores: { inbox }, producer, codec, clock }: UnusableParts,
): Promise<readonly UnusableObject[]> {
  if (found.length === 0) return []
  const byId = new Map(found.map(unusable => [unusable.id, unusable]))
  const known = await inbox.known([...byId.values()].map(inboxIdOf))
  const fresh = [...byId.values()].filter(unusable => !known.has(inboxIdOf(unusable)))
  if (fresh.length === 0) return []
  await producer.send(
    fresh.map(({ id, reason, readback }) => ({
      topic: 'inbound.dead' as const,
      key: readback.connection_id,
      value: codec.encode('readback', readback),
      headers: {
        [HEADERS.messageId]: id,
        [HEADERS.originalTopic]: 'readbacks',
        ...deadLetterReason(new AppError('message_invalid', reason)),
      },
    })),
  )
  const processedAt = new Date(clock.now())
  const entries = fresh.map(unusable => ({
    document: entryOf(unusable, processedAt),
    body: JSON.stringify(unusable.object.body),
  }))
  await inbox.insert(entries)
  return fresh
}

function inboxIdOf({ id, readback }: UnusableObject): string {
  return `${readback.connection_id}/${id}`
}

/**
 * An object of an answer is not a notification. It is listed in the inbox all the same, because people look there for
 * unusable data.
 */
function entryOf(unusable: UnusableObject, processedAt: Date): InboxDocument {
  const { id, reason, object, readback } = unusable
  return {
    _id: inboxIdOf(unusable),
    project_id: readback.project_id,
    connection_id: readback.connection_id,
    provider: readback.provider,
    event_id: id,
    event_type: `${readback.reason}.${object.type}`,
    outcome: 'parked',
    reason,
    action_ids: [],
    received_at: new Date(readback.read_at),
    processed_at: processedAt,
  }
}

import { type DeadLetterKind, ID_PREFIXES, type InboxDocument } from '@backstop/contracts'
import type { ListPosition } from '../../http/cursor.ts'
import type { DocumentFilter, PageRequest } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { createChannelFacts } from '../deliveries/channel-facts.ts'
import { judgeRetry } from '../deliveries/rules/delivery.ts'
import { type FoundDeadLetter, newestFirst } from './rules/dead-letter.ts'

type Stores = Pick<
  ReadCollections,
  'deadLetters' | 'inbox' | 'inboxBodies' | 'deliveries' | 'channels' | 'channelHealth'
>

/** Which dead letters to read, and how many. */
export interface DeadLetterPage {
  readonly where: { readonly project_id?: string }
  readonly kind: DeadLetterKind | undefined
  readonly window: PageRequest<never>['window']
  readonly oldestFirst?: boolean
  readonly after: ListPosition | undefined
  readonly limit: number
}

/**
 * The events of the inbox that are notifications. The ids of objects of a provider's answer begin with `dlt_`, and "`" is the character
 * after "_". Those objects are dead letters of their own.
 */
const NOTIFICATIONS: readonly DocumentFilter<InboxDocument>[] = [
  { outcome: 'parked', event_id: { max: `${ID_PREFIXES.deadLetter}_` } },
  { outcome: 'parked', event_id: { min: `${ID_PREFIXES.deadLetter}\`` } },
]

/** Reads a page of the dead letters of all collections, by default newest first. Each collection stays with its owner. */
export async function pageDeadLetters(
  stores: Stores,
  { where, kind, ...place }: DeadLetterPage,
): Promise<FoundDeadLetter[]> {
  const isAsked = (asked: DeadLetterKind) => kind === undefined || kind === asked
  const [letters, entries, deliveries] = await Promise.all([
    stores.deadLetters.page({ where: { ...where, kind, replayed_at: null }, by: 'parked_at', ...place }),
    isAsked('notification')
      ? Promise.all(
          NOTIFICATIONS.map(range =>
            stores.inbox.page({ where: { ...where, ...range }, by: 'processed_at', ...place }),
          ),
        )
      : [],
    isAsked('delivery')
      ? stores.deliveries.page({ where: { ...where, state: 'dead', test: false }, by: 'updated_at', ...place })
      : [],
  ])
  const found = [
    ...letters.map(letter => ({ kind: 'message' as const, letter })),
    ...(await withBodies(stores, entries.flat())),
    ...(await withVerdicts(stores, deliveries)),
  ]
  const order = place.oldestFirst ? (a: FoundDeadLetter, b: FoundDeadLetter) => newestFirst(b, a) : newestFirst
  return found.toSorted(order).slice(0, place.limit)
}

/** Finds one dead letter by the id that the list shows. */
export async function findDeadLetter(stores: Stores, id: string): Promise<FoundDeadLetter | undefined> {
  if (id.startsWith(`${ID_PREFIXES.delivery}_`)) {
    return (await withVerdicts(stores, await stores.deliveries.findAll({ _id: id, state: 'dead', test: false })))[0]
  }
  if (id.includes('/')) return (await withBodies(stores, await stores.inbox.findAll({ _id: id, outcome: 'parked' })))[0]
  const letter = await stores.deadLetters.find({ _id: id })
  return letter === undefined ? undefined : { kind: 'message', letter }
}

async function withBodies(
  { inboxBodies }: Stores,
  entries: readonly InboxDocument[],
): Promise<Extract<FoundDeadLetter, { kind: 'notification' }>[]> {
  const known = new Set<string>()
  if (entries.length > 0) {
    // Only the ids: a body may have 1 MiB.
    for await (const batch of inboxBodies.batches({ _id: { in: entries.map(({ _id }) => _id) } }, [])) {
      for (const { _id } of batch) known.add(_id)
    }
  }
  return entries.map(entry => ({ kind: 'notification', entry, hasBody: known.has(entry._id) }))
}

async function withVerdicts(
  stores: Stores,
  deliveries: Awaited<ReturnType<Stores['deliveries']['findAll']>>,
): Promise<Extract<FoundDeadLetter, { kind: 'delivery' }>[]> {
  if (deliveries.length === 0) return []
  const ids = [...new Set(deliveries.map(({ channel_id }) => channel_id))]
  const facts = new Map((await createChannelFacts(stores).findAll({ _id: { in: ids } })).map(one => [one._id, one]))
  return deliveries.map(delivery => {
    const { channel, health } = facts.get(delivery.channel_id) ?? {}
    const usable = channel?.deleted_at === null ? channel : undefined
    return { kind: 'delivery', delivery, resend: judgeRetry(delivery, usable, health) }
  })
}

import { type Command, deterministicId, type ErasedPerson, HEADERS, isoTime } from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import type { MessageCodec } from '@backstop/kit/registry'
import { PROVIDERS } from '@backstop/providers'
import { type Case, createPersonMatcher, customerIdsIn, type ErasureScope, type SeenThrough } from '@backstop/verdict'
import type { Inbox } from '../inbox/inbox-store.ts'
import type { Erasure } from './erasure-store.ts'

const BODIES_PER_PAGE = 1_000
/** Few, because each is read and searched. */
const SEARCHED_BODIES_PER_PAGE = 200
/** A command with as many ids has about 30 kB. */
const IDS_PER_COMMAND = 1_000

interface Parts {
  readonly stores: { readonly inbox: Pick<Inbox, 'eraseBodies' | 'eraseBodiesOf' | 'eraseBodiesOfPerson'> }
  /** For the commands to the notifier, which owns the deliveries. */
  readonly producer: Producer
  readonly codec: Pick<MessageCodec, 'encode'>
  readonly clock: Clock
}

/** What an erasure is about, and how its data is found. */
interface ErasureTarget {
  readonly scope: ErasureScope
  isIn(theCase: Case): boolean
  /** Erases the copies of the data of these cases at once. @returns the number of erased bodies */
  eraseCopies(erased: readonly Case[], parts: Parts): Promise<number>
  /** Erases the next page of bodies. @returns the changed progress, and whether no body is left */
  eraseBodies(parts: Parts): Promise<Pick<Erasure, 'bodies' | 'bodyCursor'> & { readonly isOver: boolean }>
  /** Commands the notifier to erase the data in deliveries, as the last step. */
  eraseDeliveries(parts: Parts): Promise<void>
}

export function targetOf(erasure: Erasure): ErasureTarget {
  return erasure.person === null ? connectionTarget(erasure) : personTarget(erasure, erasure.person)
}

function connectionTarget({ id, projectId, bodies, bodyCursor }: Erasure): ErasureTarget {
  return {
    scope: 'all',
    isIn: theCase => sourcesOf(theCase).some(({ seenThrough }) => seenThrough.some(seen => seen.id === id)),
    eraseCopies: async () => 0,
    async eraseBodies({ stores }) {
      const erased = await stores.inbox.eraseBodies(id, BODIES_PER_PAGE)
      return { bodies: bodies + erased, bodyCursor, isOver: erased === 0 }
    },
    eraseDeliveries: parts =>
      sendCommand(
        { kind: 'erase_deliveries', project_id: projectId, connection_id: id },
        { key: id, id: deterministicId('command', 'erase_deliveries', id) },
        parts,
      ),
  }
}

function personTarget(erasure: Erasure, person: ErasedPerson): ErasureTarget {
  const { id, projectId, cursor, bodies, bodyCursor, secondWalkAt } = erasure
  const matcher = createPersonMatcher(person, PROVIDERS)
  const erase = (erased: Pick<ErasePerson, 'action_ids' | 'customer_ids' | 'is_last'>, part: string, parts: Parts) =>
    sendCommand(
      { kind: 'erase_person', project_id: projectId, erasure_id: id, ...erased },
      { key: id, id: deterministicId('command', 'erase_person', id, String(secondWalkAt), cursor, part) },
      parts,
    )
  return {
    scope: { erasureId: id, person: matcher },
    // After a crash, the case does not show the person any more, although its actions may still have to be listed.
    isIn: theCase => matcher.isCustomerOf(theCase) || theCase.personErasures?.includes(id) === true,
    async eraseCopies(erased, parts) {
      const customer_ids = [...new Set(erased.flatMap(customerIdsIn))]
      const actionIds = erased.flatMap(actionIdsOf)
      for (let at = 0; at < actionIds.length; at += IDS_PER_COMMAND) {
        const action_ids = actionIds.slice(at, at + IDS_PER_COMMAND)
        await erase({ action_ids, customer_ids, is_last: false }, String(at), parts)
      }
      return parts.stores.inbox.eraseBodiesOf(erased.flatMap(bodyIdsOf))
    },
    async eraseBodies({ stores }) {
      const { inbox } = stores
      const page = await inbox.eraseBodiesOfPerson(projectId, matcher.isIn, bodyCursor, SEARCHED_BODIES_PER_PAGE)
      const { last, erased } = page
      return { bodies: bodies + erased, bodyCursor: last ?? bodyCursor, isOver: last === undefined }
    },
    eraseDeliveries: parts => erase({ action_ids: [], customer_ids: [], is_last: true }, 'last', parts),
  }
}

type ErasePerson = Extract<Command, { kind: 'erase_person' }>
type ErasureCommand = Extract<Command, { kind: 'erase_person' | 'erase_deliveries' }>
type WithoutIds<C> = C extends Command ? Omit<C, 'command_id' | 'requested_at'> : never

async function sendCommand(
  content: WithoutIds<ErasureCommand>,
  { id: command_id, key }: { readonly id: string; readonly key: string },
  { producer, codec, clock }: Parts,
): Promise<void> {
  const command: Command = { command_id, requested_at: isoTime(clock.now()), ...content }
  const value = codec.encode('command', command)
  await producer.send([{ topic: 'commands', key, value, headers: { [HEADERS.messageId]: command_id } }])
}

interface Source {
  readonly seenThrough: readonly SeenThrough[]
  readonly eventIds: readonly string[]
}

/** Everything in the case that a connection showed. */
function sourcesOf({ actions, merged, refundTotals, subscriptions }: Case): readonly Source[] {
  const records = [...actions, ...merged.map(({ record }) => record)]
  return [...records, ...refundTotals, ...subscriptions.flatMap(row => row.snapshots)]
}

/** The ids in the inbox of the events about the case. */
function bodyIdsOf(theCase: Case): string[] {
  return sourcesOf(theCase).flatMap(({ seenThrough, eventIds }) =>
    seenThrough.flatMap(({ id }) => eventIds.map(eventId => `${id}/${eventId}`)),
  )
}

/** The ids of all actions of the case, also of those that were merged or evicted. */
export function actionIdsOf({ actions, merged, evicted }: Case): string[] {
  return [
    ...actions.map(({ id }) => id),
    ...merged.map(({ record }) => record.id),
    ...evicted.map(({ actionId }) => actionId),
  ]
}

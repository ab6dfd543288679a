/**
 * A shop with three accounts at the simulated providers, over some hours: its refunds and cancellations, and the
 * reconciler that processes them with its own batch code, on virtual time and over any stores. It is independent of the
 * replay code.
 */
import type {
  ConnectionDocument,
  ExpectedChangeDocument,
  OutboxEntry,
  Readback,
  Recheck,
  Reread,
} from '@backstop/contracts'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import type { Books } from '@backstop/ledger'
import { PROVIDERS } from '@backstop/providers'
import { createCardProcessor, createChance, createSubscriptionBiller, type Payment } from '@backstop/simulator'
import { pendingLooks, recheckEntry } from '@backstop/verdict'
import { MINUTE, PROJECT, SECOND, T0 } from '@backstop/verdict/test'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createExpectedChangeApplier } from '../src/commands/apply-expected-changes.ts'
import { rereadOfHint } from '../src/reading/held-hints.ts'
import type { ReconcilerStores } from '../src/store/store.ts'

export const HOUR = 60 * MINUTE

/**
 * con_cards is read at the second look. con_old_cards sends no refund events, has no key, and does not alert yet.
 * con_plans sends hints.
 */
export const CARDS = 'con_cards'
export const OLD_CARDS = 'con_old_cards'
export const PLANS = 'con_plans'

/** The stores of the product, and ways to write the data of other services. */
export interface ShopStores {
  readonly stores: ReconcilerStores
  openBooks(announce: (entries: readonly OutboxEntry[]) => Promise<void>): Books
  addConnection(connection: ConnectionDocument): Promise<void>
  addExpectedChange(expectedChange: ExpectedChangeDocument): Promise<void>
}

export function connectionOf(id: string, more: Partial<ConnectionDocument>): ConnectionDocument {
  const madeAt = new Date(T0 - HOUR)
  return {
    _id: id,
    project_id: PROJECT,
    kind: 'processor',
    name: id,
    out_of_band: 'alert',
    status: 'active',
    inbound_secrets: [],
    read_key: null,
    site: null,
    api_base: null,
    version: 1,
    created_at: madeAt,
    updated_at: madeAt,
    deleted_at: null,
    ...more,
  }
}

const SOME_KEY = { sealed: 'k', fingerprint: 'f', created_at: new Date(T0 - HOUR), expires_at: null }

/**
 * Plays the history of the shop.
 * @param rounds the number of rounds; each has one refund or cancellation of every kind
 * @returns when the history ended, in milliseconds since the epoch
 */
export async function recordShop(shop: ShopStores, seed: number, rounds: number): Promise<number> {
  const connections = [
    connectionOf(CARDS, { read_key: SOME_KEY }),
    connectionOf(OLD_CARDS, { out_of_band: 'auto' }),
    connectionOf(PLANS, { kind: 'subscription', read_key: SOME_KEY, site: 'acme' }),
  ]
  for (const connection of connections) await shop.addConnection(connection)
  const shopTime = createShopTime(shop)
  const chance = createChance(seed)
  const cast = openAccounts(shopTime, chance, connections)
  for (let round = 0; round < rounds; round += 1) {
    for (const scene of cast.scenes) shopTime.at(T0 + round * HOUR + chance.next() * 40 * MINUTE, scene)
  }
  return shopTime.play()
}

interface ShopTime {
  now(): number
  /** Schedules a step at this time. */
  at(at: number, what: () => Promise<void> | void): void
  /** Passes an item to the reconciler. */
  take(item: WorkItem): Promise<void>
  readonly books: Books
  readonly shop: ShopStores
  /** Returns the provider's answer; set by `openAccounts`. */
  answer: (reread: Reread) => Readback['objects']
  /** Ids of refunds whose provider is unavailable at the second look, and answers a minute later. */
  readonly unavailableFor: Set<string>
  play(): Promise<number>
}

/** Virtual time with the reconciler. Outbox messages return as Kafka and the provider would deliver them. */
function createShopTime(shop: ShopStores): ShopTime {
  const { stores } = shop
  let now = T0
  const waiting: { at: number; what: () => Promise<void> | void }[] = []
  const at: ShopTime['at'] = (when, what) => {
    waiting.push({ at: Math.floor(when), what })
  }
  const bringBack = (entry: OutboxEntry) => {
    if (entry.topic === 'rechecks') {
      const recheck = entry.message as Recheck
      at(Date.parse(recheck.due_at), () => take({ kind: 'recheck', recheck }))
    } else if (entry.topic === 'rereads') {
      const reread = entry.message as Reread
      const answerNow = () => readbackOf(reread, time.answer(reread), now)
      const isLate = reread.targets.some(({ id }) => time.unavailableFor.has(id))
      const first = () => (isLate ? { ...answerNow(), outcome: 'unavailable' as const, objects: [] } : answerNow())
      at(now + 2 * SECOND, () => take({ kind: 'readback', readback: first() }))
      if (isLate) at(now + MINUTE, () => take({ kind: 'readback', readback: answerNow() }))
    } else if (entry.topic === 'operations') {
      const operation = structuredClone(entry.message) as Extract<WorkItem, { kind: 'operation' }>['operation']
      at(now + SECOND, () => take({ kind: 'operation', operation }))
    }
  }
  const publisher: OutboxPublisher = {
    async publish(outboxes) {
      for (const { entries } of outboxes) entries.forEach(bringBack)
      await stores.cases.outbox.published(
        outboxes.map(({ documentId, entries }) => ({ documentId, entryIds: entries.map(({ id }) => id) })),
      )
      return { stuck: 0 }
    },
  }
  const books = shop.openBooks(async entries => entries.forEach(bringBack))
  const parts: ReconcileParts = {
    stores,
    ledger: books.ledger,
    publisher,
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock: { now: () => now, schedule: () => () => {} },
    rules: { recheckDelayMs: MINUTE },
    crashPoint: () => {},
  }
  async function take(item: WorkItem): Promise<void> {
    await reconcileBatch([item], parts)
    if (item.kind !== 'event') return
    const hint = rereadOfHint(item.event, now)
    if (hint !== undefined) bringBack({ id: hint.reread_id, topic: 'rereads', key: '', message: hint })
  }
  /** Runs the earliest later decision that is due by this time, as the timer for overdue looks would. */
  async function decideAgain(until: number): Promise<boolean> {
    const cases = await stores.cases.withOverdueLook(until, 1_000)
    const [due] = cases
      .flatMap(theCase => pendingLooks(theCase).map(pending => ({ theCase, ...pending })))
      .filter(({ kind, dueAt }) => kind === 'decision' && dueAt < until)
      .sort((a, b) => a.dueAt - b.dueAt)
    if (due === undefined) return false
    now = Math.max(now, due.dueAt)
    const recheck = recheckEntry(due.theCase, due.lookId, due.dueAt, now).message as Recheck
    await take({ kind: 'recheck', recheck })
    return true
  }
  const time: ShopTime = {
    now: () => now,
    at,
    take,
    books,
    shop,
    answer: () => [],
    unavailableFor: new Set(),
    async play() {
      for (;;) {
        waiting.sort((a, b) => a.at - b.at)
        if (await decideAgain(waiting[0]?.at ?? Number.MAX_SAFE_INTEGER)) continue
        const next = waiting.shift()
        if (next === undefined) return now + HOUR
        now = Math.max(now, next.at)
        await next.what()
      }
    },
  }
  return time
}

function readbackOf(reread: Reread, objects: Readback['objects'], now: number): Readback {
  const { project_id, connection_id, provider, reason, event, look, targets, reread_id } = reread
  const named = { readback_id: reread_id, project_id, connection_id, provider, reason, event, look, targets }
  const outcome = objects.length > 0 ? 'read' : 'not_found'
  return { ...named, read_at: new Date(now).toISOString(), outcome, failure: null, objects }
}

/** The accounts, and all steps that happen on them. */
function openAccounts(
  time: ShopTime,
  chance: ReturnType<typeof createChance>,
  [cards, oldCards, plans]: ConnectionDocument[],
) {
  if (cards === undefined || oldCards === undefined || plans === undefined) throw new Error('A connection is missing')
  const { now } = time
  const processor = createCardProcessor({ now, chance, livemode: true })
  const oldProcessor = createCardProcessor({ now, chance, livemode: true, sendsRefundEvents: false })
  const biller = createSubscriptionBiller({ now, chance })
  /** Refunds that the provider's API does not know. */
  const denied = new Set<string>()
  let isLost = false
  const post = (connection: ConnectionDocument) => (event: object) => {
    if (isLost) return
    const body = structuredClone(event) as Record<string, unknown>
    const receivedAt = Math.floor(now() + SECOND * (1 + chance.next() * 20))
    time.at(receivedAt + 5, () => time.take(eventOf(connection, body, receivedAt)))
  }
  processor.onEvent(post(cards))
  oldProcessor.onEvent(post(oldCards))
  biller.onEvent(post(plans))
  const found = (type: string, body: object | undefined): Readback['objects'] =>
    body === undefined ? [] : [{ type, body: structuredClone(body) as Record<string, unknown> }]
  time.answer = ({ provider, targets }) =>
    targets.flatMap(({ type, id }) => {
      if (provider === 'processor') {
        const refunds = processor
          .refunds()
          .filter(refund => [refund.id, refund.charge, refund.payment_intent].includes(id) && !denied.has(refund.id))
        return refunds.flatMap(refund => found('refund', refund))
      }
      const records = biller.asOf(now())
      if (type === 'subscription') return found('subscription', records.subscriptions.get(id))
      if (type === 'transaction') return found('transaction', records.transactions.get(id))
      return type === 'credit_note' ? found('credit_note', records.creditNotes.get(id)) : []
    })

  const pay = () => processor.createPayment({ amount: 10_000, currency: 'eur' })
  const refund = ({ charge }: Payment, idempotencyKey?: string) =>
    processor.refund({ charge: charge.id, amount: 2_500, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) })
  const addExpectedChange = async (payment: Payment, more: Pick<ExpectedChangeDocument, 'expires_at'>) => {
    const _id = `exp_${chance.text(8)}`
    const about = { project_id: PROJECT, connection_id: null, subject: payment.paymentIntent.id }
    const wanted = { kind: 'refund', amount: null, currency: null, max_changes: 1, max_amount: null } as const
    const said = { note: 'A big one', created_by: 'key_1', created_at: new Date(now()), starts_at: null }
    await time.shop.addExpectedChange({ _id, ...about, ...wanted, ...said, ...more })
    return _id
  }
  const applied = createExpectedChangeApplier({
    stores: time.shop.stores,
    reconcile: async items => {
      for (const item of items) await time.take(item)
    },
  })
  const record = (connection: ConnectionDocument, operation: object) =>
    time.books.ledger.record(
      {
        connection_id: connection._id,
        kind: 'refund',
        amount: 2_500,
        currency: 'eur',
        state: 'executing',
        ...operation,
      } as never,
      connection,
      now(),
    )
  const cancelled = (how: 'plain' | 'scheduled', reported: boolean) => async () => {
    const { subscription } = biller.subscribe({ amount: 5_000 })
    const cancellation = { kind: 'cancellation', subject: subscription.id, amount: undefined, currency: undefined }
    time.at(now() + 6 * MINUTE, async () => {
      if (reported) await record(plans, cancellation)
      if (how === 'plain') biller.cancel(subscription.id)
      else biller.scheduleCancel(subscription.id)
      if (how === 'scheduled') time.at(now() + 30 * MINUTE, () => void biller.removeScheduledCancel(subscription.id))
    })
  }
  const sweep = (body: object) =>
    time.take({
      kind: 'readback',
      readback: readbackOf(sweepOf(cards), found('refund', body), now()),
    })

  return {
    scenes: [
      // Reported before it is made; its id is reported afterwards.
      async () => {
        const payment = pay()
        const { operation } = await record(cards, { subject: payment.paymentIntent.id })
        const made = refund(payment)
        time.at(now() + 3 * SECOND, async () => {
          await time.books.ledger.transition(operation.operation_id, { to: 'completed', provider_ref: made.id }, now())
        })
      },
      // Matched by its key only.
      async () => {
        const payment = pay()
        const key = `key-${chance.text(8)}`
        await record(cards, {
          subject: payment.paymentIntent.id,
          idempotency_key: key,
          amount: undefined,
          currency: undefined,
        })
        refund(payment, key)
      },
      // Reported after the alert.
      () => {
        const payment = pay()
        refund(payment)
        const executing_at = new Date(now()).toISOString()
        time.at(
          now() + 4 * MINUTE,
          async () => void (await record(cards, { subject: payment.paymentIntent.id, executing_at })),
        )
      },
      // Unexplained, and once more on the same payment a while later.
      () => {
        const payment = pay()
        refund(payment)
        time.at(now() + 10 * MINUTE, () => void refund(payment))
      },
      // Unexplained. The provider is unavailable at the second look, and denies the refund a minute later.
      () => {
        const made = refund(pay())
        time.unavailableFor.add(made.id)
        denied.add(made.id)
      },
      // The same, but the provider shows the refund a minute later.
      () => void time.unavailableFor.add(refund(pay()).id),
      // One expected change, and two refunds.
      async () => {
        const payment = pay()
        await addExpectedChange(payment, { expires_at: new Date(now() + HOUR) })
        refund(payment)
        time.at(now() + 2 * MINUTE, () => void refund(payment))
      },
      // An expected change is created after the alert.
      () => {
        const payment = pay()
        refund(payment)
        time.at(now() + 20 * MINUTE, async () => {
          await applied.apply(await addExpectedChange(payment, { expires_at: new Date(now() + MINUTE) }))
        })
      },
      // Its events are lost; a sweep finds it.
      () => {
        isLost = true
        const made = refund(pay())
        isLost = false
        time.at(now() + 5 * MINUTE, () => sweep(made))
      },
      // Shown only by the total of its charge, on an account without executed operations.
      () =>
        void oldProcessor.refund({ charge: oldProcessor.createPayment({ amount: 9_000, currency: 'eur' }).charge.id }),
      cancelled('plain', true),
      cancelled('plain', false),
      cancelled('scheduled', false),
    ],
  }
}

function sweepOf({ _id, project_id }: ConnectionDocument): Reread {
  const [connection_id, first_requested_at] = [_id, new Date(T0).toISOString()]
  const asked = { reason: 'sweep', event: null, look: null, targets: [], first_requested_at, attempt: 1 } as const
  return { reread_id: 'rrd_sweep', project_id, connection_id, provider: 'processor', ...asked, targets: [] }
}

function eventOf(
  { _id, project_id, kind }: ConnectionDocument,
  body: Record<string, unknown>,
  receivedAt: number,
): WorkItem {
  const identified = PROVIDERS[kind].identify(body)
  if (identified.kind !== 'identified') throw new Error(`An event of the ${kind} cannot be read`)
  const { eventId, eventType } = identified
  const received_at = new Date(receivedAt).toISOString()
  const named = { provider: kind, project_id, connection_id: _id, event_id: eventId, event_type: eventType }
  return { kind: 'event', event: { ...named, received_at, body }, inboxId: `${_id}/${eventId}`, receivedAt }
}

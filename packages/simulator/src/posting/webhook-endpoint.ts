/** A webhook endpoint as it is set up at the card processor: where events go, signed with what, and how stubbornly. */
import type Stripe from 'stripe'
import { type Chance, createChance } from '../chance.ts'
import type { CardProcessor } from '../processor/card-processor.ts'
import { type Disturbance, planPosts } from './disturbance.ts'
import { postNotification } from './post-notification.ts'

/** The events of the interface (§6) that a connection is to subscribe to. */
export const SUBSCRIBED_EVENTS = [
  'refund.created',
  'refund.updated',
  'charge.refunded',
  'customer.subscription.updated',
  'customer.subscription.deleted',
] as const

export interface WebhookEndpointOptions {
  url: string
  /** The active signing secrets, newest first. */
  secrets: readonly string[]
  /** Event types that are posted; those of the interface when left out. */
  events?: readonly string[]
  disturbance?: Disturbance
  /** Waits before the second and later attempts, in milliseconds. The real processor goes on for three days. */
  retryDelaysMs?: readonly number[]
  /** Milliseconds since the epoch. */
  now: () => number
  chance?: Chance
  /** Header that carries the signature; `processor-signature` when left out. */
  signatureHeader?: string
}

/** One attempt to post one event. */
export interface PostAttempt {
  eventId: string
  eventType: string
  attempt: number
  /** Milliseconds since the epoch. */
  atMs: number
  /** HTTP status, or null when there was no answer. */
  status: number | null
  /** What was answered, or why there was no answer. */
  answer: string
}

export interface WebhookEndpoint {
  /** Posts the account's events from now on. The answer ends that. */
  follow(processor: CardProcessor): () => void
  /** Posts one event as the disturbance wants it; resolves when every copy is taken, given up on or dropped. */
  post(event: Stripe.Event): Promise<void>
  /** Takes another secret, address or disturbance from now on. */
  change(options: Partial<Pick<WebhookEndpointOptions, 'url' | 'secrets' | 'disturbance'>>): void
  /** Keeps events back until release(): for a test that wants its own order. */
  hold(): void
  /** Posts what was kept back, in the order that `arrange` gives it, one after the other. */
  release(arrange?: (events: Stripe.Event[]) => Stripe.Event[]): Promise<void>
  attempts(): readonly PostAttempt[]
  onAttempt(listener: (attempt: PostAttempt) => void): () => void
  /** Resolves when nothing is on its way any more. */
  idle(): Promise<void>
  /** Gives up on everything that is on its way. */
  stop(): Promise<void>
}

const DEFAULT_RETRY_DELAYS_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]

/** An endpoint that posts nothing until it follows an account or is given an event. */
export function createWebhookEndpoint(initial: WebhookEndpointOptions): WebhookEndpoint {
  let options = initial
  const { now, chance = createChance(), retryDelaysMs = DEFAULT_RETRY_DELAYS_MS } = initial
  const wanted = new Set<string>(initial.events ?? SUBSCRIBED_EVENTS)
  const attempts: PostAttempt[] = []
  const listeners = new Set<(attempt: PostAttempt) => void>()
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  let held: Stripe.Event[] | undefined

  async function attempt(event: Stripe.Event, number: number): Promise<boolean> {
    const record: PostAttempt = {
      eventId: event.id,
      eventType: event.type,
      attempt: number,
      atMs: now(),
      status: null,
      answer: '',
    }
    try {
      const header = options.signatureHeader
      const answer = await postNotification({
        url: options.url,
        body: event,
        credential: { kind: 'processor', secrets: options.secrets, ...(header === undefined ? {} : { header }) },
        now,
        signal: stopping.signal,
      })
      record.status = answer.status
      record.answer = answer.body
    } catch (error) {
      record.answer = error instanceof Error ? `${error.message} ${String(error.cause ?? '')}`.trim() : String(error)
    }
    attempts.push(record)
    for (const listener of listeners) listener(record)
    return record.status !== null && record.status >= 200 && record.status < 300
  }

  async function postUntilTaken(event: Stripe.Event, delayMs: number): Promise<void> {
    await wait(delayMs, stopping.signal)
    for (let number = 1; !stopping.signal.aborted; number++) {
      if (await attempt(event, number)) return
      const retryMs = retryDelaysMs[number - 1]
      if (retryMs === undefined) return
      await wait(retryMs, stopping.signal)
    }
  }

  function track(work: Promise<void>): Promise<void> {
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  async function post(event: Stripe.Event): Promise<void> {
    const plan = planPosts(options.disturbance ?? {}, chance)
    if (plan.kind === 'dropped') return
    await Promise.all(plan.delaysMs.map(delayMs => track(postUntilTaken(event, delayMs))))
  }

  async function idle(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay)
  }

  return {
    follow: processor =>
      processor.onEvent(event => {
        if (!wanted.has(event.type) && !wanted.has('*')) return
        if (held === undefined) void post(event)
        else held.push(event)
      }),
    post,
    change(changes) {
      options = { ...options, ...changes }
    },
    hold() {
      held ??= []
    },
    async release(arrange = events => events) {
      const events = held ?? []
      held = undefined
      for (const event of arrange(events)) await post(event)
    },
    attempts: () => attempts,
    onAttempt(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    idle,
    async stop() {
      stopping.abort()
      await idle()
    },
  }
}

function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs <= 0 || signal.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, delayMs)
    signal.addEventListener('abort', done, { once: true })
  })
}

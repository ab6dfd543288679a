/** A webhook endpoint as configured at a provider: its URL, its credential and its retries. */
import { setTimeout } from 'node:timers/promises'
import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { EventSource, Posting } from '../account/event-feed.ts'
import type { BillerEvent } from '../biller/events.ts'
import { withFalseValues } from '../biller/false-values.ts'
import { type Chance, createChance } from '../chance.ts'
import { type Disturbance, planPosts } from './disturbance.ts'
import { type Credential, postNotification } from './post-notification.ts'
import { formsOf, isAccepted, nameOf, type Payload, type ProviderEvents, type ProviderKind } from './provider-event.ts'

export interface WebhookEndpointOptions<Kind extends ProviderKind = 'processor'> {
  url: string
  /** The secret that signs events, or the password that is sent with them. */
  credential: Credential & { kind: Kind }
  /** The types of events that are posted. By default the documented types; `*` posts all. */
  events?: readonly string[]
  /** The form of the events, at the processor; `snapshot` by default. */
  payload?: Payload
  disturbance?: Disturbance
  /** Milliseconds before the second and later attempts. The real providers retry for three days. */
  retryDelaysMs?: readonly number[]
  /** Milliseconds since the epoch. */
  now: () => number
  chance?: Chance
}

/** One attempt to post one event. */
export interface PostAttempt {
  eventId: string
  eventType: string
  attempt: number
  /** Milliseconds since the epoch. */
  atMs: number
  /** The HTTP status; null if there was no answer. */
  status: number | null
  /** The body of the answer, or the reason why there was no answer. */
  answer: string
}

export interface WebhookEndpoint<Kind extends ProviderKind = 'processor'> {
  /** Posts every new event of the account, and records the result. @returns a function that ends this */
  follow(account: EventSource<ProviderEvents[Kind]>): () => void
  /** Posts one event with the disturbance. Resolves when every copy is accepted, dropped, or has no retries left. */
  post(event: ProviderEvents[Kind]): Promise<void>
  /** Changes credential, URL or disturbance. */
  change(options: Partial<Pick<WebhookEndpointOptions<Kind>, 'url' | 'credential' | 'disturbance'>>): void
  /** Holds events until release(), for a test that needs its own order. */
  hold(): void
  /** Posts the held events one after the other, in the order that `arrange` returns. */
  release(arrange?: (events: ProviderEvents[Kind][]) => ProviderEvents[Kind][]): Promise<void>
  attempts(): readonly PostAttempt[]
  onAttempt(listener: (attempt: PostAttempt) => void): () => void
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>
  /** Cancels all requests and retries. */
  stop(): Promise<void>
}

const DEFAULT_RETRY_DELAYS_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000]

/**
 * An endpoint. It posts nothing until it follows an account or gets an event.
 * @throws Error for a disturbance that is impossible for this provider
 */
export function createWebhookEndpoint<Kind extends ProviderKind>(
  initial: WebhookEndpointOptions<Kind>,
): WebhookEndpoint<Kind> {
  type Event = ProviderEvents[Kind]
  let options = initial
  const { now, chance = createChance(), retryDelaysMs = DEFAULT_RETRY_DELAYS_MS } = initial
  const kind: ProviderKind = initial.credential.kind
  const wanted = new Set<string>(initial.events ?? EVENTS_TO_TICK[kind])
  const inFlight = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  const origins = new WeakMap<Event, EventSource<Event>>()
  const { attempts, listeners, postUntilAccepted } = createAttempts({
    ...{ kind, now, retryDelaysMs, signal: stopping.signal },
    receiver: () => options,
  })
  let held: Event[] | undefined
  refuseFalseValues(kind, initial.disturbance)

  function track<T>(work: Promise<T>): Promise<T> {
    inFlight.add(work)
    return work.finally(() => inFlight.delete(work))
  }

  const note = (event: Event, posting: Posting) => origins.get(event)?.notePosting(event, posting)

  async function post(event: Event): Promise<void> {
    const plan = planPosts(options.disturbance ?? {}, chance)
    if (plan.kind === 'dropped') {
      note(event, 'succeeded')
      return
    }
    note(event, 'scheduled')
    const accepted = await Promise.all(
      formsOf(event, options.payload ?? 'snapshot').flatMap(form => {
        // Only the subscription biller can have false values, so the event is an event of the biller.
        const body = plan.hasFalseValues ? withFalseValues(form as BillerEvent, chance) : form
        return plan.delaysMs.map(delayMs => track(postUntilAccepted(nameOf(form), body, delayMs)))
      }),
    )
    note(event, accepted.every(Boolean) ? 'succeeded' : 'failed')
  }

  async function idle(): Promise<void> {
    while (inFlight.size > 0) await Promise.all(inFlight)
  }

  return {
    follow: account =>
      account.onEvent(event => {
        if (!wanted.has(nameOf(event).type) && !wanted.has('*')) return
        origins.set(event, account)
        note(event, 'scheduled')
        if (held === undefined) void post(event)
        else held.push(event)
      }),
    post,
    change(changes) {
      refuseFalseValues(kind, changes.disturbance)
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

interface AttemptOptions {
  readonly kind: ProviderKind
  readonly now: () => number
  readonly retryDelaysMs: readonly number[]
  readonly signal: AbortSignal
  /** Where an attempt is posted to, as it is set at that time. */
  readonly receiver: () => { readonly url: string; readonly credential: Credential }
}

type EventName = ReturnType<typeof nameOf>

/** Posts events, and keeps each attempt. */
function createAttempts({ kind, now, retryDelaysMs, signal, receiver }: AttemptOptions) {
  const attempts: PostAttempt[] = []
  const listeners = new Set<(attempt: PostAttempt) => void>()

  async function attempt({ id, type }: EventName, body: object, number: number): Promise<boolean> {
    const record: PostAttempt = { eventId: id, eventType: type, attempt: number, atMs: now(), status: null, answer: '' }
    try {
      const { url, credential } = receiver()
      const answer = await postNotification({ url, body, credential, now, signal })
      record.status = answer.status
      record.answer = answer.body
    } catch (error) {
      record.answer = error instanceof Error ? `${error.message} ${String(error.cause ?? '')}`.trim() : String(error)
    }
    attempts.push(record)
    for (const listener of listeners) listener(record)
    return record.status !== null && isAccepted(kind, record.status)
  }

  /** Posts an event until an answer accepts it. @returns false if no answer did */
  async function postUntilAccepted(event: EventName, body: object, delayMs: number) {
    await wait(delayMs, signal)
    for (let number = 1; !signal.aborted; number++) {
      if (await attempt(event, body, number)) return true
      const retryMs = retryDelaysMs[number - 1]
      if (retryMs === undefined) return false
      await wait(retryMs, signal)
    }
    return false
  }
  return { attempts, listeners, postUntilAccepted }
}

function refuseFalseValues(kind: ProviderKind, disturbance: Disturbance | undefined): void {
  if (kind !== 'subscription' && (disturbance?.falseValuesRate ?? 0) > 0) {
    throw new Error(
      `Events of kind ${kind} are signed and cannot have false values; set falseValuesRate for subscription only`,
    )
  }
}

/** Waits, unless the signal aborts. */
async function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) await setTimeout(delayMs, undefined, { signal }).catch(() => {})
}

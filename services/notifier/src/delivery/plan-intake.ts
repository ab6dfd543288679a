import { paceTargetOf } from '@backstop/channels/deliver'
import { type DeliveryRequest, HEADERS } from '@backstop/contracts'
import {
  AppError,
  type Batch,
  type Clock,
  type ConsumerMetrics,
  deadLetter,
  type IncomingMessage,
  isRetryable,
  type MessageCodec,
  type OutgoingMessage,
} from '@backstop/kit'
import { orderingKey } from '../incident-order/rules/ordering-key.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import type { DeliveryJob, JobMessage } from '../queue/delivery-job.ts'
import { deadDelivery, delayedMessage, postponedAgain, postponedMessage } from '../retry/delivery-messages.ts'
import type { ChannelDirectory } from '../store/channel-directory.ts'
import type { ChannelRecord } from '../store/channel-store.ts'
import { type DeliveryProgress, type DeliveryStore, newDelivery } from '../store/delivery-store.ts'
import { decideIntake } from './rules/decide-intake.ts'

export interface DeliveryIntakeOptions {
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly directory: ChannelDirectory
  readonly deliveries: DeliveryStore
  readonly metrics: DeliveryMetrics
  readonly consumerMetrics: ConsumerMetrics
}

/** What to do with some messages of one partition. Nothing of it is done yet. */
export interface IntakePlan {
  /** How many leading messages it covers. */
  readonly accepted: number
  readonly jobs: readonly DeliveryJob[]
  /** To be produced before anything is completed. */
  readonly outgoing: readonly OutgoingMessage[]
  /** Nothing is left to do for these once `outgoing` is acknowledged. */
  readonly done: readonly JobMessage[]
}

/**
 * The messages of a batch whose channel has too much waiting, or is left alone, with in how many milliseconds their turn
 * may come.
 */
export type Overflow = ReadonlyMap<IncomingMessage, number>

interface Asked {
  readonly request: DeliveryRequest
  readonly from: JobMessage
}

/**
 * Finds out what each message asks for: one insert for deliveries that are new, one read for those that are not, one
 * read for their channels (DESIGN: a fixed number of commands for a batch).
 * @param active deliveries at hand: a copy of their message joins them
 * @param overflow those of the messages that are to be put off
 * @throws AppError `unavailable` when nothing could be found out now
 */
export async function planIntake(
  messages: readonly IncomingMessage[],
  batch: Batch,
  active: ReadonlyMap<string, DeliveryJob>,
  overflow: Overflow,
  options: DeliveryIntakeOptions,
): Promise<IntakePlan> {
  const { asked, again, outgoing, done, accepted } = await decodeAll(messages, batch, overflow, options)
  const fresh: Asked[] = []
  for (const one of asked) {
    const job = active.get(one.request.delivery_id)
    // Joined at once, before anything is awaited: the job completes this message together with its own.
    if (job !== undefined && one.request.attempt <= job.request.attempt) job.messages.push(one.from)
    else fresh.push(one)
  }
  const channelIds = [...fresh.map(({ request }) => request.channel_id), ...again.map(({ message }) => message.key)]
  const channels = await options.directory.find([...new Set(channelIds)])
  const progress = await openAll(fresh, channels, options)
  const planner = new Planner(options, channels, progress, overflow)
  for (const one of fresh) planner.plan(one)
  for (const one of again) planner.postponeAgain(one)
  return {
    accepted,
    jobs: planner.jobs,
    outgoing: [...outgoing, ...planner.outgoing],
    done: [...done, ...planner.done],
  }
}

/** Decodes up to the first message whose schema cannot be looked up now; what is no delivery request is parked. */
async function decodeAll(
  messages: readonly IncomingMessage[],
  batch: Batch,
  overflow: Overflow,
  options: DeliveryIntakeOptions,
) {
  const asked: Asked[] = []
  /** Came from a delay line and goes to one again: nothing of it has to be known. */
  const again: JobMessage[] = []
  const outgoing: OutgoingMessage[] = []
  const done: JobMessage[] = []
  let accepted = 0
  for (const message of messages) {
    const from: JobMessage = { message, batch }
    if (overflow.has(message) && dueAtMs(message) !== null) {
      again.push(from)
      accepted++
      continue
    }
    try {
      asked.push({ request: await options.codec.decode('delivery-request', message.value), from })
    } catch (error) {
      if (isRetryable(error)) {
        if (accepted === 0) throw error
        break
      }
      options.consumerMetrics.deadLettered('deliveries', error instanceof AppError ? error.code : 'internal')
      outgoing.push(deadLetter(message, 'deliveries.dead', error))
      done.push(from)
    }
    accepted++
  }
  return { asked, again, outgoing, done, accepted }
}

/** Inserts what is new and reads what is not. @returns what is recorded of those that were there before */
async function openAll(
  asked: readonly Asked[],
  channels: ReadonlyMap<string, ChannelRecord | undefined>,
  { deliveries, clock }: DeliveryIntakeOptions,
): Promise<ReadonlyMap<string, DeliveryProgress>> {
  const documentOf = ({ request }: Asked) => {
    const record = channels.get(request.channel_id)
    return record === undefined ? [] : [newDelivery(request, record.channel.config.kind, clock.now())]
  }
  // What was put off before its first attempt is on record, too: an insert that is refused costs far more than a read.
  const isNew = ({ request, from }: Asked) => request.attempt === 1 && dueAtMs(from.message) === null
  const known = await deliveries.open(asked.filter(isNew).flatMap(documentOf))
  const later = asked.filter(one => !isNew(one))
  const progress = await deliveries.progressOf([...known, ...later.map(({ request }) => request.delivery_id)])
  // A later attempt without a document: the collection was lost or the row has expired. It is still delivered.
  const missing = later.filter(({ request }) => !progress.has(request.delivery_id))
  if (missing.length > 0) await deliveries.open(missing.flatMap(documentOf))
  return progress
}

class Planner {
  readonly jobs: DeliveryJob[] = []
  readonly outgoing: OutgoingMessage[] = []
  readonly done: JobMessage[] = []
  readonly #planned = new Map<string, DeliveryJob>()
  readonly #options: DeliveryIntakeOptions
  readonly #channels: ReadonlyMap<string, ChannelRecord | undefined>
  readonly #progress: ReadonlyMap<string, DeliveryProgress>
  readonly #overflow: Overflow

  constructor(
    options: DeliveryIntakeOptions,
    channels: ReadonlyMap<string, ChannelRecord | undefined>,
    progress: ReadonlyMap<string, DeliveryProgress>,
    overflow: Overflow,
  ) {
    this.#options = options
    this.#channels = channels
    this.#progress = progress
    this.#overflow = overflow
  }

  plan({ request, from }: Asked): void {
    const twin = this.#planned.get(request.delivery_id)
    const channelKind = this.#channels.get(request.channel_id)?.channel.config.kind
    if (twin !== undefined) twin.messages.push(from)
    else if (channelKind === undefined) {
      // Channels are marked as deleted, never removed: this one was never there, so there is no delivery to record.
      this.#options.consumerMetrics.deadLettered('deliveries', 'channel_unknown')
      this.#finish(from, deadDelivery(from.message, 'channel_unknown', 'The channel does not exist'))
    } else this.#planByRecord(request, from, channelKind)
  }

  postponeAgain(from: JobMessage): void {
    const { message } = from
    const kind = this.#channels.get(message.key)?.channel.config.kind
    if (kind !== undefined) this.#options.metrics.postponed(kind)
    this.#finish(from, postponedAgain(message, this.#options.clock.now(), this.#overflow.get(message) ?? 0))
  }

  #planByRecord(request: DeliveryRequest, from: JobMessage, channelKind: DeliveryJob['channelKind']): void {
    const progress = this.#progress.get(request.delivery_id)
    if (progress === undefined) {
      this.#attempt(request, from, channelKind, {
        firstAttemptAtMs: null,
        ladderFromAttempt: 1,
        isKnown: false,
        goesAlone: false,
      })
      return
    }
    const intake = decideIntake(request.attempt, dueAtMs(from.message), progress)
    switch (intake.kind) {
      case 'skip':
        this.#finish(from)
        break
      case 'dead_letter_again':
        if (request.test) this.#finish(from)
        else this.#finish(from, deadDelivery(from.message, intake.reason, progress.reason))
        break
      case 'produce_retry_again': {
        const due = { topic: intake.topic, atMs: intake.dueAtMs }
        const next = { ...request, attempt: intake.attempt }
        this.#finish(from, delayedMessage(this.#options.codec, next, from.message.headers, due))
        break
      }
      case 'attempt':
        this.#attempt({ ...request, attempt: intake.attempt }, from, channelKind, {
          ...progress,
          ...intake,
          isKnown: true,
        })
        break
      default:
        intake satisfies never
    }
  }

  #attempt(
    request: DeliveryRequest,
    from: JobMessage,
    channelKind: DeliveryJob['channelKind'],
    known: Pick<DeliveryJob, 'firstAttemptAtMs' | 'ladderFromAttempt' | 'isKnown' | 'endedAddresses' | 'goesAlone'>,
  ): void {
    const nowMs = this.#options.clock.now()
    const waitMs = this.#overflow.get(from.message)
    const atOnce = request.test || from.message.headers[HEADERS.atOnce] !== undefined
    if (waitMs !== undefined && !atOnce) {
      this.#options.metrics.postponed(channelKind)
      this.#finish(from, postponedMessage(this.#options.codec, request, from.message.headers, nowMs, waitMs))
      return
    }
    const { firstAttemptAtMs, ladderFromAttempt, isKnown, endedAddresses, goesAlone } = known
    const record = this.#channels.get(request.channel_id)
    const paceTarget = record === undefined ? undefined : paceTargetOf(record.channel)
    const job: DeliveryJob = {
      request,
      channelKind,
      orderingKey: orderingKey(request.alert),
      firstAttemptAtMs,
      ladderFromAttempt,
      isKnown,
      atOnce,
      ...(endedAddresses === undefined ? {} : { endedAddresses }),
      ...(paceTarget === undefined ? {} : { paceTarget }),
      goesAlone,
      receivedAtMs: nowMs,
      messages: [from],
    }
    this.#planned.set(request.delivery_id, job)
    this.jobs.push(job)
  }

  #finish(from: JobMessage, ...outgoing: readonly OutgoingMessage[]): void {
    this.outgoing.push(...outgoing)
    this.done.push(from)
  }
}

/** When the delay line let the message go; null for one that was on none. */
export function dueAtMs({ headers }: IncomingMessage): number | null {
  const text = headers[HEADERS.dueAt]
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}

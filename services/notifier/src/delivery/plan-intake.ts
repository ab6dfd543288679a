import { actionIdsOf, withoutErased, withoutPersonalData } from '@backstop/channels'
import { paceTargetOf } from '@backstop/channels/deliver'
import { type DeliveryDocument, type DeliveryRequest, dueAtOf, HEADERS } from '@backstop/contracts'
import type { Batch, IncomingMessage, OutgoingMessage } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { deadLetter } from '@backstop/kit/consume'
import { isRetryable } from '@backstop/kit/errors'
import type { MessageCodec } from '@backstop/kit/registry'
import type { ChannelDirectory } from '../channels/channel-directory.ts'
import type { ChannelRecord, ChannelStore } from '../channels/channel-store.ts'
import { type DeliveryProgress, type DeliveryStore, newDelivery } from '../delivery-record/delivery-store.ts'
import { orderingKey } from '../incident-order/rules/ordering-key.ts'
import type { DeliveryJob, JobMessage } from '../jobs/delivery-job.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import { deadLetterOfDelivery, delayedMessage, postponedAgain, postponedMessage } from '../retry/delivery-messages.ts'
import { decideIntake } from './rules/decide-intake.ts'
import { decideQuietHold, GATHER_MS, wasHeld } from './rules/quiet-hours.ts'
import { breaksQuietHours, isAlarm } from './rules/urgent-alert.ts'

export interface DeliveryIntakeOptions {
  readonly codec: MessageCodec
  readonly clock: Clock
  readonly directory: ChannelDirectory
  readonly deliveries: Pick<DeliveryStore, 'insertNew'>
  /** Finds the deliveries that are stored already. Calls of several partitions should share one read. */
  readonly progressOf: DeliveryStore['progressOf']
  /** Finds the actions whose customer was erased. Calls of several partitions should share one read. */
  readonly findErasedActions: ChannelStore['findErasedActions']
  readonly metrics: DeliveryMetrics
}

/** The planned handling of some messages of one partition. Planning itself sends and completes nothing. */
export interface IntakePlan {
  /** Number of leading messages covered by the plan. */
  readonly accepted: number
  readonly jobs: readonly DeliveryJob[]
  /** The channels of the failed digests that the jobs repeat, by id of the digest. */
  readonly repeatedDigests: ReadonlyMap<string, string>
  /** Messages to produce before any message is completed. */
  readonly outgoing: readonly OutgoingMessage[]
  /** Messages that are finished when `outgoing` is acknowledged. */
  readonly done: readonly JobMessage[]
}

/**
 * The messages whose channel has a full queue or is paused, with the earliest time until their attempt, in
 * milliseconds.
 */
export type PostponedMessages = ReadonlyMap<IncomingMessage, number>

interface RequestedDelivery {
  readonly request: DeliveryRequest
  readonly from: JobMessage
}

/**
 * Plans the handling of each message with a fixed number of database commands: one read for their channels, one for the deliveries
 * that are stored already, one for erased actions if a channel shows personal data, and one insert for new deliveries that wait on a delay line. A new delivery that is queued is stored with the outcome
 * of its attempt (`UnstoredDeliveries`).
 * @param active deliveries in memory, by id: a duplicate of their message joins the job
 * @param overflow the messages to postpone
 * @throws AppError `unavailable` if the database or the schema registry is unavailable
 */
export async function planIntake(
  messages: readonly IncomingMessage[],
  batch: Batch,
  active: ReadonlyMap<string, DeliveryJob>,
  overflow: PostponedMessages,
  options: DeliveryIntakeOptions,
): Promise<IntakePlan> {
  const { requested, repostponed, outgoing, done, accepted } = await decodeRequests(messages, batch, overflow, options)
  const unknown: RequestedDelivery[] = []
  for (const one of requested) {
    const job = active.get(one.request.delivery_id)
    // Join before the first `await`, so that the job still exists: it completes this message together with its own.
    if (job !== undefined && one.request.attempt <= job.request.attempt) job.messages.push(one.from)
    else unknown.push(one)
  }
  const channelIds = [
    ...unknown.map(({ request }) => request.channel_id),
    ...repostponed.map(({ message }) => message.key),
  ]
  const channels = await options.directory.find([...new Set(channelIds)])
  const shown = unknown.flatMap(({ request: { channel_id, alert } }) =>
    channels.get(channel_id)?.channel.shows_personal_data === true ? [alert] : [],
  )
  const [erasedActions, progress] = await Promise.all([
    options.findErasedActions(actionIdsOf(shown)),
    options.progressOf([...new Set(unknown.map(({ request }) => request.delivery_id))]),
  ])
  const fresh = unknown.map(one => shareable(one, channels.get(one.request.channel_id), erasedActions))
  const planner = new Planner(options, channels, progress, overflow)
  try {
    for (const one of fresh) planner.plan(one)
  } catch (error) {
    // The message at fault is dead-lettered, which ends its delivery visibly: so the delivery must be stored.
    await options.deliveries.insertNew(fresh.flatMap(one => planner.newDocumentOf(one)))
    throw error
  }
  for (const one of repostponed) planner.postponeAgain(one)
  if (planner.held.length > 0) await options.deliveries.insertNew(planner.held)
  return {
    accepted,
    jobs: planner.jobs,
    repeatedDigests: planner.repeatedDigests,
    outgoing: [...outgoing, ...planner.outgoing],
    done: [...done, ...planner.done],
  }
}

/**
 * Decodes messages up to the first one whose schema cannot be fetched now. Messages that cannot be decoded are
 * dead-lettered.
 */
async function decodeRequests(
  messages: readonly IncomingMessage[],
  batch: Batch,
  overflow: PostponedMessages,
  options: DeliveryIntakeOptions,
) {
  const requested: RequestedDelivery[] = []
  /** Messages from a delay line that go back to a delay line; they need not be decoded. */
  const repostponed: JobMessage[] = []
  const outgoing: OutgoingMessage[] = []
  const done: JobMessage[] = []
  let accepted = 0
  for (const message of messages) {
    const from: JobMessage = { message, batch }
    if (overflow.has(message) && dueAtOf(message) !== null) {
      repostponed.push(from)
      accepted++
      continue
    }
    try {
      requested.push({ request: await options.codec.decode('delivery-request', message.value), from })
    } catch (error) {
      if (isRetryable(error)) {
        if (accepted === 0) throw error
        break
      }
      outgoing.push(deadLetter(message, 'deliveries.dead', error))
      done.push(from)
    }
    accepted++
  }
  return { requested, repostponed, outgoing, done, accepted }
}

/**
 * Applies a setting that was switched off after the fan-out, a deletion of the connection and an erasure of the customer: neither the record
 * nor the message has personal data.
 */
function shareable(
  one: RequestedDelivery,
  record: ChannelRecord | undefined,
  erasedActions: ReadonlySet<string>,
): RequestedDelivery {
  const full = one.request.alert
  const alert =
    record?.channel.shows_personal_data === true
      ? withoutErased(full, { connections: record.deletedConnections, actions: erasedActions })
      : withoutPersonalData(full)
  return alert === full ? one : { ...one, request: { ...one.request, alert } }
}

class Planner {
  readonly jobs: DeliveryJob[] = []
  readonly repeatedDigests = new Map<string, string>()
  readonly outgoing: OutgoingMessage[] = []
  readonly done: JobMessage[] = []
  /** The new deliveries that wait on a delay line: an operator sees them, and a later alert of their incident finds them. */
  readonly held: DeliveryDocument[] = []
  readonly #planned = new Map<string, DeliveryJob>()
  readonly #options: DeliveryIntakeOptions
  readonly #channels: ReadonlyMap<string, ChannelRecord | undefined>
  readonly #progress: ReadonlyMap<string, DeliveryProgress>
  readonly #overflow: PostponedMessages

  constructor(
    options: DeliveryIntakeOptions,
    channels: ReadonlyMap<string, ChannelRecord | undefined>,
    progress: ReadonlyMap<string, DeliveryProgress>,
    overflow: PostponedMessages,
  ) {
    this.#options = options
    this.#channels = channels
    this.#progress = progress
    this.#overflow = overflow
  }

  plan({ request, from }: RequestedDelivery): void {
    const existingJob = this.#planned.get(request.delivery_id)
    const channelKind = this.#channels.get(request.channel_id)?.channel.config.kind
    if (existingJob !== undefined) existingJob.messages.push(from)
    else if (channelKind === undefined) {
      // Deleted channels stay in the database, so this channel never existed, and there is no delivery to record.
      this.#addDone(from, deadLetterOfDelivery(from.message, 'channel_unknown', 'The channel does not exist'))
    } else this.#planByRecord(request, from, channelKind)
  }

  postponeAgain(from: JobMessage): void {
    const { message } = from
    const kind = this.#channels.get(message.key)?.channel.config.kind
    if (kind !== undefined) this.#options.metrics.postponed(kind)
    this.#addDone(from, postponedAgain(message, this.#options.clock.now(), this.#overflow.get(message) ?? 0))
  }

  /** The pending document of a delivery that is not stored yet. */
  newDocumentOf({ request }: RequestedDelivery): DeliveryDocument[] {
    const kind = this.#channels.get(request.channel_id)?.channel.config.kind
    if (kind === undefined || this.#progress.has(request.delivery_id)) return []
    return [newDelivery(request, kind, this.#options.clock.now())]
  }

  #planByRecord(request: DeliveryRequest, from: JobMessage, channelKind: DeliveryJob['channelKind']): void {
    const progress = this.#progress.get(request.delivery_id)
    if (progress === undefined) {
      this.#attempt(request, from, channelKind, {
        firstAttemptAtMs: null,
        ladderAttemptsAtMs: [],
        isKnown: false,
        goesAlone: false,
        digestGroup: null,
      })
      return
    }
    const intake = decideIntake(request.attempt, dueAtOf(from.message), progress)
    switch (intake.kind) {
      case 'skip':
        this.#addDone(from)
        break
      case 'dead_letter_again':
        if (request.test) this.#addDone(from)
        else this.#addDone(from, deadLetterOfDelivery(from.message, intake.reason, progress.reason))
        break
      case 'produce_retry_again': {
        const due = { topic: intake.topic, atMs: intake.dueAtMs }
        const next = { ...request, attempt: intake.attempt }
        this.#addDone(from, delayedMessage(this.#options.codec, next, from.message.headers, due))
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
    known: Pick<
      DeliveryJob,
      'firstAttemptAtMs' | 'ladderAttemptsAtMs' | 'isKnown' | 'endedAddresses' | 'goesAlone' | 'digestGroup'
    >,
  ): void {
    const nowMs = this.#options.clock.now()
    const waitMs = this.#overflow.get(from.message)
    const atOnce = request.test || from.message.headers[HEADERS.atOnce] !== undefined
    const record = this.#channels.get(request.channel_id)
    const quietHours = atOnce || breaksQuietHours(request.alert) ? null : (record?.channel.quiet_hours ?? null)
    const progress = this.#progress.get(request.delivery_id)
    const quiet = decideQuietHold(quietHours, progress?.next?.dueAtMs ?? nowMs, nowMs)
    const postponeMs = quiet.kind === 'hold' ? quiet.untilMs - nowMs : atOnce ? undefined : waitMs
    if (postponeMs !== undefined) {
      this.#options.metrics.postponed(channelKind)
      if (!known.isKnown) this.held.push(newDelivery(request, channelKind, nowMs))
      this.#addDone(from, postponedMessage(this.#options.codec, request, from.message.headers, nowMs, postponeMs))
      return
    }
    const { firstAttemptAtMs, ladderAttemptsAtMs, isKnown, endedAddresses, digestGroup } = known
    const goesAlone = known.goesAlone || isAlarm(request.alert)
    const paceTarget = record === undefined ? undefined : paceTargetOf(record.channel)
    const repeats = digestGroup !== null && !goesAlone && !atOnce
    if (repeats) this.repeatedDigests.set(digestGroup, request.channel_id)
    const job: DeliveryJob = {
      request,
      channelKind,
      orderingKey: orderingKey(request.alert),
      firstAttemptAtMs,
      ladderAttemptsAtMs,
      isKnown,
      atOnce,
      isLateOnPurpose:
        atOnce ||
        quiet.kind === 'gather' ||
        (progress !== undefined && (progress.isRequeued || wasHeld(quietHours, progress.createdAtMs))),
      ...(endedAddresses === undefined ? {} : { endedAddresses }),
      ...(paceTarget === undefined ? {} : { paceTarget }),
      goesAlone,
      digestGroup,
      ...(quiet.kind === 'gather' ? { digestGroup: quiet.group, notBeforeMs: quiet.notBeforeMs } : {}),
      ...(repeats ? { digestGroup, notBeforeMs: nowMs + GATHER_MS } : {}),
      receivedAtMs: nowMs,
      messages: [from],
    }
    this.#planned.set(request.delivery_id, job)
    this.jobs.push(job)
  }

  #addDone(from: JobMessage, ...outgoing: readonly OutgoingMessage[]): void {
    this.outgoing.push(...outgoing)
    this.done.push(from)
  }
}

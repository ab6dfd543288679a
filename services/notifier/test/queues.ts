import { alert } from '@backstop/channels/test'
import type { Batch } from '@backstop/kit/bus'
import { createManualClock } from '@backstop/kit/test'
import type { DeliveryJob } from '../src/jobs/delivery-job.ts'
import type { ChannelLimits } from '../src/queue/channel-lane.ts'
import type { ChannelPause, ChannelSignal } from '../src/queue/channel-paces.ts'
import { ChannelQueues } from '../src/queue/channel-queues.ts'

/** Options of the queues under test that differ from the defaults. */
export interface QueueHarnessOptions extends Partial<ChannelLimits> {
  maxActive?: number
  maxQueued?: number
  isOverloaded?: boolean
}

/** Channel queues on a manual clock, with lists of the jobs that they run, drop and postpone. */
export function createQueueHarness(options: QueueHarnessOptions = {}) {
  const clock = createManualClock()
  const running: { jobs: readonly DeliveryJob[]; end: (shown: ChannelSignal | undefined) => void }[] = []
  const dropped: string[] = []
  const held: { ids: string[]; heldForMs: number }[] = []
  const pauses: ChannelPause[] = []
  let open = true
  const queues = new ChannelQueues({
    clock,
    maxActive: options.maxActive ?? 100,
    maxQueuedPerChannel: options.maxQueued ?? 100,
    limitsOf: () => ({
      concurrency: options.concurrency ?? 2,
      intervalMs: options.intervalMs ?? 0,
      digest: options.digest ?? null,
    }),
    isOverloaded: () => options.isOverloaded ?? false,
    mayStart: () => open,
    run: jobs => new Promise(end => running.push({ jobs, end })),
    onDropped: job => dropped.push(job.request.delivery_id),
    onHeld: (jobs, heldForMs) => held.push({ ids: jobs.map(one => one.request.delivery_id), heldForMs }),
    onPaused: (_, pause) => pauses.push(pause),
  })
  /** Names of the running attempts; a digest is the names of its jobs, joined. */
  const names = () => running.map(({ jobs }) => jobs.map(one => one.request.delivery_id).join('+'))
  const end = async (name: string, kind: 'worked' | 'failed' | 'nothing' = 'worked', channelVersion = 1) => {
    const index = names().indexOf(name)
    running
      .splice(index, 1)[0]
      ?.end(kind === 'nothing' ? undefined : { paceSignal: { kind, atMs: clock.now(), tookMs: 10 }, channelVersion })
    await clock.settle()
  }
  const throttle = async (name: string, retryAfterMs: number | null) => {
    const index = names().indexOf(name)
    running
      .splice(index, 1)[0]
      ?.end({ paceSignal: { kind: 'throttled', atMs: clock.now(), retryAfterMs }, channelVersion: 1 })
    await clock.settle()
  }
  const gate = { close: () => (open = false), reopen: () => (open = true) }
  return { clock, queues, running, dropped, held, pauses, names, end, throttle, ...gate }
}

const owned = new AbortController()
/** A first attempt of a delivery to a webhook. */
export function job(id: string, channelId: string, more: Partial<DeliveryJob> = {}): DeliveryJob {
  const batch = { signal: owned.signal, complete() {}, abandon() {} } as unknown as Batch
  const request = {
    delivery_id: id,
    channel_id: channelId,
    project_id: 'prj_test',
    attempt: 1,
    test: false,
    alert: alert({ id }),
  }
  return {
    request,
    channelKind: 'webhook',
    orderingKey: id,
    firstAttemptAtMs: null,
    ladderAttemptsAtMs: [],
    isKnown: false,
    atOnce: false,
    isLateOnPurpose: false,
    goesAlone: false,
    digestGroup: null,
    paceTarget: `where ${channelId} posts to`,
    receivedAtMs: Date.UTC(2026, 0, 1),
    messages: [{ message: {} as never, batch }],
    ...more,
  }
}

import type { ChannelDocument } from '@backstop/channels'
import type { Mail, Mailer } from '@backstop/channels/deliver'
import { PROJECT, secretBox } from '@backstop/channels/test'
import { type Alert, type Command, deterministicId, HEADERS } from '@backstop/contracts'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { Egress, EgressRequest } from '@backstop/kit/egress'
import { AppError, unavailable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import {
  createFixedCodec,
  createManualClock,
  createMemoryBus,
  type ManualClock,
  type MemoryBusOptions,
} from '@backstop/kit/test'
import type { Tracing } from '@backstop/kit/tracing'
import { createApp, type NotifierSettings } from '../src/app.ts'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'
import { createMemoryHealthStore } from './stores/memory-health-store.ts'
import { createMemoryReplayStore, createMemoryRequeueStore } from './stores/memory-requeue-store.ts'
import {
  createMemoryChannelStore,
  createMemoryCollections,
  createMemoryDeadLetterStore,
  createMemoryDeliveryStore,
} from './stores/memory-stores.ts'
import { createMemoryStormStore } from './stores/memory-storm-store.ts'
import { createMemorySuppressionStore } from './stores/memory-suppression-store.ts'

export interface SentRequest extends EgressRequest {
  readonly atMs: number
}

type CommonField = 'command_id' | 'project_id' | 'requested_at'
/** A command whose common fields are optional. */
type CommandInputOf<C> = C extends Command ? Omit<C, CommonField> & Partial<Pick<C, CommonField>> : never
export type CommandInput = CommandInputOf<Command>

/** The answer of a receiver: a status (with headers and a body), an error, or no answer until the deadline. */
export type ReceiverReply =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'hang'
  | AppError

export interface MemoryNotifierOptions extends Partial<MemoryBusOptions> {
  /** Replaces the scripted HTTP receivers. */
  readonly egress?: Egress
  /** Replaces the mail server that accepts every mail. */
  readonly mailer?: Mailer
  /** Traces are off without it. */
  readonly tracing?: Tracing
}

/** Most tests publish many alerts of one connection, and expect a message for each. */
const NO_STORMS = { ...DEFAULT_STORM_SETTINGS, from: 1_000_000 }

/** A whole notifier in memory on virtual time, with scripted receivers. */
export function createMemoryNotifier(options: MemoryNotifierOptions = {}) {
  const clock: ManualClock = createManualClock(Date.parse('2026-11-21T10:00:00.000Z'))
  const bus = createMemoryBus({ clock, partitions: options.partitions ?? 4, ...options })
  const codec = createFixedCodec()
  const collections = createMemoryCollections()
  const requests: SentRequest[] = []
  const mails: Mail[] = []
  const log: Record<string, unknown>[] = []
  const metrics = createMetrics('notifier')
  const fatal: unknown[] = []
  const state = {
    /** `answer_lost`: the database executes the command, but its answer is lost. */
    database: 'up' as 'up' | 'away' | 'answer_lost',
    /** Whether the keys of the process are those of the stored secrets. */
    keys: 'right' as 'right' | 'wrong',
    /** Duration of each database call, in milliseconds. */
    databaseMs: 0,
    /** Called before and after each database call, e.g. to kill the process there. */
    onDatabaseCall: () => {},
    reply: (_request: SentRequest): ReceiverReply | Promise<ReceiverReply> => 200,
  }

  /** A store whose calls fail while the database is unavailable, and never return to a killed process. */
  const withFaults = <T extends object>(store: T, life: ProcessLife): T =>
    new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as object
        if (typeof member === 'object') return withFaults(member, life)
        const call = member as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => {
          state.onDatabaseCall()
          return life.of(async () => {
            if (state.databaseMs > 0) await sleep(clock, state.databaseMs)
            if (state.database === 'away') throw unavailable('MongoDB', new Error('away'))
            const answer = await call(...args)
            state.onDatabaseCall()
            if (state.database === 'answer_lost') throw unavailable('MongoDB', new Error('answer lost'))
            return answer
          })
        }
      },
    })

  const egress: Egress = options.egress ?? {
    checkUrl: () => undefined,
    async request(request) {
      const sent: SentRequest = { ...request, atMs: clock.now() }
      requests.push(sent)
      const reply = await state.reply(sent)
      if (reply instanceof AppError) throw reply
      if (reply === 'hang') {
        await new Promise<void>(resolve => clock.schedule(20_000, resolve))
        throw new AppError('unavailable', 'The receiver did not answer in time', {
          retryable: true,
          details: { reason: 'deadline' },
        })
      }
      const { status, headers = {}, body = '' } = typeof reply === 'number' ? { status: reply } : reply
      return { status, headers, body: Buffer.from(body), complete: true }
    },
    async stop() {},
  }
  const mailer: Mailer = options.mailer ?? {
    async send(mail) {
      mails.push(mail)
      return { kind: 'smtp', code: 250, stage: 'sent', text: '250 ok' }
    },
    async stop() {},
  }
  async function publishTraced(traceparent: string, ...alerts: Alert[]): Promise<void> {
    const producer = bus.another().producer({ sendTimeoutMs: 1_000 })
    await producer.start()
    await producer.send(
      alerts.map(alert => ({
        topic: 'alerts' as const,
        key: alert.project_id,
        value: codec.encode('alert', alert),
        headers: { [HEADERS.messageId]: alert.alert_id, [HEADERS.traceparent]: traceparent },
      })),
    )
    await clock.settle()
  }

  let isFirst = true
  const logger = createLogger('notifier', 'info', { write: line => log.push(JSON.parse(line)) })

  return {
    clock,
    bus,
    collections,
    requests,
    mails,
    log,
    fatal,
    state,
    codec,
    /** The metrics of the first process. Every process has its own. */
    metrics,
    /** Starts a process. The first process reads from the bus directly, later ones share its consumer groups. */
    async start(settings: Partial<NotifierSettings> = {}): Promise<{ kill(): void; stop(): Promise<void> }> {
      const own = isFirst ? bus : bus.another()
      const ownMetrics = isFirst ? metrics : createMetrics('notifier')
      isFirst = false
      const life = new ProcessLife()
      const app = createApp(
        {
          bus: own,
          codec,
          clock: life.clock(clock),
          channels: withFaults(createMemoryChannelStore(collections), life),
          deliveries: withFaults(createMemoryDeliveryStore(collections), life),
          deadLetters: withFaults(createMemoryDeadLetterStore(collections), life),
          health: withFaults(createMemoryHealthStore(collections), life),
          requeues: withFaults(createMemoryRequeueStore(collections), life),
          replays: withFaults(createMemoryReplayStore(collections), life),
          suppressions: withFaults(createMemorySuppressionStore(collections), life),
          storms: withFaults(createMemoryStormStore(collections), life),
          egress: { ...egress, request: request => life.of(() => egress.request(request)) },
          mailer,
          secretBox,
          logger,
          metrics: ownMetrics,
          tracing: options.tracing,
          canOpenSecrets: async () => state.keys === 'right',
          isOverloaded: () => false,
          onFatal: error => fatal.push(error),
        },
        {
          publicUrl: 'https://console.example.com',
          brandName: 'Backstop',
          apiPublicUrl: 'https://api.example.com',
          maxActive: 100,
          maxQueuedPerChannel: 100,
          storms: NO_STORMS,
          ...settings,
        },
      )
      await app.start()
      const kill = () => {
        life.end()
        own.kill()
      }
      return { kill, stop: () => app.stop() }
    },
    /** Publishes alerts like the reconciler does. */
    publish: (...alerts: Alert[]) => publishTraced('00-trace-01', ...alerts),
    publishTraced,
    deliveryOf: (alertId: string, channelId: string) =>
      collections.deliveries.get(deterministicId('delivery', alertId, channelId)),
    /** Publishes commands like admin-api does. */
    async command(...inputs: CommandInput[]): Promise<void> {
      const producer = bus.another().producer({ sendTimeoutMs: 1_000 })
      await producer.start()
      await producer.send(
        inputs.map((input, index) => {
          const command: Command = {
            command_id: `cmd_${clock.now()}_${index}`,
            project_id: PROJECT,
            requested_at: new Date(clock.now()).toISOString(),
            ...input,
          }
          return { topic: 'commands' as const, key: PROJECT, value: codec.encode('command', command), headers: {} }
        }),
      )
      await clock.settle()
    },
    /** All published commands. */
    commands: () =>
      Promise.all(bus.stored('commands').map(message => codec.decode('command', message.value))) as Promise<Command[]>,
    attemptLines: () => log.filter(line => line.msg === 'delivery.attempted'),
  }
}

/** A running process. After it is killed, its pending calls never return. */
class ProcessLife {
  #over = false

  end(): void {
    this.#over = true
  }

  of<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#over) return
      work().then(
        value => this.#over || resolve(value),
        error => this.#over || reject(error),
      )
    })
  }

  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      schedule: (delayMs, callback) => {
        if (this.#over) return () => {}
        return clock.schedule(delayMs, () => this.#over || callback())
      },
    }
  }
}

export type MemoryNotifier = ReturnType<typeof createMemoryNotifier>

/** Starts a notifier with these channels. */
export async function startWithChannels(...channels: ChannelDocument[]): Promise<MemoryNotifier> {
  const notifier = createMemoryNotifier()
  for (const one of channels) notifier.collections.channels.set(one._id, one)
  await notifier.start()
  await notifier.clock.advance(100)
  return notifier
}

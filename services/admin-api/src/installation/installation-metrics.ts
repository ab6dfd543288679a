import { ChannelKind, INBOUND_TOPICS, IncidentCode, ProviderKind } from '@backstop/contracts'
import { type Clock, createSlowReading } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { Gauge, Metrics } from '@backstop/kit/ops'
import type { InstallationReaders } from './read-state.ts'
import type { InstallationState } from './rules/summarize.ts'

/** Shortest time between two readings of MongoDB, in milliseconds: the usual time between two scrapes. */
const EVERY_MS = 15_000
/** Below the 10 s that Prometheus waits for an answer by default. */
const WITHIN_MS = 6_000

export interface InstallationMetricsOptions {
  readonly readers: InstallationReaders
  readonly metrics: Metrics
  readonly clock: Clock
  readonly logger: Logger
}

/** Topics whose number of dead letters is also shown if it is 0, so that an alert can tell none from unknown. */
const SHOWN_TOPICS: readonly string[] = [...Object.values(INBOUND_TOPICS), 'deliveries']

/**
 * Shows the state of the whole installation. Every process of admin-api shows the same values, so take the maximum over the
 * processes, never the sum. The gauges of a part that cannot be read are absent. The parts are read one after another, so that they take
 * one connection of the pool.
 */
export function showInstallation({ readers, metrics, clock, logger }: InstallationMetricsOptions): void {
  const parts = createParts(metrics, readers)
  const failures = metrics.counter(
    'installation_read_failures_total',
    'Readings of a part of the state of the installation that failed',
    [],
  )
  const onFailure = (part: Part, error: unknown) => {
    part.clear()
    failures.inc()
    logger.warn({ part: part.name, error }, 'installation.not_read')
  }
  let unread: readonly Part[] = []
  metrics.beforeRead(
    createSlowReading({
      everyMs: EVERY_MS,
      withinMs: WITHIN_MS,
      async read() {
        const startedAtMs = performance.now()
        for (const part of parts) {
          unread = parts.slice(parts.indexOf(part))
          try {
            await part.read(clock.now())
          } catch (error) {
            onFailure(part, error)
            unread = parts.slice(parts.indexOf(part) + 1)
            // Each further part would take as long to fail.
            if (performance.now() - startedAtMs > WITHIN_MS) throw error
          }
        }
        unread = []
      },
      // The reading takes too long: only the parts that it has not read are unknown.
      onFailure(error) {
        for (const part of unread) onFailure(part, error)
      },
    }),
  )
}

/** A part of the state, with the gauges that show it. */
interface Part {
  readonly name: string
  /** Reads the part and sets its gauges. */
  read(nowMs: number): Promise<void>
  /** Removes its gauges. */
  clear(): void
}

function createParts(metrics: Metrics, readers: InstallationReaders): Part[] {
  const createPart = <P extends keyof InstallationState>(
    name: P,
    create: (gauge: CreateGauge) => (state: InstallationState[P]) => void,
  ): Part => {
    const clears: (() => void)[] = []
    const set = create((gaugeName, help, ...labels) => {
      const gauge = metrics.gauge(`installation_${gaugeName}`, help, labels)
      clears.push(() => {
        gauge.reset()
        // Without labels, reset sets the value to 0.
        if (labels.length === 0) gauge.remove()
      })
      return gauge
    })
    const clear = () => {
      for (const one of clears) one()
    }
    return {
      name,
      async read(nowMs) {
        const state = await readers[name](nowMs)
        clear()
        set(state)
      },
      clear,
    }
  }
  return [
    createPart('undecided', createUndecidedGauges),
    createPart('uncomparedOperations', createOperationGauges),
    createPart('stormsOpen', createStormGauges),
    createPart('deliveries', createDeliveryGauges),
    createPart('channels', createChannelGauges),
    createPart('connections', createConnectionGauges),
    createPart('outboxes', createOutboxGauges),
    createPart('deadLetters', createDeadLetterGauges),
    createPart('incidents', createIncidentGauges),
  ]
}

type CreateGauge = <L extends string>(name: string, help: string, ...labels: L[]) => Gauge<L>

function createUndecidedGauges(gauge: CreateGauge) {
  const undecided = gauge('undecided_actions', 'Actions without a verdict')
  const overdue = gauge(
    'second_looks_overdue',
    'Actions without a verdict whose second look was due more than 10 seconds ago, and that do not wait for their provider',
  )
  const waiting = gauge(
    'second_looks_waiting',
    'Actions without a verdict whose second look was due more than 10 seconds ago, and that wait for an answer of their provider',
  )
  const oldest = gauge('undecided_oldest_seconds', 'Age of the oldest action without a verdict')
  return (state: InstallationState['undecided']) => {
    undecided.set(state.count)
    overdue.set(state.overdue)
    waiting.set(state.waiting)
    oldest.set(state.oldestMs / 1000)
  }
}

function createOperationGauges(gauge: CreateGauge) {
  const oldest = gauge(
    'uncompared_operations_oldest_seconds',
    'Age of the oldest change of an operation that was sent to its provider and not compared with the cases',
  )
  return ({ oldestMs }: InstallationState['uncomparedOperations']) => oldest.set(oldestMs / 1000)
}

function createIncidentGauges(gauge: CreateGauge) {
  const incidents = gauge('incidents', 'Incidents that are not resolved', 'code', 'state')
  return (state: InstallationState['incidents']) => {
    for (const code of IncidentCode.options) {
      for (const open of ['open', 'acknowledged'] as const) incidents.set({ code, state: open }, 0)
    }
    for (const { code, state: open, count } of state) incidents.set({ code, state: open }, count)
  }
}

function createStormGauges(gauge: CreateGauge) {
  const storms = gauge('storms_open', 'Storms that have not ended')
  return (open: number) => storms.set(open)
}

function createConnectionGauges(gauge: CreateGauge) {
  const connections = gauge('connections', 'Connections that are not deleted', 'provider', 'status')
  const keyRejected = gauge('connections_key_rejected', 'Connections whose provider refuses the read key')
  const unreadable = gauge('connections_unreadable', 'Connections whose last sweep failed, for whatever reason')
  const silent = gauge('connections_silent', 'Connections whose provider lists events that did not arrive')
  const sweepAge = gauge('sweep_age_seconds', 'Longest time since a connection was swept successfully')
  return (state: InstallationState['connections']) => {
    for (const provider of ProviderKind.options) {
      for (const status of ['active', 'needs_setup'] as const) connections.set({ provider, status }, 0)
    }
    for (const { provider, status, count } of state.counts) connections.set({ provider, status }, count)
    keyRejected.set(state.keyRejected)
    unreadable.set(state.unreadable)
    silent.set(state.silent)
    sweepAge.set(state.sweepAgeMs / 1000)
  }
}

function createDeadLetterGauges(gauge: CreateGauge) {
  const letters = gauge(
    'dead_letters',
    'Dead letters that were not replayed or dismissed, by the topic of a replay',
    'topic',
  )
  return (state: InstallationState['deadLetters']) => {
    for (const topic of SHOWN_TOPICS) letters.set({ topic }, 0)
    for (const { topic, count } of state) letters.inc({ topic }, count)
  }
}

function createDeliveryGauges(gauge: CreateGauge) {
  const deliveries = gauge('deliveries', 'Deliveries that wait or are dead', 'state')
  const age = gauge(
    'delivery_oldest_seconds',
    'Age of the oldest delivery in this state; of pending ones, without those that are held',
    'state',
  )
  return (state: InstallationState['deliveries']) => {
    for (const [name, { count, oldestMs }] of Object.entries(state)) {
      deliveries.set({ state: name }, count)
      age.set({ state: name }, oldestMs / 1000)
    }
  }
}

function createChannelGauges(gauge: CreateGauge) {
  const channels = gauge('channels', 'Channels by their health', 'kind', 'health')
  return (state: InstallationState['channels']) => {
    for (const kind of ChannelKind.options) {
      for (const health of ['ok', 'failing', 'not_delivering', 'disabled', 'off'] as const)
        channels.set({ kind, health }, 0)
    }
    for (const { kind, state: health, count } of state) channels.set({ kind, health }, count)
  }
}

function createOutboxGauges(gauge: CreateGauge) {
  const documents = gauge('outbox_documents', 'Documents with unpublished messages', 'collection')
  const age = gauge('outbox_oldest_seconds', 'Age of the oldest unpublished message', 'collection')
  return (state: InstallationState['outboxes']) => {
    for (const { collection, count, oldestMs } of state) {
      documents.set({ collection }, count)
      age.set({ collection }, oldestMs / 1000)
    }
  }
}

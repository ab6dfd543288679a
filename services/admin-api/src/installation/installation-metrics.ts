import { ChannelKind, INBOUND_TOPICS, IncidentCode, ProviderKind } from '@backstop/contracts'
import { type Clock, createSlowReading, type Gauge, type Logger, type Metrics } from '@backstop/kit'
import type { InstallationState } from './rules/state.ts'

/** Shortest time between two readings of MongoDB, in milliseconds: the usual time between two scrapes. */
const EVERY_MS = 15_000
/** Below the 10 s that Prometheus waits for an answer by default. */
const WITHIN_MS = 6_000

export interface InstallationMetricsOptions {
  readonly read: (nowMs: number) => Promise<InstallationState>
  readonly metrics: Metrics
  readonly clock: Clock
  readonly logger: Logger
}

/** Topics whose number of dead letters is also shown if it is 0, so that an alert can tell none from unknown. */
const SHOWN_TOPICS: readonly string[] = [...Object.values(INBOUND_TOPICS), 'deliveries']

/**
 * Shows the state of the whole installation. Every process of admin-api shows the same values, so take the maximum over the
 * processes, never the sum. If the state cannot be read, the gauges are absent.
 */
export function showInstallation({ read, metrics, clock, logger }: InstallationMetricsOptions): void {
  const gauges = createGauges(metrics)
  const failures = metrics.counter(
    'installation_read_failures_total',
    'Readings of the state of the installation that failed',
    [],
  )
  metrics.beforeRead(
    createSlowReading({
      everyMs: EVERY_MS,
      withinMs: WITHIN_MS,
      async read() {
        const state = await read(clock.now())
        gauges.clear()
        gauges.set(state)
      },
      onFailure(error) {
        gauges.clear()
        failures.inc()
        logger.warn({ error }, 'installation.not_read')
      },
    }),
  )
}

/** Gauges that disappear together when their values are unknown. */
function createGauges(metrics: Metrics) {
  const clears: (() => void)[] = []
  const gauge = <L extends string>(name: string, help: string, ...labels: L[]) => {
    const created = metrics.gauge(`installation_${name}`, help, labels)
    clears.push(() => {
      created.reset()
      // Without labels, reset sets the value to 0.
      if (labels.length === 0) created.remove()
    })
    return created
  }
  const setters = [createWorkGauges(gauge), createSourceGauges(gauge), createSendingGauges(gauge)]
  return {
    set(state: InstallationState) {
      for (const set of setters) set(state)
    },
    clear() {
      for (const clear of clears) clear()
    },
  }
}

type CreateGauge = <L extends string>(name: string, help: string, ...labels: L[]) => Gauge<L>

function createWorkGauges(gauge: CreateGauge) {
  const undecided = gauge('undecided_actions', 'Actions without a verdict')
  const overdue = gauge(
    'second_looks_overdue',
    'Actions without a verdict whose second look was due more than 10 seconds ago',
  )
  const oldest = gauge('undecided_oldest_seconds', 'Age of the oldest action without a verdict')
  const incidents = gauge('incidents', 'Incidents that are not resolved', 'code', 'state')
  const storms = gauge('storms_open', 'Storms that have not ended')
  return (state: InstallationState) => {
    undecided.set(state.undecided.count)
    overdue.set(state.undecided.overdue)
    oldest.set(state.undecided.oldestMs / 1000)
    for (const code of IncidentCode.options) {
      for (const open of ['open', 'acknowledged'] as const) incidents.set({ code, state: open }, 0)
    }
    for (const { code, state: open, count } of state.incidents) incidents.set({ code, state: open }, count)
    storms.set(state.stormsOpen)
  }
}

function createSourceGauges(gauge: CreateGauge) {
  const connections = gauge('connections', 'Connections that are not deleted', 'provider', 'status')
  const keyRejected = gauge('connections_key_rejected', 'Connections whose provider refuses the read key')
  const unreadable = gauge('connections_unreadable', 'Connections whose last sweep failed, for whatever reason')
  const silent = gauge('connections_silent', 'Connections whose provider lists events that did not arrive')
  const sweepAge = gauge('sweep_age_seconds', 'Longest time since a connection was swept successfully')
  return ({ connections: state }: InstallationState) => {
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

function createSendingGauges(gauge: CreateGauge) {
  const letters = gauge('dead_letters', 'Dead letters that nobody replayed, by the topic of a replay', 'topic')
  const deliveries = gauge('deliveries', 'Deliveries that wait or are dead', 'state')
  const deliveryAge = gauge('delivery_oldest_seconds', 'Age of the oldest delivery in this state', 'state')
  const channels = gauge('channels', 'Channels by their health', 'kind', 'health')
  const outboxes = gauge('outbox_documents', 'Documents with unpublished messages', 'collection')
  const outboxAge = gauge('outbox_oldest_seconds', 'Age of the oldest unpublished message', 'collection')
  return (state: InstallationState) => {
    for (const topic of SHOWN_TOPICS) letters.set({ topic }, 0)
    for (const { topic, count } of state.deadLetters) letters.inc({ topic }, count)
    for (const [name, { count, oldestMs }] of Object.entries(state.deliveries)) {
      deliveries.set({ state: name }, count)
      deliveryAge.set({ state: name }, oldestMs / 1000)
    }
    for (const kind of ChannelKind.options) {
      for (const health of ['ok', 'failing', 'disabled', 'off'] as const) channels.set({ kind, health }, 0)
    }
    for (const { kind, state: health, count } of state.channels) channels.set({ kind, health }, count)
    for (const { collection, count, oldestMs } of state.outboxes) {
      outboxes.set({ collection }, count)
      outboxAge.set({ collection }, oldestMs / 1000)
    }
  }
}

/** Fan-out as stages of one signature. Each takes a batch of alerts, and returns it with what it found out. */
import { actionIdsOf } from '@backstop/channels'
import { type Alert, type DeliveryRequest, isHeartbeatProject } from '@backstop/contracts'
import type { Received } from '@backstop/kit/consume'
import type { ChannelStore, KnownSilence, ProjectNames, SubscribedChannel } from '../channels/channel-store.ts'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import { followsOpening } from '../incident-order/rules/decide-order.ts'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import { type BurstMembership, followBurst } from '../storm/follow-burst.ts'
import type { StormOptions } from '../storm/join-storms.ts'
import { recordMembers, type StormMembership } from '../storm/record-members.ts'
import { burstOfAlert } from '../storm/rules/burst-of-alert.ts'
import { completeAlert } from './rules/complete-alert.ts'
import { fanOut } from './rules/fan-out.ts'
import { openingsToRead } from './rules/follow-opening.ts'
import { silenceOf, silenceQuestionOf } from './rules/silence.ts'

/** One alert on its way to its deliveries. */
export interface FanOutItem {
  readonly alert: Alert
  readonly headers: Readonly<Record<string, string>>
  /** Why nobody is notified of the alert; undefined if it is not silenced. */
  readonly silence: KnownSilence | undefined
  readonly requests: readonly DeliveryRequest[]
}

export interface FanOutBatch {
  readonly items: readonly FanOutItem[]
  /** The channels of the projects of these alerts. */
  readonly channels: readonly SubscribedChannel[]
  /** By project id. */
  readonly names: ReadonlyMap<string, ProjectNames>
  /** Ids of those of their actions whose customer was erased. */
  readonly erasedActions: ReadonlySet<string>
  /** The silences that overlap the period in which these alerts were raised. */
  readonly silences: readonly KnownSilence[]
  /** The storms of the incidents, by incident id. */
  readonly memberships: ReadonlyMap<string, StormMembership>
  /** The storms of the alerts about bursts, by alert id. */
  readonly bursts: ReadonlyMap<string, BurstMembership>
  /** The ids of the deliveries of openings that exist, as far as these alerts depend on them. */
  readonly openings: ReadonlySet<string>
}

/** @throws AppError `unavailable` if the database is unavailable */
export type FanOutStage = (batch: FanOutBatch) => FanOutBatch | Promise<FanOutBatch>

export interface FanOutStageOptions extends StormOptions {
  readonly channels: Pick<ChannelStore, 'findSubscribedChannels' | 'findNames' | 'findSilences' | 'findErasedActions'>
  readonly deliveries: Pick<DeliveryStore, 'progressOf'>
  readonly active: Pick<ActiveDeliveries, 'has'>
  /** Base URL of links to the console, without a trailing slash; null if there is none. */
  readonly publicUrl: string | null
}

/** The stages in their order. */
export function createFanOutStages(options: FanOutStageOptions): readonly FanOutStage[] {
  return [
    batch => lookUp(batch, options),
    silence,
    batch => recordStormMembers(batch, options),
    batch => followOpenings(batch, options),
    batch => complete(batch, options.publicUrl),
    requestDeliveries,
  ]
}

export function beginFanOut(messages: readonly Received<'alert'>[]): FanOutBatch {
  return {
    items: messages.map(({ message, headers }) => ({ alert: message, headers, silence: undefined, requests: [] })),
    channels: [],
    names: new Map(),
    erasedActions: new Set(),
    silences: [],
    memberships: new Map(),
    bursts: new Map(),
    openings: new Set(),
  }
}

/** Reads the channels and names of the projects, the erased actions and the silences at the same time. */
async function lookUp(batch: FanOutBatch, { channels }: FanOutStageOptions): Promise<FanOutBatch> {
  const alerts = batch.items.map(({ alert }) => alert)
  const projects = [...new Set(alerts.map(({ project_id }) => project_id))]
  const question = silenceQuestionOf(alerts)
  const [subscribed, names, erasedActions, silences] = await Promise.all([
    channels.findSubscribedChannels(projects),
    channels.findNames(projects),
    channels.findErasedActions(actionIdsOf(alerts)),
    question === undefined ? [] : channels.findSilences(question),
  ])
  return { ...batch, channels: subscribed, names, erasedActions, silences }
}

/** Finds the silence of each alert. */
function silence(batch: FanOutBatch): FanOutBatch {
  return { ...batch, items: batch.items.map(item => ({ ...item, silence: silenceOf(item.alert, batch.silences) })) }
}

/**
 * Records the unexplained actions among these alerts for storms. An alert that follows an opening counts for the storm that its incident
 * belongs to, and changes nothing if there is none.
 */
async function recordStormMembers(batch: FanOutBatch, options: StormOptions): Promise<FanOutBatch> {
  const counted = batch.items
    .filter(item => !isHeartbeatProject(item.alert.project_id))
    .filter(item => followsOpening(item.alert) || item.silence === undefined)
    .map(({ alert }) => alert)
  const memberships = new Map<string, StormMembership>()
  const bursts = new Map<string, BurstMembership>()
  let unrecorded: Alert[] = []
  const record = async () => {
    for (const [incidentId, membership] of await recordMembers(unrecorded, options))
      memberships.set(incidentId, membership)
    unrecorded = []
  }
  // In the order of the topic: an alert after the begin of a burst joins its storm, and one after its end does not.
  for (const alert of counted) {
    const burst = burstOfAlert(alert)
    if (burst === undefined) unrecorded.push(alert)
    else {
      await record()
      bursts.set(alert.alert_id, await followBurst(burst, options))
    }
  }
  await record()
  return { ...batch, bursts, memberships }
}

/** Finds which deliveries of openings exist, in memory or in the database. */
async function followOpenings(batch: FanOutBatch, { active, deliveries }: FanOutStageOptions): Promise<FanOutBatch> {
  const wanted = batch.items.flatMap(item => openingsToRead(item.alert, batch.channels, item.silence !== undefined))
  if (wanted.length === 0) return batch
  // In this order: a delivery leaves the memory when it is stored.
  const inMemory = wanted.filter(id => active.has(id))
  const stored = await deliveries.progressOf(wanted)
  return { ...batch, openings: new Set([...inMemory, ...stored.keys()]) }
}

/** Adds names and links to the alerts. */
function complete(batch: FanOutBatch, publicUrl: string | null): FanOutBatch {
  const { names, erasedActions } = batch
  const completed = batch.items.map(item => ({
    ...item,
    alert: completeAlert(item.alert, { names: names.get(item.alert.project_id), erasedActions, publicUrl }),
  }))
  return { ...batch, items: completed }
}

/** Requests one delivery for each alert and channel that gets it. */
function requestDeliveries(batch: FanOutBatch): FanOutBatch {
  const openings = new Set(batch.openings)
  const items = batch.items.map(item => {
    const { alert } = item
    const membership =
      'incident' in alert.data
        ? (batch.bursts.get(alert.alert_id) ?? batch.memberships.get(alert.data.incident.incident_id))
        : undefined
    const history = { isSilenced: item.silence !== undefined, openings }
    const requests = fanOut(alert, batch.channels, membership, history)
    // A resolution in the same batch follows this opening, although its delivery is not recorded yet.
    if (alert.event === 'incident.opened') for (const { delivery_id } of requests) openings.add(delivery_id)
    return { ...item, requests }
  })
  return { ...batch, items, openings }
}
